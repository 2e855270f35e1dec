"""The sinusoidal encoding, and the matrix that moves it along."""

from collections.abc import Callable, Iterator

import torch
from torch import Tensor

from glassbox.positional import sinusoidal_encoding
from glassbox_book.exercises.exercise import Case, Draw, Exercise, slips

BASE = 10_000.0


def _sinusoidal(
    positions: Tensor,
    d_model: int,
    *,
    step: int = 2,
    first: Callable[[Tensor], Tensor] = torch.sin,
    second: Callable[[Tensor], Tensor] = torch.cos,
    joined: Callable[[list[Tensor]], Tensor] = lambda waves: torch.stack(waves, -1).flatten(-2),
    power: float = 1.0,
    start: int = 0,
) -> Tensor:
    pairs = torch.arange(d_model // 2, dtype=torch.float64)
    angles = (positions[:, None] + start) / BASE ** (power * step * pairs / d_model)
    return joined([first(angles), second(angles)]).float()


def _widths(draw: Draw) -> Iterator[Case]:
    yield Case("one pair, three positions", positions=torch.arange(3), d_model=2)
    yield Case("two pairs", positions=torch.arange(4), d_model=4)
    yield Case("a wide encoding", positions=torch.arange(50), d_model=64)
    yield Case("positions that do not start at 0", positions=torch.tensor([7, 8, 9]), d_model=6)
    yield Case("far positions", positions=torch.tensor([100, 2000, 30]), d_model=10)


sinusoidal = Exercise(
    "positional_encoding.sinusoidal",
    sinusoidal_encoding,
    _widths,
    returns=("encoding",),
    tolerance=1e-4,
    mistakes=slips(
        _sinusoidal,
        {
            "Your exponent is i/d: with i counting pairs it is 2i/d.": {"step": 1},
            "All your sines stand first, then all cosines: that is the other order. Here the two "
            "of a pair stand side by side.": {"joined": lambda waves: torch.cat(waves, -1)},
            "Sine and cosine are exchanged: even components are sines.": {
                "first": torch.cos,
                "second": torch.sin,
            },
            "Your waves grow shorter where they should grow longer: divide the position by the "
            "power of the base.": {"power": -1.0},
            "You count positions from 1: the first one is 0.": {"start": 1},
        },
    ),
)


def _shift(
    k: int,
    d_model: int,
    *,
    sign: int = 1,
    half: bool = False,
    step: int = 2,
    grow: int = 1,
) -> Tensor:
    angles = sign * k / BASE ** (grow * step * torch.arange(d_model // 2).double() / d_model)
    cos, sin = angles.cos(), angles.sin()
    blocks = torch.stack((cos, -sin, sin, cos), -1).view(-1, 2, 2)
    matrix = torch.block_diag(*blocks)
    if half:
        order = torch.arange(d_model).view(-1, 2).T.flatten()
        matrix = matrix[order][:, order]
    return matrix.float()


def _steps(draw: Draw) -> Iterator[Case]:
    yield Case("one pair, one step", k=1, d_model=2)
    yield Case("no step at all", k=0, d_model=6)
    yield Case("three pairs, five steps", k=5, d_model=6)
    yield Case("a step back", k=-2, d_model=8)
    yield Case("many steps", k=100, d_model=16)


shift_matrix = Exercise(
    "positional_encoding.shift_matrix",
    _shift,
    _steps,
    returns=("matrix",),
    tolerance=1e-4,
    mistakes=slips(
        _shift,
        {
            "Your matrix moves backwards: encodings are rows, and a row times a matrix is turned "
            "the other way than a matrix times a column.": {"sign": -1},
            "Your pairs are half a width apart: here the two of a pair stand side by side, so the "
            "matrix has blocks of two by two.": {"half": True},
            "Your exponent is i/d: with i counting pairs it is 2i/d.": {"step": 1},
        },
    ),
)
