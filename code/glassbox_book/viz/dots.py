"""Dot charts: the results of several runs of a few named things."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from glassbox_book.viz.panels import grid, numbers, side_by_side, write
from glassbox_book.viz.paper import in_two_widths, width
from glassbox_book.viz.style import PAPER, TEAL, TEXT
from glassbox_book.viz.tokens import visible_all

_ROW, _PANEL = 0.23, 0.6  # inches for a row of dots, and for the space around a panel's rows


@in_two_widths
def dot_charts(
    panels: Mapping[str, Mapping[str, Any]],
    *,
    annotate: str | Mapping[str, str] = "{:.1f}",
    columns: int = 2,
) -> Figure:
    """Draw one panel per quantity, each on its own scale, with a dot for each run.

    To the right of each row are its numbers: one value, both of two, or the mean of several and
    their standard deviation.

    Parameters
    ----------
    panels : mapping of str to mapping of str to sequence of numbers
        Title to the rows, from top to bottom: each label to the values of its runs.
    annotate : str or mapping of str to str
        The format of a number, in all panels or by title.
    columns : int
        Number of panels side by side; on a phone they are stacked.

    Returns
    -------
    Figure
        A cell displays it.

    Raises
    ------
    ValueError
        If there are no panels or columns, formats and panels differ in their titles, a panel has
        no rows, or a row has no values, or one that is not finite.

    Notes
    -----
    Chapter 11.
    """
    columns = side_by_side(panels, columns, "{title: {label: values}}", nested=True)
    if not isinstance(annotate, str) and annotate.keys() != panels.keys():
        raise ValueError(
            f"annotate has formats for {list(annotate)}; the panels are {list(panels)}"
        )
    drawn = {title: _rows(title, rows) for title, rows in panels.items()}
    counts = [len(rows) for rows in drawn.values()]
    heights = [
        _ROW * max(counts[place : place + columns]) + _PANEL
        for place in range(0, len(counts), columns)
    ]
    size = (width() / columns, sum(heights) / len(heights))
    fig, axes = grid(drawn, columns, size, height_ratios=heights, gridspec_kw={"wspace": 0.08})
    for ax, (title, rows) in zip(axes, drawn.items(), strict=True):
        _draw(ax, rows, annotate if isinstance(annotate, str) else annotate[title])
    return fig


def _rows(title: str, rows: Mapping[str, Any]) -> dict[str, np.ndarray]:
    if not rows:
        raise ValueError(f"{title!r} has no rows to draw: give it labels and values")
    found = {label: numbers(values) for label, values in rows.items()}
    for label, values in found.items():
        if values.ndim != 1 or not values.size or not np.isfinite(values).all():
            raise ValueError(
                f"{title!r}, {label!r} has {values.tolist()}; expected one finite number or more"
            )
    return found


def _draw(ax: Axes, rows: Mapping[str, np.ndarray], annotate: str) -> None:
    for place, values in enumerate(rows.values()):
        ends = [values.min(), values.max()]
        ax.plot(ends, [place, place], color=TEAL, linewidth=1.5)
        ax.plot(values, [place] * len(values), "o", color=TEAL, ms=6, mec=PAPER, mew=0.6)
        beside: Any = ("axes fraction", "data")
        words = _words(values, annotate)
        write(ax, words, (1, place), (6, 0), xycoords=beside, va="center", annotation_clip=False)
    ax.set_yticks(range(len(rows)), visible_all(rows), parse_math=False)
    ax.set_ylim(len(rows) - 0.5, -0.5)
    ax.margins(x=0.08)
    ax.xaxis.set_major_locator(MaxNLocator(nbins=4, steps=[1, 2, 5, 10]))
    ax.grid(axis="x")
    if ax.dataLim.xmin < 0:
        ax.axvline(0, color=TEXT, linewidth=0.8)


def _words(values: np.ndarray, annotate: str) -> str:
    if len(values) > 2:
        spread = annotate.replace("+", "").format(values.std(ddof=1))
        words = f"{annotate.format(values.mean())} ± {spread}"
    else:
        ends = dict.fromkeys(annotate.format(value) for value in sorted(values))
        words = " to ".join(ends)
    return words.replace("-", "−")
