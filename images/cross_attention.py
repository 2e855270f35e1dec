"""Cross-attention: the same function, with keys and values from another sequence."""

from drawing import Drawing

TARGET = ["dogs", "are"]
SOURCE = ["les", "chiens", "sont", "super"]
WEIGHTS = [[0.10, 0.80, 0.05, 0.05], [0.04, 0.12, 0.74, 0.10]]  # drawn, not measured

d = Drawing(480, 480)

for middle, words, title, below, look in (
    (110, TARGET, "one sequence", "the decoder's positions", {"fill": "surface"}),
    (
        *(350, SOURCE, "another sequence", "the encoder's output"),
        {"line": "memory", "fill": "memory-wash"},
    ),
):
    d.text(middle, 22, title, bold=True)
    d.text(middle, 42, below, colour="muted", size=15)
    width = 54
    left = middle - width * len(words) / 2
    for place, word in enumerate(words):
        d.box(left + place * width + 2, 54, width - 4, 32, radius=4, **look)
        d.text(left + place * width + width / 2, 76, word, size=16)

d.arrow((110, 94), (110, 182), colour="query")
d.text(122, 132, "$W_Q$", anchor="start", colour="query-ink", size=18)
d.text(122, 154, "$m$ × $d_k$", anchor="start", colour="muted", size=15)
d.arrow((300, 94), (300, 182), colour="key")
d.text(288, 132, "$W_K$", anchor="end", colour="key-ink", size=18)
d.text(288, 154, "$n$ × $d_k$", anchor="end", colour="muted", size=15)
d.arrow((396, 94), (396, 182), colour="value")
d.text(406, 132, "$W_V$", anchor="start", colour="value-ink", size=18)
d.text(406, 154, "$n$ × $d_v$", anchor="start", colour="muted", size=15)

d.box(14, 190, 452, 62, line="attention", fill="attention-wash", weight=2)
d.text(240, 214, "scaled dot-product attention", bold=True, size=18, colour="attention-ink")
for middle, name in ((110, "query"), (300, "key"), (396, "value")):
    d.text(middle, 238, name, colour=f"{name}-ink", size=16)

CELL = 44
d.arrow((164, 260), (164, 302))
d.matrix(76, 332, WEIGHTS, cell=CELL, colour="weight")
for row, word in enumerate(TARGET):
    d.text(66, 360 + row * CELL, word, anchor="end")
for column, word in enumerate(SOURCE):
    d.text(98 + column * CELL, 324, word, size=14.5)
d.text(164, 444, "weights", bold=True)
d.text(164, 465, "$m$ × $n$: not square", colour="muted", size=15)

d.arrow((380, 260), (380, 324))
d.matrix(336, 332, [[0.3, 0.9], [0.6, 0.2]], cell=CELL, colour="attention")
d.text(380, 444, "context", bold=True)
d.text(380, 465, "$m$ × $d_v$", colour="muted", size=15)

d.save("cross_attention.svg")
