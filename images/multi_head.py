"""Three heads over five tokens; the shades are the numbers of a real, small run."""

import numpy as np
from drawing import Drawing

TOKENS = ["time", "flies", "like", "an", "arrow"]
D_MODEL, HEADS, D_K = 9, 3, 3
CELL = 12


def shades(matrix: np.ndarray) -> np.ndarray:
    """The same matrix between 0 and 1."""
    return (matrix - matrix.min()) / (matrix.max() - matrix.min())


random = np.random.default_rng(4)
x = random.normal(size=(len(TOKENS), D_MODEL))

MIDDLE = 248
WIDE = 14  # a cell of what goes in and comes out, beside whose rows tokens stand
d = Drawing(2 * MIDDLE, 712)
d.matrix(MIDDLE - 4.5 * WIDE, 8, shades(x), cell=WIDE, colour="line")
for i, token in enumerate(TOKENS):
    d.text(MIDDLE - 4.5 * WIDE - 8, 20 + i * WIDE, token, anchor="end", size=14)
d.text(MIDDLE + 74, 34, "$X$", anchor="start", size=19)
d.text(MIDDLE + 74, 56, "$n$ × $d_{model}$", anchor="start", colour="muted", size=15)

contexts = []
for head in range(HEADS):
    left = 8 + head * 164
    middle = left + 76
    d.arrow((MIDDLE, 82), (MIDDLE, 98), (middle, 98), (middle, 122))
    d.box(left, 124, 152, 336, fill="surface", weight=1)
    d.text(middle, 146, f"head {head}", bold=True, size=16)
    q, k, v = (x @ random.normal(size=(D_MODEL, D_K)) / 2 for _ in "qkv")
    for name, matrix, place in (("query", q, 0), ("key", k, 1), ("value", v, 2)):
        at = left + 11 + place * 47
        d.matrix(at, 158, shades(matrix), cell=CELL, colour=name)
        letter = name[0].upper() if name != "key" else "K"
        d.text(at + 18, 236, f"${letter}_{head}$", colour=f"{name}-ink", size=16)
    scores = q @ k.T / D_K**0.5
    weights = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    d.arrow((left + 29, 246), (left + 29, 290), (left + 44, 290), colour="query")
    d.arrow((left + 76, 246), (left + 76, 262), colour="key")
    d.matrix(left + 46, 264, shades(weights), cell=CELL, colour="weight")
    d.text(middle, 342, "$n$ × $n$", colour="muted", size=15)
    context = weights @ v
    contexts.append(context)
    d.arrow((middle, 350), (middle, 374))
    d.arrow((left + 123, 246), (left + 123, 406), (left + 98, 406), colour="value")
    d.matrix(left + 58, 376, shades(context), cell=CELL, colour="attention")
    d.text(left + 26, 412, f"$C_{head}$", colour="attention-ink", size=16)
    d.text(middle, 454, "$n$ × $d_v$", colour="muted", size=15)
    d.arrow(
        (middle, 462), (middle, 486), (MIDDLE - 36 + head * 36, 486), (MIDDLE - 36 + head * 36, 506)
    )

merged = np.concatenate(contexts, axis=1)
d.matrix(MIDDLE - 54, 508, shades(merged), cell=CELL, colour="attention")
for cut in (1, 2):
    x_cut = MIDDLE - 54 + cut * D_K * CELL
    d.arrow((x_cut, 504), (x_cut, 572), head=False, colour="text")
d.text(MIDDLE + 74, 530, "side by side", anchor="start", bold=True)
d.text(MIDDLE + 74, 552, "$n$ × $h d_v$", anchor="start", colour="muted", size=15)

d.arrow((MIDDLE, 576), (MIDDLE, 622))
d.text(MIDDLE + 12, 604, "times $W_O$", anchor="start", size=16)
out = merged @ random.normal(size=(HEADS * D_K, D_MODEL))
d.matrix(MIDDLE - 4.5 * WIDE, 626, shades(out), cell=WIDE, colour="line")
for i, token in enumerate(TOKENS):
    d.text(MIDDLE - 4.5 * WIDE - 8, 638 + i * WIDE, token, anchor="end", size=14)
d.text(MIDDLE + 74, 654, "output", anchor="start", bold=True)
d.text(MIDDLE + 74, 676, "$n$ × $d_{model}$", anchor="start", colour="muted", size=15)

d.save("multi_head.svg")
