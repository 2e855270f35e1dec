"""The snapshots that a run keeps of its training: the model as it was at some steps."""

import argparse
from collections.abc import Callable, Collection, Iterator
from pathlib import Path
from typing import Any, TypeVar

from torch import nn

from glassbox.training.checkpoint import MODEL, checkpoints, fill_weights, read_checkpoint, step_of

Model = TypeVar("Model", bound=nn.Module)


def snapshots(steps: Collection[int], build: Callable[[], Any], folder: Path) -> Iterator[Any]:
    """Yield the model at each of some steps of its training.

    Parameters
    ----------
    steps : collection of int
        The steps.
    build : callable
        Returns a model with other weights.
    folder : Path
        The folder in which the model was trained.

    Raises
    ------
    FileNotFoundError
        If the folder lacks a snapshot.
    """
    found = {step_of(path): path for path in checkpoints(folder / "checkpoints")}
    if missing := sorted({*steps} - found.keys()):
        raise FileNotFoundError(f"{folder} has no snapshots of the steps {missing}: train it again")
    for step in steps:
        yield restored(build().eval(), found[step])


def restored(model: Model, checkpoint: Path) -> Model:
    """Fill a model with the weights of a checkpoint, and return it."""
    fill_weights(model, read_checkpoint(checkpoint, [MODEL]).tensors[MODEL], checkpoint)
    return model


def ask(about: str) -> tuple[str, Path]:
    """Return the name of a run and the folder in which it was trained, from the command line."""
    parser = argparse.ArgumentParser(description=about.splitlines()[0])
    parser.add_argument("name", help="of the run, a folder of glassbox/results/runs")
    parser.add_argument("folder", type=Path, help="where it was trained")
    arguments = parser.parse_args()
    return arguments.name, arguments.folder
