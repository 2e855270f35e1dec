"""A distribution before and after something was done to it, for the same tokens on one scale."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from glassbox_book.viz.panels import grid, numbers, side_by_side
from glassbox_book.viz.style import FIGURE_WIDTH, KEY, QUERY, TEXT
from glassbox_book.viz.tokens import visible_all

_PANEL = 1.3  # inches


def reshaped(
    tokens: Sequence[str],
    before: Any,
    panels: Mapping[str, Any],
    *,
    columns: int = 2,
    limit: float | int | None = None,
) -> Figure:
    """Draw what becomes of one distribution, a panel for each way of reshaping it.

    Every panel has the same tokens on the same scale. A filled bar is the probability after; the
    outline around or inside it is the one before; a cross stands where a token was cut off.

    Parameters
    ----------
    tokens : sequence of str
        What the bars are, from left to right.
    before : sequence of numbers
        The probability of each.
    panels : mapping of str to sequence of numbers
        Title to the probability of each token after; 0 if it was cut off.
    columns : int
        How many panels stand side by side.
    limit : number, optional
        Where the axis of the probabilities ends; a little above the largest if left out. A bar
        that is longer has its number written in it.

    Returns
    -------
    Figure
        A cell displays it.

    Raises
    ------
    ValueError
        If there are no panels or columns, or a panel has not one probability for each token.

    Notes
    -----
    Chapter 10.
    """
    columns = side_by_side(panels, columns, "{title: probabilities}")
    names = visible_all(tokens)
    drawn = {title: numbers(values) for title, values in panels.items()}
    first = numbers(before)
    for title, values in (("before", first), *drawn.items()):
        if len(values) != len(names):
            raise ValueError(f"{title!r} has {len(values)} probabilities for {len(names)} tokens")
    top = limit or 1.08 * max(first.max(), *(values.max() for values in drawn.values()))
    size = (FIGURE_WIDTH / columns, _PANEL)
    fig, axes = grid(list(drawn), columns, size, around=0.9, sharex=True, sharey=True)
    for ax, values in zip(axes, drawn.values(), strict=True):
        _draw(ax, first, values, float(top))
        ax.set_title(ax.get_title(loc="left"), loc="left", fontsize=10)
        ax.set_ylim(0, top)
        ax.set_xticks(range(len(names)), names, rotation=90, fontsize=9, parse_math=False)
        ax.tick_params(axis="x", length=0)
        ax.grid(axis="y")
    fig.supylabel("probability", fontsize=11, color=TEXT)
    return fig


def _draw(ax: Axes, before: np.ndarray, after: np.ndarray, top: float) -> None:
    places = np.arange(len(before))
    ax.bar(places, after, 0.72, color=QUERY)
    ax.bar(places, before, 0.86, fill=False, edgecolor=TEXT, linewidth=0.9)
    cut = places[(after == 0) & (before > 0)]
    if len(cut):  # a line without points has no place, and the layout would look for one
        ax.plot(cut, np.full(len(cut), 0.04 * top), "x", color=KEY, markersize=5)
    for place in places[after > top]:
        number = f"{after[place]:.2f}"
        ax.text(place + 0.6, 0.9 * top, number, color=TEXT, fontsize=9, va="top", ha="left")
