"""Who may be looked at: only what came before, or only what is near."""

import math
from collections.abc import Callable, Iterator

import torch
from torch import Tensor

from glassbox_book.exercises.exercise import Case, Draw, Exercise, slips


def _allowed(x: Tensor, rule: Callable[[Tensor, Tensor], Tensor]) -> Tensor:
    position = torch.arange(x.size(0))
    return rule(position[:, None], position)


def _attend(x: Tensor, allowed: Tensor, *, late: bool = False) -> tuple[Tensor, Tensor]:
    scores = x @ x.mT
    if late:  # hidden after the softmax: rows no longer sum to one
        weights = scores.softmax(-1) * allowed
    else:
        weights = scores.masked_fill(~allowed, -math.inf).softmax(-1)
    return weights @ x, weights


def _sentences(draw: Draw) -> Iterator[Case]:
    yield Case("three tokens in the plane", x=torch.tensor([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]))
    yield Case("six tokens", x=draw(6, 8))
    yield Case("a single token", x=draw(1, 4))
    yield Case("double precision", x=draw(4, 3).double())


def _causal(
    x: Tensor,
    *,
    rule: Callable[[Tensor, Tensor], Tensor] = lambda i, j: j <= i,
    late: bool = False,
    even: bool = False,
) -> tuple[Tensor, Tensor]:
    allowed = _allowed(x, rule)
    context, weights = _attend(0 * x if even else x, allowed, late=late)
    return (weights @ x if even else context), weights


causal = Exercise(
    "self_attention.causal",
    _causal,
    _sentences,
    returns=("context", "weights"),
    mistakes=slips(
        _causal,
        {
            "Your tokens see what comes after them: i may look at j only if j is not after i.": {
                "rule": lambda i, j: j >= i
            },
            "Every token sees the whole sentence: leave out what comes after it.": {
                "rule": lambda i, j: (i - j) ** 2 >= 0
            },
            "You set weights to 0 after the softmax: what is left no longer sums to 1.": {
                "late": True
            },
            "All your weights in a row are equal: they have to come from the scores.": {
                "even": True
            },
        },
    ),
)


def _near(draw: Draw) -> Iterator[Case]:
    yield Case("neighbours at distance 1", x=draw(6, 4), distance=1)
    yield Case("distance 2", x=draw(7, 4), distance=2)
    yield Case("distance 0: everybody alone", x=draw(3, 2), distance=0)
    yield Case("a distance longer than the sentence", x=draw(4, 5), distance=10)


def _window(
    x: Tensor,
    distance: int,
    *,
    rule: Callable[[Tensor, Tensor, int], Tensor] = lambda i, j, d: (i - j).abs() <= d,
    late: bool = False,
) -> Tensor:
    return _attend(x, _allowed(x, lambda i, j: rule(i, j, distance)), late=late)[0]


window = Exercise(
    "self_attention.window",
    _window,
    _near,
    returns=("context",),
    mistakes=slips(
        _window,
        {
            "Your tokens look back only: the distance counts in both directions.": {
                "rule": lambda i, j, d: (j <= i) & (i - j <= d)
            },
            "Your window is one too wide: a token at exactly the distance is the last one seen.": {
                "rule": lambda i, j, d: (i - j).abs() <= d + 1
            },
            "Every token sees the whole sentence: leave out what is too far away.": {
                "rule": lambda i, j, d: (i - j).abs() >= 0
            },
            "You set weights to 0 after the softmax: what is left no longer sums to 1.": {
                "late": True
            },
        },
    ),
)
