"""A search as a tree: which beginnings were followed, given up or ended."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import FancyBboxPatch, Patch, PathPatch
from matplotlib.path import Path

from glassbox_book.viz.paper import in_two_widths, is_narrow, width
from glassbox_book.viz.style import PLUM, SLATE, TEAL, TEXT
from glassbox_book.viz.tokens import visible

_MARGIN, _WIDEST = 0.42, 1.45  # inches: room for the numbers of the steps; a box
#: Rows and boxes in inches, and the positions of token and score in a box: side by side or, on a
#: phone, one above the other.
_BESIDE = {"row": 0.44, "height": 0.26, "token": (0.13, 0.0), "score": (0.21, 0.0)}
_ABOVE = {"row": 0.58, "height": 0.38, "token": (0.0, 0.085), "score": (0.0, -0.085)}
#: For each state of a node, the style of its box and of the line that leads to it.
_LOOKS: dict[str, dict[str, Any]] = {
    "followed": {"edgecolor": TEAL, "facecolor": (TEAL, 0.12), "linewidth": 1.6},
    "given up": {"edgecolor": SLATE, "facecolor": "none", "linewidth": 0.9, "ls": (0, (3, 2))},
    "ended": {"edgecolor": PLUM, "facecolor": (PLUM, 0.12), "linewidth": 2.4},
}


class Node(NamedTuple):
    """One token in a tree of beginnings.

    Attributes
    ----------
    parent : int or None
        The index of the previous node in the list; None for the root.
    token : str
        Its token.
    score : float
        The number written under it, such as the log-probability of the beginning up to here.
    state : {"followed", "given up", "ended"}
        What the search did with it.
    """

    parent: int | None
    token: str
    score: float | int
    state: str = "followed"


@in_two_widths
def search_tree(nodes: Sequence[Node]) -> Figure:
    """Draw a search from top to bottom, a row for each step.

    The box of a token is filled if its beginning is followed, dashed if it is given up, and heavy
    if it has ended.

    Parameters
    ----------
    nodes : sequence of Node
        Parents come before their children; the first is the root.

    Returns
    -------
    Figure
        A cell displays it.

    Raises
    ------
    ValueError
        If there are no nodes, any node but the first has no parent, or the first has one, a parent
        does not come before its child, or a state is unknown.

    Notes
    -----
    Chapter 10.
    """
    _check(nodes)
    places = _places(nodes)
    steps = 1 + max(step for step, _ in places)
    across = max(1.0, *(2 * abs(slot) + 1 for _, slot in places))
    layout: Any = _ABOVE if is_narrow() else _BESIDE
    slot = (width() - _MARGIN) / across
    height = layout["row"] * steps
    fig, ax = plt.subplots(figsize=(width(), height + 0.35))
    middle = _MARGIN + (width() - _MARGIN) / 2
    points = [(middle + slot * x, -layout["row"] * step) for step, x in places]
    box = min(0.94 * slot, _WIDEST), layout["height"]
    for node, point in zip(nodes, points, strict=True):
        if node.parent is not None:
            _join(ax, points[node.parent], point, box[1], _LOOKS[node.state])
        corner = point[0] - box[0] / 2, point[1] - box[1] / 2
        shape = "round,pad=0,rounding_size=0.05"
        ax.add_patch(FancyBboxPatch(corner, *box, boxstyle=shape, **_LOOKS[node.state]))
        score = f"{node.score:.2f}".replace("-", "\N{MINUS SIGN}")
        weight = "normal" if node.state == "given up" else "bold"
        at_token, at_score = layout["token"], layout["score"]
        sides = ("right", "left") if at_score[0] else ("center", "center")
        _write(ax, visible(node.token), point, at_token, ha=sides[0], weight=weight)
        _write(ax, score, point, at_score, ha=sides[1])
    for step in range(1, steps):
        ax.text(0, -layout["row"] * step, str(step), va="center_baseline", size=10)
    ax.text(0, 0, "step", va="center_baseline", size=10)
    ax.set(xlim=(0, width()), ylim=(-height + layout["row"] / 2, layout["row"] / 2))
    ax.axis("off")
    states = {node.state for node in nodes}
    handles = [Patch(label=state, **look) for state, look in _LOOKS.items() if state in states]
    fig.legend(handles=handles, loc="outside upper left", ncols=len(handles))
    return fig


def _join(
    ax: Axes, above: tuple[float, float], below: tuple[float, float], box: float, look: Any
) -> None:
    """Draw a line from the lower edge of one box to the upper edge of another."""
    (x0, y0), (x1, y1) = (above[0], above[1] - box / 2), (below[0], below[1] + box / 2)
    half = (y0 + y1) / 2
    bends = [Path.MOVETO, Path.CURVE4, Path.CURVE4, Path.CURVE4]
    path = Path([(x0, y0), (x0, half), (x1, half), (x1, y1)], bends)
    ax.add_patch(PathPatch(path, **{**look, "facecolor": "none", "linewidth": 1.2}))


def _write(
    ax: Axes, words: str, box: tuple[float, float], shift: tuple[float, float], **look: Any
) -> None:
    """Write text at an offset from the middle of a box."""
    place = box[0] + shift[0], box[1] + shift[1]
    ax.text(*place, words, va="center_baseline", size=10, color=TEXT, parse_math=False, **look)


def _check(nodes: Sequence[Node]) -> None:
    if not nodes:
        raise ValueError("no nodes to draw; pass the root at least")
    for place, node in enumerate(nodes):
        if (node.parent is None) != (place == 0):
            raise ValueError(f"node {place} has parent {node.parent}: the first alone is the root")
        if node.parent is not None and not 0 <= node.parent < place:
            raise ValueError(f"node {place} has parent {node.parent}, which is not before it")
        if node.state not in _LOOKS:
            raise ValueError(f"node {place} is {node.state!r}; it can be {', '.join(_LOOKS)}")


def _places(nodes: Sequence[Node]) -> list[tuple[int, float]]:
    """Return the step and the slot of each node, from the middle, in the order of the parents."""
    places = [(0, 0.0)] * len(nodes)
    row = [0]
    for step in range(len(nodes)):
        for i, node in enumerate(row):
            places[node] = step, i - (len(row) - 1) / 2
        row = [child for parent in row for child, node in enumerate(nodes) if node.parent == parent]
    return places
