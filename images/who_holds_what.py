"""Two processes that train together: what each holds, and what travels between them."""

from drawing import Drawing

#: What a training holds, and the colour of each; a shard is half as wide.
PARTS = (
    ("weights", "accent"),
    ("gradients", "series-2"),
    ("optimiser", "series-3"),
)
LEFT, RIGHT, WIDTH = 14, 306, 200

d = Drawing(520, 512)


def process(x: float, y: float, number: int, *, sharded: bool) -> None:
    """Draw what one process holds."""
    d.text(x + WIDTH / 2, y - 10, f"process {number}", size=15.5, bold=True)
    d.box(x, y, WIDTH, 166)
    for row, (name, colour) in enumerate(PARTS):
        top = y + 12 + row * 38
        if sharded:
            d.box(x + 12, top, WIDTH - 24, 30, dashed=True, weight=1)
            half = (WIDTH - 24) / 2
            d.part(x + 12 + number * half, top, half, 30, name, colour, size=15)
        else:
            d.part(x + 12, top, WIDTH - 24, 30, name, colour, size=15)
    texts = "texts 0, 2, 4, …" if number == 0 else "texts 1, 3, 5, …"
    d.text(x + WIDTH / 2, y + 148, texts, size=15, colour="muted")


def both(x: float, x_end: float, y: float, colour: str) -> None:
    """Draw an arrow that points both ways."""
    middle = (x + x_end) / 2
    d.arrow((middle, y), (x, y), colour=colour)
    d.arrow((middle, y), (x_end, y), colour=colour)


gap = LEFT + WIDTH + 4, RIGHT - 4
centre = sum(gap) / 2

d.text(LEFT, 20, "data-parallel", anchor="start", size=17, bold=True)
for number, x in enumerate((LEFT, RIGHT)):
    process(x, 58, number, sharded=False)
both(*gap, 58 + 12 + 38 + 15, "series-2")
d.text(centre, 58 + 12 + 38 + 3, "twice", size=15, colour="muted")

d.text(LEFT, 264, "fully sharded", anchor="start", size=17, bold=True)
for number, x in enumerate((LEFT, RIGHT)):
    process(x, 302, number, sharded=True)
both(*gap, 302 + 12 + 15, "accent")
d.text(centre, 302 + 12 + 3, "twice", size=15, colour="muted")
both(*gap, 302 + 12 + 38 + 15, "series-2")
d.text(centre, 302 + 12 + 38 + 3, "once", size=15, colour="muted")
d.text(
    260, 496, "What travels in a step: sharded parts go layer by layer.", size=15, colour="muted"
)

d.save("who_holds_what.svg")
