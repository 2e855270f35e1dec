"""Rotary positions, and a weight that was trained with another order of pairs."""

from collections.abc import Iterator

import torch
from torch import Tensor

from glassbox.positional import half_to_interleaved, interleaved_to_half
from glassbox_book.exercises.exercise import Case, Draw, Exercise, slips

BASE = 10_000.0


def _rotate(
    x: Tensor,
    positions: Tensor,
    *,
    sign: int = 1,
    half: bool = False,
    step: int = 2,
    ignore: bool = False,
) -> Tensor:
    d_k = x.size(-1)
    where = torch.arange(len(positions)) if ignore else positions
    angles = sign * where[:, None] / BASE ** (step * torch.arange(d_k // 2).double() / d_k)
    cos, sin = angles.cos().to(x.dtype), angles.sin().to(x.dtype)
    a, b = x.chunk(2, -1) if half else (x[..., 0::2], x[..., 1::2])
    pair = a * cos - b * sin, b * cos + a * sin
    return torch.cat(pair, -1) if half else torch.stack(pair, -1).flatten(-2)


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
    mistakes=slips(
        _rotate,
        {
            "You turned the other way: the first of a pair loses the second times the sine.": {
                "sign": -1
            },
            "Your pairs are half a width apart, as in LLaMA: here the two of a pair stand side by "
            "side.": {"half": True},
            "Your exponent is i/d: with i counting pairs it is 2i/d.": {"step": 1},
            "You counted positions from 0 yourself: take those that are given.": {"ignore": True},
        },
    ),
)


def _to_half(
    weight: Tensor,
    n_heads: int,
    *,
    per_head: bool = True,
    columns: bool = False,
    back: bool = False,
) -> Tensor:
    move = half_to_interleaved if back else interleaved_to_half
    heads = n_heads if per_head else 1
    return move(weight, dim=1 if columns else 0, n_heads=heads)


def _weights(draw: Draw) -> Iterator[Case]:
    yield Case("one head", weight=draw(6, 6), n_heads=1)
    yield Case("two heads", weight=draw(12, 12), n_heads=2)
    yield Case("three heads of eight", weight=draw(24, 24), n_heads=3)


to_half = Exercise(
    "positional_encoding.to_half",
    _to_half,
    _weights,
    returns=("weight",),
    mistakes=slips(
        _to_half,
        {
            "You sorted all rows at once: each head has its own pairs, so sort within each head.": {
                "per_head": False
            },
            "You sorted the columns: those belong to the input. What comes out of a head stands in "
            "the rows.": {"columns": True},
            "You sorted the other way, from half a width apart to side by side.": {"back": True},
        },
    ),
)
