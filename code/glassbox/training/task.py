"""What the loop asks of whatever is trained."""

from pathlib import Path
from typing import Protocol, runtime_checkable

from torch import nn

from glassbox.training.batches import Step
from glassbox.training.distributed import Processes
from glassbox.training.loss import Loss


@runtime_checkable
class Task(Protocol):
    """A model and the text it learns from. The loop knows nothing else about either.

    Notes
    -----
    Chapter 9.
    """

    def build(self) -> nn.Module:
        """Return the model with its first weights, which follow from PyTorch's generator."""
        ...

    def epoch(self, number: int) -> list[Step]:
        """Return the steps of the epoch with a ``number``, from 0; the same at every call."""
        ...

    def count(self, step: Step) -> int:
        """Return how many tokens a ``step`` learns to write."""
        ...

    def loss(self, model: nn.Module, examples: list[int]) -> Loss:
        """Return the summed loss of a batch of ``examples``, on the device of ``model``."""
        ...

    def validate(self, model: nn.Module, group: Processes) -> dict[str, float]:
        """Return figures of ``model`` on held-out text, the same in each process of ``group``."""
        ...

    def save(self, model: nn.Module, folder: Path) -> None:
        """Write the trained ``model`` into a ``folder``, ready for use."""
        ...
