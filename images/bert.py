"""BERT: three vectors are added for each word piece, normalised, and sent through equal layers."""

import numpy as np
from drawing import Drawing

PIECES = ["[CLS]", "time", "flies", "like", "an", "arrow", "[SEP]"]
CELL, LEFT = 62, 118
MIDDLE = LEFT + CELL * len(PIECES) / 2
random = np.random.default_rng(5)  # shades that stand for any numbers
d = Drawing(584, 626)


def vectors(y: float, colour: str, *, same: bool = False) -> None:
    """Draw a vector above each piece; all are the same where one row of a table serves all."""
    shades = random.uniform(size=(len(PIECES), 1, 5))
    for place in range(len(PIECES)):
        shown = shades[0] if same else shades[place]
        d.matrix(LEFT + (place + 0.5) * CELL - 22.5, y, shown, cell=9, colour=colour)


def row(y: float, words: str, colour: str, **more: bool) -> None:
    """Draw a row of vectors with its name at the left."""
    d.text(LEFT - 6, y + 11, words, anchor="end", size=17, colour=f"{colour}-ink")
    vectors(y, colour, **more)


def wide(y: float, words: str, line: str, *, height: float = 36) -> None:
    """Draw a part that all positions go through."""
    d.box(LEFT, y, CELL * len(PIECES), height, line=line, fill=f"{line}-wash", weight=1.8)
    d.text(MIDDLE, y + height / 2 + 6, words, size=17, colour=f"{line}-ink")


# What comes out.
d.text(LEFT - 6, 23, "hidden", anchor="end", size=17, colour="muted")
d.text(LEFT - 6, 43, "states", anchor="end", size=17, colour="muted")
vectors(22, "accent")
d.arrow((MIDDLE, 74), (MIDDLE, 42), colour="accent")

# Six layers, the first of them open.
for shift in (12, 6, 0):
    d.box(LEFT - 14 + shift, 86 - shift, CELL * len(PIECES) + 28, 206, fill="surface")
d.text(LEFT - 22, 130, "6 layers", anchor="end", size=17, bold=True)
d.text(LEFT - 22, 152, "(of 12 heads,", anchor="end", size=16, colour="muted")
d.text(LEFT - 22, 172, "post-norm)", anchor="end", size=16, colour="muted")
wide(98, "add, norm", "purple", height=30)
d.arrow((MIDDLE, 142), (MIDDLE, 128), colour="accent")
wide(142, "feed-forward: 384 → 1536 → 384, GELU", "value")
d.arrow((MIDDLE, 196), (MIDDLE, 178), colour="accent")
wide(196, "add, norm", "purple", height=30)
d.arrow((MIDDLE, 242), (MIDDLE, 226), colour="accent")
wide(242, "self-attention, in both directions", "query")
d.arrow((MIDDLE, 328), (MIDDLE, 278), colour="accent")

# What goes in.
wide(328, "norm of the sum, $ε$ = $10^{-12}$", "purple", height=34)
d.arrow((MIDDLE, 396), (MIDDLE, 362), colour="accent")
row(402, "token", "value")
row(444, "position", "query")
row(486, "type", "key", same=True)
for place in range(len(PIECES)):
    x = LEFT + (place + 0.5) * CELL
    for y in (434, 476):
        d.text(x, y, "+", size=18, colour="muted")
    d.arrow((x, 530), (x, 502), colour="accent")
    d.box(x - CELL / 2 + 2, 532, CELL - 4, 32, radius=4)
    d.text(x, 553, PIECES[place], size=16)
    d.text(x, 588, str(place), size=16, colour="query-ink")
    d.text(x, 612, "0", size=16, colour="key-ink")
d.text(LEFT - 6, 588, "position", anchor="end", size=16, colour="muted")
d.text(LEFT - 6, 612, "sentence", anchor="end", size=16, colour="muted")

d.save("bert.svg")
