"""Scores, attention from memory, and the head that looks at the next token."""

import math
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import Tensor

from glassbox.attention import dot_product_scores, scaled_dot_product_attention
from glassbox.masks import causal_mask
from glassbox_book.exercises.exercise import Case, Draw, Exercise, slips

UNSCALED = "You forgot to scale: divide the scores by the root of d_k."
SCALES: dict[str, dict[str, Any]] = {
    UNSCALED: {"scale": lambda query, key: 1.0},
    "You divided by d_k, not by its root.": {"scale": lambda query, key: 1 / query.size(-1)},
    "You multiplied by the root of d_k: divide by it.": {
        "scale": lambda query, key: math.sqrt(query.size(-1))
    },
    "You divided by the root of the number of keys: it is their width that counts, d_k.": {
        "scale": lambda query, key: 1 / math.sqrt(key.size(-2))
    },
}


def _root(query: Tensor, key: Tensor) -> float:
    return 1 / math.sqrt(query.size(-1))


def _scores(
    query: Tensor,
    key: Tensor,
    *,
    scale: Callable[[Tensor, Tensor], float] = _root,
    flip: bool = False,
    unit: bool = False,
) -> Tensor:
    if unit:
        query, key = (x / x.norm(dim=-1, keepdim=True) for x in (query, key))
    scores = query @ key.mT * scale(query, key)
    return scores.mT if flip else scores


def _pairs(draw: Draw) -> Iterator[Case]:
    yield Case("two queries and three keys", query=draw(2, 4), key=draw(3, 4))
    yield Case("self-attention", query=draw(5, 8), key=draw(5, 8))
    yield Case("a single query", query=draw(1, 16), key=draw(7, 16))
    yield Case("more queries than keys", query=draw(6, 9), key=draw(2, 9))
    yield Case("a transposed view", query=draw(6, 3).mT, key=draw(6, 4).mT)
    yield Case("double precision", query=draw(3, 5).double(), key=draw(4, 5).double())


scores = Exercise(
    "scaled_dot_product.scores",
    dot_product_scores,
    _pairs,
    returns=("scores",),
    mistakes=slips(
        _scores,
        SCALES
        | {
            "Your rows belong to the keys: row i is for query i, column j for key j.": {
                "flip": True
            },
            "You compared directions only: queries and keys keep their lengths.": {"unit": True},
        },
    ),
)


def _hidden(scores: Tensor, mask: Tensor, dim: int) -> Tensor:
    return scores.masked_fill(~mask, -math.inf).softmax(dim)


def _attend(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    mask: Tensor | None = None,
    *,
    scale: Callable[[Tensor, Tensor], float] = _root,
    dim: int = -1,
    weigh: Callable[[Tensor, Tensor, int], Tensor] = lambda *given: _hidden(*given).nan_to_num(0.0),
    flip: bool = False,
    plain: bool = False,
) -> tuple[Tensor, Tensor]:
    scores = query @ key.mT * scale(query, key)
    if plain:
        weights = scores if mask is None else scores * mask
    elif mask is None:
        weights = scores.softmax(dim)
    else:
        weights = weigh(scores, ~mask if flip else mask, dim)
    return weights @ value, weights


SOFTMAX_AXIS: dict[str, dict[str, Any]] = {
    "Your rows do not sum to one but your columns do: the softmax ran over dim=-2, the queries. "
    "Each query shares itself out among the keys, dim=-1.": {"dim": -2},
    "The softmax ran over the first axis: count axes from the end, dim=-1, and leading ones do "
    "not matter.": {"dim": 0},
}
MASKING: dict[str, dict[str, Any]] = {
    "Your mask has the opposite polarity: here True means that a query may attend.": {"flip": True},
    "NaN in fully masked rows: softmax of nothing but -inf is 0/0. A query that may attend to "
    "nothing gets zeros.": {"weigh": _hidden},
    "You ignored the mask.": {"weigh": lambda scores, mask, dim: scores.softmax(dim)},
    "You made the scores 0 (or nearly) where the mask is False: exp(0) = 1, so these keys still "
    "count. A score of -inf gives weight 0.": {
        "weigh": lambda scores, mask, dim: (scores * mask).softmax(dim)
    },
    "You added the mask to the scores: True counts as 1, which hides nothing.": {
        "weigh": lambda scores, mask, dim: (scores + mask).softmax(dim)
    },
    "You masked after the softmax: the rows no longer sum to one. Mask the scores.": {
        "weigh": lambda scores, mask, dim: scores.softmax(dim) * mask
    },
    "You filled with a finite number: a query that may attend to nothing then averages "
    "everything, where it should get zeros.": {
        "weigh": lambda scores, mask, dim: scores.masked_fill(~mask, -1e9).softmax(dim)
    },
}


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
    returns=("context", "weights"),
    gradients=True,
    mistakes=slips(
        _attend,
        SCALES
        | SOFTMAX_AXIS
        | MASKING
        | {"The softmax is missing: you averaged with the scores themselves.": {"plain": True}},
    ),
)


def _next_token_head(maps: list[Tensor], *, offset: int = 1, pick: str = "all") -> tuple[int, int]:
    found = [weights.diagonal(offset, -2, -1) for weights in maps]
    pooled = {
        "all": torch.cat(found, dim=-1).mean(-1),
        "each": torch.stack([look.mean(-1) for look in found if look.numel()]).mean(0),
        "first": found[0].mean(-1),
        "peak": torch.cat(found, dim=-1).amax(-1),
    }
    layer, head = divmod(int(pooled[pick].argmax()), maps[0].size(1))
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
    "scaled_dot_product.next_token_head",
    _next_token_head,
    _maps,
    returns=("layer", "head"),
    mistakes=slips(
        _next_token_head,
        {
            "You found the head that looks at the previous token: the rows are the queries, so the "
            "next token is one column to the right.": {"offset": -1},
            "You found the head that looks at the token itself: the next one is on the diagonal "
            "above the main one.": {"offset": 0},
            "You averaged each sentence first: then a token of a short sentence counts for more. "
            "Put all positions together, then average.": {"pick": "each"},
            "You looked at the first sentence only.": {"pick": "first"},
            "You took the largest weight: one position does not make a habit. Average.": {
                "pick": "peak"
            },
        },
    ),
)
