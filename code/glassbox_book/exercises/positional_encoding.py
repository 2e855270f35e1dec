"""Chapter 6: sinusoidal, ALiBi and rotary positions."""

from collections.abc import Iterator

import torch
from torch import Tensor

from glassbox.positional import half_to_interleaved, interleaved_to_half, sinusoidal_encoding
from glassbox_book.exercises.exercise import Case, Draw, cases_of

BASE = 10_000.0


def _sinusoidal(positions: Tensor, d_model: int, flaw: str) -> Tensor:
    step = 1 if flaw == "i/d" else 2
    power = step * torch.arange(d_model // 2, dtype=torch.float64) / d_model
    if flaw == "counted":
        positions = torch.arange(len(positions))
    start = 1 if flaw == "from 1" else 0
    angles = (positions[:, None] + start) / BASE ** (-power if flaw == "shorter" else power)
    waves = [angles.sin(), angles.cos()]
    if flaw == "exchanged":
        waves.reverse()
    joined = torch.cat(waves, -1) if flaw == "halves" else torch.stack(waves, -1).flatten(-2)
    return joined.float()


@cases_of(_sinusoidal, reference=sinusoidal_encoding, returns=("encoding",), tolerance=0.0001)
def _widths(draw: Draw) -> Iterator[Case]:
    yield Case("one pair, three positions", positions=torch.arange(3), d_model=2)
    yield Case("two pairs", positions=torch.arange(4), d_model=4)
    yield Case("a wide encoding", positions=torch.arange(50), d_model=64)
    yield Case("positions that do not start at 0", positions=torch.tensor([7, 8, 9]), d_model=6)
    yield Case("far positions", positions=torch.tensor([100, 2000, 30]), d_model=10)


def _shift_matrix(k: int, d_model: int, flaw: str = "") -> Tensor:
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


@cases_of(_shift_matrix, returns=("matrix",), tolerance=0.0001)
def _steps(draw: Draw) -> Iterator[Case]:
    yield Case("one pair, one step", k=1, d_model=2)
    yield Case("no step at all", k=0, d_model=6)
    yield Case("three pairs, five steps", k=5, d_model=6)
    yield Case("a step back", k=-2, d_model=8)
    yield Case("many steps", k=100, d_model=16)


def _alibi(n_heads: int, q_len: int, k_len: int, flaw: str = "") -> Tensor:
    heads = torch.arange(n_heads)
    flaws = {"from 1": 8 * heads / n_heads, "no number of heads": heads + 1}
    slopes = 2.0 ** -flaws.get(flaw, 8 * (heads + 1) / n_heads)
    queries = torch.arange(q_len) + (0 if flaw == "first positions" else k_len - q_len)
    away = queries[:, None] - torch.arange(k_len)
    bias = -slopes[:, None, None] * (away if flaw == "signed" else away.abs())
    return -bias if flaw == "gain" else bias


@cases_of(_alibi, returns=("bias",))
def _sizes(draw: Draw) -> Iterator[Case]:
    yield Case("one head", n_heads=1, q_len=3, k_len=3)
    yield Case("two heads", n_heads=2, q_len=4, k_len=4)
    yield Case("eight heads", n_heads=8, q_len=5, k_len=5)
    yield Case("one new query", n_heads=4, q_len=1, k_len=7)
    yield Case("two new queries", n_heads=4, q_len=2, k_len=6)
    yield Case("sixteen heads", n_heads=16, q_len=3, k_len=3)


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


@cases_of(_rotate, returns=("turned",), tolerance=0.0001, gradients=True)
def _vectors(draw: Draw) -> Iterator[Case]:
    yield Case("one pair", x=draw(3, 2), positions=torch.arange(3))
    yield Case("three pairs", x=draw(4, 6), positions=torch.arange(4))
    yield Case("batch and heads in front", x=draw(2, 3, 5, 8), positions=torch.arange(5))
    yield Case("one new position", x=draw(2, 1, 8), positions=torch.tensor([41]))
    yield Case("positions in any order", x=draw(3, 4), positions=torch.tensor([9, 2, 5]))
    far = torch.tensor([0, 200, 7])
    yield Case("double precision and distant positions", x=draw(3, 4).double(), positions=far)


def _to_half(weight: Tensor, n_heads: int, flaw: str = "") -> Tensor:
    move = half_to_interleaved if flaw == "back" else interleaved_to_half
    heads = 1 if flaw == "all rows" else n_heads
    return move(weight, dim=1 if flaw == "columns" else 0, n_heads=heads)


@cases_of(_to_half, returns=("weight",))
def _weights(draw: Draw) -> Iterator[Case]:
    yield Case("one head", weight=draw(6, 6), n_heads=1)
    yield Case("two heads", weight=draw(12, 12), n_heads=2)
    yield Case("three heads of eight", weight=draw(24, 24), n_heads=3)
    yield Case("heads wider than their share", weight=draw(12, 10), n_heads=2)
