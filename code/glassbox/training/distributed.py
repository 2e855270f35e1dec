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
    """Another process has failed and says why; so this one, which has not, ends as well."""


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

    def all_reduce(self, numbers: Tensor) -> Tensor:
        """Return a sum over all processes. A collective: every process must call it.

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

    def shard(self, examples: list[int]) -> list[int]:
        """Return this process's part of a batch.

        Parameters
        ----------
        examples : list of int
            The batch.

        Returns
        -------
        list of int
            Every ``count``-th example, so that lengths are distributed evenly; perhaps none.
        """
        return examples[self.rank :: self.count]

    @contextmanager
    def barrier(self) -> Iterator[None]:
        """Run the block in every process and wait for all; if one fails, raise in all.

        For what one process does for the others, such as writing. A collective: every process
        must call it.

        Raises
        ------
        OtherProcessError
            If another process has failed. That one raises its own error.
        """
        failure: Exception | None = None
        try:
            yield
        except Exception as error:
            failure = error
        failed = self.all_reduce(torch.tensor(int(failure is not None), device=self.device))
        if failure is not None:
            raise failure
        if failed.item():
            raise OtherProcessError(
                f"process {self.rank} of {self.count} stops because another has failed"
            )

    def assert_equal(self, what: str, number: int) -> None:
        """Raise in all processes if a number differs between them. A collective.

        Parameters
        ----------
        what : str
            What the number is.
        number : int
            That of this process.

        Raises
        ------
        ValueError
            If they differ, naming the numbers in the order of the processes.
        """
        mine = torch.zeros(self.count, dtype=torch.int64, device=self.device)
        mine[self.rank] = number
        numbers = self.all_reduce(mine).tolist()
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
        The processes that train it.
    sharding : {"none", "full"}
        Whether every process keeps the whole model and all exchange gradients, or each keeps its
        shard of parameters, gradients and optimiser states and all exchange parameters, layer by
        layer, when they need them. A single process has the whole model in either case.

    Returns
    -------
    nn.Module
        What to call instead of ``model``, whose gradients are averaged over the processes.

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
    # By default the embeddings, which are outside the layers, would stay gathered after a forward
    # pass without a backward pass, and checkpoints would not find the optimiser's state of them.
    fully_shard(model, mesh=mesh, reshard_after_forward=True)
    return model


def no_sync(model: nn.Module, wait: bool) -> AbstractContextManager[None]:
    """Return a context in which gradients are added up without being exchanged, if they ``wait``.

    Those of a sharded model are exchanged all the same: until then each process holds all of them,
    which is what sharding avoids.
    """
    if wait and isinstance(model, DistributedDataParallel):
        return model.no_sync()
    return nullcontext()


def full_tensor(tensor: Tensor) -> Tensor:
    """Gather a possibly sharded tensor. A collective: every process must call it."""
    return tensor.full_tensor() if isinstance(tensor, DTensor) else tensor


def copy_full_tensor(tensor: Tensor, values: Tensor) -> None:
    """Copy ``values``, which every process has in full, into a possibly sharded tensor."""
    if isinstance(tensor, DTensor):
        mesh, placements = tensor.device_mesh, tensor.placements
        values = distribute_tensor(values.to(tensor.device), mesh, placements, src_data_rank=None)
    with torch.no_grad():
        tensor.copy_(values)
