"""Splitting into heads, and multi-head attention from beginning to end."""

from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor

from glassbox.attention import scaled_dot_product_attention
from glassbox.masks import causal_mask
from glassbox_book.exercises.exercise import Case, Draw, Exercise


def _split(x: Tensor, n_heads: int, flaw: str = "") -> Tensor:
    """Return ``x`` of shape (batch, length, d_model) as (batch, n_heads, length, d_k)."""
    if flaw == "by shape":
        return x.reshape(x.size(0), n_heads, x.size(1), -1)
    if flaw == "in turn":
        return x.unflatten(-1, (-1, n_heads)).permute(0, 3, 1, 2)
    heads = x.unflatten(-1, (n_heads, -1)).transpose(1, 2)
    flaws = {"heads behind": heads.transpose(1, 2), "last two": heads.mT}
    return flaws.get(flaw, heads)


def _widths(draw: Draw) -> Iterator[Case]:
    yield Case("three positions, two heads of width two", x=draw(1, 3, 4), n_heads=2)
    yield Case("a batch", x=draw(2, 5, 12), n_heads=3)
    yield Case("one head", x=draw(2, 3, 4), n_heads=1)
    yield Case("heads of width one", x=draw(1, 4, 3), n_heads=3)
    yield Case("a single position", x=draw(2, 1, 6), n_heads=2)
    yield Case("what came out of a transpose", x=draw(2, 6, 4).mT, n_heads=3)


split_heads = Exercise(
    "multi_head_attention.split_heads", _split, _widths, returns=("heads",), gradients=True
)

# From beginning to end ----------------------------------------------------------------------


def _multi_head(
    x: Tensor,
    W_query: Tensor,
    W_key: Tensor,
    W_value: Tensor,
    W_output: Tensor,
    n_heads: int,
    mask: Tensor | None = None,
    flaw: str = "",
) -> Tensor:
    query, key, value = (_split(x @ W, n_heads, flaw) for W in (W_query, W_key, W_value))
    width = W_query.size(1) if flaw == "whole width" else query.size(-1)
    context, _ = scaled_dot_product_attention(
        query, key, value, None if flaw == "mask" else mask, scale=width**-0.5
    )
    if flaw == "merge":
        merged = context.reshape(context.size(0), context.size(2), -1)
    else:
        merged = context.transpose(1, 2).flatten(2)
    return merged if flaw == "no output" else merged @ W_output


def _layers(draw: Draw) -> Iterator[Case]:
    def case(about: str, n_heads: int, *shape: int, **more: Any) -> Case:
        batch, length, d_model = shape
        names = ("W_query", "W_key", "W_value", "W_output")
        weights = {name: draw(d_model, d_model) for name in names}
        return Case(about, x=draw(batch, length, d_model), **weights, n_heads=n_heads, **more)

    yield case("two heads, three positions", 2, 1, 3, 4)
    yield case("three heads and a batch", 3, 2, 5, 6)
    yield case("one head", 1, 2, 4, 3)
    yield case("heads of width one", 4, 1, 3, 4)
    yield case("as many heads as positions", 4, 2, 4, 8)
    yield case("a causal mask", 2, 2, 6, 4, mask=causal_mask(6))
    own = torch.tensor([[True, False, True], [False, True, True], [True, True, False]])
    yield case("a mask for each head", 2, 1, 3, 6, mask=torch.stack([own, own.mT])[None])


multi_head = Exercise(
    "multi_head_attention.multi_head",
    _multi_head,
    _layers,
    returns=("output",),
    gradients=True,
    tolerance=1e-4,
)
