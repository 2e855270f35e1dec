"""How float32 and the two common formats of sixteen bits divide their bits."""

from drawing import Drawing

CELL, LEFT = 13, 10
FORMATS = (("float32", 8, 23), ("bfloat16", 8, 7), ("float16", 5, 10))
PARTS = (("sign", "series-3"), ("exponent", "series-1"), ("fraction", "series-2"))

d = Drawing(436, 260)
for (part, colour), x in zip(PARTS, (LEFT, 90, 206), strict=True):
    d.box(x, 8, CELL, 16, line=colour, fill=f"{colour}-wash", radius=2)
    d.text(x + CELL + 7, 22, part, size=15, anchor="start", colour=f"{colour}-ink")
for row, (name, *bits) in enumerate(FORMATS):
    x, y = LEFT, 40 + row * 74
    d.text(x, y + 14, name, size=16, anchor="start", bold=True)
    for (_, colour), count in zip(PARTS, (1, *bits), strict=True):
        for i in range(count):
            corner = x + i * CELL + 1, y + 22
            d.box(*corner, CELL - 2, 20, line=colour, fill=f"{colour}-wash", radius=2, weight=1.2)
        d.text(x + count * CELL / 2, y + 60, str(count), size=15, colour=f"{colour}-ink")
        x += count * CELL
d.save("number_formats.svg")
