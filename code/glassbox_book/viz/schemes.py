"""A way of telling positions in one picture: what it puts in, and what scores make of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import matplotlib.pyplot as plt
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from glassbox_book.viz.matrices import add_bar, color_range, draw_matrix, read_matrix
from glassbox_book.viz.style import FIGURE_WIDTH, TEXT

_DASHES = ("-", "--", "-.", ":")  # lines differ by more than their colour


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
        At most four lines by their names, each with one score for each distance.
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
        four, or a line has not one score for each distance.
    """
    if not 1 <= len(scores) <= len(_DASHES):
        raise ValueError(f"there are {len(scores)} lines; one to {len(_DASHES)} can be told apart")
    for name, values in scores.items():
        if len(values) != len(distances):
            raise ValueError(f"{name!r} has {len(values)} scores for {len(distances)} distances")
    numbers = read_matrix("matrix", matrix)
    low, high = color_range([numbers], None, None)
    fig, (above, below) = plt.subplots(
        2, 1, figsize=(FIGURE_WIDTH, 5.6), gridspec_kw={"height_ratios": (3, 2)}
    )
    picture = draw_matrix(above, numbers, low, high)
    for axis in (above.xaxis, above.yaxis):
        axis.set_major_locator(MaxNLocator(nbins=6, integer=True))
    above.tick_params(length=0)
    above.spines[:].set_visible(False)
    above.set(xlabel=column_label, ylabel=row_label, title="what it puts in")
    add_bar(fig, [above], picture, low, high, value_label)
    for dash, (name, values) in zip(_DASHES, scores.items(), strict=False):
        below.plot(distances, [float(value) for value in values], dash, label=name)
    below.axvline(0, color=TEXT, linewidth=0.8)
    below.set(xlabel="distance, key minus query", ylabel=score_label)
    below.set_title("what scores make of it")
    below.grid()
    if len(scores) > 1:
        fig.legend(loc="outside lower center", ncols=2)
    return fig
