"""How five tokens become five context vectors; the shades are the numbers of a real, small run."""

import numpy as np
from drawing import Drawing

TOKENS = ["time", "flies", "like", "an", "arrow"]
D_MODEL, D_K = 9, 4


def shades(matrix: np.ndarray) -> np.ndarray:
    """The same matrix between 0 and 1."""
    return (matrix - matrix.min()) / (matrix.max() - matrix.min())


random = np.random.default_rng(7)
x = random.normal(size=(len(TOKENS), D_MODEL))
q, k, v = (x @ random.normal(size=(D_MODEL, D_K)) / 2 for _ in "qkv")
scores = q @ k.T / D_K**0.5
weights = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
context = weights @ v

CELL = 16
d = Drawing(480, 790)

d.matrix(170, 16, shades(x), cell=CELL, colour="line")
for i, token in enumerate(TOKENS):
    d.text(160, 29 + i * CELL, token, anchor="end", size=15)
d.text(326, 48, "$X$", anchor="start", size=19)
d.text(326, 70, "$n$ × $d_{model}$", anchor="start", colour="muted", size=15)

for name, matrix, left, colour, width in (
    ("Q", q, 58, "query", "k"),
    ("K", k, 208, "key", "k"),
    ("V", v, 358, "value", "v"),
):
    middle = left + 2 * CELL
    d.arrow((242, 104), (242, 122), (middle, 122), (middle, 172), colour=colour)
    d.text(middle + 10, 152, f"$W_{name}$", anchor="start", colour=f"{colour}-ink", size=17)
    d.matrix(left, 180, shades(matrix), cell=CELL, colour=colour)
    d.text(left + 4 * CELL + 10, 214, f"${name}$", anchor="start", colour=f"{colour}-ink", size=19)
    d.text(middle, 280, f"$n$ × $d_{width}$", colour="muted", size=15)

d.arrow((90, 292), (90, 366), (192, 366), colour="query")
d.arrow((240, 292), (240, 318), colour="key")
d.matrix(200, 326, shades(scores), cell=CELL, colour="weight")
d.text(294, 352, "scores", anchor="start", bold=True)
d.text(294, 374, "$QK^{⊤}$ / √$d_k$", anchor="start", size=16)
d.text(294, 396, "$n$ × $n$", anchor="start", colour="muted", size=15)

d.arrow((240, 414), (240, 474))
d.text(252, 442, "mask, if there is one;", anchor="start", colour="muted", size=15)
d.text(252, 461, "softmax over each row", anchor="start", colour="muted", size=15)
d.matrix(200, 482, shades(weights), cell=CELL, colour="weight")
d.text(294, 508, "weights", anchor="start", bold=True)
d.text(294, 530, "each row sums to 1", anchor="start", size=15)
d.text(294, 552, "$n$ × $n$", anchor="start", colour="muted", size=15)
for i, token in enumerate(TOKENS):
    d.text(190, 495 + i * CELL, token, anchor="end", size=15)

d.arrow((240, 570), (240, 642))
d.arrow((390, 292), (390, 304), (462, 304), (462, 610), (256, 610), (256, 642), colour="value")
d.text(360, 602, "times $V$", colour="value-ink", size=16)
d.matrix(208, 650, shades(context), cell=CELL, colour="attention")
for i, token in enumerate(TOKENS):
    d.text(198, 663 + i * CELL, token, anchor="end", size=15)
d.text(288, 684, "context", anchor="start", bold=True)
d.text(288, 706, "$n$ × $d_v$", anchor="start", colour="muted", size=15)
d.text(240, 766, "One vector per position goes in, one comes out.", size=15, colour="muted")

d.save("attention_flow.svg")
