"""What waits for what: five words read by a recurrent network, and by attention."""

from drawing import COLOURS, Drawing

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


def said(y: float, words: str, about_the_path: str) -> None:
    """Write a sentence whose second half is about the dark path."""
    second = f'<tspan style="fill: {COLOURS["accent"]}">{about_the_path}</tspan>'
    d.add(
        f'<text x="{LEFT}" y="{y}" font-size="16" style="fill: {COLOURS["muted"]}">'
        f"{words} {second}</text>"
    )


d.text(LEFT, 20, "Recurrence: one step after another", anchor="start", bold=True, size=17)
middles = row(130, WORDS, "line", "surface")
row(40, [f"step {number}" for number in range(1, 6)], "line", "paper")
for place, middle in enumerate(middles):
    d.arrow((middle, 128), (middle, 78), colour="line" if place else "accent")
    if place:
        d.arrow((middle - STEP + BOX / 2, 57), (middle - BOX / 2 - 1, 57), colour="accent")
said(188, "5 steps, each after the one before:", "5 from the first word to the last.")

d.text(LEFT, 240, "Attention: all at once", anchor="start", bold=True, size=17)
row(400, WORDS, "line", "surface")
row(268, ["step 1"] * len(WORDS), "line", "paper")
for here in middles:
    for there in middles:
        if (here, there) != (middles[0], middles[-1]):
            d.arrow((here, 398), (there, 308), colour="line", head=False)
d.arrow((middles[0], 398), (middles[-1], 308), colour="accent")
said(460, "No step waits for another:", "1 from the first word to the last.")

d.save("recurrence.svg")
