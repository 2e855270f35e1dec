"""The sinusoidal encoding, and the matrix that shifts it."""

from collections.abc import Iterator

import torch
from torch import Tensor

from glassbox.positional import sinusoidal_encoding
from glassbox_book.exercises.exercise import Case, Draw, Exercise

BASE = 10_000.0


def _sinusoidal(positions: Tensor, d_model: int, flaw: str) -> Tensor:
    step = 1 if flaw == "i/d" else 2
    power = step * torch.arange(d_model // 2, dtype=torch.float64) / d_model
    start = 1 if flaw == "from 1" else 0
    angles = (positions[:, None] + start) / BASE ** (-power if flaw == "shorter" else power)
    waves = [angles.sin(), angles.cos()]
    if flaw == "exchanged":
        waves.reverse()
    joined = torch.cat(waves, -1) if flaw == "halves" else torch.stack(waves, -1).flatten(-2)
    return joined.float()


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
    _sinusoidal,
    returns=("encoding",),
    tolerance=1e-4,
)


def _shift(k: int, d_model: int, flaw: str = "") -> Tensor:
    step = 1 if flaw == "i/d" else 2
    angles = k / BASE ** (step * torch.arange(d_model // 2).double() / d_model)
    cos, sin = angles.cos(), angles.sin()
    if flaw == "backwards":
        sin = -sin
    matrix = torch.block_diag(*torch.stack((cos, -sin, sin, cos), -1).view(-1, 2, 2))
    if flaw == "halves":
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
    "positional_encoding.shift_matrix", _shift, _steps, returns=("matrix",), tolerance=1e-4
)
