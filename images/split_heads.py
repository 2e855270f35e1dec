"""Splitting positions into heads: taken apart and moved, or poured into the same shape."""

import numpy as np
from drawing import Drawing

POSITIONS, HEADS, D_K = 4, 3, 2
#: Line, wash and ink of a head; blue, vermilion and green belong to queries, keys and values.
COLOURS = (
    ("series-1", "series-1-wash", "series-1-ink"),
    ("series-2", "series-2-wash", "series-2-ink"),
    ("series-3", "series-3-wash", "series-3-ink"),
)
CELL = 26

#: What each cell of the sequence is: its position, and the head it belongs to.
position = np.repeat(np.arange(POSITIONS)[:, None], HEADS * D_K, axis=1)
owner = np.repeat(np.repeat(np.arange(HEADS), D_K)[None], POSITIONS, axis=0)

d = Drawing(520, 560)


def cells(x: float, y: float, positions: np.ndarray, owners: np.ndarray) -> None:
    """Draw a matrix whose cells have the colour of a head and the number of a position."""
    for i, j in np.ndindex(*positions.shape):
        line, wash, ink = COLOURS[owners[i, j]]
        left, top = x + j * CELL, y + i * CELL
        d.box(left + 1, top + 1, CELL - 2, CELL - 2, line=line, fill=wash, radius=3)
        number = str(positions[i, j])
        d.text(left + CELL / 2, top + 18, number, size=15, colour=ink)


def three(y: float, positions: np.ndarray, owners: np.ndarray) -> None:
    """Draw the three matrices that come out."""
    for head in range(HEADS):
        left = 268 + head * 84
        cells(left, y, positions[head], owners[head])
        d.text(left + CELL, y + POSITIONS * CELL + 22, f"head {head}", size=15)


def moved(matrix: np.ndarray) -> np.ndarray:
    """Taken apart along the last axis, and the heads in front."""
    return matrix.reshape(POSITIONS, HEADS, D_K).transpose(1, 0, 2)


def poured(matrix: np.ndarray) -> np.ndarray:
    """Read row by row into the same shape."""
    return matrix.reshape(HEADS, POSITIONS, D_K)


for y, title, code, split in (
    (76, "right", "unflatten, then transpose", moved),
    (346, "wrong", "view", poured),
):
    d.text(14, y - 46, title, anchor="start", bold=True, size=17)
    d.text(76, y - 46, code, anchor="start", colour="muted", size=15)
    d.text(14 + 3 * CELL, y - 14, "$n$ × $h d_k$", colour="muted", size=15)
    cells(14, y, position, owner)
    d.arrow((184, y + 2 * CELL), (252, y + 2 * CELL))
    d.text(390, y - 14, "$h$ × $n$ × $d_k$", colour="muted", size=15)
    three(y, split(position), split(owner))
d.text(260, 256, "Colours are heads, numbers are positions.", size=15, colour="muted")
d.text(260, 530, "The shape is the same, but each head has all colours.", size=15, colour="muted")

d.save("split_heads.svg")
