"""The softmax: without overflow, its Jacobian, its temperature."""

import math
from collections.abc import Iterator
from functools import partial

import torch
from torch import Tensor

from glassbox_book.exercises.exercise import Case, Draw, Exercise


def _softmax(scores: Tensor, flaw: str = "") -> Tensor:
    dim = -2 if flaw == "queries" else -1
    largest = scores.amax(dim, keepdim=True)
    shifts = {"no shift": torch.zeros_like(largest), "one shift": scores.max(), "added": -largest}
    shifted = scores - shifts.get(flaw, largest)
    powers = (-shifted if flaw == "sign" else shifted).exp()
    return powers / powers.sum(dim, keepdim=flaw != "no keepdim")


def _rows(draw: Draw) -> Iterator[Case]:
    yield Case("two rows of three", scores=draw(2, 3))
    yield Case("a square", scores=draw(4, 4))
    yield Case("a single row without other axes", scores=draw(6))
    yield Case("a batch of heads", scores=draw(2, 3, 3, 5))
    yield Case("scores in the hundreds", scores=300 * draw(3, 4))
    yield Case("one row far below another", scores=draw(2, 3) + torch.tensor([[0.0], [-500.0]]))
    hidden = torch.tensor([[False, False, True], [False, True, True]])
    yield Case("keys hidden by a score of -inf", scores=draw(2, 3).masked_fill(hidden, -math.inf))
    yield Case("a transposed view", scores=draw(5, 3).mT)
    yield Case("double precision", scores=draw(2, 4).double())


softmax = Exercise(
    "scaled_dot_product.softmax",
    partial(torch.softmax, dim=-1),
    _rows,
    _softmax,
    returns=("weights",),
    gradients=True,
)


def _jacobian(scores: Tensor) -> Tensor:
    of_a_row = partial(torch.autograd.functional.jacobian, partial(torch.softmax, dim=-1))
    rows = scores.reshape(-1, scores.size(-1))
    return torch.stack([of_a_row(row) for row in rows]).reshape(*scores.shape, -1)


def _formula(scores: Tensor, flaw: str) -> Tensor:
    w = scores if flaw == "scores" else scores.softmax(-1)
    outer = w[..., :, None] * w[..., None, :]
    flaws = {"added": -outer, "no outer": 0 * outer, "diagonal": outer * torch.eye(w.size(-1))}
    return torch.diag_embed(w) - flaws.get(flaw, outer)


def _single_rows(draw: Draw) -> Iterator[Case]:
    yield Case("a row of three", scores=draw(3))
    yield Case("a row of seven", scores=draw(7))
    yield Case("equal scores", scores=torch.zeros(4))
    yield Case("a row so sharp that no gradient is left", scores=torch.tensor([0.0, 200.0, 50.0]))
    yield Case("a matrix of rows", scores=draw(4, 4))
    yield Case("a batch of heads", scores=draw(2, 3, 4, 5))


softmax_jacobian = Exercise(
    "scaled_dot_product.softmax_jacobian", _jacobian, _single_rows, _formula, returns=("Jacobian",)
)

# The temperature for an entropy -------------------------------------------------------------


def _temperature(scores: Tensor, entropy: float, flaw: str = "") -> float:
    unit = math.log(2) if flaw == "bits" else 1.0
    low, high = 1e-6, 1e6
    for _ in range(80):
        middle = math.sqrt(low * high)
        weights = (scores.double() / middle).softmax(-1)
        if torch.special.entr(weights).sum() / unit < entropy:
            low = middle
        else:
            high = middle
    return 1 / middle if flaw == "inverse" else middle


def _entropies(draw: Draw) -> Iterator[Case]:
    yield Case("four keys", scores=draw(4), entropy=1.0)
    yield Case("scores of width 64, not scaled", scores=draw(20, 64) @ draw(64), entropy=2.0)
    yield Case("nearly uniform weights", scores=draw(8), entropy=0.99 * math.log(8))
    yield Case("nearly all weight on one key", scores=draw(8), entropy=0.05)
    yield Case("scores in the thousands", scores=2000 * draw(6), entropy=1.2)
    yield Case("scores close together", scores=draw(6) / 500, entropy=0.9)


temperature = Exercise(
    "scaled_dot_product.temperature",
    _temperature,
    _entropies,
    returns=("temperature",),
    tolerance=1e-3,
)
