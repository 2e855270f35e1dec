"""What the loop requires of a task, and how several processes share its examples."""

import hashlib
import os
from collections.abc import Callable, Iterable
from dataclasses import asdict, fields, is_dataclass
from itertools import chain
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

import torch
from torch import nn

from glassbox.training.batches import Step
from glassbox.training.distributed import Processes
from glassbox.training.loss import Loss


@runtime_checkable
class Task(Protocol):
    """A model and the text it learns from. The loop knows nothing else about either.

    If a task has a ``config`` that is a dataclass, checkpoints store it.

    Notes
    -----
    Chapter 9.
    """

    def build(self) -> nn.Module:
        """Return the model with its initial weights, drawn from PyTorch's generator."""

    def epoch(self, number: int) -> list[Step]:
        """Return the steps of the epoch with a ``number``, from 0; the same at every call."""

    def count(self, step: Step) -> int:
        """Return how many tokens a ``step`` learns to predict."""

    def loss(self, model: nn.Module, examples: list[int]) -> Loss:
        """Return the summed loss of a batch of ``examples``, on the device of ``model``."""

    def validate(self, model: nn.Module, group: Processes) -> dict[str, float]:
        """Return figures of ``model`` on held-out text, the same in each process of ``group``."""

    def save(self, model: nn.Module, folder: Path) -> None:
        """Write the trained ``model`` into a ``folder``, ready for use."""


def file_entries(config: Any) -> list[str]:
    """Return the entries of a task's configuration, or of its class, that name files."""
    return [field.name for field in fields(config) if field.metadata.get("file")]


def defining_task(task: Task) -> dict[str, object]:
    """Return the configuration of a task, with the digests of the files that it names."""
    config = getattr(task, "config", None)
    if not is_dataclass(config):
        return {}
    entries = asdict(config)  # type: ignore[arg-type]
    for name in file_entries(config):
        if (path := entries[name]) is not None:
            digest = hashlib.sha256(Path(path).expanduser().read_bytes()).hexdigest()
            entries[name] = {"path": os.fspath(path), "sha256": digest}
    return entries


def check_reads(most: int, name: str, asked: int) -> None:
    """Reject examples that are longer than a model reads, before training meets one.

    Parameters
    ----------
    most : int
        The model's ``max_len``.
    name, asked : str, int
        The entry that says how long the examples are, and its value.

    Raises
    ------
    ValueError
        If ``asked`` is more than ``most``.
    """
    if asked > most:
        raise ValueError(
            f"{name}={asked}: this model reads {most} tokens at most; lower {name}, or take a "
            "model that reads more"
        )


def sharded_loss(batch: list[int], loss: Callable[[list[int]], Loss], group: Processes) -> Loss:
    """Return the loss of this process's examples in a batch.

    A process without an example still computes one, which does not count: in training, the others
    wait for its gradients.

    Parameters
    ----------
    batch : list of int
        The examples of all processes.
    loss : callable
        Returns the loss of some examples.
    group : Processes
        The processes that share the batch.

    Returns
    -------
    Loss
        These losses add up to that of the batch.
    """
    mine = group.shard(batch)
    found = loss(mine or batch[:1])
    return found if mine else Loss(0 * found.total, 0 * found.nll, 0 * found.count)


def held_out_figures(
    steps: Iterable[Step], loss: Callable[[list[int]], Loss], group: Processes
) -> dict[str, float]:
    """Return how well a model predicts held-out batches, which several processes share.

    Parameters
    ----------
    steps : iterable of list of list of int
        The examples in each batch of each step, of an epoch that holds all once.
    loss : callable
        Returns the loss of some examples.
    group : Processes
        The processes, each of which measures a part of every batch.

    Returns
    -------
    dict of str to float
        ``nll``, the mean negative log-likelihood of a token in nats, and ``perplexity``, its
        exponential, which may be infinite; the same in each process.
    """
    sums = torch.zeros(2, dtype=torch.float64, device=group.device)
    for batch in chain.from_iterable(steps):
        found = sharded_loss(batch, loss, group)
        sums += torch.stack([found.nll.double(), found.count.double()])
    total, count = group.all_reduce(sums)
    nll = total / count
    return {"nll": nll.item(), "perplexity": nll.exp().item()}
