"""The mean of several checkpoints, which is often better than any one of them (chapter 9)."""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import torch
from safetensors import SafetensorError, safe_open
from torch import Tensor

from glassbox.weights import WEIGHTS_FILE

Weights = str | os.PathLike[str] | Mapping[str, Tensor]


def average(checkpoints: Iterable[Weights]) -> dict[str, Tensor]:
    r"""Return the arithmetic mean of the weights of several checkpoints.

    .. math::
        \bar{\theta} = \frac{1}{n} \sum_{i=1}^n \theta_i

    Files are read one tensor at a time, so memory holds a single sum, however many there are. The
    sum is in float64 and rounded once: tied weights have equal means, and a weight that is the same
    in all checkpoints keeps every bit.

    Parameters
    ----------
    checkpoints : iterable of path or mapping
        Safetensors files, folders that hold a ``model.safetensors``, or state dicts, the oldest
        first.

    Returns
    -------
    dict of Tensor
        New tensors by name, with their original types. A tensor that is not floating-point, such as
        a counter, is the last checkpoint's.

    Raises
    ------
    ValueError
        If there is no checkpoint, a file is not a safetensors file, or two differ in the names,
        shapes or types of their tensors, naming both.
    FileNotFoundError
        If a file is missing.
    TypeError
        If a single checkpoint is given instead of several.

    Notes
    -----
    Vaswani et al. (2017), section 6.1: the last 5 checkpoints of the base model, the last 20 of
    the big one. Chapter 9.
    """
    if isinstance(checkpoints, str | os.PathLike | Mapping):
        raise TypeError(
            f"average takes several checkpoints, but a single {type(checkpoints).__name__} was "
            "given: put them into a list"
        )
    sums: dict[str, Tensor] = {}
    kinds: dict[str, tuple[tuple[int, ...], torch.dtype]] = {}
    first, count = "", 0
    for count, checkpoint in enumerate(checkpoints, 1):
        this = f"state dict {count}" if isinstance(checkpoint, Mapping) else f"{checkpoint}"
        first = first or this
        with _opened(checkpoint) as (names, read):
            if count > 1 and (differing := sorted({*names} ^ kinds.keys())):
                raise ValueError(
                    f"{first} and {this} are not of one model: only one of the two has {differing}"
                )
            for name in names:
                tensor = read(name).detach()
                kind = tuple(tensor.shape), tensor.dtype
                if kind != kinds.setdefault(name, kind):
                    raise ValueError(
                        f"{name} is {kinds[name][0]}, {kinds[name][1]} in {first}, and {kind[0]}, "
                        f"{kind[1]} in {this}: checkpoints of one model are averaged"
                    )
                real = tensor.is_floating_point()
                if real and count > 1:
                    sums[name] += tensor
                else:
                    sums[name] = tensor.to(torch.float64 if real else tensor.dtype, copy=True)
    if not count:
        raise ValueError("there is no checkpoint to average: give at least one")
    return {
        name: total.div_(count).to(kinds[name][1]) if total.is_floating_point() else total
        for name, total in sums.items()
    }


@contextmanager
def _opened(checkpoint: Weights) -> Iterator[tuple[list[str], Callable[[str], Tensor]]]:
    """Yield the names of a checkpoint's tensors, and a function that reads one of them."""
    if isinstance(checkpoint, Mapping):
        yield list(checkpoint), checkpoint.__getitem__
        return
    path = Path(checkpoint)
    path = path / WEIGHTS_FILE if path.is_dir() else path
    if not path.is_file():
        raise FileNotFoundError(
            f"there is no {path}: expected a safetensors file, or a folder with a {WEIGHTS_FILE}"
        )
    try:
        with safe_open(path, framework="pt") as file:
            yield list(file.keys()), file.get_tensor
    except SafetensorError as error:
        raise ValueError(f"{path} is no whole safetensors file: {error}") from error
