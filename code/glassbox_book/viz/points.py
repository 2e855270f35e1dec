"""Labelled points in the plane: neighbourhoods, and one quantity against another."""

from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.path import Path
from matplotlib.text import Text
from matplotlib.ticker import MaxNLocator
from matplotlib.transforms import Bbox, BboxBase, ScaledTranslation

from glassbox_book.viz.panels import grid, legend, numbers, side_by_side, write
from glassbox_book.viz.paper import in_two_widths, is_narrow, width
from glassbox_book.viz.style import COLOURS, PAGE_WIDTH, SERIES, TEXT, check_length, check_series
from glassbox_book.viz.tokens import visible_all

#: Groups differ by colour and marker; from the sixth on, colours repeat with other markers.
_MARKERS = "os^DvPX<*>"
_GAP = 4.0  # points between a dot and its label
_TALL = 4.5  # inches: wider panels are flatter
_SPACE = 1.5  # points on either side of a label, which keep two from reading as one
#: Where a label may be relative to its dot: right, left, above, below, and in between.
_STRAIGHT = ((1, 0), (-1, 0), (0, 1), (0, -1))
_SLANTED = ((1, 1), (-1, 1), (1, -1), (-1, -1))
#: How far away it may be, in gaps; from the second distance on, a line leads to the dot.
_DISTANCES = (1.0, 3.5, 6.5, 9.5)

Point = tuple[float | int, float | int, str] | tuple[float | int, float | int, str, float, float]


def scatter(
    points: Any,
    labels: Sequence[str] | None = None,
    *,
    groups: Sequence[str] | None = None,
    **options: Any,
) -> Figure:
    """Draw points in the plane with their names, one colour and marker for each group.

    Parameters
    ----------
    points : Tensor or array
        ``(n, 2)``. A unit is equally long on both axes, so distances can be compared.
    labels : sequence of str, optional
        One name for each point, which may be empty. Each is written on the side of its point
        where it covers least.
    groups : sequence of str, optional
        The group of each point; their names make a legend, in the order of appearance.
    **options
        ``x_label``, ``y_label`` and ``wide``, as for :func:`scatters`.

    Returns
    -------
    Figure
        A cell displays it.

    Raises
    ------
    ValueError
        If the points are not pairs of finite numbers, labels or groups differ from them in number,
        or there are more than ten groups.
    TypeError
        If labels or groups are not sequences of strings.
    """
    return scatters({"": (points, labels, groups)}, **options)


@in_two_widths
def scatters(
    panels: Mapping[str, tuple[Any, Sequence[str] | None, Sequence[str] | None]],
    *,
    x_label: str = "",
    y_label: str = "",
    wide: bool = False,
    columns: int = 2,
) -> Figure:
    """Draw several panels of points, each with its own legend unless they share one.

    Parameters
    ----------
    panels : mapping of str to tuple
        Title to points, labels and groups, as for :func:`scatter`.
    x_label, y_label : str, optional
        What the axes are.
    wide : bool
        Whether to keep the width of a page on a phone, where many points then scroll.
    columns : int
        Number of panels side by side; on a phone they are stacked.

    Returns
    -------
    Figure
        A cell displays it.

    Raises
    ------
    ValueError
        If there are no panels or columns, or as in :func:`scatter`.
    TypeError
        As in :func:`scatter`.
    """
    expected, narrow = "{title: (points, labels, groups)}", columns if wide else 1
    columns = side_by_side(panels, columns, expected, narrow=narrow)
    drawn = {title: _panel(title, *panel) for title, panel in panels.items()}
    side = (PAGE_WIDTH if wide else width()) / columns
    size = (side, side * (0.75 if side > _TALL else 0.9))
    fig, axes = grid(drawn, columns, size, x_label=x_label, y_label=y_label)
    own_legends = len({tuple(panel.names) for panel in drawn.values()}) > 1
    for ax, panel in zip(axes, drawn.values(), strict=True):
        _draw(ax, panel)
        ax.set_aspect("equal", adjustable="datalim")
        if own_legends and len(panel.names) > 1:
            # Next to the title: inside the panel its markers would look like points.
            place: dict[str, Any] = {"loc": "lower right", "bbox_to_anchor": (1.02, 1.0)}
            if y_label:  # it is below the title
                up = ScaledTranslation(0, 15 / 72, fig.dpi_scale_trans)
                place["bbox_transform"] = ax.transAxes + up
            place |= {"handlelength": 1.0, "columnspacing": 0.8, "handletextpad": 0.2}
            ax.legend(**place, ncols=len(panel.names), borderaxespad=0.2)
    if not own_legends:
        legend(fig, axes[0], 3 if wide or is_narrow() else 6)
    fig.draw_without_rendering()  # only then does everything have its position
    for ax, panel in zip(axes, drawn.values(), strict=True):
        _label(ax, panel.points, panel.labels, _STRAIGHT + _SLANTED)
    return fig


class _Panel(NamedTuple):
    points: np.ndarray
    labels: list[str]
    groups: list[str]

    @property
    def names(self) -> list[str]:
        return list(dict.fromkeys(self.groups))


def _panel(
    title: str, points: Any, labels: Sequence[str] | None, groups: Sequence[str] | None
) -> _Panel:
    places = numbers(points)
    if places.ndim != 2 or places.shape[1] != 2 or not len(places):
        raise ValueError(f"{title!r} has points of shape {places.shape}; expected (n, 2)")
    if not np.isfinite(places).all():
        raise ValueError(f"{title!r} has points that are infinite or NaN")
    for name, given in {"labels": labels, "groups": groups}.items():
        if given is not None:
            check_length(repr(title), given, name, len(places), "points")
    shown = [label and visible_all([label])[0] for label in labels or ()]
    panel = _Panel(places, shown, [""] * len(places) if groups is None else visible_all(groups))
    if (count := len(panel.names)) > len(_MARKERS):
        raise ValueError(f"{title!r} has {count} groups; {len(_MARKERS)} can be told apart")
    return panel


def _draw(ax: Axes, panel: _Panel) -> None:
    for number, (name, marker) in enumerate(zip(panel.names, _MARKERS, strict=False)):
        x, y = panel.points[[group == name for group in panel.groups]].T
        color = COLOURS[number % len(COLOURS)]
        ax.scatter(x, y, s=30, color=color, marker=marker, linewidths=0, label=name)
    ax.margins(0.12 if panel.labels else 0.06)
    ax.xaxis.set_major_locator(MaxNLocator(nbins=6, steps=[1, 2, 5, 10]))
    ax.grid()


@in_two_widths
def trade_off(
    series: Mapping[str, Sequence[Point]],
    *,
    x_label: str,
    y_label: str,
    single: Sequence[Point] = (),
) -> Figure:
    """Draw a line through the settings of each method in the plane of two quantities.

    Parameters
    ----------
    series : mapping of str to sequence of (x, y, label) or (x, y, label, low, high)
        At most six methods by their names; each point is a setting, with a label that may be
        empty. A thin line is drawn from ``low`` to ``high``, for example an interval of ``y``.
    x_label, y_label : str
        What the quantities are.
    single : sequence of (x, y, label)
        Points that belong to no series, drawn as stars.

    Returns
    -------
    Figure
        A cell displays it.

    Raises
    ------
    ValueError
        If there is no series, one has no points, or there are more than six.

    Notes
    -----
    Chapter 10.
    """
    check_series(series)
    fig, (ax,) = grid([""], 1, (width(), 3.9), x_label=x_label, y_label=y_label)
    for (name, points), look in zip(series.items(), SERIES, strict=False):
        if not points:
            raise ValueError(f"{name!r} has no points; give it (x, y, label) for each setting")
        x, y = zip(*(point[:2] for point in points), strict=True)
        ax.plot(x, y, label=name, **look)
        for at_x, _, _, *ends in points:
            if ends:
                low, high = ends
                ax.vlines(at_x, low, high, colors=look["color"], linewidth=0.9)
    for at_x, at_y, *_ in single:
        ax.plot([at_x], [at_y], marker="*", markersize=11, color=TEXT, linestyle="")
    ax.margins(0.1)
    ax.grid()
    legend(fig, ax, 3 if is_narrow() else 6)
    fig.draw_without_rendering()  # only then does everything have its position
    settings = [point for points in (*series.values(), single) for point in points]
    labels = [label for _, _, label, *_ in settings]
    # To the left or right of its dot a label would lie on the line.
    _label(ax, numbers([place[:2] for place in settings]), labels, _SLANTED + _STRAIGHT)
    return fig


def _label(
    ax: Axes, points: np.ndarray, labels: Sequence[str], sides: Sequence[tuple[int, int]]
) -> None:
    """Write each label on the side of its dot where it covers least."""
    pixels = ax.figure.dpi / 72
    dot = 6.0 * pixels
    corners = ax.transData.transform(points) - dot / 2
    taken = [Bbox.from_bounds(x, y, dot, dot) for x, y in corners]
    frame = ax.get_window_extent()
    lines: list[Path] = []
    for number, text in enumerate(labels):
        if not text:
            continue
        others = taken[:number] + taken[number + 1 :]
        tried: list[tuple[float, int, Text, Bbox, Path]] = []
        for place, (far, side) in enumerate(product(_DISTANCES, sides)):
            if tried and min(tried)[0] < place:
                break  # nothing further away can be better
            shown = _write(ax, text, points[number], side, far)
            shown.get_window_extent()  # fixes its position
            box = Text.get_window_extent(shown)  # without the line that leads to the dot
            box = box.padded(_SPACE * pixels, 0.0)
            cost = sum(_overlap(box, other) for other in others)
            cost += 2 * (box.width * box.height - _overlap(box, frame)) + place
            # A line that leads to a dot crosses no other label.
            line = Path([corners[number] + dot / 2, box.get_points().mean(axis=0)])
            crossed = [line.intersects_bbox(other) for other in others if far > 1]
            cost += dot**2 * sum((*crossed, *(other.intersects_bbox(box) for other in lines)))
            tried.append((cost, place, shown, box, line))
        _, place, chosen, box, line = min(tried)
        taken.append(box)
        lines += [line] if place >= len(sides) else []
        for _, _, shown, *_ in tried:
            if shown is not chosen:
                shown.remove()


def _write(ax: Axes, text: str, point: np.ndarray, side: tuple[int, int], far: float) -> Text:
    right, up = side
    gap = _GAP * far * (0.75 if right and up else 1.0)
    line = {"arrowstyle": "-", "linewidth": 0.6, "color": TEXT, "shrinkB": 3}
    look: dict[str, Any] = {"size": 9.5, "arrowprops": None if far == 1 else line}
    look["ha"] = {1: "left", 0: "center", -1: "right"}[right]
    look["va"] = {1: "bottom", 0: "center", -1: "top"}[up]
    return write(ax, text, point, (gap * right, gap * up), **look)


def _overlap(one: BboxBase, other: BboxBase) -> float:
    both = Bbox.intersection(one, other)
    return 0.0 if both is None else float(both.width * both.height)
