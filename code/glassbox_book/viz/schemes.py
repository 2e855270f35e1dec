"""A way of telling positions in one picture: what it puts in, and what scores make of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import matplotlib.pyplot as plt
from matplotlib.figure import Figure

from glassbox_book.viz.lines import draw_lines
from glassbox_book.viz.matrices import color_range, draw_matrix, explain, read_matrix
from glassbox_book.viz.panels import legend, numbers
from glassbox_book.viz.style import FIGURE_WIDTH, TEXT, check_series


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
    """Draw what a scheme puts in as a matrix, and below it scores over the distance.

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
    ratios = {"height_ratios": (3, 2)}
    fig, (above, below) = plt.subplots(2, 1, figsize=(FIGURE_WIDTH, 5.6), gridspec_kw=ratios)
    draw_matrix(above, found, *color_range([found], None, None))
    above.set(xlabel=column_label, ylabel=row_label, title="what it puts in")
    explain(fig, [above], value_label=value_label)
    draw_lines(below, numbers(distances), lines)
    below.axvline(0, color=TEXT, linewidth=0.8)
    below.set(xlabel="distance, key minus query", ylabel=score_label)
    below.set_title("what scores make of it")
    below.grid(visible=True)
    legend(fig, below, 2, below=True)
    return fig
