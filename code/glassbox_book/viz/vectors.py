"""Vectors with two components as arrows in the plane."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Polygon
from matplotlib.path import Path
from matplotlib.text import Annotation
from matplotlib.transforms import Bbox

from glassbox_book.viz.panels import grid, numbers, side_by_side, write
from glassbox_book.viz.paper import in_two_widths, width
from glassbox_book.viz.style import COLOURS, TEXT

_MARGIN = 0.2  # of the larger side, around everything drawn: room for names
_NEAR = 0.13  # of the width of a panel: names of closer tips would overlap
_ALONE = 3.6  # inches: the width of a single panel
_NEARLY_LEVEL = 0.15  # of an arrow's length: a name closer to an axis would lie on it
_AROUND = [(7, 0), (7, -9), (0, -9), (0, 9), (7, 9), (-7, 9), (-7, 0), (-7, -9)]  # in points

Vectors = Mapping[str, Any]


@in_two_widths
def vectors(
    panels: Mapping[str, Vectors],
    *,
    before: Mapping[str, Vectors] | None = None,
    hull: bool = False,
) -> Figure:
    """Draw named vectors as arrows from the origin, in panels on one scale.

    A name has the same colour in all panels.

    Parameters
    ----------
    panels : mapping of str to mapping of str to vector
        Title to the vectors of a panel by their names; each has two components.
    before : mapping of str to mapping of str to vector, optional
        For some titles, the vectors' earlier positions, drawn faintly and unnamed behind the
        others.
    hull : bool
        Whether to shade the convex hull of the vectors in ``before`` or, without any, of all
        vectors: where their weighted averages are.

    Returns
    -------
    Figure
        A cell displays it.

    Raises
    ------
    ValueError
        If there are no panels or vectors, a vector is not a pair of finite numbers,
        there are more than five names, or ``before`` names an unknown panel.
    """
    drawn = {title: _checked(title, named) for title, named in panels.items()}
    faint = {title: _checked(title, named) for title, named in (before or {}).items()}
    if unknown := faint.keys() - drawn.keys():
        raise ValueError(f"before names {sorted(unknown)}; the panels are {list(drawn)}")
    everything = [pair for named in (*drawn.values(), *faint.values()) for pair in named.items()]
    names = list(dict.fromkeys(name for name, _ in everything))
    if len(names) > len(COLOURS):
        raise ValueError(f"{len(names)} names, {names}; {len(COLOURS)} can be told apart")
    colours = dict(zip(names, COLOURS, strict=False))
    fig, axes = _panels(list(drawn), [end for _, end in everything])
    fig.draw_without_rendering()  # from here on the positions on the page are known
    for ax, (title, named) in zip(axes, drawn.items(), strict=True):
        earlier = faint.get(title, {})
        if hull:
            corners = _convex(np.array(list((earlier or named).values())))
            ax.add_patch(Polygon(corners, closed=True, facecolor=TEXT, alpha=0.1, linewidth=0))
        for name, end in earlier.items():
            _arrow(ax, end, colours[name], linewidth=1.2, alpha=0.6, linestyle=(0, (3, 2)))
        for name, end in named.items():
            _arrow(ax, end, colours[name])
        _write_names(ax, named, list(earlier.values()))
    return fig


def _checked(title: str, named: Vectors) -> dict[str, np.ndarray]:
    if not named:
        raise ValueError(f"{title!r} has no vectors to draw; pass {{name: (x, y)}}")
    found = {}
    for name, vector in named.items():
        end = numbers(vector)
        if end.shape != (2,) or not np.isfinite(end).all():
            raise ValueError(
                f"{title!r}, {name!r} is {vector!r} of shape {end.shape}; an arrow in the plane "
                "needs two finite numbers"
            )
        found[name] = end
    return found


def _panels(titles: list[str], ends: list[np.ndarray]) -> tuple[Figure, list[Axes]]:
    """Return a figure with one square panel for each title, all with the same limits."""
    columns = side_by_side(titles, 4, "{title: {name: (x, y)}}", narrow=2)
    points = np.array([np.zeros(2), *ends])
    low, high = points.min(axis=0), points.max(axis=0)
    margin = _MARGIN * max(float((high - low).max()), 1e-9)
    (left, bottom), (right, top) = low - margin, high + margin * np.array([1.6, 1.0])
    side = width() / columns if columns > 1 else min(width(), _ALONE)
    height = side * min((top - bottom) / (right - left), 1.5) + 0.35
    fig, axes = grid(titles, columns, (side, height), sharex=True, sharey=True)
    for ax in axes:
        ax.set(xlim=(left, right), ylim=(bottom, top), aspect="equal")
        ax.axhline(0, color=TEXT, linewidth=0.8)
        ax.axvline(0, color=TEXT, linewidth=0.8)
        ax.spines[:].set_visible(False)
        ax.tick_params(length=0)
        ax.grid(visible=True)
        ax.locator_params(nbins=4)
    return fig, axes


def _arrow(ax: Axes, end: np.ndarray, colour: str, linewidth: float = 2.2, **look: Any) -> None:
    """Draw an arrow from the origin, or a point if it would have no length."""
    if np.allclose(end, 0):
        ax.plot(0, 0, "o", color=colour, markersize=2 * linewidth, alpha=look.get("alpha"))
        return
    style = {"arrowstyle": "-|>,head_length=0.5,head_width=0.25", "shrinkA": 0, "shrinkB": 0}
    line = {"color": colour, "linewidth": linewidth, **look}
    ax.annotate("", xy=(end[0], end[1]), xytext=(0, 0), arrowprops=style | line)


def _convex(points: np.ndarray) -> np.ndarray:
    """Return the corners of the convex hull, in order (Andrew's monotone chain)."""
    ordered = sorted({(float(x), float(y)) for x, y in points})
    corners = []
    for way in (ordered, ordered[::-1]):
        chain: list[tuple[float, float]] = []
        for x, y in way:
            while len(chain) >= 2:
                (ax, ay), (bx, by) = chain[-2:]
                if (bx - ax) * (y - ay) - (by - ay) * (x - ax) > 0:
                    break
                chain.pop()
            chain.append((x, y))
        corners += chain[:-1]
    return np.array(corners or ordered)


def _outwards(end: np.ndarray) -> np.ndarray:
    """Return the offset of a name from a tip, in points: outwards, and never on an axis."""
    length = float(np.hypot(*end))
    if not length:
        return np.array([6.0, 8.0])
    x, y = end / length
    if abs(y) < _NEARLY_LEVEL:
        return np.array([0.0, 10.0 if y >= 0 else -10.0])
    if abs(y) > 1.1 * abs(x) > _NEARLY_LEVEL:
        return np.array([0.0, 9.0 if y > 0 else -9.0])
    return np.array([7.0 if x >= -_NEARLY_LEVEL else -7.0, 9.0 * y])


def _write_names(ax: Axes, named: dict[str, np.ndarray], others: list[np.ndarray]) -> None:
    """Name each arrow at its tip, clear of all arrows; names of tips that meet are joined."""
    left, right = ax.get_xlim()
    groups: list[tuple[np.ndarray, list[str]]] = []
    for name, end in named.items():
        for where, names in groups:
            if np.hypot(*(where - end)) < _NEAR * (right - left):
                names.append(name)
                break
        else:
            groups.append((end, [name]))
    starts_and_ends = [np.stack([np.zeros(2), end]) for end in (*named.values(), *others)]
    shafts = [Path(ax.transData.transform(both)) for both in starts_and_ends]
    taken: list[Bbox] = []
    for end, names in groups:
        outwards = _outwards(end)
        for offset in (outwards, *map(np.array, _AROUND)):
            text = _write(ax, "\n".join(names), end, offset)
            box = text.get_window_extent()
            on_arrow = any(shaft.intersects_bbox(box, filled=False) for shaft in shafts)
            if not on_arrow and not any(map(box.overlaps, taken)):
                break
            text.remove()
        else:
            text = _write(ax, "\n".join(names), end, outwards)
        taken.append(text.get_window_extent())


def _write(ax: Axes, words: str, where: np.ndarray, offset: np.ndarray) -> Annotation:
    """Write words that begin, or end, on the side the offset points to."""
    x, y = offset
    across = "center" if abs(x) < 4 else "left" if x > 0 else "right"
    up = "center" if abs(y) < 9 else "bottom" if y > 0 else "top"
    return write(ax, words, where, offset, ha=across, va=up, color=TEXT)
