"""The mean of several checkpoints, which is often better than any one of them (chapter 9)."""

import os
from collections.abc import Iterable, Mapping
from pathlib import Path

import torch
from torch import Tensor

from glassbox.files import StrPath
from glassbox.weights import read_tensors, read_weights

Weights = StrPath | Mapping[str, Tensor]


def average(checkpoints: Iterable[Weights]) -> dict[str, Tensor]:
    r"""Return the arithmetic mean of the weights of several checkpoints.

    .. math::
        \bar{\theta} = \frac{1}{n} \sum_{i=1}^n \theta_i

    Memory holds one checkpoint and the sum, however many there are. The sum is in float64 and
    rounded once: tied weights have equal means, and a weight that is the same in all checkpoints
    keeps every bit, unless it is itself in float64.

    Parameters
    ----------
    checkpoints : iterable of path or mapping
        Safetensors files, folders that hold a ``model.safetensors`` or the files that it is divided
        into, or state dicts, the oldest first.

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
    count = 0
    for count, checkpoint in enumerate(checkpoints, 1):
        this = f"state dict {count}" if isinstance(checkpoint, Mapping) else f"{checkpoint}"
        tensors = checkpoint if isinstance(checkpoint, Mapping) else _read(Path(checkpoint))
        found = {name: (tuple(tensor.shape), tensor.dtype) for name, tensor in tensors.items()}
        if count == 1:
            first, kinds = this, found
        for name in sorted({*kinds, *found}):
            ours, theirs = kinds.get(name, "missing"), found.get(name, "missing")
            if ours != theirs:
                raise ValueError(
                    f"{name} is {ours} in {first}, and {theirs} in {this}: checkpoints of one "
                    "model are averaged"
                )
        for name, tensor in tensors.items():
            if tensor.is_floating_point():
                sums[name] = sums.get(name, 0) + tensor.detach().double()
            else:
                sums[name] = tensor.clone()
    if not count:
        raise ValueError("there is no checkpoint to average: give at least one")
    return {
        name: (total / count).to(kinds[name][1]) if total.is_floating_point() else total
        for name, total in sums.items()
    }


def _read(path: Path) -> dict[str, Tensor]:
    path = path.expanduser()
    return read_weights(path) if path.is_dir() else read_tensors(path)
