"""The softmax: without overflow, its Jacobian, its temperature."""

import math
from collections.abc import Iterator
from functools import partial

import torch
from torch import Tensor

from glassbox_book.exercises.exercise import Case, Draw, Exercise, slips


def _softmax(
    scores: Tensor, *, dim: int = -1, shift: str = "row", keepdim: bool = True, sign: float = 1.0
) -> Tensor:
    shifts = {
        "row": scores.amax(dim, keepdim=True),
        "all": scores.max(),
        "none": torch.zeros((), dtype=scores.dtype),
        "added": -scores.amax(dim, keepdim=True),
    }
    powers = (sign * (scores - shifts[shift])).exp()
    return powers / powers.sum(dim, keepdim=keepdim)


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
    returns=("weights",),
    gradients=True,
    mistakes=slips(
        _softmax,
        {
            "You took the exponential of the scores as they are: exp(89) is already too large for "
            "float32. Subtract the largest score of the row first.": {"shift": "none"},
            "You subtracted the largest of all scores: in a row far below it every exponential "
            "becomes 0. Each row needs its own maximum.": {"shift": "all"},
            "You added the largest score of the row: subtract it.": {"shift": "added"},
            "Your rows do not sum to one but your columns do: the softmax ran over dim=-2, the "
            "queries. Each query shares itself out among the keys, dim=-1.": {"dim": -2},
            "You divided by sums without their axis: row sums of shape (n,) line up with the "
            "columns. keepdim=True leaves them where they belong.": {"keepdim": False},
            "The smallest scores got the largest weights: mind the sign in the exponent.": {
                "sign": -1.0
            },
        },
    ),
)


def _jacobian(scores: Tensor) -> Tensor:
    of_a_row = partial(torch.autograd.functional.jacobian, partial(torch.softmax, dim=-1))
    rows = scores.reshape(-1, scores.size(-1))
    return torch.stack([of_a_row(row) for row in rows]).reshape(*scores.shape, -1)


def _formula(
    scores: Tensor, *, of_scores: bool = False, sign: float = -1.0, diagonal: bool = False
) -> Tensor:
    w = scores if of_scores else scores.softmax(-1)
    outer = w[..., :, None] * w[..., None, :]
    return torch.diag_embed(w) + sign * (outer * torch.eye(w.size(-1)) if diagonal else outer)


def _single_rows(draw: Draw) -> Iterator[Case]:
    yield Case("a row of three", scores=draw(3))
    yield Case("a row of seven", scores=draw(7))
    yield Case("equal scores", scores=torch.zeros(4))
    yield Case("a row so sharp that no gradient is left", scores=torch.tensor([0.0, 200.0, 50.0]))
    yield Case("a matrix of rows", scores=draw(4, 4))
    yield Case("a batch of heads", scores=draw(2, 3, 4, 5))


softmax_jacobian = Exercise(
    "scaled_dot_product.softmax_jacobian",
    _jacobian,
    _single_rows,
    returns=("Jacobian",),
    mistakes=slips(
        _formula,
        {
            "You put the scores into the formula: it is written in terms of the weights.": {
                "of_scores": True
            },
            "You added the outer product: it is subtracted, because more weight for one key is "
            "less for the others.": {"sign": 1.0},
            "You left out the outer product: the weights of a row depend on all its scores.": {
                "sign": 0.0
            },
            "You have the diagonal only, w (1 - w): raising one score also lowers the weights of "
            "the other keys.": {"diagonal": True},
        },
    ),
)

# The temperature for an entropy -------------------------------------------------------------


def _temperature(
    scores: Tensor, entropy: float, *, unit: float = 1.0, inverse: bool = False
) -> float:
    low, high = 1e-6, 1e6
    for _ in range(80):
        middle = math.sqrt(low * high)
        weights = (scores.double() / middle).softmax(-1)
        if torch.special.entr(weights).sum() / unit < entropy:
            low = middle
        else:
            high = middle
    return 1 / middle if inverse else middle


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
    mistakes=slips(
        _temperature,
        {
            "This is one over the temperature: the scores are divided by it.": {"inverse": True},
            "You measured the entropy in bits: take the natural logarithm.": {"unit": math.log(2)},
        },
    ),
)
