"""Curves: functions of a number, and what grows or shrinks by factors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, NullLocator

from glassbox_book.viz.style import AMBER, FIGURE_WIDTH, HIGHLIGHT, KEY, QUERY, TEXT, VALUE

#: Series differ by more than their colour.
_LINES: tuple[tuple[str, Any, str], ...] = (
    (QUERY, "-", "o"),
    (KEY, (0, (5, 2)), "s"),
    (VALUE, (0, (1.5, 1.5)), "^"),
    (HIGHLIGHT, (0, (5, 1.5, 1, 1.5)), "D"),
    (AMBER, (0, (8, 2)), "v"),
)
_FEW = 16  # points that get a mark each, and a tick each
_PANEL = 2.2  # inches


def curves(
    x: Any,
    panels: Mapping[str, Mapping[str, Any]],
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
        series, there are more than five, or a logarithm is asked of a number that has none.
    """
    places = _numbers(x)
    drawn = {
        title: {name: _numbers(values) for name, values in series.items()}
        for title, series in panels.items()
    }
    _check(places, drawn, log_x=log_x, log_y=log_y)
    fig, axes = plt.subplots(
        len(drawn),
        1,
        figsize=(FIGURE_WIDTH, _PANEL * len(drawn) + 0.5),
        sharex=True,
        sharey=True,
        squeeze=False,
    )
    for ax, (title, series) in zip(axes.flat, drawn.items(), strict=True):
        for (name, values), (colour, dashes, mark) in zip(series.items(), _LINES, strict=False):
            marker = mark if len(places) <= _FEW else ""
            ax.plot(places, values, color=colour, linestyle=dashes, marker=marker, ms=5, label=name)
        ax.set_title(title, loc="left")
        ax.set_ylabel(y_label)
        ax.grid(axis="y")
    _scale(axes[0, 0], places, log_x=log_x, log_y=log_y)
    lowest = min(np.nanmin(values) for series in drawn.values() for values in series.values())
    if lowest < 0:
        for ax in axes.flat:
            ax.axhline(0, color=TEXT, linewidth=0.8)
    axes[-1, 0].set_xlabel(x_label)
    handles, names = axes[0, 0].get_legend_handles_labels()
    if len(names) > 1:
        fig.legend(handles, names, loc="outside upper center", ncols=2 if len(names) > 3 else 3)
    return fig


def _numbers(values: Sequence[Any] | Any) -> np.ndarray:
    if hasattr(values, "detach"):
        values = values.detach().cpu()
    return np.asarray([float(value) for value in values])


def _check(
    places: np.ndarray,
    drawn: Mapping[str, Mapping[str, np.ndarray]],
    *,
    log_x: bool,
    log_y: bool,
) -> None:
    if not drawn or not all(drawn.values()):
        raise ValueError("no curves to draw; pass {title: {series: values}}")
    first = list(next(iter(drawn.values())))
    for title, series in drawn.items():
        if list(series) != first:
            raise ValueError(f"{title!r} has the series {list(series)}, the first panel {first}")
        if len(series) > len(_LINES):
            raise ValueError(f"{title!r} has {len(series)} series; {len(_LINES)} can be told apart")
        for name, values in series.items():
            if len(values) != len(places):
                raise ValueError(
                    f"{title!r}, {name!r} has {len(values)} values for {len(places)} points"
                )
            if log_y and (values <= 0).any():
                raise ValueError(
                    f"{title!r}, {name!r} has the value {values.min():.4g}; a number needs to be "
                    "positive to have a logarithm: pass log_y=False"
                )
    if log_x and (places <= 0).any():
        raise ValueError(
            f"x has the value {places.min():.4g}; a number needs to be positive to have a "
            "logarithm: pass log_x=False"
        )


def _scale(ax: Axes, places: np.ndarray, *, log_x: bool, log_y: bool) -> None:
    if log_x:
        ax.set_xscale("log")
    if log_y:
        ax.set_yscale("log")
        ax.yaxis.set_major_locator(LogLocator(numticks=6))
        ax.yaxis.set_minor_locator(NullLocator())
    if len(places) <= _FEW:
        ax.set_xticks(places, [f"{place:g}" for place in places])
        ax.xaxis.set_minor_locator(NullLocator())
