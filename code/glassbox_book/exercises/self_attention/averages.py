"""Weights and contexts of self-attention without parameters."""

from collections.abc import Iterator

import torch
from torch import Tensor

from glassbox.attention.self_attention import simple_self_attention
from glassbox_book.exercises.exercise import Case, Draw, Exercise


def _sequences(draw: Draw) -> Iterator[Case]:
    yield Case("three tokens in the plane", x=torch.tensor([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]))
    yield Case("five tokens", x=draw(5, 8))
    yield Case("a single token", x=draw(1, 4))
    yield Case("vectors that point away from one another", x=-draw(4, 1).abs() * draw(1, 3))
    yield Case("double precision", x=draw(4, 6).double())


def _weights(x: Tensor, flaw: str = "") -> Tensor:
    if flaw == "directions":
        x = x / x.norm(dim=-1, keepdim=True)
    scores = x @ x.mT
    flaws = {
        "scores": scores,
        "no exponentials": scores / scores.sum(-1, keepdim=True),
        "columns": scores.softmax(-2),
        "one sum": scores.flatten().softmax(0).view_as(scores),
    }
    return flaws.get(flaw, scores.softmax(-1))


weights = Exercise("self_attention.weights", _weights, _sequences, returns=("weights",))


def _batches(draw: Draw) -> Iterator[Case]:
    yield Case("one sentence", x=draw(5, 8))
    yield Case("a batch of sentences", x=draw(3, 4, 6))
    yield Case("two axes in front", x=draw(2, 3, 5, 4))
    yield Case("a batch of single tokens", x=draw(4, 1, 3))
    yield Case("as many tokens as components", x=draw(2, 4, 4))


def _simple(x: Tensor, flaw: str) -> tuple[Tensor, Tensor]:
    scores = x @ x.mT
    flaws = {
        "columns": scores.softmax(-2),
        "no softmax": scores,
        "scaled": (scores / scores.size(-1) ** 0.5).softmax(-1),
    }
    weights = flaws.get(flaw, scores.softmax(-1))
    return (weights.mT if flaw == "transposed" else weights) @ x, weights


simple = Exercise(
    "self_attention.simple",
    simple_self_attention,
    _batches,
    _simple,
    returns=("context", "weights"),
    gradients=True,
)
