"""The attention of a few tokens, with queries, keys and values to change by hand."""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape
from typing import Any

import numpy as np
import torch

from glassbox.attention import dot_product_scores, scaled_dot_product_attention
from glassbox_book.widgets import planes
from glassbox_book.widgets.checks import check_numbers, check_texts, check_whole
from glassbox_book.widgets.parts import fixed
from glassbox_book.widgets.widget import Widget

_FEWEST, _MOST = 2, 5  # tokens
_LARGEST = 9.0  # number that can be typed
_STEP = 0.5  # of the arrow keys


def attention_playground(
    tokens: Sequence[str],
    query: Any,
    key: Any,
    value: Any,
    *,
    features: Sequence[str] = ("x", "y"),
    asking: int = 0,
) -> Widget:
    r"""Show attention step by step for vectors that the reader changes.

    Queries, keys and values have two components, which stand in a table to type in and as arrows
    in the plane to drag. From them follow, in tables, dot products, scores, weights and context.

    Parameters
    ----------
    tokens : sequence of str
        Two to five.
    query, key, value : sequences of pairs, or Tensors
        ``(n, 2)``: a row for each token, from −9 to 9. They are taken to two decimals.
    features : pair of str, optional
        What the two components mean.
    asking : int, optional
        The token, counted from zero, whose query is followed at first.

    Returns
    -------
    Widget
        A cell displays it.

    Raises
    ------
    TypeError
        If the vectors are no numbers or the tokens no strings.
    ValueError
        If there are fewer than two tokens or more than five, a table is not ``(n, 2)`` or has a
        number beyond ±9, there are not two features, or no token of the number ``asking``.

    Notes
    -----
    Chapter 4, equation ``eq-attention``.
    """
    if isinstance(tokens, Sequence) and not _FEWEST <= len(tokens) <= _MOST:
        raise ValueError(f"{len(tokens)} tokens; pass {_FEWEST} to {_MOST}")
    names = check_texts("tokens", tokens, len(tokens), "tokens")
    axes = check_texts("features", features, 2, "components")
    check_whole("asking", asking, 0, len(names) - 1)
    vectors = {
        part: _vectors(part, given, len(names))
        for part, given in (("query", query), ("key", key), ("value", value))
    }
    q, k, v = (torch.tensor(vectors[part]) for part in ("query", "key", "value"))
    context, weights = (found.numpy() for found in scaled_dot_product_attention(q, k, v))
    products = dot_product_scores(q, k, scale=1.0).numpy()
    said = _said(names, asking, weights, context)
    steps = (
        _table("product", "dot products", names, names, products, asking),
        _table("score", "scores: divided by √2", names, names, products / math.sqrt(2), asking),
        _table("weight", "weights: softmax of each row", names, names, weights, asking),
        _table("context", "context: weighted average", names, axes, context, asking),
    )
    body = (
        '<form autocomplete="off" novalidate><fieldset disabled>'
        f"{_inputs(names, axes, vectors, asking)}"
        f'<div class="gb-planes">{_planes(names, axes, vectors, weights, context, asking)}</div>'
        f'<div class="gb-says"><p aria-live="polite" data-part="said">{escape(said)}</p>'
        '<div class="gb-controls" hidden><button type="button" data-part="reset">Reset</button>'
        f'</div></div><div class="gb-steps" style="--n:{len(names)}">{"".join(steps)}</div>'
        "</fieldset></form>"
    )
    lines = [_said(names, i, weights, context) for i in range(len(names))]
    return Widget("attention_playground", "Attention to play with", body, "\n".join(lines))


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
    """Say what one token does, as the script says it."""
    parts = [
        f"{fixed(weight)} to {'itself' if place == asking else name}"
        for place, (name, weight) in enumerate(zip(names, weights[asking], strict=True))
    ]
    gives = f"{', '.join(parts[:-1])} and {parts[-1]}"
    takes = ", ".join(fixed(number) for number in context[asking])
    return f"{names[asking]} gives {gives}, and its context is ({takes})."


def _inputs(names: list[str], axes: list[str], vectors: dict[str, np.ndarray], asking: int) -> str:
    parts = "".join(
        f'<th colspan="2" scope="colgroup" class="gb-{part}">{part}</th>' for part in vectors
    )
    columns = "".join(f'<th scope="col">{escape(axis)}</th>' for axis in axes * 3)
    rows = ""
    for i, name in enumerate(names):
        cells = "".join(
            f'<td><input type="number" class="gb-{part}" data-part="{part}" step="{_STEP:g}" '
            f'min="{-_LARGEST:g}" max="{_LARGEST:g}" value="{array[i, c]:g}" '
            f'aria-label="{escape(f"{part} of {name}, {axes[c]}")}"></td>'
            for part, array in vectors.items()
            for c in range(2)
        )
        checked = " checked" if i == asking else ""
        rows += (
            f'<tr><th scope="row"><label><input type="radio" name="asking" value="{i}"{checked}>'
            f"<bdi>{escape(name)}</bdi></label></th>{cells}</tr>"
        )
    return (
        '<table class="gb-vectors"><thead>'
        f'<tr><th scope="col" rowspan="2">who asks</th>{parts}</tr><tr>{columns}</tr></thead>'
        f"<tbody>{rows}</tbody></table>"
    )


def _planes(
    names: list[str],
    axes: list[str],
    vectors: dict[str, np.ndarray],
    weights: np.ndarray,
    context: np.ndarray,
    asking: int,
) -> str:
    query, key, value = vectors.values()
    meet = planes.meeting(axes, names, query, key, asking)
    mix = planes.mixing(axes, names, value, weights, context, asking)
    return (
        '<figure><figcaption>a <span class="gb-query">query</span> meets the '
        '<span class="gb-key">keys</span></figcaption>'
        f"{meet.html('meeting', 'The query that asks and all keys, as arrows')}</figure>"
        '<figure><figcaption>its <span class="gb-context">context</span> among the '
        '<span class="gb-value">values</span></figcaption>'
        f"{mix.html('mixing', 'All values as arrows, and the context between them')}</figure>"
    )


def _table(
    part: str,
    caption: str,
    names: list[str],
    columns: list[str],
    numbers: np.ndarray,
    asking: int,
) -> str:
    head = "".join(f'<th scope="col"><bdi>{escape(name)}</bdi></th>' for name in columns)
    rows = ""
    for i, (name, row) in enumerate(zip(names, numbers, strict=True)):
        cells = "".join(f'<td data-part="{part}">{fixed(number)}</td>' for number in row)
        if part == "weight":
            cells = "".join(
                f'<td data-part="weight" style="--weight:{fixed(number)}">{fixed(number)}</td>'
                for number in row
            )
        asks = " data-asking" if i == asking else ""
        rows += f'<tr{asks}><th scope="row"><bdi>{escape(name)}</bdi></th>{cells}</tr>'
    return (
        f"<table><caption>{caption}</caption><thead><tr><td></td>{head}</tr></thead>"
        f"<tbody>{rows}</tbody></table>"
    )
