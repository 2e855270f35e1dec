"""Labelled points in the plane: what lies near what."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.text import Text
from matplotlib.ticker import MaxNLocator
from matplotlib.transforms import Bbox, BboxBase

from glassbox_book.viz.style import AMBER, FIGURE_WIDTH, HIGHLIGHT, KEY, QUERY, TEXT, VALUE
from glassbox_book.viz.tokens import visible_all

#: Groups differ by colour and by marker; from the sixth on colours come again, with others.
_COLOURS = (QUERY, KEY, VALUE, HIGHLIGHT, AMBER)
_MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<", "*", ">")
_PAGE_WIDTH = 7.0  # inches: the column of the site on a large screen
_GAP = 4.0  # points between a dot and its label
_SPACE = 1.5  # points on either side of a label, so that two do not read as one
#: Where a label may stand, as seen from its dot: right, left, above, below, then between these.
_SIDES = ((1, 0), (-1, 0), (0, 1), (0, -1), (1, 1), (-1, 1), (1, -1), (-1, -1))
#: How far off it may stand, in gaps; from the second on a line leads to the dot.
_DISTANCES = (1.0, 3.5, 6.5, 9.5)


def scatter(
    points: Any,
    labels: Sequence[str] | None = None,
    *,
    groups: Sequence[str] | None = None,
    x_label: str = "",
    y_label: str = "",
    wide: bool = False,
) -> Figure:
    """Draw points in the plane with their names, one colour and marker for each group.

    Parameters
    ----------
    points : Tensor or array
        ``(n, 2)``. A unit is equally long on both axes, so that distances can be compared.
    labels : sequence of str, optional
        One name for each point; an empty one writes nothing. Each stands on the side of its point
        where it covers least.
    groups : sequence of str, optional
        The group of each point; their names make a legend, in the order of appearance.
    x_label, y_label : str, optional
        What the axes are.
    wide : bool
        As wide as a page, for many points. On a phone such a figure has to be moved about.

    Returns
    -------
    Figure
        A cell displays it.

    Raises
    ------
    ValueError
        If the points are not pairs of finite numbers, labels or groups are not as many, or there
        are more than ten groups.
    TypeError
        If labels or groups are no sequence of strings.
    """
    panel = (points, labels, groups)
    return scatters({"": panel}, x_label=x_label, y_label=y_label, wide=wide)


def scatters(
    panels: Mapping[str, tuple[Any, Sequence[str] | None, Sequence[str] | None]],
    *,
    x_label: str = "",
    y_label: str = "",
    wide: bool = False,
    columns: int = 1,
    shared: bool = False,
) -> Figure:
    """Draw several panels of points, each with a legend of its own unless all have one.

    Parameters
    ----------
    panels : mapping of str to tuple
        Title to points, labels and groups, as for :func:`scatter`.
    x_label, y_label, wide
        As for :func:`scatter`.
    columns : int
        How many panels stand side by side.
    shared : bool
        Whether all panels have one scale, so that they can be compared.

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
    if not panels:
        raise ValueError("no panels to draw; pass {title: (points, labels, groups)}")
    if columns < 1:
        raise ValueError(f"columns={columns}: must be at least 1")
    drawn = {title: _panel(title, *panel) for title, panel in panels.items()}
    columns = min(columns, len(drawn))
    rows = -(-len(drawn) // columns)
    width = _PAGE_WIDTH if wide else FIGURE_WIDTH
    fig, axes = plt.subplots(
        rows,
        columns,
        figsize=(width, rows * width / columns * (0.8 if wide else 0.85)),
        sharex=shared,
        sharey=shared,
        squeeze=False,
    )
    legends = {tuple(panel.names) for panel in drawn.values()}
    for ax in axes.flat[len(drawn) :]:
        ax.set_visible(False)
    for ax, (title, panel) in zip(axes.flat, drawn.items(), strict=False):
        _draw(ax, panel)
        ax.set_aspect("equal", adjustable="box" if shared else "datalim")
        if title:
            ax.set_title(title, loc="left")
        if len(legends) > 1 and len(panel.names) > 1:
            # Beside the title: inside the panel its markers would pass for points.
            place = {"loc": "lower right", "bbox_to_anchor": (1.02, 1.0)}
            ax.legend(**place, ncols=len(panel.names), borderaxespad=0.2, handletextpad=0.2)
    for ax in axes[-1]:
        ax.set_xlabel(x_label)
    for ax in axes[:, 0]:
        ax.set_ylabel(y_label)
    if len(legends) == 1 and len(panel.names) > 1:
        handles, names = axes[0, 0].get_legend_handles_labels()
        fig.legend(handles, names, loc="outside upper center", ncols=6 if wide else 3)
    fig.draw_without_rendering()  # until then nothing has its place
    for ax, panel in zip(axes.flat, drawn.values(), strict=False):
        _label(ax, panel)
    return fig


@dataclass(frozen=True)
class _Panel:
    points: np.ndarray
    labels: list[str]
    groups: list[str]

    @property
    def names(self) -> list[str]:
        return list(dict.fromkeys(self.groups))


def _panel(
    title: str, points: Any, labels: Sequence[str] | None, groups: Sequence[str] | None
) -> _Panel:
    points = points.detach().cpu().numpy() if hasattr(points, "detach") else points
    array = np.asarray(points, dtype=float)
    if array.ndim != 2 or array.shape[1] != 2 or not len(array):
        raise ValueError(f"{title!r} has points of shape {array.shape}; expected (n, 2)")
    if not np.isfinite(array).all():
        raise ValueError(f"{title!r} has points that are infinite or NaN")
    found = {"labels": labels, "groups": groups}
    for name, given in found.items():
        if given is not None and len(given) != len(array):
            raise ValueError(f"{title!r} has {len(given)} {name} for {len(array)} points")
    names = [] if labels is None else [t and visible_all([t])[0] for t in labels]
    panel = _Panel(array, names, [""] * len(array) if groups is None else visible_all(groups))
    if len(panel.names) > len(_MARKERS):
        raise ValueError(
            f"{title!r} has {len(panel.names)} groups; {len(_MARKERS)} can be told apart"
        )
    return panel


def _draw(ax: Axes, panel: _Panel) -> None:
    for number, name in enumerate(panel.names):
        of_it = np.array([group == name for group in panel.groups])
        x, y = panel.points[of_it].T
        ax.scatter(
            x,
            y,
            s=30,
            color=_COLOURS[number % len(_COLOURS)],
            marker=_MARKERS[number],
            linewidths=0,
            label=name,
        )
    ax.margins(0.12 if panel.labels else 0.06)
    ax.xaxis.set_major_locator(MaxNLocator(nbins=6, steps=[1, 2, 5, 10]))
    ax.grid()


def _label(ax: Axes, panel: _Panel) -> None:
    """Write each label on the side of its dot where it covers least of what is there already."""
    if not any(panel.labels):
        return
    fig = ax.figure.get_figure(root=True)
    assert fig is not None
    dots = ax.transData.transform(panel.points)
    size = 6.0 * fig.dpi / 72
    taken = [Bbox.from_bounds(x - size / 2, y - size / 2, size, size) for x, y in dots]
    frame = ax.get_window_extent()
    for number, text in enumerate(panel.labels):
        if not text:
            continue
        best: tuple[float, Text, Bbox] | None = None
        for place, (far, side) in enumerate(product(_DISTANCES, _SIDES)):
            if best is not None and best[0] < place:
                break  # nothing that is further off can be better
            shown = _write(ax, text, panel.points[number], side, far)
            shown.get_window_extent()  # puts it in its place
            box = Text.get_window_extent(shown)  # without the line that leads to the dot
            box = box.padded(_SPACE * fig.dpi / 72, 0.0)
            others = (other for dot, other in enumerate(taken) if dot != number)
            cost = sum(_overlap(box, other) for other in others)
            cost += 2 * (box.width * box.height - _overlap(box, frame)) + place
            if best is None or cost < best[0]:
                if best is not None:
                    best[1].remove()
                best = cost, shown, box
            else:
                shown.remove()
        assert best is not None
        taken.append(best[2])


def _write(ax: Axes, text: str, point: np.ndarray, side: tuple[int, int], far: float) -> Text:
    right, up = side
    near = far * (0.75 if right and up else 1.0)
    fig = ax.figure.get_figure(root=True)
    wide = fig is not None and fig.get_figwidth() > FIGURE_WIDTH  # has more labels
    line = {"arrowstyle": "-", "linewidth": 0.6, "color": TEXT, "shrinkB": 3}
    return ax.annotate(
        text,
        (float(point[0]), float(point[1])),
        xytext=(near * _GAP * right, near * _GAP * up),
        textcoords="offset points",
        ha={1: "left", 0: "center", -1: "right"}[right],
        va={1: "bottom", 0: "center", -1: "top"}[up],
        fontsize=9 if wide else 10,
        arrowprops=None if far == 1 else line,
    )


def _overlap(one: BboxBase, other: BboxBase) -> float:
    both = Bbox.intersection(one, other)
    return 0.0 if both is None else float(both.width * both.height)
