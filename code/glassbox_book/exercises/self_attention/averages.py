"""Weights and contexts of self-attention without parameters."""

from collections.abc import Callable, Iterator

import torch
from torch import Tensor

from glassbox.attention.self_attention import simple_self_attention
from glassbox_book.exercises.exercise import Case, Draw, Exercise, slips


def _sequences(draw: Draw) -> Iterator[Case]:
    yield Case("three tokens in the plane", x=torch.tensor([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]))
    yield Case("five tokens", x=draw(5, 8))
    yield Case("a single token", x=draw(1, 4))
    yield Case("vectors that point away from one another", x=-draw(4, 1).abs() * draw(1, 3))
    yield Case("double precision", x=draw(4, 6).double())


def _weights(
    x: Tensor,
    *,
    normalise: Callable[[Tensor], Tensor] = lambda scores: scores.softmax(-1),
    other: Callable[[Tensor], Tensor] = lambda x: x,
) -> Tensor:
    return normalise(other(x) @ other(x).mT)


weights = Exercise(
    "self_attention.weights",
    lambda x: simple_self_attention(x)[1],
    _sequences,
    returns=("weights",),
    mistakes=slips(
        _weights,
        {
            "These are the scores: turn each row into weights.": {"normalise": lambda s: s},
            "You divided by the sum of the scores: take their exponentials first.": {
                "normalise": lambda s: s / s.sum(-1, keepdim=True)
            },
            "You normalised over the wrong axis: each row sums to 1, not each column.": {
                "normalise": lambda s: s.softmax(-2)
            },
            "You divided by the sum of all exponentials: each row has a sum of its own.": {
                "normalise": lambda s: s.flatten().softmax(0).view_as(s)
            },
            "You compared directions only: here the vectors keep their lengths.": {
                "other": lambda x: x / x.norm(dim=-1, keepdim=True)
            },
        },
    ),
)


def _batches(draw: Draw) -> Iterator[Case]:
    yield Case("one sentence", x=draw(5, 8))
    yield Case("a batch of sentences", x=draw(3, 4, 6))
    yield Case("two axes in front", x=draw(2, 3, 5, 4))
    yield Case("a batch of single tokens", x=draw(4, 1, 3))
    yield Case("as many tokens as components", x=draw(2, 4, 4))


def _simple(
    x: Tensor,
    *,
    axis: int = -1,
    turn: Callable[[Tensor], Tensor] = lambda weights: weights,
    weigh: Callable[[Tensor, int], Tensor] = torch.softmax,
) -> tuple[Tensor, Tensor]:
    weights = weigh(x @ x.mT, axis)
    return turn(weights) @ x, weights


simple = Exercise(
    "self_attention.simple",
    simple_self_attention,
    _batches,
    returns=("context", "weights"),
    gradients=True,
    mistakes=slips(
        _simple,
        {
            "You normalised over the wrong axis: each row sums to 1, not each column.": {
                "axis": -2
            },
            "You averaged with the weights transposed: row i holds what token i takes.": {
                "turn": lambda weights: weights.mT
            },
            "Your weights are the scores themselves: the softmax is missing.": {
                "weigh": lambda scores, axis: scores
            },
            "You scaled the scores: the simple form divides by nothing.": {
                "weigh": lambda scores, axis: (scores / scores.size(-1) ** 0.5).softmax(axis)
            },
        },
    ),
)
