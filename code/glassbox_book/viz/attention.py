"""Attention weights as a grid of cells: queries downwards, keys to the right."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from glassbox_book.viz.cells import Cells, maps
from glassbox_book.viz.panels import check_range, numbers, side_by_side
from glassbox_book.viz.tokens import visible_all


def attention_map(
    weights: Any,
    query_tokens: Sequence[str],
    key_tokens: Sequence[str] | None = None,
    *,
    title: str = "",
    annotate: bool = True,
    **options: Any,
) -> Cells:
    """Draw one attention map.

    Parameters
    ----------
    weights : array or tensor, shape (q_len, k_len)
        The weights of one head: row = query, column = key.
    query_tokens : sequence of str, length q_len
        Names of the rows.
    key_tokens : sequence of str, optional, length k_len
        Names of the columns. Defaults to the query tokens.
    title : str
        Title of the map.
    annotate : bool
        Write each weight into its cell, if the cell is large enough.
    **options
        ``vmax``, as for :func:`attention_maps`.

    Returns
    -------
    Cells
        A cell of a notebook displays it.

    Raises
    ------
    ValueError
        If ``weights`` is not a matrix of numbers that fits the tokens.
    """
    return attention_maps(
        [weights], query_tokens, key_tokens, titles=[title], annotate=annotate, **options
    )


def attention_maps(
    weights: Sequence[Any],
    query_tokens: Sequence[str],
    key_tokens: Sequence[str] | None = None,
    *,
    titles: Sequence[str],
    vmax: float = 1.0,
    annotate: bool = False,
    columns: int = 2,
) -> Cells:
    """Draw several attention maps of the same tokens on one colour scale.

    Parameters
    ----------
    weights : sequence of arrays or tensors, each of shape (q_len, k_len)
    query_tokens, key_tokens, annotate
        As for :func:`attention_map`.
    titles : sequence of str
        One per map.
    vmax : float
        The weight of the deepest colour. Keep it the same for maps that are compared.
    columns : int
        Number of maps side by side, if there is room.

    Returns
    -------
    Cells
        A cell of a notebook displays it.

    Raises
    ------
    ValueError
        If there are no maps, tokens or columns, titles and maps differ in number, a map does not
        fit its tokens, or ``vmax`` is not positive and finite.
    """
    if len(weights) != len(titles):
        raise ValueError(f"{len(weights)} maps and {len(titles)} titles; pass one title per map")
    if not 0 < vmax < math.inf:
        raise ValueError(f"vmax={vmax}: must be more than 0 and finite")
    rows = visible_all(query_tokens)
    keys = rows if key_tokens is None else visible_all(key_tokens)
    named = zip(titles, weights, strict=True)
    drawn = [(title, _matrix(matrix, len(rows), len(keys))) for title, matrix in named]
    across = side_by_side(drawn, columns, "the weights of at least one head")
    labels = ("query position", "key position", "weight")
    number = "{:.2f}" if annotate else None
    return maps(drawn, (0.0, vmax), labels, (rows, keys), annotate=number, across=across)


def _matrix(weights: Any, q_len: int, k_len: int) -> np.ndarray:
    matrix = numbers(weights)
    if matrix.ndim != 2 or not matrix.size:
        raise ValueError(
            f"weights has shape {matrix.shape}; a map is one matrix (queries, keys): pick one "
            "text and one head, for instance weights[0, head]"
        )
    if not np.isfinite(matrix).all():
        query, key = np.argwhere(~np.isfinite(matrix))[0]
        raise ValueError(f"the weight of query {query} and key {key} is {matrix[query, key]}")
    check_range("attention weights", matrix)
    if matrix.shape != (q_len, k_len):
        raise ValueError(
            f"weights of shape {matrix.shape} do not fit {q_len} query tokens and {k_len} key "
            "tokens; rows are queries, columns are keys"
        )
    return matrix
