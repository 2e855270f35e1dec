"""Attention weights as a grid of cells: queries downwards, keys to the right."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from glassbox_book.viz.matrices import draw_matrix, explain, turn_long_names
from glassbox_book.viz.panels import grid, numbers
from glassbox_book.viz.style import FIGURE_WIDTH
from glassbox_book.viz.tokens import visible_all

_PANEL = 0.52  # of the width of a figure: labels of two maps stay above 10 pixels on telephones
_MOST_SLANTED = 7  # columns of a narrow map beyond which slanted names touch


def attention_map(
    weights: Any,
    query_tokens: Sequence[str],
    key_tokens: Sequence[str] | None = None,
    *,
    title: str = "",
    vmax: float = 1.0,
    annotate: bool = True,
) -> Axes:
    """Draw one attention map.

    Parameters
    ----------
    weights : array or tensor, shape (q_len, k_len)
        The weights of one head: row = query, column = key.
    query_tokens : sequence of str, length q_len
        Names of the rows.
    key_tokens : sequence of str, optional, length k_len
        Names of the columns; the query tokens if left out.
    title : str
        Title of the map.
    vmax : float
        The weight of the deepest colour. Keep it the same where maps are compared.
    annotate : bool
        Write each weight into its cell (left out where cells are too small for it). A map without
        numbers has a bar of its colours from 0 to ``vmax`` below it.

    Returns
    -------
    matplotlib.axes.Axes
        The axes drawn on.

    Raises
    ------
    ValueError
        If ``weights`` is not a matrix of numbers that fits the tokens.
    """
    fig = attention_maps(
        [weights],
        query_tokens,
        key_tokens,
        titles=[title],
        vmax=vmax,
        annotate=annotate,
        columns=1,
    )
    return fig.axes[0]


def attention_maps(
    weights: Sequence[Any],
    query_tokens: Sequence[str],
    key_tokens: Sequence[str] | None = None,
    *,
    titles: Sequence[str],
    vmax: float = 1.0,
    annotate: bool = False,
    columns: int = 2,
) -> Figure:
    """Draw several attention maps of the same tokens on one colour scale.

    Parameters
    ----------
    weights : sequence of arrays or tensors, each of shape (q_len, k_len)
    query_tokens, key_tokens, vmax, annotate
        As for :func:`attention_map`; without numbers, one bar of colours stands below all maps.
    titles : sequence of str
        One per map.
    columns : int
        Maps beside one another.

    Returns
    -------
    Figure
        A cell displays it.

    Raises
    ------
    ValueError
        If there are no maps, or not as many titles as maps, or a map does not fit its tokens.
    """
    if len(weights) == 0 or len(weights) != len(titles):
        raise ValueError(f"{len(weights)} maps and {len(titles)} titles; pass one title per map")
    rows = visible_all(query_tokens)
    keys = rows if key_tokens is None else visible_all(key_tokens)
    matrices = [_matrix(matrix, len(rows), len(keys)) for matrix in weights]
    columns = min(columns, len(weights))
    side = FIGURE_WIDTH * (1.0 if columns == 1 else _PANEL)
    fig, axes = grid(
        titles,
        columns,
        (side, 1.4 * side),  # high enough: what is left over is closed up
        y_label="query position",
        title_at="center",
        sharey=True,
        layout="compressed",
    )
    for ax, matrix in zip(axes, matrices, strict=True):
        draw_matrix(ax, matrix, 0.0, vmax, rows, keys)
        ax.set_aspect("equal")
        ax.set_xlabel("key position")
        turn_long_names(ax, keys)
        if columns > 1 and len(keys) > _MOST_SLANTED:
            upright: dict[str, Any] = {"rotation": 90, "ha": "center", "rotation_mode": "default"}
            plt.setp(ax.get_xticklabels(), **upright)
    explain(fig, axes, "{:.2f}" if annotate else None)
    return fig


def _matrix(weights: Any, q_len: int, k_len: int) -> np.ndarray:
    matrix = numbers(weights)
    if matrix.ndim != 2:
        raise ValueError(
            f"weights has shape {matrix.shape}; a map is one matrix (queries, keys): pick one "
            "text and one head, for instance weights[0, head]"
        )
    if not np.isfinite(matrix).all():
        query, key = np.argwhere(~np.isfinite(matrix))[0]
        raise ValueError(f"the weight of query {query} and key {key} is {matrix[query, key]}")
    if matrix.shape != (q_len, k_len):
        raise ValueError(
            f"weights of shape {matrix.shape} do not fit {q_len} query tokens and {k_len} key "
            "tokens; rows are queries, columns are keys"
        )
    return matrix
