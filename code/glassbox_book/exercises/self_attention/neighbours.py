"""Self-attention restricted to earlier or to nearby tokens."""

import math
from collections.abc import Iterator

import torch
from torch import Tensor

from glassbox_book.exercises.exercise import Case, Draw, Exercise


def _attend(x: Tensor, allowed: Tensor, flaw: str) -> tuple[Tensor, Tensor]:
    scores = 0 * x @ x.mT if flaw == "even" else x @ x.mT
    if flaw == "late":  # hidden after the softmax: rows no longer sum to one
        weights = scores.softmax(-1) * allowed
    else:
        weights = scores.masked_fill(~allowed, -math.inf).softmax(-1)
    return weights @ x, weights


def _sentences(draw: Draw) -> Iterator[Case]:
    yield Case("three tokens in the plane", x=torch.tensor([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]))
    yield Case("six tokens", x=draw(6, 8))
    yield Case("a single token", x=draw(1, 4))
    yield Case("double precision", x=draw(4, 3).double())


def _causal(x: Tensor, flaw: str = "") -> tuple[Tensor, Tensor]:
    j = torch.arange(len(x))
    i = j[:, None]
    allowed = {"ahead": j >= i, "everything": torch.ones(len(x), len(x)).bool()}.get(flaw, j <= i)
    return _attend(x, allowed, flaw)


causal = Exercise("self_attention.causal", _causal, _sentences, returns=("context", "weights"))


def _near(draw: Draw) -> Iterator[Case]:
    yield Case("neighbours at distance 1", x=draw(6, 4), distance=1)
    yield Case("distance 2", x=draw(7, 4), distance=2)
    yield Case("distance 0: each token alone", x=draw(3, 2), distance=0)
    yield Case("a distance longer than the sentence", x=draw(4, 5), distance=10)


def _window(x: Tensor, distance: int, flaw: str = "") -> Tensor:
    j = torch.arange(len(x))
    away = j[:, None] - j
    flaws = {
        "back": (away >= 0) & (away <= distance),
        "too wide": away.abs() <= distance + 1,
        "everything": away.abs() >= 0,
    }
    return _attend(x, flaws.get(flaw, away.abs() <= distance), flaw)[0]


window = Exercise("self_attention.window", _window, _near, returns=("context",))
