"""Several processes that train one model: each computes a part of every batch (chapter 12)."""

import os
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field
from typing import Literal, get_args

import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.nn.parallel import DistributedDataParallel

from glassbox.checks import check_kind
from glassbox.layers import Layer

Sharding = Literal["none", "full"]


class OtherProcessError(RuntimeError):
    """Another process has failed and reports why, so this one ends too."""


@dataclass(frozen=True)
class Processes:
    """The processes that train together, seen from one of them.

    Parameters
    ----------
    rank : int
        Index of this process, from 0.
    count : int
        Number of processes.
    device : torch.device
        The device of this process.
    world : torch.distributed.ProcessGroup, optional
        What they communicate through. It must outlive what was distributed over it: a model that
        is freed last waits for threads of the group which wait for the interpreter, forever.
    """

    rank: int
    count: int
    device: torch.device
    world: dist.ProcessGroup | None = field(default=None, repr=False, compare=False)

    @property
    def first(self) -> bool:
        """Whether this process writes files and shows progress."""
        return self.rank == 0

    def all_reduce(self, numbers: Tensor) -> Tensor:
        """Return a sum over all processes. A collective: every process must call it.

        Parameters
        ----------
        numbers : Tensor
            This process's part, of the same shape in every process.

        Returns
        -------
        Tensor
            The sum, the same in every process.
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

        For work that one process does for the others, such as writing. A collective: every process
        must call it.

        Raises
        ------
        OtherProcessError
            If another process has failed, which raises its own error.
        """
        try:
            yield
        except Exception:
            self.all_reduce(torch.tensor(1, device=self.device))
            raise
        if self.all_reduce(torch.tensor(0, device=self.device)).item():
            raise OtherProcessError(
                f"process {self.rank} of {self.count} stops because another has failed"
            )

    def assert_equal(self, what: str, number: int) -> None:
        """Raise in all processes if a number differs between them. A collective.

        Parameters
        ----------
        what : str
            What the number means.
        number : int
            This process's number.

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
    """Join the processes started by PyTorch's launcher, or be the only one.

    Parameters
    ----------
    device : str or torch.device, optional
        Where to compute; by default, one GPU per process if there are any, else the CPU.

    Yields
    ------
    Processes
        This process among the others.

    Raises
    ------
    ValueError
        If the requested GPU does not exist, or is requested for several processes.

    Notes
    -----
    ``torchrun`` sets the variables ``RANK``, ``LOCAL_RANK`` and ``WORLD_SIZE``. The processes
    exchange tensors by NCCL on GPUs, by Gloo on CPUs. If one ends with an error, its connections
    close, and the others end with an error too; those that wait for it on a GPU do not notice, and
    ``torchrun`` ends them after 30 seconds.
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
        yield Processes(rank, count, place, dist.group.WORLD)
    except BaseException:
        # A clean exit from NCCL needs every process, and the others may be waiting for this one.
        if backend == "gloo":
            dist.destroy_process_group()
        raise
    dist.destroy_process_group()


def _gpu(asked: torch.device, rank: int, count: int) -> torch.device:
    """Return the GPU of this process: the requested one, or one of its own."""
    if count > 1 and asked.index is not None:
        raise ValueError(
            f"{count} processes cannot share '{asked}': ask for 'cuda', and each takes its own"
        )
    index = int(os.environ.get("LOCAL_RANK", 0)) if asked.index is None else asked.index
    if index >= torch.cuda.device_count():
        raise ValueError(
            f"process {rank} of {count} is to use GPU {index}, counted from 0, but there are "
            f"{torch.cuda.device_count()}: start fewer processes, or use device 'cpu'"
        )
    return torch.device("cuda", index)


def distribute(model: nn.Module, group: Processes, sharding: Sharding) -> nn.Module:
    """Prepare a model, built identically in every process, for training by all of them.

    Parameters
    ----------
    model : nn.Module
        On the process's device.
    group : Processes
        The processes that train it.
    sharding : {"none", "full"}
        With "none", every process keeps the whole model, and they exchange gradients; with "full",
        each keeps its shard of parameters, gradients and optimiser states, and they exchange
        parameters, layer by layer, as needed. A single process always has the whole model.

    Returns
    -------
    nn.Module
        The module to call instead of ``model``; gradients are averaged over the processes.

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
    # Here, because importing this takes a second, and most training is by one process.
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.fsdp import fully_shard

    mesh = init_device_mesh(group.device.type, (group.count,))
    for module in model.modules():
        if isinstance(module, Layer):
            fully_shard(module, mesh=mesh)
    # By default the embeddings, which are outside the layers, would stay gathered after a forward
    # pass without a backward pass, and checkpoints would not find their optimiser states.
    fully_shard(model, mesh=mesh, reshard_after_forward=True)
    return model


def no_sync(model: nn.Module, wait: bool) -> AbstractContextManager[None]:
    """Return a context in which gradients, if they ``wait``, are summed without being exchanged.

    A sharded model's gradients are exchanged anyway: otherwise each process would hold all of them,
    which sharding is meant to avoid.
    """
    if wait and isinstance(model, DistributedDataParallel):
        return model.no_sync()
    return nullcontext()


def full_tensor(tensor: Tensor) -> Tensor:
    """Gather a possibly sharded tensor. A collective: every process must call it."""
    return tensor.full_tensor() if hasattr(tensor, "full_tensor") else tensor


def copy_full_tensor(tensor: Tensor, values: Tensor) -> None:
    """Copy ``values``, which every process has in full, into a possibly sharded tensor."""
    if hasattr(tensor, "full_tensor"):
        from torch.distributed.tensor import DTensor, distribute_tensor

        assert isinstance(tensor, DTensor)
        mesh, placements = tensor.device_mesh, tensor.placements
        values = distribute_tensor(values.to(tensor.device), mesh, placements, src_data_rank=None)
    with torch.no_grad():
        tensor.copy_(values)
