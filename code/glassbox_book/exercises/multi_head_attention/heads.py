"""Splitting into heads, and several heads from beginning to end."""

from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import Tensor

from glassbox.attention import scaled_dot_product_attention
from glassbox.masks import causal_mask
from glassbox_book.exercises.exercise import Case, Draw, Exercise, slips


def split(x: Tensor, n_heads: int) -> Tensor:
    """Return ``x`` of shape (batch, length, d_model) as (batch, n_heads, length, d_k)."""
    return x.unflatten(-1, (n_heads, -1)).transpose(1, 2)


def split_by_shape(x: Tensor, n_heads: int) -> Tensor:
    """Give ``x`` the right shape, with the wrong numbers in it."""
    return x.reshape(x.size(0), n_heads, x.size(1), -1)


def split_in_turn(x: Tensor, n_heads: int) -> Tensor:
    """Deal the components out to the heads like cards."""
    return x.unflatten(-1, (-1, n_heads)).permute(0, 3, 1, 2)


BY_SHAPE = (
    "Your shape is right and your heads are not: view or reshape straight to (batch, heads, "
    "length, d_k) cuts the sequence up, so that head 0 gets the first positions. Take the last "
    "axis apart, then move the heads' axis forward with transpose."
)
IN_TURN = (
    "Your heads take components in turn, 0, h, 2h and so on: each head owns d_k components that "
    "lie next to each other, so the last axis comes apart as (n_heads, d_k), in this order."
)


def _widths(draw: Draw) -> Iterator[Case]:
    yield Case("three positions, two heads of width two", x=draw(1, 3, 4), n_heads=2)
    yield Case("a batch", x=draw(2, 5, 12), n_heads=3)
    yield Case("one head", x=draw(2, 3, 4), n_heads=1)
    yield Case("heads of width one", x=draw(1, 4, 3), n_heads=3)
    yield Case("a single position", x=draw(2, 1, 6), n_heads=2)
    yield Case("what came out of a transpose", x=draw(2, 6, 4).mT, n_heads=3)


split_heads = Exercise(
    "multi_head_attention.split_heads",
    split,
    _widths,
    returns=("heads",),
    gradients=True,
    mistakes={
        BY_SHAPE: split_by_shape,
        IN_TURN: split_in_turn,
        "The axis of the heads is still behind that of the positions: transpose the two, so that "
        "matrix products see (length, d_k).": lambda x, n_heads: x.unflatten(-1, (n_heads, -1)),
        "The last two axes have changed places: each head is (length, d_k).": lambda x, n_heads: (
            split(x, n_heads).mT
        ),
    },
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
    *,
    cut: Callable[[Tensor, int], Tensor] = split,
    merge: Callable[[Tensor], Tensor] = lambda context: context.transpose(1, 2).flatten(2),
    whole_width: bool = False,
    look: bool = True,
    project: bool = True,
) -> Tensor:
    query, key, value = (cut(x @ W, n_heads) for W in (W_query, W_key, W_value))
    width = W_query.size(1) if whole_width else query.size(-1)
    context, _ = scaled_dot_product_attention(
        query, key, value, mask if look else None, scale=width**-0.5
    )
    merged = merge(context)
    return merged @ W_output if project else merged


def _layers(draw: Draw) -> Iterator[Case]:
    def case(about: str, n_heads: int, *shape: int, **more: Any) -> Case:
        batch, length, d_model = shape
        sizes = {"W_query": d_model, "W_key": d_model, "W_value": d_model, "W_output": d_model}
        weights = {name: draw(d_model, size) for name, size in sizes.items()}
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
    mistakes=slips(
        _multi_head,
        {
            BY_SHAPE: {"cut": split_by_shape},
            IN_TURN: {"cut": split_in_turn},
            "You merged without moving the heads' axis back: transpose to (batch, length, heads, "
            "d_k) first, then flatten the last two axes.": {
                "merge": lambda context: context.reshape(context.size(0), context.size(2), -1)
            },
            "Your scores are divided by the root of the model's width: a head's dot product has "
            "d_k terms.": {"whole_width": True},
            "You ignored the mask.": {"look": False},
            "The output matrix is missing: the merged heads still have to be projected.": {
                "project": False
            },
        },
    ),
)
