"""Two quantities against each other, of which one can be had for the other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import matplotlib.pyplot as plt
from matplotlib.figure import Figure

from glassbox_book.viz.style import AMBER, FIGURE_WIDTH, HIGHLIGHT, KEY, QUERY, TEXT, VALUE

#: Series differ by more than their colour.
_LOOKS = (
    (QUERY, "-", "o"),
    (KEY, (0, (5, 2)), "s"),
    (VALUE, (0, (1.5, 1.5)), "^"),
    (HIGHLIGHT, (0, (5, 1.5, 1, 1.5)), "D"),
    (AMBER, (0, (8, 2)), "v"),
)

Point = tuple[float | int, float | int, str]


def trade_off(
    series: Mapping[str, Sequence[Point]],
    *,
    x_label: str,
    y_label: str,
    single: Sequence[Point] = (),
) -> Figure:
    """Draw a line through the settings of each method in the plane of two quantities.

    Parameters
    ----------
    series : mapping of str to sequence of (x, y, label)
        At most five methods by their names; each point is a setting, with a label that may be
        empty.
    x_label, y_label : str
        What the quantities are.
    single : sequence of (x, y, label)
        Points that belong to no series, drawn as stars.

    Returns
    -------
    Figure
        A cell displays it.

    Raises
    ------
    ValueError
        If there is no series, one has no points, or there are more than five.

    Notes
    -----
    Chapter 10.
    """
    if not 1 <= len(series) <= len(_LOOKS):
        raise ValueError(f"there are {len(series)} series; 1 to {len(_LOOKS)} can be told apart")
    fig, ax = plt.subplots(figsize=(FIGURE_WIDTH, 4.0))
    for (name, points), (colour, dashes, marker) in zip(series.items(), _LOOKS, strict=False):
        if not points:
            raise ValueError(f"{name!r} has no points; give it (x, y, label) for each setting")
        x, y, labels = zip(*points, strict=True)
        ax.plot(x, y, color=colour, linestyle=dashes, marker=marker, markersize=5, label=name)
        for place, label in enumerate(labels):
            _write(ax, (x[place], y[place]), label)
    for at_x, at_y, label in single:
        ax.plot([at_x], [at_y], marker="*", markersize=11, color=TEXT, linestyle="")
        _write(ax, (at_x, at_y), label)
    ax.set(xlabel=x_label, ylabel=y_label)
    ax.margins(0.1)
    ax.grid()
    fig.legend(loc="outside upper center", ncols=3)
    return fig


def _write(ax: plt.Axes, point: tuple[float, float], label: str) -> None:
    if label:
        ax.annotate(label, point, xytext=(5, 4), textcoords="offset points", fontsize=9, color=TEXT)
