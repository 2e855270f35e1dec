"""Reading and computing: one matrix crosses from memory for one vector, or for many."""

import numpy as np
from drawing import Drawing

CELL, SIDE = 17, 6
MANY = 6
shades = 0.25 + 0.6 * np.random.default_rng(3).random((SIDE, SIDE))

d = Drawing(520, 430)

panels = (
    (10, 1, "writing one token", "1 multiplication", "waits for memory"),
    (270, MANY, "training, or reading", "$n$ multiplications", "waits for arithmetic"),
)
for left, vectors, title, work, wait in panels:
    middle = left + 120
    d.text(middle, 22, title, size=17, bold=True)

    d.box(left + 6, 40, 228, 128, line="series-2", fill="series-2-wash", weight=1.8)
    d.text(middle, 62, "arithmetic", size=15.5, colour="series-2-ink")
    width = vectors * (CELL + 5) - 5
    for i in range(vectors):
        x = middle - width / 2 + i * (CELL + 5)
        d.matrix(x, 76, shades[i % SIDE][:4, None], cell=CELL, colour="series-2")
    d.text(middle, 160, "one vector" if vectors == 1 else "$n$ vectors", size=15, colour="muted")

    d.arrow((middle, 240), (middle, 174), colour="line")
    d.text(middle + 12, 204, "every number", size=15, anchor="start", colour="muted")
    d.text(middle + 12, 224, "crosses once", size=15, anchor="start", colour="muted")

    d.box(left + 6, 246, 228, 128, line="accent", fill="accent-wash", weight=1.8)
    d.matrix(left + 20, 259, shades, cell=CELL, colour="accent")
    d.text(left + 178, 298, "memory", size=15.5, colour="accent-ink")
    d.text(left + 178, 322, "$d$ × $d$", size=15.5, colour="accent-ink")
    d.text(left + 178, 344, "weights", size=15.5, colour="accent-ink")

    d.text(middle, 398, f"{work} a number", size=15.5)
    d.text(middle, 420, wait, size=15.5, bold=True)

d.save("intensity.svg")
