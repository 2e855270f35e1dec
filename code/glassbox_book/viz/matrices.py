"""Any matrix as a picture: what its rows and columns are, and where its numbers are large."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from glassbox_book.viz.panels import grid, numbers, side_by_side
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
_SHADES = 24  # steps of the bar of colours: smooth to the eye, and a few shapes to the file
_FLATTEST, _STEEPEST = 0.3, 1.15  # height of a panel, in its width


def heat_map(matrix: Any, **options: Any) -> Figure:
    """Draw one matrix, its first row on top.

    Parameters
    ----------
    matrix : array or tensor, shape (rows, columns)
        Any numbers.
    **options
        As for :func:`heat_maps`; ``row_label`` and ``column_label`` are needed.

    Returns
    -------
    Figure
        A cell displays it.

    Raises
    ------
    ValueError
        As in :func:`heat_maps`.
    """
    return heat_maps({"": matrix}, **options)


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
    columns: int = 2,
) -> Figure:
    """Draw several matrices of one shape on one scale of colours.

    Parameters
    ----------
    matrices : mapping of str to array or tensor, shape (rows, columns)
        By their titles.
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
    columns : int
        How many matrices stand side by side. A phone is as wide as two small ones.

    Returns
    -------
    Figure
        A cell displays it.

    Raises
    ------
    ValueError
        If there are no matrices or columns, one is not a matrix of finite numbers or does not fit
        its names or the first, a number is negative and ``signed`` is false, or ``limit`` is not
        positive.
    """
    columns = side_by_side(matrices, columns, "{title: matrix}")
    drawn = {title: read_matrix(title, matrix) for title, matrix in matrices.items()}
    rows_and_columns = next(iter(drawn.values())).shape
    for title, matrix in drawn.items():
        if matrix.shape != rows_and_columns:
            raise ValueError(
                f"{title!r} has shape {matrix.shape}, the first has {rows_and_columns}"
            )
    names = {"row": row_names, "column": column_names}
    for (what, given), number in zip(names.items(), rows_and_columns, strict=True):
        if given is not None and len(given) != number:
            raise ValueError(f"there are {len(given)} {what}_names for {number} {what}s")
    low, high = color_range(drawn.values(), signed, limit)
    width = FIGURE_WIDTH / columns
    steepness = min(max(rows_and_columns[0] / rows_and_columns[1], _FLATTEST), _STEEPEST)
    fig, axes = grid(
        list(drawn),
        columns,
        (width, width * steepness + 0.35),
        around=0.75,
        x_label=column_label,
        y_label=row_label,
        title_at="center",
        sharex=True,
        sharey=True,
    )
    for place, (ax, matrix) in enumerate(zip(axes, drawn.values(), strict=True)):
        draw_matrix(ax, matrix, low, high, row_names, column_names)
        if place + columns >= len(axes):  # only names that are shown can be turned
            turn_long_names(ax, column_names)
    explain(fig, axes, annotate, value_label)
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
    found = numbers(matrix)
    if found.ndim != 2 or not found.size:
        raise ValueError(f"{title!r} has shape {found.shape}; expected (rows, columns)")
    if not np.isfinite(found).all():
        row, column = np.argwhere(~np.isfinite(found))[0]
        raise ValueError(
            f"{title!r} is {found[row, column]} in row {row}, column {column}; "
            "only finite numbers have a colour"
        )
    return found


def color_range(
    matrices: Collection[np.ndarray], signed: bool | None, limit: int | float | None
) -> tuple[float, float]:
    """Return the numbers of the lightest and the deepest colour for these matrices.

    Parameters
    ----------
    matrices : collection of arrays
        What is to be drawn on one scale.
    signed, limit : optional
        As for :func:`heat_maps`.

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
    highest = max(matrix.max() for matrix in matrices)
    one_sided = signed is None and lowest < 0 and highest <= 0
    if signed is None:
        signed = bool(lowest < 0)
    if not signed and lowest < 0:
        raise ValueError(f"the least number is {lowest:.4g}; pass signed=True to draw it")
    if limit is None:
        limit = max(-lowest, highest) or 1.0
    if not limit > 0:
        raise ValueError(f"limit={limit}: must be more than 0")
    return (-float(limit) if signed else 0.0), (0.0 if one_sided else float(limit))


def draw_matrix(
    ax: Axes,
    matrix: np.ndarray,
    low: float,
    high: float,
    row_names: Sequence[str] | None = None,
    column_names: Sequence[str] | None = None,
) -> None:
    """Colour the cells of a matrix, the first row on top, and name its rows and columns.

    Parameters
    ----------
    ax : Axes
        Where to draw.
    matrix : array, shape (rows, columns)
        The numbers.
    low, high : float
        The ends of the scale; a negative ``low`` asks for the colours of negative numbers.
    row_names, column_names : sequence of str, optional
        A name for each; they are counted from 0 if left out.
    """
    rows, columns = matrix.shape
    edges = (-0.5, columns - 0.5, rows - 0.5, -0.5)
    colormap = WEIGHTS_COLORMAP if low >= 0 else SIGNED_COLORMAP if high > 0 else NEGATIVE_COLORMAP
    style: dict[str, Any] = {"cmap": colormap, "vmin": low, "vmax": high}
    if matrix.size > _MOST_SHAPES:
        # Without interpolation the numbers become one pixel each, which a browser keeps sharp.
        ax.imshow(matrix, extent=edges, interpolation="none", aspect="auto", **style)
    else:
        x, y = np.arange(columns + 1) - 0.5, np.arange(rows + 1) - 0.5
        # Coloured edges close the hairlines that a browser leaves between cells.
        ax.pcolormesh(x, y, matrix, edgecolors="face", linewidth=0.4, **style)
    ax.set(xlim=edges[:2], ylim=edges[2:])
    for axis, names, number in ((ax.yaxis, row_names, rows), (ax.xaxis, column_names, columns)):
        if names is None:
            few = 10 if number <= 10 else 6
            axis.set_major_locator(MaxNLocator(few, integer=True, steps=[1, 2, 4, 5, 8, 10]))
        else:  # parse_math: a token with dollar signs is text, not a formula
            axis.set_ticks(np.arange(number), list(names), parse_math=False)
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)


def turn_long_names(ax: Axes, names: Sequence[str] | None) -> None:
    """Turn names of columns that would run into each other.

    Parameters
    ----------
    ax : Axes
        A matrix.
    names : sequence of str, optional
        What stands below its columns.
    """
    if names is not None and max(map(len, names)) * len(names) > 24:
        plt.setp(ax.get_xticklabels(), rotation=45, ha="right", rotation_mode="anchor")


def explain(
    fig: Figure, axes: Sequence[Axes], annotate: str | None = None, value_label: str = ""
) -> None:
    """Write numbers into the cells, or put a bar below that says what their colours mean.

    Parameters
    ----------
    fig : Figure
        What the matrices belong to.
    axes : sequence of Axes
        Matrices of one shape on one scale, as :func:`draw_matrix` left them.
    annotate : str, optional
        The format of a number. Where numbers are too large for their cells, there are none.
    value_label : str
        What the numbers are; with a label there is a bar in any case.
    """
    pictures = [(ax.collections or ax.images)[0] for ax in axes]
    written = annotate is not None and _write_numbers(fig, axes, pictures, annotate)
    if written and not value_label:
        return
    low, high = pictures[0].get_clim()
    bar = fig.colorbar(
        pictures[0],
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


def _write_numbers(
    fig: Figure, axes: Sequence[Axes], pictures: Sequence[Any], annotate: str
) -> bool:
    """Write each number into its cell, and return whether there is room for it."""
    fig.draw_without_rendering()  # lays out: cells have their size
    matrices = [np.asarray(picture.get_array()) for picture in pictures]
    texts = [
        [annotate.format(number).replace("-", "\N{MINUS SIGN}") for number in matrix.flat]
        for matrix in matrices
    ]
    longest = max(len(text) for row in texts for text in row)
    width, height = np.array(axes[0].bbox.size) * 72 / fig.dpi / matrices[0].shape[::-1]
    size = min(10.0, width / (0.62 * longest), height / 1.2)
    if size < _SMALLEST_NUMBER:
        return False
    for ax, picture, matrix, written in zip(axes, pictures, matrices, texts, strict=True):
        for ((row, column), number), text in zip(np.ndenumerate(matrix), written, strict=True):
            color = text_color_on(picture.to_rgba(number))
            centre: dict[str, Any] = {"ha": "center", "va": "center"}
            ax.text(column, row, text, size=round(size, 1), color=color, **centre)
    return True
