"""Eight heads of queries with eight, two and one heads of keys and values."""

from drawing import Drawing

QUERIES = 8
STEP, BOX = 42, 32
LEFT = 150

d = Drawing(500, 560)


def heads(y: float, name: str, colour: str, number: int) -> list[float]:
    """Draw a row of heads and return their middles."""
    width = QUERIES * STEP / number
    middles = [LEFT + (i + 0.5) * width for i in range(number)]
    d.text(LEFT - 14, y + 21, name, anchor="end", size=15, colour=f"{colour}-ink")
    for middle in middles:
        d.box(middle - BOX / 2, y, BOX, 28, line=colour, fill=f"{colour}-wash", radius=5)
    return middles


for y, title, number in (
    (20, "multi-head", 8),
    (206, "grouped-query", 2),
    (392, "multi-query", 1),
):
    d.text(14, y + 10, title, anchor="start", bold=True, size=17)
    noun = "head of keys and values" if number == 1 else "heads of keys and values"
    d.text(LEFT, y + 10, f"{number} {noun}", anchor="start", size=15, colour="muted")
    values = heads(y + 26, "values", "value", number)
    keys = heads(y + 62, "keys", "key", number)
    queries = heads(y + 124, "queries", "query", QUERIES)
    for i, middle in enumerate(queries):
        target = keys[i * number // QUERIES]
        d.arrow((middle, y + 124), (target, y + 92), colour="line")

d.save("shared_heads.svg")
