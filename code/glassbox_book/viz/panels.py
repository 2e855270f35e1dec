"""What all figures share: panels side by side, a legend above them, numbers out of tensors."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, Literal

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure


def numbers(values: Any) -> np.ndarray:
    """Return a tensor, an array or a sequence as an array of floats.

    Parameters
    ----------
    values : Tensor, array or sequence of numbers
        On any device, with or without gradients.

    Returns
    -------
    array
        Of the same shape.
    """
    if hasattr(values, "detach"):
        values = values.detach().cpu().double().numpy()
    return np.asarray(values, dtype=np.float64)


def side_by_side(panels: Collection[Any], columns: int, expected: str) -> int:
    """Return how many of the panels stand side by side: ``columns``, or all where they are fewer.

    Parameters
    ----------
    panels : collection
        What is to be drawn.
    columns : int
        As many as wanted.
    expected : str
        What to pass for ``panels``, in words for an error.

    Returns
    -------
    int
        At least 1.

    Raises
    ------
    ValueError
        If there are no panels, or ``columns`` is less than 1.
    """
    if not panels:
        raise ValueError(f"no panels to draw; pass {expected}")
    if columns < 1:
        raise ValueError(f"columns={columns}: must be at least 1")
    return min(columns, len(panels))


def grid(
    titles: Collection[str],
    columns: int,
    size: tuple[float, float],
    *,
    around: float = 0.0,
    x_label: str = "",
    y_label: str = "",
    title_at: Literal["left", "center"] = "left",
    **layout: Any,
) -> tuple[Figure, list[Axes]]:
    """Return a figure with one panel for each title; what is left of the last row stays empty.

    Parameters
    ----------
    titles : collection of str
        In the order of reading.
    columns : int
        How many stand side by side.
    size : tuple of float
        Width and height of a panel in inches.
    around : float
        Height in inches of what stands above and below all panels.
    x_label, y_label : str
        What the axes are, written below the lowest panels and beside the leftmost.
    title_at : {"left", "center"}
        Where a title stands above its panel.
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
    for place, (ax, title) in enumerate(zip(panels, titles, strict=True)):
        ax.set_title(title, loc=title_at)
        if place % columns == 0:
            ax.set_ylabel(y_label)
        if place + columns >= len(titles):  # nothing stands below
            ax.set_xlabel(x_label)
            ax.tick_params(labelbottom=True)
    return fig, panels


def legend(fig: Figure, ax: Axes, columns: int = 3, *, below: bool = False) -> None:
    """Name the series of a panel outside all panels, if there are several.

    Parameters
    ----------
    fig : Figure
        Where to write.
    ax : Axes
        Whose series have names.
    columns : int
        How many names stand side by side.
    below : bool
        Below the panels instead of above them.
    """
    handles, names = ax.get_legend_handles_labels()
    if len(names) > 1:
        loc: Any = "outside lower center" if below else "outside upper center"
        fig.legend(handles, names, loc=loc, ncols=columns)
