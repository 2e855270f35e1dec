"""Count the bytes of the tensors that a computation holds, on any machine (chapter 12)."""

import weakref
from typing import Any

from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves


class MemoryCount(TorchDispatchMode):
    """Count the bytes of all dense tensors that operations create inside a ``with`` block.

    They count while they exist. Memory that several tensors share counts once, and tensors that
    existed before do not count; nor do those made of Python or NumPy data, such as
    ``torch.tensor([1.0])``, or memory that ``out=`` or ``resize_`` adds. What a kernel needs while
    it runs, and gives back before it returns, is not seen.

    Attributes
    ----------
    held : int
        Bytes of the tensors that exist now. After a forward pass, these are its outputs and what it
        keeps for the backward pass.
    peak : int
        The largest number of bytes held at one time.
    largest : int
        Bytes of the largest tensor created.

    Examples
    --------
    >>> with MemoryCount() as memory:
    ...     loss = model(x).sum()
    >>> memory.held

    Notes
    -----
    Chapter 12.
    """

    def __init__(self) -> None:
        super().__init__()
        self.held = self.peak = self.largest = 0
        self._known: set[int] = set()

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Run an operation of PyTorch and count what it creates."""
        out = func(*args, **(kwargs or {}))
        given = {_storage(x) for x in tree_leaves((args, kwargs)) if isinstance(x, Tensor)}
        for x in tree_leaves(out):
            if isinstance(x, Tensor) and _storage(x) not in given | self._known:
                self._count(x)
        return out

    def _count(self, x: Tensor) -> None:
        storage, place, size = x.untyped_storage(), _storage(x), x.untyped_storage().nbytes()
        self._known.add(place)
        self.held += size
        self.peak, self.largest = max(self.peak, self.held), max(self.largest, size)
        weakref.finalize(storage, self._release, place, size).atexit = False

    def _release(self, place: int, size: int) -> None:
        self._known.discard(place)
        self.held -= size


def _storage(x: Tensor) -> int:
    """Return what identifies the memory of a tensor while it exists."""
    return x.untyped_storage()._cdata
