"""Lines over a common axis: functions of a number, and how something grows, falls or stays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, NullLocator

from glassbox_book.viz.panels import grid, legend, numbers, side_by_side
from glassbox_book.viz.style import FIGURE_WIDTH, SERIES, TEXT, check_series

_FEW = 16  # points that get a mark each, and a tick each
_PANEL, _AROUND = 2.2, 0.5  # inches
_APART = 0.012  # of the axis: bars of different series do not cover one another

Panels = Mapping[str, Mapping[str, Any]]


def curves(
    x: Any,
    panels: Panels,
    *,
    x_label: str,
    y_label: str = "",
    log_x: bool = False,
    log_y: bool = False,
) -> Figure:
    """Draw one panel beneath another, each with a curve per series, all on the same axes.

    Parameters
    ----------
    x : sequence of numbers
        The same for all curves. Up to 16 points are marked, and each is a tick.
    panels : mapping of str to mapping of str to values
        Title to series (the legend) to one value per point; the same series in all panels.
        Numbers may be negative. A value that is not finite leaves a gap.
    x_label, y_label : str
        What ``x`` and the values are.
    log_x, log_y : bool
        Equal distances mean equal factors.

    Returns
    -------
    Figure
        A cell displays it.

    Raises
    ------
    ValueError
        If there is nothing to draw, a curve has not one value per point, panels differ in their
        series, there are more than six, or a logarithm is asked of a number that has none.
    """
    return _panels(x, panels, x_label, y_label, log_x=log_x, log_y=log_y, one_scale=True)[0]


def line_charts(
    x: Sequence[int | float],
    panels: Panels,
    *,
    x_label: str,
    log_x: bool = True,
    log_y: bool = False,
) -> Figure:
    """Draw one panel per quantity, beneath one another, each on a scale of its own.

    Parameters
    ----------
    x, panels, x_label
        As for :func:`curves`; a title is a quantity, whose values start at 0.
    log_x, log_y : bool
        Equal distances on this axis mean equal factors.

    Returns
    -------
    Figure
        A cell displays it.

    Raises
    ------
    ValueError
        As in :func:`curves`.
    """
    fig, axes = _panels(x, panels, x_label, "", log_x=log_x, log_y=log_y, one_scale=False)
    for ax in axes:
        if log_y:
            ax.yaxis.set_major_formatter("{x:g}")
        else:
            ax.set_ylim(0, 1.08 * ax.dataLim.ymax or None)  # room for the markers of the largest
    return fig


def _panels(
    x: Any,
    panels: Panels,
    x_label: str,
    y_label: str,
    *,
    log_x: bool,
    log_y: bool,
    one_scale: bool,
) -> tuple[Figure, list[Axes]]:
    columns = side_by_side(panels, 1, "{title: {series: values}}")
    places = numbers(x)
    drawn = {
        title: {name: numbers(values) for name, values in series.items()}
        for title, series in panels.items()
    }
    _check(places, drawn, log_x=log_x, log_y=log_y)
    fig, axes = grid(
        list(drawn),
        columns,
        (FIGURE_WIDTH, _PANEL),
        around=_AROUND,
        x_label=x_label,
        y_label=y_label,
        sharex=True,
        sharey=one_scale,
    )
    lowest = min(np.nanmin(values) for series in drawn.values() for values in series.values())
    for ax, series in zip(axes, drawn.values(), strict=True):
        draw_lines(ax, places, series)
        if log_x:
            ax.set_xscale("log")
        if log_y:
            ax.set_yscale("log")
            ax.yaxis.set_major_locator(LogLocator(numticks=6))
            ax.yaxis.set_minor_locator(NullLocator())
        if lowest < 0:
            ax.axhline(0, color=TEXT, linewidth=0.8)
    _mark(axes[0], places)
    legend(fig, axes[0], 3 if len(series) <= 3 else 2)  # all panels have the same series
    return fig, axes


def _check(
    places: np.ndarray, drawn: Mapping[str, Mapping[str, np.ndarray]], *, log_x: bool, log_y: bool
) -> None:
    first = list(next(iter(drawn.values())))
    for title, series in drawn.items():
        check_series(series)
        if list(series) != first:
            raise ValueError(f"{title!r} has the series {list(series)}, the first panel {first}")
        for name, values in series.items():
            if len(values) != len(places):
                raise ValueError(
                    f"{title!r}, {name!r} has {len(values)} values for {len(places)} points"
                )
            if log_y:
                _check_positive(f"{title!r}, {name!r}", values, "log_y")
    if log_x:
        _check_positive("x", places, "log_x")


def _check_positive(name: str, values: np.ndarray, option: str) -> None:
    if (values <= 0).any():
        raise ValueError(
            f"{name} has the value {values.min():.4g}; a number needs to be positive to have a "
            f"logarithm: pass {option}=False"
        )


def draw_lines(ax: Axes, x: np.ndarray, series: Mapping[str, np.ndarray]) -> None:
    """Draw a line for each series in a look of its own; few points are marked.

    Parameters
    ----------
    ax : Axes
        Where to draw.
    x : array, shape (n,)
        The places of the points.
    series : mapping of str to array, shape (n,)
        At most six, by their names.
    """
    for (name, values), look in zip(series.items(), SERIES, strict=False):
        (line,) = ax.plot(x, values, label=name, **look)
        if len(x) > _FEW:
            line.set_marker("")
    ax.grid(axis="y")


def _mark(ax: Axes, places: np.ndarray) -> None:
    """Make each place a tick, if there are few."""
    if len(places) <= _FEW:
        ax.set_xticks(places, [f"{place:g}" for place in places])
        ax.xaxis.set_minor_locator(NullLocator())


def spread_chart(
    x: Sequence[int | float],
    series: Mapping[str, Any],
    *,
    x_label: str,
    y_label: str,
    base: int | float = 0,
    limit: int | float | None = None,
    level: tuple[str, int | float] | None = None,
) -> Figure:
    """Draw the mean of several runs of each series, with a bar from the least to the largest.

    Parameters
    ----------
    x : sequence of numbers
        Positions of the points, the same for all lines; each is a tick.
    series : mapping of str to array or tensor, shape (runs, len(x))
        At most six, by their names. NaN leaves a point out.
    x_label, y_label : str
        What the axes are.
    base, limit : number, optional
        Where the vertical axis starts and ends.
    level : tuple of str and number, optional
        A level to compare with, and its name; a dotted line.

    Returns
    -------
    Figure
        A cell displays it.

    Raises
    ------
    ValueError
        If there are no series or more than six, or one has not one value per run and point.
    """
    check_series(series)
    places = numbers(x)
    fig, (ax,) = grid([""], 1, (FIGURE_WIDTH, 3.6), x_label=x_label, y_label=y_label)
    for number, (name, values) in enumerate(series.items()):
        runs = numbers(values)
        if runs.ndim != 2 or not len(runs) or runs.shape[1] != len(places):
            raise ValueError(f"{name!r} has shape {runs.shape}; expected (runs, {len(places)})")
        mean = runs.mean(axis=0)
        beside = (number - (len(series) - 1) / 2) * _APART * (np.ptp(places) or 1)
        reach = [mean - runs.min(axis=0), runs.max(axis=0) - mean]
        ax.errorbar(places + beside, mean, yerr=reach, capsize=2, label=name, **SERIES[number])
    if level is not None:
        ax.axhline(level[1], color=TEXT, linewidth=1, linestyle=":")
        ax.annotate(
            level[0],
            (1, level[1]),
            xycoords=("axes fraction", "data"),
            size=9,
            ha="right",
            va="top",
            xytext=(0, -2),
            textcoords="offset points",
        )
    _mark(ax, places)
    ax.set_ylim(base, limit)
    ax.grid(axis="y")
    legend(fig, ax)
    return fig
