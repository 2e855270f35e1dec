"""Rotary positions, and a weight that was trained with the other order of pairs."""

from collections.abc import Iterator

import torch
from torch import Tensor

from glassbox.positional import half_to_interleaved, interleaved_to_half
from glassbox_book.exercises.exercise import Case, Draw, Exercise

BASE = 10_000.0


def _rotate(x: Tensor, positions: Tensor, flaw: str = "") -> Tensor:
    d_k = x.size(-1)
    where = torch.arange(len(positions)) if flaw == "counted" else positions
    step = 1 if flaw == "i/d" else 2
    angles = where[:, None] / BASE ** (step * torch.arange(d_k // 2).double() / d_k)
    cos, sin = angles.cos().to(x.dtype), angles.sin().to(x.dtype)
    if flaw == "other way":
        sin = -sin
    a, b = x.chunk(2, -1) if flaw == "halves" else (x[..., 0::2], x[..., 1::2])
    pair = a * cos - b * sin, b * cos + a * sin
    return torch.cat(pair, -1) if flaw == "halves" else torch.stack(pair, -1).flatten(-2)


def _vectors(draw: Draw) -> Iterator[Case]:
    yield Case("one pair", x=draw(3, 2), positions=torch.arange(3))
    yield Case("three pairs", x=draw(4, 6), positions=torch.arange(4))
    yield Case("batch and heads in front", x=draw(2, 3, 5, 8), positions=torch.arange(5))
    yield Case("one new position", x=draw(2, 1, 8), positions=torch.tensor([41]))
    yield Case("positions in any order", x=draw(3, 4), positions=torch.tensor([9, 2, 5]))


rotate = Exercise(
    "positional_encoding.rotate",
    _rotate,
    _vectors,
    returns=("turned",),
    tolerance=1e-4,
    gradients=True,
)


def _to_half(weight: Tensor, n_heads: int, flaw: str = "") -> Tensor:
    move = half_to_interleaved if flaw == "back" else interleaved_to_half
    heads = 1 if flaw == "all rows" else n_heads
    return move(weight, dim=1 if flaw == "columns" else 0, n_heads=heads)


def _weights(draw: Draw) -> Iterator[Case]:
    yield Case("one head", weight=draw(6, 6), n_heads=1)
    yield Case("two heads", weight=draw(12, 12), n_heads=2)
    yield Case("three heads of eight", weight=draw(24, 24), n_heads=3)


to_half = Exercise("positional_encoding.to_half", _to_half, _weights, returns=("weight",))
