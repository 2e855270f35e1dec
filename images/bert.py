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
    d.part(LEFT, y, CELL * len(PIECES), height, words, line)


# What comes out.
d.text(LEFT - 6, 23, "hidden", anchor="end", size=17, colour="muted")
d.text(LEFT - 6, 43, "states", anchor="end", size=17, colour="muted")
vectors(22, "accent")
d.arrow((MIDDLE, 74), (MIDDLE, 42))

# Six layers, the first of them open.
for shift in (12, 6, 0):
    d.box(LEFT - 14 + shift, 86 - shift, CELL * len(PIECES) + 28, 206, fill="surface")
d.text(LEFT - 22, 130, "6 layers", anchor="end", size=17, bold=True)
d.text(LEFT - 22, 152, "(of 12 heads,", anchor="end", size=17, colour="muted")
d.text(LEFT - 22, 172, "post-norm)", anchor="end", size=17, colour="muted")
wide(98, "add, norm", "norm", height=30)
d.arrow((MIDDLE, 142), (MIDDLE, 128))
wide(142, "feed-forward: 384 → 1536 → 384, GELU", "feed-forward")
d.arrow((MIDDLE, 196), (MIDDLE, 178))
wide(196, "add, norm", "norm", height=30)
d.arrow((MIDDLE, 242), (MIDDLE, 226))
wide(242, "self-attention, in both directions", "attention")
d.arrow((MIDDLE, 328), (MIDDLE, 278))

# What goes in.
wide(328, "norm of the sum, $ε$ = $10^{-12}$", "norm", height=34)
d.arrow((MIDDLE, 396), (MIDDLE, 362))
row(402, "token", "embedding")
row(444, "position", "embedding")
row(486, "type", "embedding", same=True)
for place in range(len(PIECES)):
    x = LEFT + (place + 0.5) * CELL
    for y in (434, 476):
        d.text(x, y, "+", size=18, colour="muted")
    d.arrow((x, 530), (x, 502))
    d.box(x - CELL / 2 + 2, 532, CELL - 4, 32, radius=4)
    d.text(x, 553, PIECES[place], size=17)
    d.text(x, 588, str(place), size=17, colour="embedding-ink")
    d.text(x, 612, "0", size=17, colour="embedding-ink")
d.text(LEFT - 6, 588, "position", anchor="end", size=17, colour="muted")
d.text(LEFT - 6, 612, "sentence", anchor="end", size=17, colour="muted")

d.save("bert.svg")
