"""What the decoder computes, pass by pass, without a cache of keys and values and with one."""

from drawing import Drawing

TOKENS = ("<s>", "I", "love", "machine", "learning", ".")
CELL, TOP, SLANT = 28, 104, 62
COUNT = len(TOKENS)
d = Drawing(470, 346)


def cell(x: float, y: float, state: str) -> None:
    """Draw the key and the value of a position: computed now, computed again, or kept."""
    for part, hue in enumerate(("key", "value")):
        line, fill = {"new": (hue, hue), "kept": (hue, f"{hue}-wash")}.get(state, ("line", "line"))
        height = (CELL - 5) / 2
        corner = x + 2, y + 2 + part * (CELL - 3) / 2
        d.box(*corner, CELL - 4, height, line=line, fill=fill, radius=2, weight=1)


def triangle(x: float, title: str, old: str, words: str) -> None:
    """Draw a row for each pass, with a cell for each position that it uses."""
    d.text(x, 20, title, size=17, anchor="start", bold=True)
    total = 0
    for column, token in enumerate(TOKENS):
        at = f"translate({x + CELL * (column + 0.65):g} {TOP - 8}) rotate(-{SLANT})"
        d.add(f'<g transform="{at}">')
        d.text(0, 0, token, size=15, anchor="start", colour="muted")
        d.add("</g>")
    for row in range(COUNT):
        y = TOP + row * CELL
        for column in range(row + 1):
            cell(x + column * CELL, y, "new" if column == row else old)
        count = row + 1 if old == "again" else 1
        total += count
        d.text(x + COUNT * CELL + 12, y + 19, str(count), size=15)
    y = TOP + COUNT * CELL + 24
    d.text(x + COUNT * CELL + 12, y, str(total), size=16, bold=True)
    d.text(x + COUNT * CELL - 8, y, words, size=15, anchor="end", colour="muted")


triangle(14, "without a cache", "again", "positions computed")
triangle(262, "with one", "kept", "positions computed")
LEGEND = (("new", "computed"), ("again", "computed again"), ("kept", "kept"))
for (state, words), x in zip(LEGEND, (14, 150, 330), strict=True):
    cell(x, 314, state)
    d.text(x + CELL + 8, 333, words, size=15, anchor="start")

d.save("key_value_cache.svg")
