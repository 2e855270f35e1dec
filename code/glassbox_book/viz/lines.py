"""Line charts over a common axis."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, NullLocator

from glassbox_book.viz.panels import grid, move_apart, name_ends, numbers, side_by_side, write
from glassbox_book.viz.paper import in_two_widths, width
from glassbox_book.viz.style import SERIES, TEXT, check_length, check_series
from glassbox_book.viz.tokens import visible

_FEW = 16  # up to so many points get a mark and a tick each
_HEIGHT, _AROUND = 2.5, 0.3  # inches
_LETTER = 0.075  # inches: the width of a digit
_APART = 0.012  # of the axis: keeps bars of different series from overlapping

Panels = Mapping[str, Mapping[str, Any]]


@in_two_widths
def curves(
    x: Any,
    panels: Panels,
    *,
    x_label: str,
    y_label: str = "",
    log_x: bool = False,
    log_y: bool = False,
    columns: int = 2,
    x_names: Sequence[str] | None = None,
) -> Figure:
    """Draw panels on the same axes, each with a curve per series, which is named at its end.

    Parameters
    ----------
    x : sequence of numbers
        The same for all curves. Up to 16 points are marked and get a tick each.
    panels : mapping of str to mapping of str to values
        Title to series by their names to one value per point; the same series in all panels.
        Numbers may be negative. A value that is not finite leaves a gap.
    x_label, y_label : str
        What ``x`` and the values are.
    log_x, log_y : bool
        Whether the axis is logarithmic.
    columns : int
        Number of panels side by side; on a phone they are stacked.
    x_names : sequence of str, optional
        Names to write below the points instead of their numbers.

    Returns
    -------
    Figure
        A cell displays it.

    Raises
    ------
    ValueError
        If there is nothing to draw, a curve does not have one value per point or the axis one name,
        panels differ in their series, there are more than six, or a number on a logarithmic axis is
        not positive.
    """
    if x_names is not None:
        check_length("the axis", x_names, "names", len(numbers(x)), "points")
    log = {"log_x": log_x, "log_y": log_y}
    fig, axes = _panels(x, panels, log, columns, x_label=x_label, y_label=y_label, sharey=True)
    if x_names is not None:
        for ax in axes:
            ax.set_xticks(numbers(x), [visible(str(name)) for name in x_names], parse_math=False)
    move_apart(fig)
    return fig


@in_two_widths
def line_charts(
    x: Sequence[int | float],
    panels: Panels,
    *,
    x_label: str,
    log_x: bool = True,
    log_y: bool = False,
) -> Figure:
    """Draw one panel per quantity, each on its own scale.

    Parameters
    ----------
    x, panels, x_label
        As for :func:`curves`; a title is a quantity, whose axis starts at 0 unless a value is
        negative.
    log_x, log_y : bool
        Whether the axis is logarithmic.

    Returns
    -------
    Figure
        A cell displays it.

    Raises
    ------
    ValueError
        As in :func:`curves`.
    """
    log = {"log_x": log_x, "log_y": log_y}
    fig, axes = _panels(x, panels, log, 2, x_label=x_label, sharey=False)
    for ax in axes:
        if log_y:
            ax.yaxis.set_major_formatter("{x:g}")
        elif ax.dataLim.ymin >= 0:
            ax.set_ylim(0, 1.08 * ax.dataLim.ymax or None)  # room for the markers of the largest
    move_apart(fig)
    return fig


def _panels(
    x: Any, panels: Panels, log: dict[str, bool], columns: int, **layout: Any
) -> tuple[Figure, list[Axes]]:
    columns = side_by_side(panels, columns, "{title: {series: values}}", nested=True)
    places = numbers(x)
    drawn = {
        title: {name: numbers(values) for name, values in series.items()}
        for title, series in panels.items()
    }
    _check(places, drawn)
    everything = {f"{t!r}, {n!r}": values for t in drawn for n, values in drawn[t].items()}
    for option, named in {"log_y": everything, "log_x": {"x": places}}.items():
        if log[option]:
            _check_positive(option, named)
    size = (width() / columns, _HEIGHT if len(drawn) == 1 or columns > 1 else 0.75 * _HEIGHT)
    fig, axes = grid(drawn, columns, size, around=_AROUND, sharex=True, **layout)
    below = any((values < 0).any() for values in everything.values())
    for ax, series in zip(axes, drawn.values(), strict=True):
        draw_lines(ax, places, series)
        if log["log_x"]:
            ax.set_xscale("log")
        if log["log_y"]:
            ax.set_yscale("log")
            ax.yaxis.set_major_locator(LogLocator(numticks=6))
            ax.yaxis.set_minor_locator(NullLocator())
        if below:
            ax.axhline(0, color=TEXT, linewidth=0.8)
    _mark(axes[0], places)
    return fig, axes


def _check(places: np.ndarray, drawn: Mapping[str, Mapping[str, np.ndarray]]) -> None:
    first = list(next(iter(drawn.values())))
    if not places.size:
        raise ValueError("x has no points to draw; pass one number for each")
    for title, series in drawn.items():
        check_series(series)
        if list(series) != first:
            raise ValueError(f"{title!r} has the series {list(series)}, the first panel {first}")
        for name, values in series.items():
            check_length(f"{title!r}, {name!r}", values, "values", len(places), "points")


def _check_positive(option: str, named: Mapping[str, np.ndarray]) -> None:
    for name, values in named.items():
        if (values <= 0).any():
            raise ValueError(
                f"{name} has the value {np.nanmin(values):.4g}; a number needs to be positive to "
                f"have a logarithm: pass {option}=False"
            )


def draw_lines(ax: Axes, x: np.ndarray, series: Mapping[str, np.ndarray]) -> None:
    """Draw a line for each series in its own style, with markers if the points are few.

    Parameters
    ----------
    ax : Axes
        The axes to draw on.
    x : array, shape (n,)
        The positions of the points.
    series : mapping of str to array, shape (n,)
        At most six, by their names.
    """
    for (name, values), look in zip(series.items(), SERIES, strict=False):
        (line,) = ax.plot(x, values, label=name, **look)
        if len(x) > _FEW:
            line.set_marker("")
    name_ends(ax, x, series)
    ax.margins(x=0.02)
    ax.grid(axis="y")


def _mark(ax: Axes, places: np.ndarray) -> None:
    """Make each position a tick, if there are few, and write its number if there is room."""
    if len(places) > _FEW:
        return
    names = [f"{place:g}" for place in places]
    across = ax.transData.transform(np.stack([places, places], axis=1))[:, 0] / ax.figure.dpi
    end = -np.inf
    for i, name in enumerate(names):
        half = _LETTER * len(name) / 2
        if across[i] - half < end:
            names[i] = ""
        else:
            end = across[i] + half + _LETTER
    ax.set_xticks(places, names)
    ax.xaxis.set_minor_locator(NullLocator())


@in_two_widths
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
    """Draw the mean of several runs of each series, with a bar from the smallest to the largest.

    Parameters
    ----------
    x : sequence of numbers
        Positions of the points, the same for all lines; each gets a tick.
    series : mapping of str to array or tensor, shape (runs, len(x))
        At most six, by their names. NaN leaves a point out.
    x_label, y_label : str
        What the axes are.
    base, limit : number, optional
        Where the vertical axis starts and ends; a start of 0 is lowered for negative values.
    level : tuple of str and number, optional
        The name and value of a level to compare with, drawn as a dotted line.

    Returns
    -------
    Figure
        A cell displays it.

    Raises
    ------
    ValueError
        If there are no series or more than six, or one does not have one value per run and point,
        or no point that all runs have.
    """
    check_series(series)
    places, drawn = numbers(x), {name: numbers(values) for name, values in series.items()}
    for name, runs in drawn.items():
        if runs.ndim != 2 or not len(runs) or runs.shape[1] != len(places):
            raise ValueError(f"{name!r} has shape {runs.shape}; expected (runs, {len(places)})")
        if not np.isfinite(runs.mean(axis=0)).any():
            raise ValueError(f"{name!r} has no point that all runs have: {runs.tolist()}")
    fig, (ax,) = grid([""], 1, (width(), 3.4), x_label=x_label, y_label=y_label)
    means = {name: runs.mean(axis=0) for name, runs in drawn.items()}
    apart = _APART * (np.ptp(places) or 1)
    for number, (name, runs) in enumerate(drawn.items()):
        beside = (number - (len(series) - 1) / 2) * apart
        reach = [means[name] - runs.min(axis=0), runs.max(axis=0) - means[name]]
        look = SERIES[number]
        ax.errorbar(places + beside, means[name], yerr=reach, capsize=2, label=name, **look)
    if level is not None:
        ax.hlines(level[1], places.min(), places.max(), colors=TEXT, linewidth=1, linestyle=":")
        look = {"xycoords": ("axes fraction", "data"), "ha": "left", "va": "bottom", "size": None}
        write(ax, level[0], (0, level[1]), (0, 1), **look)
    _mark(ax, places)
    hidden = not base and any((runs < 0).any() for runs in drawn.values())
    ax.set_ylim(None if hidden else base, limit)
    ax.grid(axis="y")
    name_ends(ax, places + len(series) / 2 * apart, means)
    move_apart(fig)
    return fig
