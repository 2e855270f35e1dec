"""Scores, attention from memory, and a head that looks at the next token."""

import math
from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor

from glassbox.attention import dot_product_scores, scaled_dot_product_attention
from glassbox.masks import causal_mask
from glassbox_book.exercises.exercise import Case, Draw, Exercise


def _scale(query: Tensor, key: Tensor, flaw: str) -> float:
    d_k = query.size(-1)
    flaws = {
        "no scale": 1.0,
        "d_k": 1 / d_k,
        "multiplied": math.sqrt(d_k),
        "number of keys": 1 / math.sqrt(key.size(-2)),
    }
    return flaws.get(flaw, 1 / math.sqrt(d_k))


def _scores(query: Tensor, key: Tensor, flaw: str = "") -> Tensor:
    if flaw == "directions":
        query, key = (x / x.norm(dim=-1, keepdim=True) for x in (query, key))
    scores = query @ key.mT * _scale(query, key, flaw)
    return scores.mT if flaw == "transposed" else scores


def _pairs(draw: Draw) -> Iterator[Case]:
    yield Case("two queries and three keys", query=draw(2, 4), key=draw(3, 4))
    yield Case("self-attention", query=draw(5, 8), key=draw(5, 8))
    yield Case("a single query", query=draw(1, 16), key=draw(7, 16))
    yield Case("more queries than keys", query=draw(6, 9), key=draw(2, 9))
    yield Case("a transposed view", query=draw(6, 3).mT, key=draw(6, 4).mT)
    yield Case("double precision", query=draw(3, 5).double(), key=draw(4, 5).double())


scores = Exercise(
    "scaled_dot_product.scores", dot_product_scores, _pairs, _scores, returns=("scores",)
)


def _masked(scores: Tensor, mask: Tensor, dim: int, flaw: str) -> Tensor:
    hidden = scores.masked_fill(~mask, -math.inf).softmax(dim)
    flaws = {
        "NaN": hidden,
        "ignored": scores.softmax(dim),
        "zeros": (scores * mask).softmax(dim),
        "added": (scores + mask).softmax(dim),
        "late": scores.softmax(dim) * mask,
        "finite": scores.masked_fill(~mask, -1e9).softmax(dim),
    }
    return flaws.get(flaw, hidden.nan_to_num(0.0))


def _attend(
    query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None, flaw: str = ""
) -> tuple[Tensor, Tensor]:
    scores = query @ key.mT * _scale(query, key, flaw)
    dim = {"queries": -2, "first axis": 0}.get(flaw, -1)
    if flaw == "no softmax":
        weights = scores if mask is None else scores * mask
    elif mask is None:
        weights = scores.softmax(dim)
    else:
        weights = _masked(scores, ~mask if flaw == "polarity" else mask, dim, flaw)
    return weights @ value, weights


def _attentions(draw: Draw) -> Iterator[Case]:
    def case(about: str, *shape: int, **more: Any) -> Case:
        *batch, q_len, k_len, d_k, d_v = shape
        sizes = {"query": (q_len, d_k), "key": (k_len, d_k), "value": (k_len, d_v)}
        return Case(about, **{x: draw(*batch, *size) for x, size in sizes.items()}, **more)

    yield case("two queries and three keys", 2, 3, 4, 2)
    yield case("self-attention in a batch of heads", 2, 3, 5, 5, 8, 8)
    yield case("values of another width", 2, 6, 7, 9, 3)
    yield case("a causal mask", 4, 4, 9, 9, mask=causal_mask(4))
    padding = torch.tensor([[True, True, True], [True, False, False]])[:, None, None]
    yield case("a padding mask that broadcasts", 2, 2, 4, 3, 8, 8, mask=padding)
    nothing = torch.tensor([[True, False, True], [False, False, False]])
    yield case("a query that may attend to nothing", 2, 3, 5, 2, mask=nothing)
    heads = {name: draw(2, 5, 3, 4).transpose(1, 2) for name in ("query", "key", "value")}
    yield Case("heads split by a transpose", **heads, mask=causal_mask(5))
    yield Case("scores in the hundreds", query=300 * draw(3, 4), key=draw(5, 4), value=draw(5, 2))
    double = {name: draw(4, 6).double() for name in ("query", "key", "value")}
    yield Case("double precision", **double, mask=causal_mask(4))


attention = Exercise(
    "scaled_dot_product.attention",
    scaled_dot_product_attention,
    _attentions,
    _attend,
    returns=("context", "weights"),
    gradients=True,
)


def _next_token_head(maps: list[Tensor], flaw: str = "") -> tuple[int, int]:
    offset = {"previous": -1, "itself": 0}.get(flaw, 1)
    found = [weights.diagonal(offset, -2, -1) for weights in maps]
    together = torch.cat(found, dim=-1)
    flaws = {
        "each sentence": torch.stack([look.mean(-1) for look in found if look.numel()]).mean(0),
        "first sentence": found[0].mean(-1),
        "peak": together.amax(-1),
    }
    layer, head = divmod(int(flaws.get(flaw, together.mean(-1)).argmax()), maps[0].size(1))
    return layer, head


def _maps(draw: Draw) -> Iterator[Case]:
    def case(about: str, n_layers: int, n_heads: int, *lengths: int) -> Case:
        maps = [draw(n_layers, n_heads, n, n).mul(2).softmax(-1) for n in lengths]
        return Case(about, maps=maps)

    yield case("one sentence", 2, 3, 5)
    yield case("a sentence of two tokens", 3, 4, 2)
    yield case("three sentences of different length", 5, 7, 5, 9, 3)
    yield case("short sentences and a long one", 4, 6, 2, 12, 2)
    yield case("a sentence of one token, which has no next", 3, 4, 7, 1, 5)


next_token_head = Exercise(
    "scaled_dot_product.next_token_head", _next_token_head, _maps, returns=("layer", "head")
)
