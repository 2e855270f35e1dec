"""Self-attention without parameters, for one token of three; every number is computed here."""

import math

from drawing import COLOURS, Drawing

TOKENS = {"Jane": (1.0, 0.0), "visits": (0.0, 1.0), "Paris": (1.0, 1.0)}
ASKING = "Jane"
own = TOKENS[ASKING]
scores = [sum(a * b for a, b in zip(own, vector, strict=True)) for vector in TOKENS.values()]
weights = [math.exp(s) / sum(map(math.exp, scores)) for s in scores]
parts = [tuple(w * c for c in vector) for w, vector in zip(weights, TOKENS.values(), strict=True)]
context = tuple(map(sum, zip(*parts, strict=True)))

MIDDLES = (172, 284, 396)
WIDTH = 100


def written(vector: tuple[float, ...]) -> str:
    return "[" + ", ".join(f"{c:.3f}".rstrip("0").rstrip(".") for c in vector) + "]"


d = Drawing(460, 520)


def row(top: float, name: str, what: str) -> None:
    d.text(8, top + 20, name, anchor="start", bold=True, size=17)
    d.text(8, top + 39, what, anchor="start", colour="muted", size=14)


row(14, "vectors", "one per token")
for middle, (name, vector) in zip(MIDDLES, TOKENS.items(), strict=True):
    asks = name == ASKING
    line, fill = ("accent", "accent-wash") if asks else ("line", "paper")
    d.box(middle - WIDTH / 2, 10, WIDTH, 58, line=line, fill=fill, weight=2 if asks else 1.4)
    d.text(middle, 33, name, size=16, bold=asks)
    d.text(middle, 57, written(vector), size=16)
    d.arrow((middle, 68), (middle, 106))

row(108, "scores", f"times {ASKING}'s")
for middle, score in zip(MIDDLES, scores, strict=True):
    d.text(middle, 136, f"{score:g}", size=20)
    d.arrow((middle, 150), (middle, 178))

d.box(MIDDLES[0] - WIDTH / 2, 178, MIDDLES[2] - MIDDLES[0] + WIDTH, 36, fill="surface")
d.text(MIDDLES[1], 202, "softmax: $e^{s}$, divided by their sum", size=16)

row(240, "weights", "sum to 1")
for middle, weight in zip(MIDDLES, weights, strict=True):
    d.arrow((middle, 214), (middle, 238))
    d.add(
        f'<rect x="{middle - WIDTH / 2}" y="242" width="{WIDTH}" height="38" rx="3" '
        f'fill-opacity="{0.1 + 0.52 * weight:.2f}" style="fill: {COLOURS["weight"]}"/>'
    )
    d.text(middle, 267, f"{weight:.3f}", size=18)
    d.arrow((middle, 280), (middle, 326))

row(326, "parts", "weight · vector")
for middle, part in zip(MIDDLES, parts, strict=True):
    d.text(middle, 352, written(part), size=16)
    if middle != MIDDLES[1]:
        d.arrow((middle, 366), (middle, 392), (MIDDLES[1], 392), head=False)

d.arrow((MIDDLES[1], 366), (MIDDLES[1], 430))
row(438, "context", "sum of the parts")
d.box(MIDDLES[1] - 92, 432, 184, 62, line="accent", fill="accent-wash", weight=2)
d.text(MIDDLES[1], 456, f"{ASKING}, in this sentence", size=15)
d.text(MIDDLES[1], 481, written(context), size=18, bold=True)

d.save("simple_self_attention.svg")
