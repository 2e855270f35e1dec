"""The metrics of a training: a log of JSON lines, TensorBoard, and a bar in the terminal."""

import json
import logging
import math
import os
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from io import FileIO
from pathlib import Path
from typing import Any

from glassbox.checks import check_type, need
from glassbox.files import atomic_write
from glassbox.training.state import TrainingState

LOG, BOARD = "metrics.jsonl", "tensorboard"
SECONDS_BETWEEN_LINES = 10.0
_LOGGER = logging.getLogger("glassbox.training")


class Metrics(AbstractContextManager["Metrics"]):
    """Writes measurements to ``metrics.jsonl`` at once, one object per line.

    A line has ``step``, ``split`` and numbers by name. Floating-point numbers have 9 digits, which
    distinguish any two numbers in float32. JSON has no non-finite numbers: they are written as the
    strings "nan", "inf" and "-inf".

    A run that resumes from a checkpoint repeats the steps after it. Their lines are removed when
    the log is opened, so each step appears only once.

    Parameters
    ----------
    folder : Path
        The folder of the log; created if it is missing.
    resume_at : int, optional
        The last completed step, up to which lines are kept. 0 starts a new log.
    tensorboard : bool, optional
        Whether to write for TensorBoard as well, into ``tensorboard/``.
    write : bool, optional
        Whether to write at all: only one of several processes does.

    Raises
    ------
    ValueError
        If the existing log has a damaged line.
    ModuleNotFoundError
        If TensorBoard is requested but not installed.
    """

    def __init__(
        self, folder: Path, *, resume_at: int = 0, tensorboard: bool = False, write: bool = True
    ) -> None:
        self._file: FileIO | None = None
        self._board: Any = None
        if not write:
            return
        if tensorboard:
            need("tensorboard", "writing for TensorBoard")  # before anything is changed
        folder.mkdir(parents=True, exist_ok=True)
        _forget(folder / LOG, resume_at)
        self._file = FileIO(str(folder / LOG), "a")
        if tensorboard:
            from torch.utils.tensorboard import SummaryWriter

            self._board = SummaryWriter(folder / BOARD, purge_step=resume_at + 1)

    def write(self, step: int, split: str, numbers: Mapping[str, float | int]) -> None:
        """Append a line; other programs see it as soon as this returns.

        Parameters
        ----------
        step : int
            The optimiser's step.
        split : str
            The data that was measured, such as "train" or "valid".
        numbers : mapping of str to float
            The measurements.

        Raises
        ------
        ValueError
            If a number is called "step" or "split".
        TypeError
            If a value is not a number.
        OSError
            If the line cannot be written, as on a full disk. The log is left unchanged.
        """
        if reserved := {"step", "split"} & numbers.keys():
            raise ValueError(f"{sorted(reserved)} among the numbers: call them something else")
        if self._file is None:
            return
        entry = {"step": step, "split": split}
        line = json.dumps(entry | {name: _plain(name, x) for name, x in numbers.items()})
        _append(self._file, line.encode() + b"\n")
        if self._board is not None:
            for name, number in numbers.items():
                self._board.add_scalar(f"{name}/{split}", number, step)
            self._board.flush()  # a killed run resumes after its last checkpoint, not line

    def after_step(self, training: TrainingState) -> None:
        """Write the figures of the last step of a ``training``, and validate if it is due."""
        step, config = training.progress.step, training.config
        self.write(step, "train", {**training.figures, "tokens": training.progress.tokens})
        if training.done or step % config.validate_every == 0:
            self.write(step, "valid", training.validate())

    def __exit__(self, *error: object) -> None:
        for stream in (self._file, self._board):
            if stream is not None:
                stream.close()


def read_metrics(path: str | Path) -> list[dict[str, Any]]:
    """Read a log written by :class:`Metrics`, even while it is being written.

    Parameters
    ----------
    path : str or path
        The file, ``metrics.jsonl``.

    Returns
    -------
    list of dict
        Its lines: ``step``, ``split``, and numbers by name. A truncated last line, as after a
        crash, is left out.

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    ValueError
        If any other line is damaged, naming it.
    """
    return [entry for _, entry in _entries(Path(path).expanduser())]


@contextmanager
def progress_bar(
    steps: int, done: int = 0, *, show: bool = True
) -> Iterator[Callable[[TrainingState], None]]:
    """Show steps done, tokens per second, the loss, and the time left.

    The bar appears only in a terminal. Elsewhere, Python's logger ``glassbox.training`` gets these,
    except for the time left, every ten seconds; ``glassbox train`` prints it and a notebook does
    not.

    Parameters
    ----------
    steps : int
        Number of steps.
    done : int, optional
        Number of steps already done.
    show : bool, optional
        Whether to show it at all: only one of several processes does.

    Yields
    ------
    callable
        A callback of the loop, which advances the bar by a step.
    """
    tqdm = need("tqdm", "showing the progress of a training").tqdm
    tokens, begin = 0, time.perf_counter()
    told = begin
    form = "{percentage:3.0f}%|{bar}| step {n_fmt} of {total_fmt}{postfix}, {remaining} left"
    hide = None if show else True  # None: unless in a terminal
    with tqdm(total=steps, initial=done, dynamic_ncols=True, disable=hide, bar_format=form) as bar:

        def after_step(training: TrainingState) -> None:
            nonlocal tokens, told
            tokens, now = tokens + training.tokens, time.perf_counter()
            loss, rate = training.figures["loss"], tokens / (now - begin)
            figures = f"loss {loss:.3f}, {rate:,.0f} tokens/s"
            bar.set_postfix_str(figures, refresh=False)
            bar.update()
            if show and bar.disable and now - told >= SECONDS_BETWEEN_LINES:
                told = now
                _LOGGER.info(f"step {training.progress.step:,} of {steps:,}, {figures}")

        yield after_step


def _plain(name: str, number: Any) -> int | float | str:
    """Return a number as it is written in JSON."""
    check_type(name, number, int | float, "a number, such as tensor.item() returns")
    if isinstance(number, int):
        return number
    return float(f"{number:.9g}") if math.isfinite(number) else f"{float(number)}"


def _append(file: FileIO, line: bytes) -> None:
    """Write a line completely or not at all."""
    end = os.fstat(file.fileno()).st_size
    try:
        while line:
            line = line[file.write(line) :]
    except OSError as error:
        file.truncate(end)
        raise OSError(error.errno, f"{error.strerror}: cannot write the log", file.name) from error


def _forget(path: Path, step: int) -> None:
    """Remove the lines after ``step`` from a log; all of them if nothing is done."""
    if not path.exists():
        return
    kept = [line + b"\n" for line, entry in _entries(path) if step and entry["step"] <= step]
    if (content := b"".join(kept)) != path.read_bytes():
        with atomic_write(path) as part:
            part.write_bytes(content)


def _entries(path: Path) -> list[tuple[bytes, dict[str, Any]]]:
    """Return each line of a log, and its entries."""
    lines = path.read_bytes().split(b"\n")
    entries = []
    for number, line in enumerate(lines, 1):
        try:
            entries.append((line, _entry(line)))
        except ValueError as error:
            if number == len(lines):
                break  # truncated or empty: a whole line ends in a newline
            raise ValueError(
                f"{path}, line {number}: {line[:80]!r} is not a measurement ({error}): delete it"
            ) from error
    return entries


def _entry(line: bytes) -> dict[str, Any]:
    entry = json.loads(line)
    if not (isinstance(entry, dict) and isinstance(entry.get("step"), int) and "split" in entry):
        raise ValueError("it has no step and split")
    return {
        name: float(value) if isinstance(value, str) and name != "split" else value
        for name, value in entry.items()
    }
