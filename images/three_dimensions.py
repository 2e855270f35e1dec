"""Three words as arrows in space, and the angles between them; every number is computed here."""

import math

import numpy as np
from drawing import COLOURS, Drawing

AXES = ("haste", "motion", "calm")
WORDS = {
    "quick": ((3.0, 2.5, 0.6), "series-1"),
    "fast": ((1.8, 3.0, 1.3), "series-2"),
    "slow": ((0.5, 1.0, 3.0), "series-3"),
}
ORIGIN, UNIT = (150.0, 258.0), 62.0
# Where a step along each axis goes on the page: to the front, to the right, up.
STEPS = np.array([[-0.42, 0.40], [1.0, 0.0], [0.0, -1.0]]) * UNIT


def place(point: np.ndarray) -> tuple[float, float]:
    """Where a point in space lies on the page."""
    x, y = point @ STEPS
    return ORIGIN[0] + x, ORIGIN[1] + y


def dashes(*points: np.ndarray) -> None:
    """Draw a thin dashed line along points in space."""
    path = "M" + "L".join("{:.1f} {:.1f}".format(*place(point)) for point in points)
    d.add(
        f'<path d="{path}" fill="none" stroke-width="1" stroke-dasharray="3 4" '
        f'style="stroke: {COLOURS["line"]}"/>'
    )


def arc(first: str, second: str, radius: float, *, away: tuple[float, float]) -> None:
    """Draw the angle between two words with its size."""
    a, b = (np.array(WORDS[word][0]) for word in (first, second))
    a, b = a / np.linalg.norm(a), b / np.linalg.norm(b)
    angle = math.acos(a @ b)
    shares = [(math.sin((1 - t) * angle), math.sin(t * angle)) for t in np.linspace(0, 1, 25)]
    points = [place(radius * (s * a + t * b) / math.sin(angle)) for s, t in shares]
    path = "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in points)
    d.add(f'<path d="{path}" fill="none" stroke-width="1.6" style="stroke: {COLOURS["text"]}"/>')
    x, y = points[12]
    d.text(x + away[0], y + away[1], f"{math.degrees(angle):.0f}°", size=17, bold=True)


d = Drawing(480, 372)
corner = np.array([3.4, 3.6, 3.6])
for axis, name in enumerate(AXES):
    end = np.zeros(3)
    end[axis] = corner[axis]
    d.arrow(place(np.zeros(3)), place(end), colour="line")
    x, y = place(end)
    shift = {"haste": (0, 22), "motion": (-6, 24), "calm": (0, -10)}[name]
    d.text(x + shift[0], y + shift[1], name, colour="muted", size=16)

for word, (vector, colour) in WORDS.items():
    tip = np.array(vector)
    floor = tip * [1, 1, 0]
    dashes(tip, floor, floor * [0, 1, 0])
    dashes(floor, floor * [1, 0, 0])
    d.arrow(place(np.zeros(3)), place(tip), colour=colour)
    x, y = place(tip)
    numbers = ", ".join(f"{n:g}" for n in vector)
    down = {"quick": 22, "fast": -12, "slow": -4}[word]
    d.text(x + 8, y + down, word, anchor="start", bold=True, colour=f"{colour}-ink", size=18)
    d.text(x + 62, y + down, f"({numbers})", anchor="start", colour="muted", size=15)

arc("quick", "fast", 2.3, away=(22, 4))
arc("quick", "slow", 1.5, away=(24, -16))

d.save("three_dimensions.svg")
