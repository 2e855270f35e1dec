"""Chapter 6: sinusoidal, ALiBi and rotary positions."""

import torch
from torch import Tensor

from glassbox.positional import half_to_interleaved, interleaved_to_half, sinusoidal_encoding
from glassbox_book.exercises.exercise import Cases, Draw, cases_of

BASE = 10_000.0


def _sinusoidal(positions: Tensor, d_model: int, flaw: str) -> Tensor:
    step = {"i/d": 1, "4i/d": 4}.get(flaw, 2)
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
def _widths(draw: Draw) -> Cases:
    yield "one pair, three positions", torch.arange(3), 2
    yield "two pairs", torch.arange(4), 4
    yield "a wide encoding", torch.arange(50), 64
    yield "positions that do not start at 0", torch.tensor([7, 8, 9]), 6
    yield "far positions", torch.tensor([100, 2000, 30]), 10


def _shift_matrix(k: int, d_model: int, flaw: str) -> Tensor:
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
def _steps(draw: Draw) -> Cases:
    yield "one pair, one step", 1, 2
    yield "no step at all", 0, 6
    yield "three pairs, five steps", 5, 6
    yield "a step back", -2, 8
    yield "many steps", 100, 16


def _alibi(n_heads: int, q_len: int, k_len: int, flaw: str) -> Tensor:
    heads = torch.arange(n_heads)
    flaws = {"from 1": 8 * heads / n_heads, "no number of heads": heads + 1}
    slopes = 2.0 ** -flaws.get(flaw, 8 * (heads + 1) / n_heads)
    queries = torch.arange(q_len) + (0 if flaw == "first positions" else k_len - q_len)
    away = queries[:, None] - torch.arange(k_len)
    bias = -slopes[:, None, None] * (away if flaw == "signed" else away.abs())
    return -bias if flaw == "gain" else bias


@cases_of(_alibi, returns=("bias",))
def _sizes(draw: Draw) -> Cases:
    yield "one head", 1, 3, 3
    yield "two heads", 2, 4, 4
    yield "eight heads", 8, 5, 5
    yield "one new query", 4, 1, 7
    yield "two new queries", 4, 2, 6
    yield "sixteen heads", 16, 3, 3


def _rotate(x: Tensor, positions: Tensor, flaw: str) -> Tensor:
    d_k = x.size(-1)
    where = torch.arange(len(positions)) if flaw == "counted" else positions
    step = 1 if flaw == "i/d" else 2
    angles = where[:, None] / BASE ** (step * torch.arange(d_k // 2).double() / d_k)
    cos, sin = angles.cos().to(x.dtype), angles.sin().to(x.dtype)
    if flaw == "other way":
        sin = -sin
    a, b = x.chunk(2, -1) if flaw == "halves" else (x[..., 0::2], x[..., 1::2])
    pair = a * cos - b * sin, b * cos + a * sin
    return torch.cat(pair, -1) if flaw in ("halves", "cat") else torch.stack(pair, -1).flatten(-2)


@cases_of(_rotate, returns=("turned vectors",), tolerance=0.0001, gradients=True)
def _vectors(draw: Draw) -> Cases:
    yield "one pair", draw(3, 2), torch.arange(3)
    yield "three pairs", draw(4, 6), torch.arange(4)
    yield "batch and heads in front", draw(2, 3, 5, 8), torch.arange(5)
    yield "one new position", draw(2, 1, 8), torch.tensor([41])
    yield "positions in any order", draw(3, 4), torch.tensor([9, 2, 5])
    yield "double precision and distant positions", draw(3, 4).double(), torch.tensor([0, 200, 7])


def _to_half(weight: Tensor, n_heads: int, flaw: str) -> Tensor:
    move = half_to_interleaved if flaw == "back" else interleaved_to_half
    heads = 1 if flaw == "all rows" else n_heads
    return move(weight, dim=1 if flaw == "columns" else 0, n_heads=heads)


@cases_of(_to_half, returns=("weight",))
def _weights(draw: Draw) -> Cases:
    yield "one head", draw(6, 6), 1
    yield "two heads", draw(12, 12), 2
    yield "three heads of eight", draw(24, 24), 3
    yield "heads wider than their share", draw(12, 10), 2
