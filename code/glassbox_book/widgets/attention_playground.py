"""Attention among a few tokens, with queries, keys and values to change by hand."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch

from glassbox.attention import dot_product_scores, scaled_dot_product_attention
from glassbox_book.templates import fill, fixed
from glassbox_book.widgets import planes
from glassbox_book.widgets.checks import check_integer, check_numbers, check_texts
from glassbox_book.widgets.widget import Widget

_FEWEST, _MOST = 2, 5  # tokens
_LARGEST = 9.0  # number that may be typed


def attention_playground(
    tokens: Sequence[str],
    query: Any,
    key: Any = None,
    value: Any = None,
    *,
    features: Sequence[str] = ("x", "y"),
    asking: int = 0,
) -> Widget:
    r"""Show attention step by step for vectors that the reader can change.

    Queries, keys and values have two components, which can be typed into a table and dragged as
    arrows in the plane. Tables show the resulting dot products, scores, weights and context.
    Without keys and values, each token's vector serves as all three, and the scores are plain dot
    products: self-attention without parameters.

    Parameters
    ----------
    tokens : sequence of str
        Two to five tokens.
    query, key, value : sequences of pairs, or Tensors
        ``(n, 2)``: a row for each token, from −9 to 9, rounded to two decimals. Pass all three,
        or only ``query``.
    features : pair of str, optional
        What the two components mean.
    asking : int, optional
        The token, counted from zero, whose query is shown at first.

    Returns
    -------
    Widget
        A cell displays it.

    Raises
    ------
    TypeError
        If the vectors are not numbers or the tokens not strings.
    ValueError
        If there are fewer than two tokens or more than five, a table is not ``(n, 2)`` or has a
        number beyond ±9, there are not two features, ``asking`` is not the number of a token, or
        only one of ``key`` and ``value`` is given.

    Notes
    -----
    Chapter 3, equation ``eq-simple-self-attention``; chapter 4, equation ``eq-attention``.
    """
    if isinstance(tokens, Sequence) and not _FEWEST <= len(tokens) <= _MOST:
        raise ValueError(f"{len(tokens)} tokens; pass {_FEWEST} to {_MOST}")
    names = check_texts("tokens", tokens, len(tokens), "tokens")
    axes = check_texts("features", features, 2, "components")
    check_integer("asking", asking, 0, len(names) - 1)
    if (key is None) != (value is None):
        raise ValueError("only one of key and value is given; pass both, or neither")
    given = {"query": query, "key": key, "value": value} if key is not None else {"vector": query}
    vectors = {part: _vectors(part, numbers, len(names)) for part, numbers in given.items()}
    q, k, v = (torch.tensor(array) for array in list(vectors.values()) * (3 // len(vectors)))
    alone = len(vectors) == 1
    found = scaled_dot_product_attention(q, k, v, scale=1.0 if alone else None)
    context, weights = (tensor.numpy() for tensor in found)
    products = dot_product_scores(q, k, scale=1.0).numpy()
    divided = ("score", "scores: divided by √2", names, products / math.sqrt(2))
    scores = [("product", "dot products", names, products), divided]
    if alone:
        scores = [("score", "scores: dot products", names, products)]
    lines = [_said(names, i, weights, context) for i in range(len(names))]
    body = fill(
        "widgets/page/attention_playground.html",
        names=names,
        axes=axes,
        vectors=vectors,
        asking=asking,
        said=lines[asking],
        weights=weights,
        context=context,
        mixed=planes.Mixing(axes, v.numpy()),
        met=None if alone else planes.Meeting(axes, q.numpy(), k.numpy(), asking),
        tables=[
            *scores,
            ("weight", "weights: softmax of each row", names, weights),
            ("context", "context: weighted average", axes, context),
        ],
    )
    name = "Self-attention to play with" if alone else "Attention to play with"
    return Widget("attention_playground", name, body, "\n".join(lines))


def _vectors(part: str, given: Any, count: int) -> np.ndarray:
    array = check_numbers(part, given)
    if array.shape != (count, 2):
        raise ValueError(
            f"{part} has shape {array.shape}; pass one row of two numbers for each of the "
            f"{count} tokens, ({count}, 2)"
        )
    if abs(array).max() > _LARGEST:
        raise ValueError(f"{part} has {abs(array).max():g}; the plane ends at ±{_LARGEST:g}")
    return array.round(2) + 0.0


def _said(names: list[str], asking: int, weights: np.ndarray, context: np.ndarray) -> str:
    """Describe what one token does, in the words of the script."""
    given = zip([*names[:asking], "itself", *names[asking + 1 :]], weights[asking], strict=True)
    parts = [f"{fixed(weight)} to {name}" for name, weight in given]
    gives = f"{', '.join(parts[:-1])} and {parts[-1]}"
    takes = ", ".join(fixed(number) for number in context[asking])
    return f"{names[asking]} gives {gives}, and its context is ({takes})."
