"""Attention weights as a grid of cells: queries downwards, keys to the right."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from glassbox_book.viz.style import FIGURE_WIDTH, WEIGHTS_COLORMAP, text_color_on
from glassbox_book.viz.tokens import visible_all

_SMALLEST_NUMBER = 7.5  # points
_PANEL = 0.52  # of the width of a figure: labels of two maps stay above 10 pixels on telephones
_SHADES = 24  # steps of the colour bar: smooth to the eye, and a few shapes to the file
_MOST_VECTOR_CELLS = 64 * 64  # cells beyond which a picture is smaller than shapes
_MOST_SLANTED = 7  # columns of a narrow map beyond which slanted names touch


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
        Write each weight into its cell (left out where cells are too small for it). A new figure
        without numbers has a bar of its colours from 0 to ``vmax`` below the map.

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
        fig, ax = plt.subplots(figsize=(FIGURE_WIDTH, max(side, 1.6)))
        attention_map(
            matrix, query_tokens, key_tokens, title=title, ax=ax, vmax=vmax, annotate=False
        )
        _make_readable(fig, {ax: matrix}, vmax, annotate)
        return ax

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
        # The layout comes later: tokens and labels will take a little of the axes.
        _write_numbers(ax, matrix, vmax, width=0.9 * ax.bbox.width)
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
    columns = min(columns, len(weights))
    rows = -(-len(weights) // columns)
    side = FIGURE_WIDTH * (1.0 if columns == 1 else _PANEL)
    fig, axes = plt.subplots(
        rows,
        columns,
        figsize=(side * columns, 1.4 * side * rows),  # enough: what is left over is closed up
        squeeze=False,
        sharey=True,
        layout="compressed",
    )
    maps = {ax: _matrix(matrix) for ax, matrix in zip(axes.flat, weights, strict=False)}
    for (ax, matrix), title in zip(maps.items(), titles, strict=True):
        attention_map(
            matrix, query_tokens, key_tokens, title=title, ax=ax, vmax=vmax, annotate=False
        )
        if ax not in axes[:, 0]:
            ax.set_ylabel("")
        if columns > 1 and matrix.shape[1] > _MOST_SLANTED:
            upright: dict[str, Any] = {"rotation": 90, "ha": "center", "rotation_mode": "default"}
            plt.setp(ax.get_xticklabels(), **upright)
    for ax in axes.flat[len(weights) :]:
        ax.remove()
    _make_readable(fig, maps, vmax, annotate)
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


def _make_readable(fig: Figure, maps: dict[Axes, np.ndarray], vmax: float, annotate: bool) -> None:
    """Write the weights into the cells; where they do not fit, say what the colours mean."""
    if annotate:
        fig.draw_without_rendering()  # lays out: cells have their size
        written = [_write_numbers(ax, matrix, vmax, ax.bbox.width) for ax, matrix in maps.items()]
        if all(written):
            return
    bar = fig.colorbar(
        next(iter(maps)).collections[0],
        ax=list(maps),
        location="bottom",
        boundaries=np.linspace(0, vmax, _SHADES + 1),
        ticks=[0, vmax],
        format="%g",
        shrink=0.6,
        aspect=30,
    )
    plt.setp(bar.ax.collections, edgecolor="face", linewidth=0.4)
    bar.outline.set_visible(False)
    bar.ax.tick_params(length=0)


def _write_numbers(ax: Axes, matrix: np.ndarray, vmax: float, width: float) -> bool:
    """Write each weight into its cell, and return whether there is room for it."""
    cell = 72 * width / ax.figure.dpi / max(matrix.shape)
    size = min(10.0, cell / 2.5)  # four digits take about 2.2 times their size
    if size < _SMALLEST_NUMBER:
        return False
    look: dict[str, Any] = {"ha": "center", "va": "center", "size": round(size, 1)}
    for (query, key), weight in np.ndenumerate(matrix):
        color = text_color_on(WEIGHTS_COLORMAP(min(weight / vmax, 1.0)))
        ax.text(key + 0.5, query + 0.5, f"{weight:.2f}", color=color, **look)
    return True
