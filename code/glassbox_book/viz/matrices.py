"""Any matrix as a picture: what its rows and columns are, and where its numbers are large."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from glassbox_book.viz.style import FIGURE_WIDTH, QUERY, WEIGHTS_COLORMAP, text_color_on

#: Numbers of both signs: brown below zero, blue above, and pale where nothing is.
SIGNED_COLORMAP = LinearSegmentedColormap.from_list(
    "glassbox_signed", ["#5c3a00", "#c9870f", "#f1e3c6", "#f5f6f3", "#cfe3f0", QUERY, "#00365a"]
)

#: Numbers none of which is above zero: the brown half of the same colours.
NEGATIVE_COLORMAP = LinearSegmentedColormap.from_list(
    "glassbox_negative", ["#5c3a00", "#c9870f", "#f1e3c6", "#f5f6f3"]
)

_MOST_SHAPES = 24 * 24  # cells beyond which pixels are smaller than shapes, and as sharp
_SMALLEST_NUMBER = 7.5  # points
_SHADES = 24
_FLATTEST, _STEEPEST = 0.3, 1.15  # height of a panel, in its width


def heat_map(
    matrix: Any,
    *,
    row_label: str,
    column_label: str,
    row_names: Sequence[str] | None = None,
    column_names: Sequence[str] | None = None,
    value_label: str = "",
    signed: bool | None = None,
    limit: int | float | None = None,
    annotate: str | None = None,
) -> Figure:
    """Draw one matrix, its first row on top.

    Parameters
    ----------
    matrix : array or tensor, shape (rows, columns)
        Any numbers.
    row_label, column_label : str
        What the rows and the columns are.
    row_names, column_names : sequence of str, optional
        A name for each; they are counted from 0 if left out.
    value_label : str
        What the numbers are.
    signed : bool, optional
        Whether colours run from minus ``limit`` to ``limit`` with a pale zero, or from 0 to
        ``limit``. If left out, it depends on whether a number is negative; if none is positive,
        they run from minus ``limit`` to 0.
    limit : float, optional
        The number of the deepest colour; the largest one there is, if left out.
    annotate : str, optional
        The format of a number in each cell, such as ``"{:.2f}"``. Numbers too large for their
        cells are left out.

    Returns
    -------
    Figure
        A cell displays it.

    Raises
    ------
    ValueError
        If ``matrix`` is not a matrix of finite numbers or does not fit its names, a number is
        negative and ``signed`` is false, or ``limit`` is not positive.
    """
    return heat_maps(
        {"": matrix},
        row_label=row_label,
        column_label=column_label,
        row_names=row_names,
        column_names=column_names,
        value_label=value_label,
        signed=signed,
        limit=limit,
        annotate=annotate,
    )


def heat_maps(
    matrices: Mapping[str, Any],
    *,
    row_label: str,
    column_label: str,
    row_names: Sequence[str] | None = None,
    column_names: Sequence[str] | None = None,
    value_label: str = "",
    signed: bool | None = None,
    limit: int | float | None = None,
    annotate: str | None = None,
    side_by_side: int = 2,
) -> Figure:
    """Draw several matrices of one shape on one scale of colours.

    Parameters
    ----------
    matrices : mapping of str to matrix
        By their titles.
    row_label, column_label, row_names, column_names, value_label, signed, limit, annotate
        As for :func:`heat_map`.
    side_by_side : int
        How many stand beside one another. A phone is as wide as two small ones.

    Returns
    -------
    Figure
        A cell displays it.

    Raises
    ------
    ValueError
        If there are no matrices, they differ in shape, ``side_by_side`` is less than 1, or as in
        :func:`heat_map`.
    """
    if not matrices:
        raise ValueError("no matrices to draw; pass {title: matrix}")
    if side_by_side < 1:
        raise ValueError(f"side_by_side={side_by_side}: must be at least 1")
    drawn = {title: read_matrix(title, matrix) for title, matrix in matrices.items()}
    shape = next(iter(drawn.values())).shape
    for title, matrix in drawn.items():
        if matrix.shape != shape:
            raise ValueError(f"{title!r} has shape {matrix.shape}, the first has {shape}")
    _check_names("row", row_names, shape[0])
    _check_names("column", column_names, shape[1])
    low, high = color_range(list(drawn.values()), signed, limit)

    across = min(side_by_side, len(drawn))
    down = -(-len(drawn) // across)
    width = FIGURE_WIDTH / across
    height = width * min(max(shape[0] / shape[1], _FLATTEST), _STEEPEST)
    fig, axes = plt.subplots(
        down,
        across,
        figsize=(FIGURE_WIDTH, (height + 0.35) * down + 0.75),
        sharex=True,
        sharey=True,
        squeeze=False,
    )
    for ax in axes.flat[len(drawn) :]:
        ax.remove()
    pictures = [
        draw_matrix(ax, matrix, low, high)
        for ax, matrix in zip(axes.flat, drawn.values(), strict=False)
    ]
    for ax, title in zip(axes.flat, drawn, strict=False):
        ax.set_title(title)
        _name(ax, shape, row_names, column_names)
    for place in range(len(drawn)):
        ax = axes.flat[place]
        if place % across == 0:
            ax.set_ylabel(row_label)
        if place + across >= len(drawn):
            ax.set_xlabel(column_label)
            ax.tick_params(labelbottom=True)
            _turn_long_names(ax, column_names)
    shown = list(axes.flat[: len(drawn)])
    written = annotate is not None and _write_numbers(fig, shown, drawn, annotate, low, high)
    if not written or value_label:
        add_bar(fig, shown, pictures[0], low, high, value_label)
    return fig


def read_matrix(title: str, matrix: Any) -> np.ndarray:
    """Return ``matrix`` as an array of finite numbers.

    Parameters
    ----------
    title : str
        What to call it in an error.
    matrix : array or tensor, shape (rows, columns)
        Any numbers.

    Returns
    -------
    array
        ``(rows, columns)``.

    Raises
    ------
    ValueError
        If it is none.
    """
    if hasattr(matrix, "detach"):
        matrix = matrix.detach().float().cpu().numpy()
    numbers = np.asarray(matrix, dtype=np.float64)
    if numbers.ndim != 2 or not numbers.size:
        raise ValueError(f"{title!r} has shape {numbers.shape}; expected (rows, columns)")
    if not np.isfinite(numbers).all():
        row, column = np.argwhere(~np.isfinite(numbers))[0]
        raise ValueError(
            f"{title!r} is {numbers[row, column]} in row {row}, column {column}; "
            "only finite numbers have a colour"
        )
    return numbers


def _check_names(what: str, names: Sequence[str] | None, number: int) -> None:
    if names is not None and len(names) != number:
        raise ValueError(f"there are {len(names)} {what}_names for {number} {what}s")


def color_range(
    matrices: Sequence[np.ndarray], signed: bool | None, limit: int | float | None
) -> tuple[float, float]:
    """Return the numbers of the lightest and the deepest colour for these matrices.

    Parameters
    ----------
    matrices : sequence of arrays
        What is to be drawn on one scale.
    signed, limit : optional
        As for :func:`heat_map`.

    Returns
    -------
    tuple of float
        Lowest and highest.

    Raises
    ------
    ValueError
        If a number is negative and ``signed`` is false, or ``limit`` is not positive.
    """
    lowest = min(matrix.min() for matrix in matrices)
    one_sided = signed is None and lowest < 0 and max(m.max() for m in matrices) <= 0
    if signed is None:
        signed = bool(lowest < 0)
    if not signed and lowest < 0:
        raise ValueError(f"the least number is {lowest:.4g}; pass signed=True to draw it")
    if limit is None:
        limit = max(float(np.abs(matrix).max()) for matrix in matrices) or 1.0
    if not limit > 0:
        raise ValueError(f"limit={limit}: must be more than 0")
    return (-float(limit) if signed else 0.0), (0.0 if one_sided else float(limit))


def draw_matrix(ax: Axes, matrix: np.ndarray, low: float, high: float) -> Any:
    """Colour the cells of a matrix, the first row on top.

    Parameters
    ----------
    ax : Axes
        Where to draw.
    matrix : array, shape (rows, columns)
        The numbers.
    low, high : float
        The ends of the scale; a negative ``low`` asks for the colours of negative numbers.

    Returns
    -------
    object
        What a bar of colours is made of.
    """
    rows, columns = matrix.shape
    edges = (-0.5, columns - 0.5, rows - 0.5, -0.5)
    style: dict[str, Any] = {"cmap": _colormap(low, high), "vmin": low, "vmax": high}
    if matrix.size > _MOST_SHAPES:
        # Without interpolation the numbers become one pixel each, which a browser keeps sharp.
        picture: Any = ax.imshow(matrix, extent=edges, interpolation="none", aspect="auto", **style)
    else:
        x, y = np.arange(columns + 1) - 0.5, np.arange(rows + 1) - 0.5
        picture = ax.pcolormesh(x, y, matrix, edgecolors="face", linewidth=0.4, **style)
    ax.set(xlim=edges[:2], ylim=edges[2:])
    return picture


def _colormap(low: float, high: float) -> LinearSegmentedColormap:
    if high <= 0:
        return NEGATIVE_COLORMAP
    return SIGNED_COLORMAP if low < 0 else WEIGHTS_COLORMAP


def _name(
    ax: Axes,
    shape: tuple[int, ...],
    row_names: Sequence[str] | None,
    column_names: Sequence[str] | None,
) -> None:
    for axis, names, number in (
        (ax.yaxis, row_names, shape[0]),
        (ax.xaxis, column_names, shape[1]),
    ):
        if names is None:
            axis.set_major_locator(
                MaxNLocator(
                    nbins=10 if number <= 10 else 6, integer=True, steps=[1, 2, 4, 5, 8, 10]
                )
            )
        else:
            axis.set_ticks(np.arange(number), list(names), parse_math=False)
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)


def _turn_long_names(ax: Axes, names: Sequence[str] | None) -> None:
    """Turn names that would run into each other; only once they are shown can they be turned."""
    if names is not None and max(map(len, names)) * len(names) > 24:
        plt.setp(ax.get_xticklabels(), rotation=45, ha="right", rotation_mode="anchor")


def _write_numbers(
    fig: Figure,
    axes: Sequence[Axes],
    drawn: Mapping[str, np.ndarray],
    annotate: str,
    low: float,
    high: float,
) -> bool:
    """Write each number into its cell, and return whether there is room for it."""
    fig.draw_without_rendering()  # lays out: cells have their size
    texts = {
        title: [
            [annotate.format(number).replace("-", "\N{MINUS SIGN}") for number in row]
            for row in matrix
        ]
        for title, matrix in drawn.items()
    }
    longest = max(len(text) for rows in texts.values() for row in rows for text in row)
    rows, columns = next(iter(drawn.values())).shape
    points = 72 / fig.dpi
    wide, high_enough = axes[0].bbox.width * points / columns, axes[0].bbox.height * points / rows
    size = min(10.0, wide / (0.62 * longest), high_enough / 1.2)
    if size < _SMALLEST_NUMBER:
        return False
    colormap = _colormap(low, high)
    for ax, (title, matrix) in zip(axes, drawn.items(), strict=True):
        for (row, column), number in np.ndenumerate(matrix):
            shade = colormap(min(max((number - low) / (high - low), 0.0), 1.0))
            ax.text(
                column,
                row,
                texts[title][row][column],
                ha="center",
                va="center",
                size=round(size, 1),
                color=text_color_on(shade),
            )
    return True


def add_bar(
    fig: Figure, axes: Sequence[Axes], picture: Any, low: float, high: float, value_label: str
) -> None:
    """Put a bar of the colours below some axes.

    Parameters
    ----------
    fig : Figure
        The figure they belong to.
    axes : sequence of Axes
        What the bar explains.
    picture : object
        What :func:`draw_matrix` returned.
    low, high : float
        The ends of the scale.
    value_label : str
        What the numbers are.
    """
    bar = fig.colorbar(
        picture,
        ax=axes,
        location="bottom",
        boundaries=np.linspace(low, high, _SHADES + 1),
        ticks=[low, 0, high] if low < 0 < high else [low, high],
        format="%.3g",
        shrink=0.6,
        aspect=30,
    )
    plt.setp(bar.ax.collections, edgecolor="face", linewidth=0.4)
    bar.outline.set_visible(False)
    bar.ax.tick_params(length=0)
    bar.set_label(value_label)
