"""Lines with what repetitions leave uncertain: the mean of several runs, and their range."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.figure import Figure

from glassbox_book.viz.style import FIGURE_WIDTH, TEXT

_MARKERS = "os^DvX"  # series differ by more than their colour
_APART = 0.012  # of the axis: bars of different series do not cover one another


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
    if not 1 <= len(series) <= len(_MARKERS):
        raise ValueError(f"there are {len(series)} series; 1 to {len(_MARKERS)} can be told apart")
    runs = {name: np.asarray(values, dtype=float) for name, values in series.items()}
    for name, values in runs.items():
        if values.ndim != 2 or not len(values) or values.shape[1] != len(x):
            raise ValueError(f"{name!r} has shape {values.shape}; expected (runs, {len(x)})")
    fig, ax = plt.subplots(figsize=(FIGURE_WIDTH, 3.6))
    colors = [*plt.rcParams["axes.prop_cycle"].by_key()["color"][: len(_MARKERS) - 1], TEXT]
    width = max(x) - min(x) or 1
    for number, (name, values) in enumerate(runs.items()):
        mean = values.mean(axis=0)
        off = (number - (len(runs) - 1) / 2) * _APART * width
        ax.errorbar(
            [point + off for point in x],
            mean,
            yerr=[mean - values.min(axis=0), values.max(axis=0) - mean],
            color=colors[number],
            marker=_MARKERS[number],
            markersize=5,
            capsize=2,
            label=name,
        )
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
    ax.set_xticks(list(x), [f"{point:g}" for point in x])
    ax.set_ylim(base, limit)
    ax.set(xlabel=x_label, ylabel=y_label)
    ax.grid(axis="y")
    fig.legend(loc="outside upper center", ncols=3)
    return fig
