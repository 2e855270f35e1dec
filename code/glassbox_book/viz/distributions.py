"""A distribution before and after reshaping, for the same tokens on one scale."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from glassbox_book.viz.panels import check_range, grid, numbers, side_by_side
from glassbox_book.viz.paper import in_two_widths, width
from glassbox_book.viz.style import ROSE, TEAL, TEXT, check_length
from glassbox_book.viz.tokens import visible_all

_ROW, _AROUND = 0.2, 0.42  # inches: for a token, and for the space around a panel


@in_two_widths
def reshaped(
    tokens: Sequence[str],
    before: Any,
    panels: Mapping[str, Any],
    *,
    limit: float | int | None = None,
) -> Figure:
    """Draw one distribution reshaped in several ways, one panel for each.

    Every panel has the same tokens on the same scale. A filled bar is the probability afterwards,
    the outline around or inside it the one before; a cross marks a token that was cut off.

    Parameters
    ----------
    tokens : sequence of str
        Names of the bars, from top to bottom.
    before : sequence of numbers
        The probability of each token.
    panels : mapping of str to sequence of numbers
        Title to the probability of each token afterwards; 0 if it was cut off.
    limit : number, optional
        End of the probability axis. Defaults to a little above the largest. A longer bar has its
        number written inside.

    Returns
    -------
    Figure
        A cell displays it.

    Raises
    ------
    ValueError
        If there are no panels, or a panel lacks one probability per token.

    Notes
    -----
    Chapter 10.
    """
    columns = side_by_side(panels, 4, "{title: probabilities}", narrow=2)
    names = visible_all(tokens)
    drawn = {title: numbers(values) for title, values in panels.items()}
    first = numbers(before)
    for title, values in (("before", first), *drawn.items()):
        check_length(repr(title), values, "probabilities", len(names), "tokens")
        check_range(f"the probabilities of {title!r}", values)
    top = limit or 1.08 * max(first.max(), *(values.max() for values in drawn.values()))
    size = (width() / columns, _ROW * len(names) + _AROUND)
    fig, axes = grid(
        drawn, columns, size, around=0.1, x_label="probability", sharex=True, sharey=True
    )
    for ax, values in zip(axes, drawn.values(), strict=True):
        _draw(ax, first, values, float(top))
        ax.set_title(ax.get_title(loc="left"), loc="left", fontsize=10.5)
        ax.set_xlim(0, top)
        ax.set_yticks(range(len(names)), names, parse_math=False)
        ax.xaxis.set_major_locator(MaxNLocator(3, prune="upper"))  # the next panel begins there
        ax.grid(axis="x")
    axes[0].invert_yaxis()
    return fig


def _draw(ax: Axes, before: np.ndarray, after: np.ndarray, top: float) -> None:
    places = np.arange(len(before))
    ax.barh(places, after, 0.72, color=TEAL)
    ax.barh(places, before, 0.86, fill=False, edgecolor=TEXT, linewidth=0.8)
    cut = places[(after == 0) & (before > 0)]
    if len(cut):  # the layout fails on a line without points
        ax.plot(np.full(len(cut), 0.04 * top), cut, "x", color=ROSE, markersize=5)
    for place in places[after > top]:
        number = f"{after[place]:.2f}"
        ax.text(0.98 * top, place + 0.8, number, color=TEXT, fontsize=9.5, va="center", ha="right")
