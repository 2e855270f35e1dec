"""Chapter 3: attention without parameters: its weights, properties, stacks and limits."""

import math
from collections.abc import Callable

import torch
from torch import Tensor

from glassbox.attention.self_attention import simple_self_attention
from glassbox_book.exercises.exercise import Cases, Draw, Named, cases_of


def _weights(x: Tensor, flaw: str) -> Tensor:
    if flaw == "directions":
        x = x / x.norm(dim=-1, keepdim=True)
    scores = x @ x.mT
    flaws = {
        "scores": scores,
        "scaled": (scores / x.size(-1) ** 0.5).softmax(-1),
        "no exponentials": scores / scores.sum(-1, keepdim=True),
        "columns": scores.softmax(-2),
        "one sum": scores.flatten().softmax(0).view_as(scores),
    }
    return flaws.get(flaw, scores.softmax(-1))


@cases_of(_weights, returns=("weights",))
def _sequences(draw: Draw) -> Cases:
    yield "three tokens in the plane", torch.tensor([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    yield "five tokens", draw(5, 8)
    yield "a single token", draw(1, 4)
    yield "multiples of one vector", -draw(4, 1).abs() * draw(1, 3)
    yield "double precision", draw(4, 6).double()


def _simple(x: Tensor, flaw: str) -> tuple[Tensor, Tensor]:
    scores = x @ x.mT
    flaws = {
        "columns": scores.softmax(-2),
        "no softmax": scores,
        "scaled": (scores / x.size(-1) ** 0.5).softmax(-1),
    }
    weights = flaws.get(flaw, scores.softmax(-1))
    return (weights.mT if flaw == "transposed" else weights) @ x, weights


@cases_of(_simple, reference=simple_self_attention, returns=("context", "weights"), gradients=True)
def _batches(draw: Draw) -> Cases:
    yield "one sentence", draw(5, 8)
    yield "a batch of sentences", draw(3, 4, 6)
    yield "two axes in front", draw(2, 3, 5, 4)
    yield "a batch of single tokens", draw(4, 1, 3)
    yield "as many tokens as components", draw(2, 4, 4)


def _longest(x: Tensor) -> Tensor:
    return x.norm(dim=1).topk(1).indices


_RULES: dict[str, Callable[[Tensor], Tensor]] = {
    "simple self-attention": lambda x: simple_self_attention(x)[0],
    "the plain average for every token": lambda x: x.mean(0, keepdim=True).expand_as(x).clone(),
    "twice each vector": lambda x: 2 * x,
    "the average so far": lambda x: x.cumsum(0) / torch.arange(1.0, len(x) + 1)[:, None],
    "every second vector turned round": lambda x: x * (-1.0) ** torch.arange(len(x))[:, None],
    "every vector one place down": lambda x: x.roll(1, 0),
    "each plus its position": lambda x: x + torch.arange(float(len(x)))[:, None],
    "each column sorted": lambda x: x.sort(0).values,
    "the sum of each vector and its neighbours": lambda x: x + x.roll(1, 0) + x.roll(-1, 0),
    "the length of the first vector": lambda x: x[0].norm() * torch.ones_like(x),
    "the length of the last vector": lambda x: x[-1].norm() * torch.ones_like(x),
    "the longest vector in the last place": lambda x: torch.cat([x[:-1], x[_longest(x)]]),
}


def _is_equivariant(layer: Callable[[Tensor], Tensor], x: Tensor, order: Tensor, flaw: str) -> bool:
    out, moved = layer(x), layer(x[order])
    expected = {"back": out[order.argsort()], "the same": out}.get(flaw, out[order])
    if flaw == "not reordered":
        moved = expected
    if flaw == "sums":
        moved, expected = moved.sum(0), expected.sum(0)
    if flaw == "exact":
        return torch.equal(moved, expected)
    return bool(torch.allclose(moved, expected, atol=1e-5)) != (flaw == "negated")


@cases_of(_is_equivariant, returns=("answer",))
def _layers(draw: Draw) -> Cases:
    order = torch.tensor([2, 0, 3, 1])
    for name in _RULES:
        x = draw(4, 3)
        x = x[x.norm(dim=1).argsort()]  # the longest vector is the last
        yield name, Named(name, _RULES[name]), x, order


def _layers_until_alike(x: Tensor, tolerance: float, flaw: str) -> int:
    count, now = 0, x
    first_weights = simple_self_attention(x)[1]
    while count < 100:
        distances = torch.cdist(now, now)
        flaws = {"average": distances.mean(), "neighbours": distances.diagonal(1).max()}
        if flaws.get(flaw, distances.max()) < tolerance:
            break
        now = first_weights @ now if flaw == "first weights" else simple_self_attention(now)[0]
        count += 1
    return count + 1 if flaw == "one off" else count


@cases_of(_layers_until_alike, returns=("number of layers",))
def _stacks(draw: Draw) -> Cases:
    plane = torch.tensor([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    yield "three tokens in the plane", plane, 0.01
    yield "a finer tolerance", plane, 1e-4
    yield "longer vectors", 2.0 * plane, 0.01
    yield "tokens that are alike from the start", plane[:1].repeat(4, 1), 0.01
    yield "two tokens far apart", torch.tensor([[1.5, 0.0], [-1.5, 0.5]]), 0.1
    yield "six tokens", 0.8 * draw(6, 4), 0.01
    bent = torch.tensor([[0.0, 0.0], [0.5, 0.5], [0.0, 0.0], [-0.5, -0.5]])
    yield "neighbours close, ends far apart", bent, 1.3


def _attend(x: Tensor, allowed: Tensor, flaw: str) -> tuple[Tensor, Tensor]:
    scores = x @ x.mT * {"even": 0.0, "scaled": x.size(-1) ** -0.5}.get(flaw, 1.0)
    if flaw == "late":  # hidden after the softmax: rows no longer sum to one
        weights = scores.softmax(-1) * allowed
    else:
        hidden = 0.0 if flaw == "zeros" else -math.inf
        weights = scores.masked_fill(~allowed, hidden).softmax(-2 if flaw == "columns" else -1)
    return weights @ x, weights


def _causal(x: Tensor, flaw: str) -> tuple[Tensor, Tensor]:
    j = torch.arange(len(x))
    i = j[:, None]
    flaws = {"ahead": j >= i, "everything": j == j, "not itself": j < i, "polarity": j > i}
    return _attend(x, flaws.get(flaw, j <= i), flaw)


@cases_of(_causal, returns=("context", "weights"))
def _sentences(draw: Draw) -> Cases:
    yield "three tokens in the plane", torch.tensor([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    yield "six tokens", draw(6, 8)
    yield "a single token", draw(1, 4)
    yield "double precision", draw(4, 3).double()


def _window(x: Tensor, distance: int, flaw: str) -> Tensor:
    if flaw in ("from the end", "ends early"):
        first, last = (0, 0) if flaw == "ends early" else (-len(x), 1)
        near = [x[max(first, i - distance) : i + distance + last] for i in range(len(x))]
        return torch.stack([(y @ row).softmax(0) @ y for y, row in zip(near, x, strict=True)])
    j = torch.arange(len(x))
    away = j[:, None] - j
    flaws = {
        "back": (away >= 0) & (away <= distance),
        "too wide": away.abs() <= distance + 1,
        "too narrow": away.abs() < distance,
        "everything": away.abs() >= 0,
    }
    return _attend(x, flaws.get(flaw, away.abs() <= distance), flaw)[0]


@cases_of(_window, returns=("context",))
def _near(draw: Draw) -> Cases:
    yield "neighbours at distance 1", draw(6, 4), 1
    yield "distance 2", draw(7, 4), 2
    yield "distance 0: each token alone", draw(3, 2), 0
    yield "a distance longer than the sentence", draw(4, 5), 10
