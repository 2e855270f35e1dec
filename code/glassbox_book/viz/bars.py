"""Bar charts: the sizes of a few named things."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from glassbox_book.viz.panels import grid, legend, numbers, side_by_side
from glassbox_book.viz.paper import in_two_widths, width
from glassbox_book.viz.style import OCHRE, PAPER, PLUM, ROSE, SLATE, TEAL, TEXT, check_length
from glassbox_book.viz.tokens import visible_all

#: Series differ by more than their colour.
_SERIES = ((TEAL, ""), (PLUM, "///"), (OCHRE, "\\\\\\"), (SLATE, "xxx"))
_ROW, _PANEL = 0.23, 0.52  # inches for a bar, and for the space around a panel's bars


def bar_chart(
    labels: Sequence[str], values: Any, *, highlight: Collection[int] = (), **options: Any
) -> Figure:
    """Draw a bar for each label, or one for each label and series.

    Parameters
    ----------
    labels : sequence of str
        Names of the bars, in this order from top to bottom or from left to right.
    values : sequence of numbers, or mapping of str to sequence of numbers
        One number for each label; for several series, by their names, which make a legend.
    highlight : collection of int
        Indices of the labels whose bars are highlighted.
    **options
        As for :func:`bar_charts`; ``value_label`` is required.

    Returns
    -------
    Figure
        A cell displays it.

    Raises
    ------
    ValueError
        If there are no labels, a series does not have one value per label, there are more than
        four series, or an index to highlight is not that of a label.
    """
    return bar_charts({"": (labels, values)}, highlight={"": highlight}, **options)


@in_two_widths
def bar_charts(
    panels: Mapping[str, tuple[Sequence[str], Any]],
    *,
    value_label: str,
    annotate: str | None = "{:.2f}",
    highlight: Mapping[str, Collection[int]] | None = None,
    upright: bool = False,
    columns: int = 2,
) -> Figure:
    """Draw several panels of bars on one scale, each with its own labels.

    Parameters
    ----------
    panels : mapping of str to tuple
        Title to labels and values, as for :func:`bar_chart`.
    value_label : str
        What the numbers are, in all panels.
    annotate : str, optional
        The format of the number at the end of each bar, or ``None`` for no number.
    highlight : mapping of str to collection of int, optional
        For some titles, indices of the labels whose bars are highlighted.
    upright : bool
        Draw vertical bars, which suit many short labels.
    columns : int
        Number of panels side by side; on a phone they are stacked.

    Returns
    -------
    Figure
        A cell displays it.

    Raises
    ------
    ValueError
        If there are no panels or columns, ``highlight`` names an unknown panel, or as for
        :func:`bar_chart`.
    """
    columns = side_by_side(panels, columns, "{title: (labels, values)}")
    marked = highlight or {}
    if unknown := marked.keys() - panels.keys():
        raise ValueError(f"highlight names {sorted(unknown)}; the panels are {list(panels)}")
    drawn = {
        title: (visible_all(labels), _series(values)) for title, (labels, values) in panels.items()
    }
    for title, (labels, series) in drawn.items():
        _check(title, labels, series, marked.get(title, ()))
    most = max(len(labels) * len(series) for labels, series in drawn.values())
    size = (width() / columns, 2.6 if upright else _ROW * most + _PANEL)
    label = {"y_label" if upright else "x_label": value_label}
    fig, axes = grid(drawn, columns, size, around=0.3, sharex=not upright, sharey=upright, **label)
    for ax, (title, (labels, series)) in zip(axes, drawn.items(), strict=True):
        _draw(ax, labels, series, marked.get(title, ()), annotate, upright=upright)
    legend(fig, axes[0], len(_SERIES))
    return fig


def _series(values: Any) -> dict[str, np.ndarray]:
    series = values if isinstance(values, Mapping) else {"": values}
    return {name: numbers(found) for name, found in series.items()}


def _check(
    title: str, labels: list[str], series: dict[str, np.ndarray], marked: Collection[int]
) -> None:
    if not labels or not series:
        raise ValueError(f"{title!r} has no bars to draw: give it labels and values")
    if len(series) > len(_SERIES):
        raise ValueError(f"{title!r} has {len(series)} series; {len(_SERIES)} can be told apart")
    for name, values in series.items():
        check_length(f"{title!r}, {name!r}", values, "values", len(labels), "labels")
        if not np.isfinite(values).all():
            wrong = values[~np.isfinite(values)][0]
            raise ValueError(f"{title!r}, {name!r} has the value {wrong}: a bar has an end")
    for place in marked:
        if place not in range(len(labels)):
            raise ValueError(
                f"highlight has {place}; {title!r} has the labels 0 to {len(labels) - 1}"
            )


def _draw(
    ax: Axes,
    labels: list[str],
    series: dict[str, np.ndarray],
    marked: Collection[int],
    annotate: str | None,
    *,
    upright: bool,
) -> None:
    thick = 0.78 / len(series)
    places = np.arange(len(labels))
    draw = ax.bar if upright else ax.barh
    for number, ((name, values), (colour, hatch)) in enumerate(
        zip(series.items(), _SERIES, strict=False)
    ):
        beside = (number - (len(series) - 1) / 2) * thick
        colours = [ROSE if place in marked else colour for place in places]
        style: dict[str, Any] = {"color": colours, "hatch": hatch, "edgecolor": PAPER, "lw": 0}
        bars = draw(places + beside, values, thick * 0.94, label=name, **style)
        if annotate is not None:
            words = [annotate.format(value) for value in values]
            ax.bar_label(bars, words, padding=3, fontsize=10, color=TEXT)
    if upright:
        ax.set_xticks(places, labels, parse_math=False)
        ax.margins(y=0.15)
        ax.grid(axis="y")
    else:
        ax.set_yticks(places, labels, parse_math=False)
        ax.invert_yaxis()
        ax.margins(x=0.2 if annotate is not None else 0.05)
        ax.grid(axis="x")
    if min(values.min() for values in series.values()) < 0:
        (ax.axhline if upright else ax.axvline)(0, color=TEXT, linewidth=0.8)
