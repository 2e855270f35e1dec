"""``glassbox train``: start a run from its file, or resume one that was stopped."""

import argparse
import logging
import os
from pathlib import Path

from glassbox.cli import INTERRUPTED
from glassbox.cli.device import find_device
from glassbox.results import RUNS

OWN_DATA = """\
Data of your own: in a table [language_model] the entry text names a text file; in [translation],
pairs names a file of tab-separated sentence pairs, one per line, and corpus = "pairs" learns from
them alone. Paths of data files in RUN.toml are relative to its folder; those of models, and those
given with --set, to the current one.
Several processes share the work: torchrun --nproc-per-node 2 -m glassbox train RUN.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments to ``parser``."""
    add = parser.add_argument
    trained = "what is trained, and how: a file RUN.toml, or the name of a run of the book, "
    trained += "such as shakespeare-llama"
    add("run_file", metavar="RUN", type=Path, help=trained)
    written = "where to write everything and resume a stopped run "
    written += "(default: runs/ and the name of the file's folder)"
    add("--folder", type=Path, help=written)
    form, change = "TABLE.NAME=VALUE", "change an entry of the file, such as training.steps=100"
    add("--set", metavar=form, action="append", default=[], dest="changes", help=change)
    add("--device", help="where to compute (default: a GPU if there is one)")
    add("--tensorboard", action="store_true", help="write the curves for TensorBoard too")
    parser.epilog = OWN_DATA


def run(arguments: argparse.Namespace) -> int:
    """Train the run given by ``arguments``; return 0, or 130 if training was stopped.

    One of several processes may return 1 if another has failed, which reports why.

    Raises
    ------
    ValueError
        If the run's file or a change is invalid, there is no such device, the checkpoints belong to
        another run, or another process is training into the folder.
    FileNotFoundError
        If there is no such file, or the run names data that do not exist.
    OSError
        If something cannot be written, or a checkpoint cannot be read.
    FloatingPointError
        If the training diverges.
    """
    from glassbox.training.distributed import OtherProcessError, processes
    from glassbox.training.runs import read_run
    from glassbox.training.task import file_entries

    file = find_run(arguments.run_file)
    described = read_run(file, arguments.changes)
    for entry in file_entries(described.task_config):
        data = getattr(described.task_config, entry)
        if data is not None and not Path(data).expanduser().is_file():
            raise FileNotFoundError(f"{described.task}.{entry}: no such file: {data!r}")
    device, several = arguments.device, "RANK" in os.environ
    if device is not None and not (several and device.startswith("cuda")):
        find_device(device)  # of several processes, each takes its own GPU later
    folder = (arguments.folder or Path("runs", file.resolve().parent.name)).expanduser()
    try:
        folder.mkdir(parents=True, exist_ok=True)  # otherwise it would fail after reading the data
    except OSError as error:
        raise OSError(
            f"the folder {folder} cannot be made: {error.strerror}. Name one that can with --folder"
        ) from error
    if not os.access(folder, os.W_OK):
        raise OSError(f"the folder {folder} cannot be written to: name one with --folder")
    logger, handler = logging.getLogger("glassbox.training"), logging.StreamHandler()
    logger.setLevel(logging.INFO)
    logger.addHandler(handler)  # lines of progress where no terminal shows a bar
    try:
        with processes(arguments.device) as group:
            done = described.start(folder, group, tensorboard=arguments.tensorboard)
            if group.first:
                stopped = f"Stopped. The same command resumes from {folder / 'checkpoints'}."
                print(f"The model is in {folder / 'model'}." if done else stopped)
    except OtherProcessError:
        return 1
    finally:
        logger.removeHandler(handler)
    return 0 if done else INTERRUPTED


def find_run(given: Path) -> Path:
    """Return the file of a run: the ``given`` file, or that of the book's run of that name.

    Raises
    ------
    FileNotFoundError
        If there is neither.
    """
    if given.is_file():
        return given
    names = sorted(path.parent.name for path in RUNS.glob("*/run.toml"))
    if str(given) in names:
        return RUNS / given / "run.toml"
    raise FileNotFoundError(
        f"there is no file {str(given)!r}, and no run of the book has that name: {', '.join(names)}"
    )
