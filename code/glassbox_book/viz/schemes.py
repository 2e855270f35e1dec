"""A position scheme in one picture: what it adds, and the resulting scores."""

from collections.abc import Mapping, Sequence
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.figure import Figure

from glassbox_book.viz.cells import Cells
from glassbox_book.viz.lines import draw_lines
from glassbox_book.viz.matrices import heat_maps
from glassbox_book.viz.panels import grid, move_apart, numbers
from glassbox_book.viz.paper import in_two_widths, svg, width
from glassbox_book.viz.style import TEXT, check_length, check_series


def position_scheme(
    matrix: Any,
    scores: Mapping[str, Any],
    distances: Sequence[int],
    *,
    row_label: str,
    column_label: str,
    value_label: str,
    score_label: str = "score",
) -> Cells:
    """Draw what a scheme adds as a matrix, and below it the scores by distance.

    All schemes are drawn by this function, so their pictures can be compared.

    Parameters
    ----------
    matrix : array or tensor, shape (rows, columns)
        What is added, or the angles by which queries and keys are rotated.
    scores : mapping of str to sequence of numbers
        At most six lines by their names, each with one score per distance.
    distances : sequence of int
        Position of the key minus position of the query.
    row_label, column_label, value_label : str
        What the rows, the columns and the numbers of the matrix are.
    score_label : str
        What the lines show.

    Returns
    -------
    Cells
        A cell of a notebook displays it.

    Raises
    ------
    ValueError
        If ``matrix`` is not a matrix of finite numbers, there is no line or there are more than
        six, or a line does not have one score per distance.
    """
    check_series(scores)
    lines = {name: numbers(values) for name, values in scores.items()}
    for name, values in lines.items():
        check_length(repr(name), values, "scores", len(distances), "distances")
    above = heat_maps(
        {"what it puts in": matrix},
        row_label=row_label,
        column_label=column_label,
        value_label=value_label,
    )
    below = score_chart(numbers(distances), lines, score_label)
    drawing = svg(below)
    plt.close(below)
    return Cells(f'{above.body}\n<div class="gb-lines">{drawing}</div>', f"{above}; below, lines")


@in_two_widths
def score_chart(distances: np.ndarray, lines: Mapping[str, np.ndarray], label: str) -> Figure:
    """Draw scores by the distance of two positions.

    Parameters
    ----------
    distances : array, shape (n,)
        Position of the key minus position of the query.
    lines : mapping of str to array, shape (n,)
        Scores by the names of the lines.
    label : str
        What the lines show.

    Returns
    -------
    Figure
        The caller closes it.
    """
    title, x_label = "what scores make of it", "distance, key minus query"
    fig, (ax,) = grid([title], 1, (width(), 2.6), x_label=x_label, y_label=label)
    draw_lines(ax, distances, lines)
    ax.axvline(0, color=TEXT, linewidth=0.8)
    move_apart(fig)
    return fig
