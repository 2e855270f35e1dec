"""Attention weights as a grid of cells: queries downwards, keys to the right."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from glassbox.viz.style import FIGURE_WIDTH, WEIGHTS_COLORMAP, text_color_on
from glassbox.viz.tokens import visible_all

_SMALLEST_NUMBER = 6.5  # points
_MOST_VECTOR_CELLS = 64 * 64  # cells beyond which a picture is smaller than shapes


def attention_map(
    weights: Any,
    query_tokens: Sequence[str],
    key_tokens: Sequence[str] | None = None,
    *,
    title: str | None = None,
    ax: Axes | None = None,
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
    title : str, optional
        Title of the map.
    ax : matplotlib.axes.Axes, optional
        Where to draw; a new figure if left out.
    vmax : float
        The weight of the deepest colour. Keep it the same where maps are compared.
    annotate : bool
        Write each weight into its cell (left out where cells are too small for it).

    Returns
    -------
    matplotlib.axes.Axes
        The axes drawn on.

    Raises
    ------
    ValueError
        If ``weights`` is not a matrix of numbers that fits the tokens.
    """
    matrix = _matrix(weights)
    rows = visible_all(query_tokens)
    columns = rows if key_tokens is None else visible_all(key_tokens)
    if matrix.shape != (len(rows), len(columns)):
        raise ValueError(
            f"weights of shape {matrix.shape} do not fit {len(rows)} query tokens and "
            f"{len(columns)} key tokens; rows are queries, columns are keys"
        )
    if ax is None:
        side = FIGURE_WIDTH * len(rows) / max(len(columns), len(rows))
        ax = plt.subplots(figsize=(FIGURE_WIDTH, max(side, 1.6)))[1]

    ax.pcolormesh(
        matrix,
        cmap=WEIGHTS_COLORMAP,
        vmin=0.0,
        vmax=vmax,
        edgecolors="face",
        linewidth=0.4,  # closes the hairlines a browser leaves between cells
        rasterized=matrix.size > _MOST_VECTOR_CELLS,
    )
    ax.set_aspect("equal")
    ax.set(xlim=(0, len(columns)), ylim=(len(rows), 0))  # the first query is on top
    _name_positions(ax, rows, columns)
    if title is not None:
        ax.set_title(title)
    if annotate:
        _write_numbers(ax, matrix, vmax)
    return ax


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
        As for :func:`attention_map`.
    titles : sequence of str
        One per map.
    columns : int
        Maps beside one another.

    Raises
    ------
    ValueError
        If there are no maps, or not as many titles as maps, or a map does not fit its tokens.
    """
    if len(weights) == 0 or len(weights) != len(titles):
        raise ValueError(f"{len(weights)} maps and {len(titles)} titles; pass one title per map")
    columns = min(columns, len(weights))
    rows = -(-len(weights) // columns)
    side = FIGURE_WIDTH if columns == 1 else 0.65 * FIGURE_WIDTH  # two remain legible at 360 pixels
    fig, axes = plt.subplots(
        rows, columns, figsize=(side * columns, side * rows), squeeze=False, sharey=True
    )
    for ax, matrix, title in zip(axes.flat, weights, titles, strict=False):
        attention_map(
            matrix, query_tokens, key_tokens, title=title, ax=ax, vmax=vmax, annotate=annotate
        )
        if ax not in axes[:, 0]:
            ax.set_ylabel("")
    for ax in axes.flat[len(weights) :]:
        ax.remove()
    return fig


def _matrix(weights: Any) -> np.ndarray:
    if hasattr(weights, "detach"):
        weights = weights.detach().float().cpu().numpy()
    matrix = np.asarray(weights, dtype=np.float64)
    if matrix.ndim != 2:
        raise ValueError(
            f"weights has shape {matrix.shape}; a map is one matrix (queries, keys): pick one "
            "text and one head, for instance weights[0, head]"
        )
    if not np.isfinite(matrix).all():
        query, key = np.argwhere(~np.isfinite(matrix))[0]
        raise ValueError(f"the weight of query {query} and key {key} is {matrix[query, key]}")
    return matrix


def _name_positions(ax: Axes, rows: list[str], columns: list[str]) -> None:
    # parse_math: a token with dollar signs is text, not a formula.
    ax.set_xticks(np.arange(len(columns)) + 0.5, columns, parse_math=False)
    ax.set_yticks(np.arange(len(rows)) + 0.5, rows, parse_math=False)
    if max(map(len, columns)) * len(columns) > 24:
        plt.setp(ax.get_xticklabels(), rotation=45, ha="right", rotation_mode="anchor")
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)
    ax.set_xlabel("key position")
    ax.set_ylabel("query position")


def _write_numbers(ax: Axes, matrix: np.ndarray, vmax: float) -> None:
    # Four digits take about 2.2 times their size; tokens and labels take a quarter of the axes.
    cell = 0.75 * 72 * ax.bbox.width / ax.figure.dpi / max(matrix.shape)
    size = min(10.0, cell / 2.3)
    if size < _SMALLEST_NUMBER:
        return
    look: dict[str, Any] = {"ha": "center", "va": "center", "size": round(size, 1)}
    for (query, key), weight in np.ndenumerate(matrix):
        color = text_color_on(WEIGHTS_COLORMAP(min(weight / vmax, 1.0)))
        ax.text(key + 0.5, query + 0.5, f"{weight:.2f}", color=color, **look)
