"""What waits for what: five words read by a recurrent network, and by attention."""

from drawing import Drawing

WORDS = ["time", "flies", "like", "an", "arrow"]
STEP, LEFT, BOX = 92, 10, 78

d = Drawing(470, 476)


def row(y: float, words: list[str], line: str, fill: str) -> list[float]:
    """Draw boxes side by side, and return their middles."""
    middles = [LEFT + place * STEP + BOX / 2 for place in range(len(words))]
    for middle, word in zip(middles, words, strict=True):
        d.box(middle - BOX / 2, y, BOX, 34, line=line, fill=fill, radius=5)
        d.text(middle, y + 23, word, size=17)
    return middles


d.text(LEFT, 20, "Recurrence: one step after another", anchor="start", bold=True, size=17)
middles = row(130, WORDS, "line", "surface")
row(40, [f"step {number}" for number in range(1, 6)], "accent", "accent-wash")
for place, middle in enumerate(middles):
    d.arrow((middle, 128), (middle, 78), colour="line" if place else "purple")
    if place:
        d.arrow((middle - STEP + BOX / 2, 57), (middle - BOX / 2 - 1, 57), colour="purple")
d.text(LEFT, 188, "5 steps wait for one another,", anchor="start", size=16, colour="muted")
d.text(230, 188, "5 from the first word to the end.", anchor="start", size=16, colour="purple-ink")

d.text(LEFT, 240, "Attention: all at once", anchor="start", bold=True, size=17)
row(400, WORDS, "line", "surface")
row(268, ["step 1"] * len(WORDS), "accent", "accent-wash")
for here in middles:
    for there in middles:
        if (here, there) != (middles[0], middles[-1]):
            d.arrow((here, 398), (there, 308), colour="line", head=False)
d.arrow((middles[0], 398), (middles[-1], 308), colour="purple")
d.text(LEFT, 460, "No step waits for another,", anchor="start", size=16, colour="muted")
d.text(230, 460, "1 from the first word to the end.", anchor="start", size=16, colour="purple-ink")

d.save("recurrence.svg")
