"""A way of telling positions in one picture: what it puts in, and what scores make of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import matplotlib.pyplot as plt
from matplotlib.figure import Figure

from glassbox_book.viz.lines import draw_lines
from glassbox_book.viz.matrices import color_range, draw_matrix, explain, read_matrix
from glassbox_book.viz.panels import move_apart, numbers, write_level
from glassbox_book.viz.paper import in_two_widths, is_narrow, width
from glassbox_book.viz.style import TEXT, check_series


@in_two_widths
def position_scheme(
    matrix: Any,
    scores: Mapping[str, Any],
    distances: Sequence[int],
    *,
    row_label: str,
    column_label: str,
    value_label: str,
    score_label: str = "score",
) -> Figure:
    """Draw what a scheme puts in as a matrix, and beside it scores over the distance.

    All schemes are drawn by this function, so that their pictures can be laid side by side.

    Parameters
    ----------
    matrix : array or tensor, shape (rows, columns)
        What is added, or by what queries and keys are turned.
    scores : mapping of str to sequence of numbers
        At most six lines by their names, each with one score for each distance.
    distances : sequence of int
        Position of the key minus position of the query.
    row_label, column_label, value_label : str
        What the rows, the columns and the numbers of the matrix are.
    score_label : str
        What the lines show.

    Returns
    -------
    Figure
        A cell displays it.

    Raises
    ------
    ValueError
        If ``matrix`` is not a matrix of finite numbers, there is no line or there are more than
        six, or a line has not one score for each distance.
    """
    check_series(scores)
    lines = {name: numbers(values) for name, values in scores.items()}
    for name, values in lines.items():
        if len(values) != len(distances):
            raise ValueError(f"{name!r} has {len(values)} scores for {len(distances)} distances")
    found = read_matrix("matrix", matrix)
    shape = (2, 1) if is_narrow() else (1, 2)
    height = 5.6 if is_narrow() else 3.3
    fig, (matrix_ax, ax) = plt.subplots(*shape, figsize=(width(), height))
    draw_matrix(matrix_ax, found, *color_range([found], None, None))
    matrix_ax.set(xlabel=column_label, ylabel=row_label)
    matrix_ax.set_title("what it puts in", loc="left")
    explain(fig, [matrix_ax], value_label=value_label)
    draw_lines(ax, numbers(distances), lines)
    ax.axvline(0, color=TEXT, linewidth=0.8)
    ax.set(xlabel="distance, key minus query", ylabel=score_label)
    ax.set_title("what scores make of it", loc="left")
    write_level([ax])
    move_apart(fig)
    return fig
