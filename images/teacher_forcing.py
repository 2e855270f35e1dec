"""Training in one picture: inputs below, labels above, what each may see, and what would leak."""

from drawing import COLOURS, Drawing

INPUTS = ["<s>", "les", "chiens", "sont", "super"]
LABELS = [*INPUTS[1:], "</s>"]
PAGE = "08_decoder.html"
LEFT, STEP, WIDE = 130, 78, 70
TOP, BOTTOM = 74, 338

d = Drawing(540, 446)


def x(place: int) -> float:
    """The middle of a position."""
    return LEFT + STEP * place + WIDE / 2


# The labels, and what turns vectors into them.
d.link(f"{PAGE}#sec-shift-right")
d.text(14, 40, "labels", anchor="start", bold=True, size=18)
d.text(14, 62, "must write", anchor="start", size=16, colour="muted")
d.end()
for place, word in enumerate(LABELS):
    d.box(LEFT + STEP * place, 24, WIDE, 36, line="accent", fill="accent-wash")
    d.text(x(place), 48, word, size=17)

# The decoder: each output with the inputs that it may see.
d.box(LEFT - 12, TOP + 10, STEP * 4 + WIDE + 24, BOTTOM - TOP - 26, fill="surface", radius=12)
for place in range(5):
    d.arrow((x(place), TOP + 34), (x(place), 64), colour="accent")
    for seen in range(place + 1):
        d.arrow((x(seen), BOTTOM - 4), (x(place), TOP + 42), colour="attention", head=False)
for place in range(5):
    d.add(f'<circle cx="{x(place):g}" cy="{TOP + 36}" r="7" style="fill: {COLOURS["attention"]}"/>')

# The arrow that must not be there: from the second input, which is the first label.
x0, y0, x1, y1 = x(1) - 10, BOTTOM - 4, x(0) + 4, TOP + 46
d.add(
    f'<path d="M{x0:g} {y0:g}L{x1:g} {y1:g}" fill="none" stroke-width="2.6" '
    f'stroke-dasharray="7 5" style="stroke: {COLOURS["purple"]}"/>'
)
d.link(f"{PAGE}#sec-leak")
d.text(14, 190, "a leak", anchor="start", bold=True, size=18, colour="purple-ink")
d.text(14, 212, "reads its", anchor="start", size=16, colour="purple-ink")
d.text(14, 231, "own label", anchor="start", size=16, colour="purple-ink")
d.end()
d.arrow((84, 184), (x(0) + 12, 184), colour="purple")

# The inputs.
d.link(f"{PAGE}#sec-shift-right")
d.text(14, BOTTOM + 17, "inputs", anchor="start", bold=True, size=18)
d.text(14, BOTTOM + 39, "shifted right", anchor="start", size=16, colour="muted")
d.end()
for place, word in enumerate(INPUTS):
    d.box(LEFT + STEP * place, BOTTOM, WIDE, 36, line="embedding", fill="embedding-wash")
    d.text(x(place), BOTTOM + 24, word, size=17, colour="embedding-ink")

# The source.
d.link(f"{PAGE}#sec-decoder-cross-attention")
d.box(LEFT - 12, 398, STEP * 4 + WIDE + 24, 38, line="memory", fill="memory-wash", weight=1.8)
d.text(
    *(LEFT + STEP * 2 + WIDE / 2, 423, "memory: dogs are great, for every position"),
    size=17,
    colour="memory-ink",
)
d.end()
d.arrow((LEFT + STEP * 4 + WIDE + 12, 417), (534, 417), (534, 200), (525, 200), colour="memory")

d.save("teacher_forcing.svg")
