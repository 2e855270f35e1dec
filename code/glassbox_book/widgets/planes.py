"""Vectors in the plane: the drawings of `attention_playground.js` in their initial state.

Script and module draw the same elements in the same order, so nothing moves when the script starts.
"""

import math
from collections.abc import Sequence
from html import escape
from itertools import combinations

import numpy as np

from glassbox_book.templates import at, path

HALF = 150  # from the origin to the edge of a plane
_MARGIN = 20
_BARB = 9  # length of an arrow's head
_TURN = 0.7  # the angle by which a name is turned away from the line of its arrow


def head(x: float, y: float) -> str:
    """Return the SVG path of an arrow from the origin."""
    length = math.hypot(x, y) or 1.0
    back, aside = _BARB / length, _BARB / length / 2
    barbs = [(x - back * x - side * aside * y, y - back * y + side * aside * x) for side in (1, -1)]
    return path([(0, 0), (x, y)]) + path([barbs[0], (x, y), barbs[1]])


class Plane:
    """A part of the plane with the origin in its middle.

    Parameters
    ----------
    axes : sequence of str
        What the two components mean.
    vectors : list of arrays
        The vectors that must fit on it.
    """

    def __init__(self, axes: Sequence[str], vectors: Sequence[np.ndarray]) -> None:
        largest = max(float(abs(array).max()) for array in vectors)
        self.extent = max(2, math.ceil(1.15 * largest))
        self.drawn: list[str] = []
        self._grid(axes)

    def place(self, vector: Sequence[float] | np.ndarray) -> tuple[float, float]:
        """Return where a vector ends, in units of the drawing."""
        return HALF * vector[0] / self.extent, -HALF * vector[1] / self.extent

    def add(self, tag: str, text: str = "", **attributes: str | int) -> None:
        """Draw an element."""
        given = "".join(
            f' {name.rstrip("_").replace("_", "-")}="{value}"' for name, value in attributes.items()
        )
        self.drawn.append(f"<{tag}{given}>{escape(text)}</{tag}>")

    def html(self, part: str, said: str) -> str:
        """Return the drawing with a description for screen readers."""
        low, size = -HALF - _MARGIN, 2 * (HALF + _MARGIN)
        return (
            f'<svg viewBox="{low} {low} {size} {size}" role="img" aria-label="{escape(said)}" '
            f'data-part="{part}" data-extent="{self.extent}">{" ".join(self.drawn)}</svg>'
        )

    def _grid(self, axes: Sequence[str]) -> None:
        places = [HALF * n / self.extent for n in range(-self.extent, self.extent + 1) if n]
        lines = (f"M{at(x)} {-HALF}V{HALF}M{-HALF} {at(x)}H{HALF}" for x in places)
        self.add("path", class_="gb-grid", d="".join(lines))
        self.add("path", class_="gb-axis", d=f"M0 {-HALF}V{HALF}M{-HALF} 0H{HALF}")
        for axis, turn in zip(axes, ("", "rotate(-90)"), strict=True):
            y = -HALF - 6 if turn else HALF + 15
            self.add("text", axis, class_="gb-name", x=0, y=y, text_anchor="middle", transform=turn)

    def arrow(self, vector: np.ndarray, kind: str) -> None:
        """Draw an arrow from the origin, or a dot if the vector is too short."""
        x, y = self.place(vector)
        if math.hypot(x, y) < 4:
            self.add("circle", class_=f"{kind} gb-dot", r=4)
            return
        self.add("path", class_=kind, d=head(x, y))

    def names(self, vectors: np.ndarray, names: Sequence[str], kind: str, turn: float) -> None:
        """Write names next to the tips of arrows; names at the same tip are joined."""
        spots: dict[str, list[str]] = {}
        for vector, name in zip(vectors, names, strict=True):
            spots.setdefault(" ".join(map(at, self.place(vector))), []).append(name)
        for spot, who in spots.items():
            x, y = map(float, spot.split())
            length = math.hypot(x, y)
            angle = (math.atan2(y, x) if length >= 4 else 0.8) + turn
            dx, dy = math.cos(angle), math.sin(angle)
            anchor = "start" if dx > 0.36 else "end" if dx < -0.36 else "middle"
            self.add(
                "text",
                ", ".join(who),
                class_=kind,
                x=at(x + 12 * dx),
                y=at(y + 14 * dy + 4),
                text_anchor=anchor,
            )

    def handle(self, vector: np.ndarray, name: str, row: int) -> None:
        """Draw the handle that a pointer can drag."""
        x, y = map(at, self.place(vector))
        self.add("circle", class_="gb-handle", cx=x, cy=y, r=14, data_name=name, data_row=row)


def meeting(
    axes: Sequence[str], names: Sequence[str], query: np.ndarray, key: np.ndarray, asking: int
) -> Plane:
    """Draw one query among all keys, and how far each key reaches along it."""
    plane = Plane(axes, [query, key])
    asks = query[asking]
    square = float(asks @ asks)
    if square:
        far = asks * (plane.extent / float(abs(asks).max()))
        plane.add("path", class_="gb-along", d=path([plane.place(-far), plane.place(far)]))
    for k in key if square else []:
        foot = asks * float(asks @ k) / square
        plane.add("path", class_="gb-shadow", d=path([plane.place(k), plane.place(foot)]))
    for i, q in enumerate(query):
        if i != asking:
            plane.arrow(q, "gb-query gb-faint")
    plane.arrow(asks, "gb-query")
    for k in key:
        plane.arrow(k, "gb-key")
    plane.names(key, names, "gb-key", _TURN)
    plane.names(query[asking : asking + 1], [names[asking]], "gb-query", -_TURN)
    plane.handle(asks, "query", asking)
    for i, k in enumerate(key):
        plane.handle(k, "key", i)
    return plane


def mixing(
    axes: Sequence[str],
    names: Sequence[str],
    value: np.ndarray,
    weights: np.ndarray,
    context: np.ndarray,
    asking: int,
    part: str = "value",
) -> Plane:
    """Draw all values, the area of their averages, and the contexts in it.

    The handles to drag are those of the tokens' vector called ``part``.
    """
    plane = Plane(axes, [value])
    for corners in combinations(value, 3):
        plane.add("path", class_="gb-hull", d=path(map(plane.place, corners)) + "Z")
    for v, weight in zip(value, weights[asking], strict=True):
        line = path([plane.place(context[asking]), plane.place(v)])
        plane.add("path", class_="gb-pull", d=line, style=f"stroke-width:{at(12 * weight)}px")
    for v in value:
        plane.arrow(v, "gb-value")
    for i in [*(i for i in range(len(names)) if i != asking), asking]:
        x, y = map(at, plane.place(context[i]))
        kind = "gb-context" if i == asking else "gb-context gb-faint"
        plane.add("circle", class_=kind, cx=x, cy=y, r=6 if i == asking else 4)
    plane.names(value, names, "gb-value", _TURN)
    for i, v in enumerate(value):
        plane.handle(v, part, i)
    return plane
