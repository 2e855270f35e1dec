"""``glassbox bench``: the benchmarks of the book's repository, if it is available."""

import argparse
import math
import subprocess
import sys
from pathlib import Path

import glassbox

#: The benchmarks, relative to the root of the repository.
BENCHMARKS = Path("benchmarks", "run.py")
WRITES = """\
It takes many minutes (--seconds for each of some twenty comparisons, and more for the rest), and
replaces files of the repository: this machine's results in benchmarks/results, the figures that
chapter 12 shows, and the page of results.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments to ``parser``."""
    parser.add_argument(
        "--seconds", type=float, default=10.0, help="for each comparison (default: %(default)g)"
    )
    parser.epilog = WRITES


def run(arguments: argparse.Namespace) -> int:
    """Run the benchmarks with these ``arguments``, and return their exit status.

    Raises
    ------
    FileNotFoundError
        If neither the package nor the working directory is in a repository with benchmarks.
    ValueError
        If the time given for them is not positive and finite.
    """
    if not 0 < arguments.seconds < math.inf:
        raise ValueError(f"--seconds {arguments.seconds:g}: expected more than 0 and finite")
    command = [sys.executable, "-m", "benchmarks.run", "--seconds", str(arguments.seconds)]
    return subprocess.run(command, cwd=find_repository(), check=False).returncode


def find_repository() -> Path:
    """Return the root of the repository that contains this package or the working directory.

    Raises
    ------
    FileNotFoundError
        If neither has the benchmarks.
    """
    package = Path(glassbox.__file__).resolve().parents[2]
    for folder in (package, Path.cwd(), *Path.cwd().parents):
        if (folder / BENCHMARKS).is_file():
            return folder
    raise FileNotFoundError(
        f"no {BENCHMARKS} beside the package ({package}) or above {Path.cwd()}: the benchmarks are "
        "part of the book's repository, not of the installed package. Get its source, and run "
        "'glassbox bench' in it"
    )
