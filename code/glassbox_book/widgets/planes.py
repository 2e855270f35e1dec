"""Vectors in the plane: the drawings of `attention_playground.js` in their initial state.

Script and module draw the same elements in the same order, so nothing moves when the script starts.
"""

import math
from collections.abc import Sequence
from itertools import combinations

import numpy as np

from glassbox_book.templates import at, path

HALF = 150  # from the origin to the edge of a plane
_BARB = 9  # length of an arrow's head


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

    def __init__(self, axes: Sequence[str], *vectors: np.ndarray) -> None:
        largest = max(float(abs(array).max()) for array in vectors)
        self.axes = axes
        self.extent = max(2, math.ceil(1.15 * largest))
        self.lines = [HALF * n / self.extent for n in range(-self.extent, self.extent + 1) if n]

    def place(self, vector: Sequence[float] | np.ndarray) -> tuple[float, float]:
        """Return where a vector ends, in units of the drawing."""
        return HALF * vector[0] / self.extent, -HALF * vector[1] / self.extent

    def is_short(self, vector: np.ndarray) -> bool:
        """Return whether a vector is too short for an arrow."""
        return math.hypot(*self.place(vector)) < 4

    def arrow(self, vector: np.ndarray) -> str:
        """Return the SVG path of a vector's arrow."""
        return head(*self.place(vector))

    def named(
        self, vectors: np.ndarray | Sequence[np.ndarray], names: Sequence[str], turn: float
    ) -> list[tuple[str, float, float, str]]:
        """Return names next to the tips of arrows, joined if tips meet: text, place and anchor."""
        spots: dict[str, list[str]] = {}
        for vector, name in zip(vectors, names, strict=True):
            spots.setdefault(" ".join(map(at, self.place(vector))), []).append(name)
        found = []
        for spot, who in spots.items():
            x, y = map(float, spot.split())
            angle = (math.atan2(y, x) if math.hypot(x, y) >= 4 else 0.8) + turn
            dx, dy = math.cos(angle), math.sin(angle)
            anchor = "start" if dx > 0.36 else "end" if dx < -0.36 else "middle"
            found.append((", ".join(who), x + 12 * dx, y + 14 * dy + 4, anchor))
        return found


class Meeting(Plane):
    """One query among all keys, and how far each key reaches along it."""

    def __init__(
        self, axes: Sequence[str], query: np.ndarray, key: np.ndarray, asking: int
    ) -> None:
        super().__init__(axes, query, key)
        asks = query[asking]
        self.along, self.shadows = [], []
        if square := float(asks @ asks):
            far = asks * (self.extent / float(abs(asks).max()))
            self.along = [self.place(-far), self.place(far)]
            feet = [self.place(asks * float(asks @ k) / square) for k in key]
            self.shadows = list(zip(map(self.place, key), feet, strict=True))


class Mixing(Plane):
    """All values and the area of their averages."""

    def __init__(self, axes: Sequence[str], value: np.ndarray) -> None:
        super().__init__(axes, value)
        self.hull = [list(map(self.place, corners)) for corners in combinations(value, 3)]
