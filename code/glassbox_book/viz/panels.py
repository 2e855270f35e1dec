"""Helpers for all figures: grids of panels, names at the ends of lines, tensors as arrays."""

from collections.abc import Collection, Iterable, Mapping
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.text import Annotation
from matplotlib.transforms import ScaledTranslation

from glassbox_book.viz.paper import is_narrow
from glassbox_book.viz.style import INKS, SERIES
from glassbox_book.viz.tokens import with_spaces

_END = "end"  # marks names at the ends of lines


def numbers(values: Any) -> np.ndarray:
    """Return a tensor, an array or a sequence as an array of floats.

    Parameters
    ----------
    values : Tensor, array or sequence of numbers
        On any device, with or without gradients.

    Returns
    -------
    array
        An array of the same shape.

    Raises
    ------
    TypeError
        If the numbers are complex.
    """
    if hasattr(values, "detach"):
        values = values.detach().cpu()
        values = (values if values.is_complex() else values.double()).numpy()
    if np.iscomplexobj(values):
        raise TypeError("complex numbers cannot be drawn: pass their .real, .imag or .abs()")
    return np.asarray(values, dtype=np.float64)


def check_range(what: str, values: np.ndarray) -> None:
    """Check that probabilities are numbers between 0 and 1.

    Raises
    ------
    ValueError
        If one is not.
    """
    low, high = values.min(), values.max()
    if not (low >= -1e-4 and high <= 1 + 1e-4):
        raise ValueError(
            f"{what} lie between 0 and 1, and these between {low:.4g} and {high:.4g}: "
            "pass them after the softmax, not the scores"
        )


def side_by_side(
    panels: Collection[Any], columns: int, expected: str, *, narrow: int = 1, nested: bool = False
) -> int:
    """Return the number of panels side by side: ``columns``, or all panels if they are fewer.

    Parameters
    ----------
    panels : collection
        The panels to draw.
    columns : int
        The number asked for, on a page.
    expected : str
        A description of valid ``panels``, for the error.
    narrow : int
        The number on a phone.
    nested : bool
        Whether ``panels`` is to map each title to a mapping.

    Returns
    -------
    int
        At least 1.

    Raises
    ------
    ValueError
        If there are no panels, they are not mappings, or ``columns`` is less than 1.
    """
    if not panels:
        raise ValueError(f"no panels to draw; pass {expected}")
    if nested and not all(isinstance(panel, Mapping) for panel in dict(panels).values()):
        raise ValueError(f"{panels!r:.60} is not a dictionary of dictionaries; pass {expected}")
    if columns < 1:
        raise ValueError(f"columns={columns}: must be at least 1")
    return min(narrow if is_narrow() else columns, len(panels))


def grid(
    titles: Collection[str],
    columns: int,
    size: tuple[float, float],
    *,
    around: float = 0.0,
    x_label: str = "",
    y_label: str = "",
    **layout: Any,
) -> tuple[Figure, list[Axes]]:
    """Return a figure with one panel for each title; the rest of the last row is empty.

    Parameters
    ----------
    titles : collection of str
        The titles in reading order.
    columns : int
        Number of panels side by side.
    size : tuple of float
        Width and height of a panel in inches.
    around : float
        Height in inches of the space above and below all panels.
    x_label, y_label : str
        What the axes are, written below the lowest panels and, horizontally, above the leftmost.
    **layout
        For :func:`matplotlib.pyplot.subplots`, such as ``sharex``.

    Returns
    -------
    tuple of Figure and list of Axes
        One axes for each title.
    """
    width, height = size
    rows = -(-len(titles) // columns)
    figsize = (width * columns, height * rows + around)
    fig, axes = plt.subplots(rows, columns, figsize=figsize, squeeze=False, **layout)
    for ax in axes.flat[len(titles) :]:
        ax.remove()
    panels = list(axes.flat[: len(titles)])
    above = ScaledTranslation(0, 6 / 72, fig.dpi_scale_trans)
    for place, (ax, title) in enumerate(zip(panels, titles, strict=True)):
        ax.set_title(with_spaces(title), loc="left", pad=21 if y_label and title else None)
        if place % columns == 0:
            ax.set_ylabel(y_label, rotation=0, ha="left", va="bottom")
            ax.yaxis.set_label_coords(0, 1, transform=ax.transAxes + above)
        if place + columns >= len(titles):  # nothing is below
            ax.set_xlabel(x_label)
            ax.tick_params(labelbottom=True)
    return fig, panels


def legend(fig: Figure, ax: Axes, columns: int) -> None:
    """Name the series of a panel above all panels, if there are several.

    Parameters
    ----------
    fig : Figure
        The figure to write on.
    ax : Axes
        The panel whose series have names.
    columns : int
        Number of names side by side.
    """
    handles, names = ax.get_legend_handles_labels()
    if len(names) > 1:
        fig.legend(handles, names, loc="outside upper left", ncols=columns)


def name_ends(ax: Axes, x: np.ndarray, series: Mapping[str, np.ndarray]) -> None:
    """Write the name of each of several lines to the right of its end, in its colour.

    Afterwards, draw the figure once more and call :func:`move_apart`.

    Parameters
    ----------
    ax : Axes
        The panel to write on.
    x : array, shape (n,)
        The positions of the points.
    series : mapping of str to array, shape (n,)
        The lines by their names; each ends at its last finite value.
    """
    for (name, y), look in zip(series.items(), SERIES, strict=False):
        known = np.flatnonzero(np.isfinite(y))
        if known.size and len(series) > 1:
            colour = INKS.get(look["color"], look["color"])
            style = {"color": colour, "va": "center_baseline", "label": _END}
            end = x[known[-1]], y[known[-1]]
            write(ax, with_spaces(name), end, (7, 0), annotation_clip=False, **style)


def write(
    ax: Axes, words: str, where: Iterable[Any], offset: Iterable[Any], **look: Any
) -> Annotation:
    """Write words next to a point.

    Parameters
    ----------
    ax : Axes
        The panel to write on.
    words : str
        The words, in which nothing is a formula.
    where : (x, y)
        The point, in the units of the axes.
    offset : (right, up)
        How far from the point, in points of text.
    **look
        For :meth:`matplotlib.axes.Axes.annotate`.

    Returns
    -------
    Annotation
        The words on the panel.
    """
    x, y = map(float, where)
    right, up = map(float, offset)
    look = {"size": 10, "textcoords": "offset points", "parse_math": False, **look}
    return ax.annotate(words, (x, y), (right, up), **look)


def move_apart(fig: Figure) -> None:
    """Move the names that :func:`name_ends` wrote up or down until none overlap.

    Parameters
    ----------
    fig : Figure
        The figure, with everything drawn on it.
    """
    fig.draw_without_rendering()  # only then does everything have its position
    for ax in fig.axes:
        names = [
            text for text in ax.texts if isinstance(text, Annotation) and text.get_label() == _END
        ]
        middles = [float(ax.transData.transform(text.xy)[1]) for text in names]
        gap = 1.2 * 10 * fig.dpi / 72
        frame = ax.get_window_extent()
        places = _apart(middles, gap, frame.y0 + 0.55 * gap, frame.y1)  # above the axis
        for text, middle, place in zip(names, middles, places, strict=True):
            text.set_position((7, (place - middle) * 72 / fig.dpi))


def _apart(middles: list[float], gap: float, low: float, high: float) -> list[float]:
    """Return positions at least ``gap`` apart, in the same order and each near its original."""
    order = sorted(range(len(middles)), key=middles.__getitem__)
    groups: list[tuple[float, int]] = []  # middle and number of adjacent names
    for i in order:
        middle, count = min(max(middles[i], low), high), 1
        while groups and middle - groups[-1][0] < (count + groups[-1][1]) * gap / 2:
            before, number = groups.pop()
            middle = (before * number + middle * count) / (number + count)
            count += number
            reach = (count - 1) * gap / 2
            middle = min(max(middle, low + reach), max(high - reach, low + reach))
        groups.append((middle, count))
    places = [middle + (k - (n - 1) / 2) * gap for middle, n in groups for k in range(n)]
    return [place for _, place in sorted(zip(order, places, strict=True))]
