"""A search as a tree: what was followed, what was given up, and what ended."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count
from typing import Any, NamedTuple

import matplotlib.pyplot as plt
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from glassbox_book.viz.style import KEY, PAGE_WIDTH, QUERY, TEXT, VALUE
from glassbox_book.viz.tokens import visible

_ROW = 0.44  # inches for a leaf
#: What became of a node.
_LOOKS: dict[str, dict[str, Any]] = {
    "kept": {"color": QUERY, "marker": "o", "linestyle": "-"},
    "pruned": {"color": KEY, "marker": "x", "linestyle": ":"},
    "ended": {"color": VALUE, "marker": "s", "linestyle": "-"},
}


class Node(NamedTuple):
    """One token in a tree of beginnings.

    Attributes
    ----------
    parent : int or None
        The place of the node before it in the list; None for the root.
    token : str
        Its token.
    score : float
        What is written under it, such as the log-probability of the beginning up to here.
    state : {"kept", "pruned", "ended"}
        What the search did with it.
    """

    parent: int | None
    token: str
    score: float | int
    state: str = "kept"


def search_tree(nodes: Sequence[Node], *, score_format: str = "{:.2f}") -> Figure:
    """Draw a search from left to right, a column for each step.

    A beginning that is followed is a filled dot, one that is given up a cross on a dotted line,
    one that has ended a square.

    Parameters
    ----------
    nodes : sequence of Node
        Parents stand before their children; the first is the root.
    score_format : str
        How scores are written.

    Returns
    -------
    Figure
        A cell displays it.

    Raises
    ------
    ValueError
        If there are no nodes, a parent does not stand before its child, only the first may have
        none, or a state is not known.

    Notes
    -----
    Chapter 10.
    """
    _check(nodes)
    children: dict[int, list[int]] = {place: [] for place in range(len(nodes))}
    depths = [0] * len(nodes)
    for place, node in enumerate(nodes):
        if node.parent is not None:
            children[node.parent].append(place)
            depths[place] = depths[node.parent] + 1
    heights = _heights(children)
    rows = max(heights) + 1
    fig, ax = plt.subplots(figsize=(PAGE_WIDTH, _ROW * rows + 0.7))
    for place, node in enumerate(nodes):
        look: dict[str, Any] = {"markersize": 6, "markeredgewidth": 1.6, **_LOOKS[node.state]}
        x, y = depths[place], heights[place]
        if node.parent is None:
            ax.plot([x], [y], **look)
        else:  # a line with a bend, and a mark at its end alone
            way = [depths[node.parent], x - 0.72, x], [heights[node.parent], y, y]
            ax.plot(*way, linewidth=1.2, markevery=[2], **look)
        weight = "normal" if node.state == "pruned" else "bold"
        score = score_format.format(node.score).replace("-", "\N{MINUS SIGN}")
        for text, up in ((visible(node.token), 5), (score, -5)):
            ax.annotate(
                text,
                (x, y),
                xytext=(4, up),
                textcoords="offset points",
                ha="right" if x else "left",
                va="bottom" if up > 0 else "top",
                fontsize=9,
                color=TEXT,
                weight=weight if up > 0 else "normal",
                parse_math=False,
            )
    ax.set_xlim(-0.15, max(depths) + 0.1)
    ax.set_ylim(rows - 0.3, -0.7)
    ax.set_xticks(range(max(depths) + 1), ["start", *map(str, range(1, max(depths) + 1))])
    ax.set_xlabel("step")
    ax.set_yticks([])
    ax.spines["left"].set_visible(False)
    states = {node.state for node in nodes}
    handles = [
        Line2D([], [], label=state, **look) for state, look in _LOOKS.items() if state in states
    ]
    fig.legend(handles=handles, loc="outside upper center", ncols=len(handles))
    return fig


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


def _heights(children: dict[int, list[int]]) -> list[int]:
    """Give each leaf a row of its own, and each parent the height of its first child."""
    heights = [0] * len(children)
    rows = count()

    def place(node: int) -> int:
        below = [place(child) for child in children[node]]
        heights[node] = below[0] if below else next(rows)
        return heights[node]

    place(0)
    return heights
