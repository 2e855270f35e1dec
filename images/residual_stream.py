"""Three heads read the vectors of five tokens, and add what they find to the same vectors."""

import numpy as np
from drawing import Drawing

TOKENS, D_MODEL, HEADS = 5, 9, 3
CELL, SMALL = 11, 7
STREAM = 262
READ, WRITE = 150, 368

random = np.random.default_rng(4)
x = random.normal(size=(TOKENS, D_MODEL))
written = [0.6 * random.normal(size=(TOKENS, D_MODEL)) for _ in range(HEADS)]
after = x + sum(written)


def shades(matrix: np.ndarray) -> np.ndarray:
    """The same matrix between 0 and 1."""
    return (matrix - matrix.min()) / (matrix.max() - matrix.min())


d = Drawing(520, 316)
d.text(READ - 12, 24, "each head reads", size=17, anchor="end")
d.text(READ - 12, 44, "all of the vectors", size=17, anchor="end")
d.text(WRITE + 14, 24, "and adds", size=17, anchor="start")
d.text(WRITE + 14, 44, "what it writes", size=17, anchor="start")
for head, matrix in enumerate(written):
    y = 12 + head * 66
    middle = y + 26
    d.arrow((READ, STREAM), (READ, middle), (READ + 22, middle))
    d.part(READ + 24, y, 92, 52, f"head {head}", "attention")
    d.arrow((READ + 116, middle), (READ + 134, middle), head=False)
    d.matrix(READ + 136, middle - 2.5 * SMALL, shades(matrix), cell=SMALL, colour="attention")
    d.arrow((READ + 136 + 9 * SMALL, middle), (WRITE, middle), (WRITE, STREAM - 13))
d.arrow((20 + D_MODEL * CELL, STREAM), (WRITE - 13, STREAM))
d.matrix(16, STREAM - 2.5 * CELL, shades(x), cell=CELL, colour="line")
d.text(16, STREAM + 46, "$X$", size=19, anchor="start")
d.text((READ + WRITE) / 2, STREAM + 24, "the residual stream", bold=True, size=17)
d.box(WRITE - 12, STREAM - 12, 24, 24, radius=12)
d.text(WRITE, STREAM + 7, "+", size=20)
d.arrow((WRITE + 13, STREAM), (WRITE + 36, STREAM))
d.matrix(WRITE + 38, STREAM - 2.5 * CELL, shades(after), cell=CELL, colour="line")
d.text(WRITE + 38, STREAM + 46, "$X$ + heads", size=17, anchor="start")

d.save("residual_stream.svg")
