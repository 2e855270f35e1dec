"""``glassbox train``: a run from its file, or the rest of one that was stopped."""

import argparse
import os
from pathlib import Path

from glassbox.cli import INTERRUPTED
from glassbox.cli.device import find_device


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments to ``parser``."""
    add = parser.add_argument
    add("run_file", metavar="RUN.toml", type=Path, help="what is trained, and how")
    add(
        "--folder",
        type=Path,
        help="where everything is written, and where a stopped run goes on "
        "(default: runs/ and the name of the file's folder)",
    )
    add(
        "--set",
        dest="changes",
        metavar="TABLE.NAME=VALUE",
        action="append",
        default=[],
        help="change an entry of the file, such as training.steps=100",
    )
    add("--device", help="where to compute (default: a GPU if there is one)")
    add("--tensorboard", action="store_true", help="write the curves for TensorBoard too")


def run(arguments: argparse.Namespace) -> int:
    """Train what the ``arguments`` say; return 0, or 130 if the training was stopped.

    Of several processes one may end with 1: another has failed, and says why.

    Raises
    ------
    ValueError
        If the run's file or a change makes no sense, there is no such device, the checkpoints are
        of another run, or another process trains into the folder.
    OSError
        If there is no such file, something cannot be written, or a checkpoint not be read.
    FloatingPointError
        If the training diverges.
    """
    from glassbox.training.distributed import OtherProcessError, processes
    from glassbox.training.runs import read_run

    described = read_run(arguments.run_file, arguments.changes)
    if arguments.device is not None and "RANK" not in os.environ:
        find_device(arguments.device)  # of several processes each takes its own later
    folder = arguments.folder or Path("runs", arguments.run_file.resolve().parent.name)
    folder.mkdir(parents=True, exist_ok=True)  # or it would fail after the data are read
    try:
        with processes(arguments.device) as group:
            done = described.start(folder, group, tensorboard=arguments.tensorboard)
            if group.first:
                print(
                    f"The model is in {folder / 'model'}."
                    if done
                    else f"Stopped. The same command goes on from {folder / 'checkpoints'}."
                )
    except OtherProcessError:
        return 1
    return 0 if done else INTERRUPTED
