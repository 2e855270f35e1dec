"""A training run as a file: the task, its data, and how it is trained (chapter 9)."""

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from types import UnionType
from typing import Any, Literal, get_args, get_origin, get_type_hints

from glassbox.training.config import TrainingConfig
from glassbox.training.distributed import Processes
from glassbox.training.loop import train
from glassbox.training.schedule import Schedule
from glassbox.training.task import Task, file_entries
from glassbox.training.tasks import TASKS


@dataclass(frozen=True)
class Run:
    """A training run, which determines the trained weights.

    Parameters
    ----------
    task : str
        One of the names in :data:`glassbox.training.tasks.TASKS`.
    task_config : dataclass
        The configuration of that task.
    training : TrainingConfig
        How it is trained.
    """

    task: str
    task_config: Any
    training: TrainingConfig

    def start(
        self, folder: str | Path, group: Processes | None = None, *, tensorboard: bool = False
    ) -> bool:
        """Train, or resume where training stopped.

        Parameters
        ----------
        folder, group, tensorboard : str or path, Processes, bool
            As for :func:`glassbox.training.train`.

        Returns
        -------
        bool
            Whether all steps are done.

        Raises
        ------
        FloatingPointError, CheckpointError, ValueError
            As :func:`glassbox.training.train`.
        FileNotFoundError
            If a data file is missing.
        """
        task: Task = TASKS[self.task][0](self.task_config, self.training.seed)
        named = {"task": self.task}
        return train(task, self.training, folder, group, described=named, tensorboard=tensorboard)


def read_run(path: str | Path, changes: Sequence[str] = ()) -> Run:
    """Read a run from a TOML file.

    It has a table ``[training]`` with the fields of :class:`TrainingConfig`, within it
    ``[training.schedule]`` with the fields of :class:`Schedule`, and one table named after a task,
    such as ``[translation]``, with the fields of the task's configuration. Data files named in it
    are looked for beside it, those named in a change, and all models, in the working directory.

    Parameters
    ----------
    path : str or path
        The file.
    changes : sequence of str, optional
        Entries to replace, such as ``"training.steps=100"``; values as in TOML.

    Returns
    -------
    Run

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    ValueError
        If it is not TOML, a table or an entry is unknown, or a value is of the wrong type or out of
        its range, naming file and entry.
    """
    path = Path(path).expanduser()
    try:
        tables = tomllib.loads(path.read_text(encoding="utf-8-sig"))
        _find_beside(path, tables)
        for change in changes:
            _change(tables, change)
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ValueError(f"{path} is not TOML: {error}") from error
    tasks = [name for name in tables if name in TASKS]
    if len(tasks) != 1 or tables.keys() - {*TASKS, "training"}:
        raise ValueError(
            f"{path} has the tables {sorted(tables)}; expected 'training' and one of "
            f"{sorted(TASKS)}"
        )
    name, training = tasks[0], tables.get("training", {})
    if isinstance(training, dict) and "schedule" in training:
        schedule = _make(Schedule, training["schedule"], f"{path} [training.schedule]")
        training = training | {"schedule": schedule}
    config = _make(TASKS[name][1], tables[name], f"{path} [{name}]")
    return Run(name, config, _make(TrainingConfig, training, f"{path} [training]"))


def _find_beside(path: Path, tables: dict[str, Any]) -> None:
    """Resolve the data files named in a run's file relative to its folder."""
    for task, (_, kind) in TASKS.items():
        table = tables.get(task)
        if isinstance(table, dict):
            for name in file_entries(kind):
                if isinstance(table.get(name), str):
                    table[name] = str(path.parent / Path(table[name]).expanduser())


def _make(kind: Any, entries: Any, where: str) -> Any:
    """Make a configuration from a table's entries."""
    if not isinstance(entries, dict):
        raise ValueError(f"{where} is {entries!r}; expected a table")
    hints = get_type_hints(kind)
    if unknown := sorted(entries.keys() - hints.keys()):
        raise ValueError(f"{where} has no entry {unknown[0]!r}; there are: {sorted(hints)}")
    try:
        return kind(**{name: _as(hints[name], entry, name) for name, entry in entries.items()})
    except (TypeError, ValueError) as error:
        raise ValueError(f"{where}: {error}") from error


def _as(hint: Any, entry: Any, name: str) -> Any:
    """Convert an entry to its configuration's type: TOML has lists for tuples, 1 for 1.0."""
    origin, parts = get_origin(hint), get_args(hint)
    if origin is UnionType:
        return _as(parts[0], entry, name)  # or None, which TOML does not have
    if origin is Literal:
        return _as(str, entry, name)  # the configuration checks which
    if origin is tuple and isinstance(entry, list):
        kinds = parts[:1] * len(entry) if parts[-1] is ... else parts
        if len(kinds) == len(entry):
            return tuple(_as(kind, part, name) for kind, part in zip(kinds, entry, strict=True))
    if origin is dict and isinstance(entry, dict):  # the fields of a model's configuration
        return {key: tuple(part) if isinstance(part, list) else part for key, part in entry.items()}
    if hint is float and type(entry) is int:
        return float(entry)
    if type(entry) is not (origin or hint):
        expected = hint if origin else hint.__name__
        raise TypeError(f"{name}={entry!r} is of the wrong type; expected {expected}")
    return entry


def _change(tables: dict[str, Any], change: str) -> None:
    """Set one entry, ``table.name=value``."""
    name, equals, value = change.partition("=")
    *places, last = name.strip().split(".")
    if not equals or not places:
        raise ValueError(f"{change!r}: expected TABLE.NAME=VALUE, such as training.steps=100")
    for place in places:
        tables = tables.setdefault(place, {})
        if not isinstance(tables, dict):
            raise ValueError(f"{change!r}: {place} is {tables!r}, and no table")
    try:
        [tables[last]] = tomllib.loads(f"x = {value}").values()  # several lines are not one value
    except ValueError as error:
        raise ValueError(
            f"{change!r}: the value is not TOML; text needs its own quotes, inside the shell's: "
            "--set 'table.name=\"text\"'"
        ) from error
