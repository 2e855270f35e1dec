"""The metrics of a training: a log of JSON lines, and a bar in the terminal."""

import json
import logging
import math
import os
import time
from collections.abc import Mapping
from contextlib import AbstractContextManager
from io import FileIO
from pathlib import Path
from typing import Any

from tqdm import tqdm

from glassbox.files import atomic_write
from glassbox.training.state import TrainingState

LOG = "metrics.jsonl"
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
    write : bool, optional
        Whether to write at all: only one of several processes does.

    Raises
    ------
    ValueError
        If the existing log has a damaged line.
    """

    def __init__(self, folder: Path, *, resume_at: int = 0, write: bool = True) -> None:
        self._file: FileIO | None = None
        if write:
            folder.mkdir(parents=True, exist_ok=True)
            _forget(folder / LOG, resume_at)
            self._file = FileIO(folder / LOG, "a")

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

    def after_step(self, training: TrainingState) -> None:
        """Write the figures of the last step of a ``training``, and validate if it is due."""
        step, config = training.progress.step, training.config
        self.write(step, "train", {**training.figures, "tokens": training.progress.tokens})
        if training.done or step % config.validate_every == 0:
            self.write(step, "valid", training.validate())

    def __exit__(self, *error: object) -> None:
        if self._file is not None:
            self._file.close()


def read_metrics(path: Path) -> list[dict[str, Any]]:
    """Read a log written by :class:`Metrics`, even while it is being written.

    Parameters
    ----------
    path : Path
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
    return [entry for _, entry in _entries(path)]


class ProgressBar(AbstractContextManager["ProgressBar"]):
    """Shows steps done, tokens per second, the loss, and the time left.

    The bar appears only in a terminal. Elsewhere, Python's logger ``glassbox.training`` gets the
    same figures every ten seconds; ``glassbox train`` prints it and a notebook does not.

    Parameters
    ----------
    steps : int
        Number of steps.
    done : int, optional
        Number of steps already done.
    show : bool, optional
        Whether to show it at all: only one of several processes does.
    """

    def __init__(self, steps: int, done: int = 0, *, show: bool = True) -> None:
        self._steps, self._done, self._tokens = steps, done, 0
        self._begin = self._told = time.perf_counter()
        self._show = show
        self._bar = tqdm(
            total=steps,
            initial=done,
            unit="step",
            dynamic_ncols=True,
            disable=None if show else True,  # None: only in a terminal
            bar_format="{percentage:3.0f}%|{bar}| step {n_fmt} of {total_fmt}{postfix}, "
            "{remaining} left",
        )

    def after_step(self, training: TrainingState) -> None:
        """Advance by the last step of a ``training``."""
        self.update(training.tokens, training.figures["loss"])

    def update(self, tokens: int, loss: float) -> None:
        """Advance by one step, which learned from ``tokens`` at a mean ``loss``."""
        now = time.perf_counter()
        self._done, self._tokens = self._done + 1, self._tokens + tokens
        figures = f"loss {loss:.3f}, {self._tokens / (now - self._begin):,.0f} tokens/s"
        self._bar.set_postfix_str(figures, refresh=False)
        self._bar.update()
        if self._show and self._bar.disable and now - self._told >= SECONDS_BETWEEN_LINES:
            _LOGGER.info("step %s of %s, %s", f"{self._done:,}", f"{self._steps:,}", figures)
            self._told = now

    def __exit__(self, *error: object) -> None:
        self._bar.close()


def _plain(name: str, number: object) -> int | float | str:
    """Return a number as it is written in JSON."""
    if not isinstance(number, int | float):
        raise TypeError(
            f"{name} is {number!r}, a {type(number).__name__}; expected a number, as .item() makes "
            "of a tensor"
        )
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
        raise OSError(error.errno, f"{error.strerror}: the log cannot go on", file.name) from error


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
                f"{path}, line {number}: {line[:80]!r} is no measurement ({error}): delete the line"
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
