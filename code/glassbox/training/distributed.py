"""Several processes that train one model: each computes a part of every batch."""

import os
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from typing import Literal, get_args

import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard
from torch.distributed.tensor import DTensor, distribute_tensor
from torch.nn.parallel import DistributedDataParallel

from glassbox.checks import check_kind
from glassbox.layers import Layer

Sharding = Literal["none", "full"]


class OtherProcessError(RuntimeError):
    """Another process cannot go on, and says why; so this one, which could, ends as well."""


@dataclass(frozen=True)
class Processes:
    """The processes that train together, seen from one of them.

    Parameters
    ----------
    rank : int
        Which one this is, from 0.
    count : int
        How many there are.
    device : torch.device
        Where this one computes.
    """

    rank: int
    count: int
    device: torch.device

    @property
    def first(self) -> bool:
        """Whether this is the one that writes files and shows progress."""
        return self.rank == 0

    def total(self, numbers: Tensor) -> Tensor:
        """Return a sum over all processes; every process has to ask.

        Parameters
        ----------
        numbers : Tensor
            This process's part, of the same shape everywhere.

        Returns
        -------
        Tensor
            The same everywhere.
        """
        if self.count > 1:
            numbers = numbers.clone()
            dist.all_reduce(numbers)
        return numbers

    def share(self, examples: list[int]) -> list[int]:
        """Return this process's part of a batch.

        Parameters
        ----------
        examples : list of int
            The batch.

        Returns
        -------
        list of int
            Every ``count``-th example, so that lengths are shared out evenly; perhaps none.
        """
        return examples[self.rank :: self.count]

    @contextmanager
    def together(self) -> Iterator[None]:
        """Go on when all have done what stands inside; where one could not, nobody goes on.

        For what one process does alone, such as writing, so that the others neither run ahead nor
        wait for it in vain. Every process has to come here.

        Raises
        ------
        OtherProcessError
            In those that could, if another could not. That one raises what it met with.
        """
        failure: Exception | None = None
        try:
            yield
        except Exception as error:
            failure = error
        failed = self.total(torch.tensor(0 if failure is None else 1, device=self.device)).item()
        if failure is not None:
            raise failure
        if failed:
            raise OtherProcessError(
                f"process {self.rank} of {self.count} stops because another has failed"
            )

    def agree(self, what: str, number: int) -> None:
        """Refuse to go on with numbers that differ; every process has to ask.

        Parameters
        ----------
        what : str
            What the number is.
        number : int
            That of this process.

        Raises
        ------
        ValueError
            In all of them, naming the numbers in the order of the processes.
        """
        mine = torch.zeros(self.count, dtype=torch.int64, device=self.device)
        mine[self.rank] = number
        numbers = self.total(mine).tolist()
        if len(set(numbers)) > 1:
            raise ValueError(f"the processes differ in {what}: {numbers}")


@contextmanager
def processes(device: str | torch.device | None = None) -> Iterator[Processes]:
    """Join the processes that PyTorch's launcher has started, or be the only one.

    Parameters
    ----------
    device : str or torch.device, optional
        Where to compute; a GPU of its own for each process if there are any, else the CPU.

    Yields
    ------
    Processes
        This process among the others.

    Raises
    ------
    ValueError
        If a GPU is asked for that is not there, or one GPU for several processes.

    Notes
    -----
    ``torchrun`` says how many there are in the variables ``RANK``, ``LOCAL_RANK`` and
    ``WORLD_SIZE``. They exchange tensors by NCCL on GPUs, by Gloo on CPUs. Where one ends with an
    error, its connections close, and the others end with an error too; those that wait for it on
    a GPU do not notice, and are ended by ``torchrun``, after 30 seconds.
    """
    rank, count = int(os.environ.get("RANK", 0)), int(os.environ.get("WORLD_SIZE", 1))
    place = torch.device(device or ("cuda" if torch.cuda.is_available() else "cpu"))
    if place.type == "cuda":
        place = _gpu(place, rank, count)
        torch.cuda.set_device(place)
    if count == 1:
        yield Processes(0, 1, place)
        return
    backend = "nccl" if place.type == "cuda" else "gloo"
    dist.init_process_group(backend)
    try:
        yield Processes(rank, count, place)
    except BaseException:
        # Leaving NCCL in good order takes all, and the others may be waiting for this one.
        if backend == "gloo":
            dist.destroy_process_group()
        raise
    dist.destroy_process_group()


def _gpu(asked: torch.device, rank: int, count: int) -> torch.device:
    """Return the GPU of this process: the one that is asked for, or one of its own."""
    if count > 1 and asked.index is not None:
        raise ValueError(
            f"{count} processes cannot share '{asked}': ask for 'cuda', and each takes its own"
        )
    index = int(os.environ.get("LOCAL_RANK", 0)) if asked.index is None else asked.index
    if index >= torch.cuda.device_count():
        raise ValueError(
            f"process {rank} of {count} is to use GPU {index}, counted from 0, but there are "
            f"{torch.cuda.device_count()}: start fewer processes, or take the device 'cpu'"
        )
    return torch.device("cuda", index)


def distribute(model: nn.Module, group: Processes, sharding: Sharding) -> nn.Module:
    """Prepare a model, which every process has built alike, for being trained by all of them.

    Parameters
    ----------
    model : nn.Module
        On the process's device.
    group : Processes
        Who trains it.
    sharding : {"none", "full"}
        Whether every process keeps the whole model and all exchange gradients, or each keeps its
        share of parameters, gradients and optimiser states and all exchange parameters, layer by
        layer, when they need them. A single process has the whole in either case.

    Returns
    -------
    nn.Module
        What to call in place of ``model``, whose gradients are averaged over the processes.

    Raises
    ------
    ValueError
        If the kind of sharding is not known.

    Notes
    -----
    Li et al. (2020) on data-parallel, Zhao et al. (2023) on fully sharded training.
    """
    check_kind("sharding", sharding, get_args(Sharding))
    if group.count == 1:
        return model
    if sharding == "none":
        return DistributedDataParallel(model, gradient_as_bucket_view=True)
    mesh = init_device_mesh(group.device.type, (group.count,))
    for module in model.modules():
        if isinstance(module, Layer):
            fully_shard(module, mesh=mesh)
    # What is outside of the layers, the embeddings, would by default stay whole after a forward
    # pass without a backward pass, and checkpoints would not find the optimiser's state of it.
    fully_shard(model, mesh=mesh, reshard_after_forward=True)
    return model


def gradients_stay(model: nn.Module, stay: bool) -> AbstractContextManager[None]:
    """Return a context in which gradients wait for later batches before they are exchanged.

    Those of a sharded model do not wait: until they are exchanged, each process holds all of them,
    and not having to is what sharding is for.
    """
    if isinstance(model, DistributedDataParallel) and stay:
        return model.no_sync()
    return nullcontext()


def whole(tensor: Tensor) -> Tensor:
    """Return a tensor that may be spread over the processes in one piece; all have to ask."""
    return tensor.full_tensor() if isinstance(tensor, DTensor) else tensor


def fill(tensor: Tensor, values: Tensor) -> None:
    """Copy ``values``, which every process has whole, into a tensor that may be spread."""
    if isinstance(tensor, DTensor):
        values = values.to(tensor.device)
        values = distribute_tensor(
            values, tensor.device_mesh, tensor.placements, src_data_rank=None
        )
    with torch.no_grad():
        tensor.copy_(values)
