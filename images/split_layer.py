"""A feed-forward network on two machines: the first matrix by columns, the second by rows."""

import numpy as np
from drawing import Drawing

CELL = 15
first, second = (np.random.default_rng(seed).random((4, 8)) * 0.7 + 0.2 for seed in (1, 2))
MACHINES = (("machine 0", "series-1", slice(0, 4)), ("machine 1", "series-2", slice(4, 8)))

d = Drawing(520, 330)
d.box(10, 132, 62, 62, line="line", fill="paper")
d.text(41, 170, "$X$", size=18)
for row, (name, colour, part) in enumerate(MACHINES):
    y = 34 + row * 152
    middle = y + 45
    d.box(96, y, 306, 112, line=colour, fill=f"{colour}-wash", dashed=True)
    d.text(104, y - 8, name, anchor="start", size=15, colour=f"{colour}-ink")
    d.arrow((74, 163), (112, middle), colour="line")
    d.matrix(118, y + 15, first[:, part], cell=CELL, colour=colour)
    d.text(160, y + 98, "columns of $W_1$", size=15, colour="muted")
    d.arrow((184, middle), (218, middle))
    d.part(222, middle - 17, 56, 34, "ReLU", colour, size=15)
    d.arrow((280, middle), (314, middle))
    d.matrix(320, y + 15, second.T[part], cell=CELL, colour=colour)
    d.text(346, y + 98, "rows of $W_2$", size=15, colour="muted")
    d.arrow((386, middle), (440, 163), colour="line")
d.box(444, 132, 62, 62, line="accent", fill="accent-wash", weight=1.8)
d.text(475, 170, "sum", size=17, colour="accent-ink")
d.text(260, 322, "Nothing travels until the two results are added.", size=15, colour="muted")
d.save("split_layer.svg")
