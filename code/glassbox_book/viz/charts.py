"""Lines over a common axis: how something grows, falls or stays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import matplotlib.pyplot as plt
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator

from glassbox_book.viz.style import FIGURE_WIDTH

_MARKERS = "os^Dv"  # series differ by more than their colour


def line_charts(
    x: Sequence[int | float],
    panels: Mapping[str, Mapping[str, Any]],
    *,
    x_label: str,
    log_x: bool = True,
    log_y: bool = False,
) -> Figure:
    """Draw one panel per quantity, beneath one another, each with one line per series.

    Parameters
    ----------
    x : sequence of numbers
        Positions of the points, the same for all lines; each is a tick.
    panels : mapping of str to mapping of str to values
        Quantity (the vertical axis) to series (the legend) to one value per point. All panels
        have the same series; values start at 0, or are positive if ``log_y``.
    x_label : str
        What ``x`` is.
    log_x, log_y : bool
        Equal distances on this axis mean equal factors.

    Returns
    -------
    Figure
        A cell displays it.

    Raises
    ------
    ValueError
        If there are no panels, or a line has not one value per point.
    """
    if not panels:
        raise ValueError("no panels to draw; pass {quantity: {series: values}}")
    for quantity, series in panels.items():
        for name, values in series.items():
            if len(values) != len(x):
                raise ValueError(
                    f"{quantity!r}, {name!r} has {len(values)} values for {len(x)} points"
                )
    height = (2.6 if log_y else 2.1) * len(panels)  # powers of ten need room
    fig, axes = plt.subplots(
        len(panels), 1, figsize=(FIGURE_WIDTH, height), sharex=True, squeeze=False
    )
    for ax, (quantity, series) in zip(axes.flat, panels.items(), strict=True):
        for marker, (name, values) in zip(_MARKERS, series.items(), strict=False):
            ax.plot(x, values, marker=marker, label=name)
        if log_x:
            ax.set_xscale("log")
        ax.set_xticks(x, [f"{point:g}" for point in x])
        if log_y:
            ax.set_yscale("log")
            ax.yaxis.set_major_locator(LogLocator(numticks=9))
            ax.yaxis.set_major_formatter("{x:g}")
        else:
            ax.set_ylim(0, 1.08 * ax.dataLim.ymax or None)  # room for the markers of the largest
        ax.minorticks_off()
        ax.set_title(quantity, loc="left")
        ax.grid(axis="y")
    axes[-1, 0].set_xlabel(x_label)
    fig.legend(
        *axes[0, 0].get_legend_handles_labels(), loc="outside upper center", ncols=len(_MARKERS)
    )
    return fig
