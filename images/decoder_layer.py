"""A decoder layer: three sublayers, and the one place where the source comes in."""

from drawing import Drawing

d = Drawing(480, 684)
MIDDLE, LEFT, WIDTH = 300, 196, 208


def sublayer(y: float, title: str, below: str, colour: str) -> None:
    """Draw a box with its residual connection, from below the norm to the plus above."""
    d.arrow((MIDDLE, y + 150), (MIDDLE, y + 134), head=False)
    d.part(LEFT + 34, y + 106, WIDTH - 68, 28, "norm", "norm", size=16)
    d.arrow((MIDDLE, y + 106), (MIDDLE, y + 82))
    d.box(LEFT, y + 26, WIDTH, 56, line=colour, fill=f"{colour}-wash", weight=2)
    d.text(MIDDLE, y + 50, title, bold=True, size=17, colour=f"{colour}-ink")
    d.text(MIDDLE, y + 71, below, colour="muted", size=15)
    d.arrow((MIDDLE, y + 26), (MIDDLE, y + 12), head=False)
    d.add(
        f'<circle cx="{MIDDLE}" cy="{y}" r="12" stroke-width="1.4" '
        'style="stroke: var(--gb-line-strong, #7f8a8e); fill: var(--gb-raised, #ffffff)"/>'
    )
    d.text(MIDDLE, y + 6, "+", size=19)
    d.arrow((MIDDLE, y + 150), (444, y + 150), (444, y), (MIDDLE + 13, y))


d.text(MIDDLE, 22, "one vector for each position: $m$ × $d_{model}$", size=16)
d.arrow((MIDDLE, 66), (MIDDLE, 32))
sublayer(78, "feed-forward network", "each position by itself", "feed-forward")
d.arrow((MIDDLE, 260), (MIDDLE, 228), head=False)
sublayer(272, "cross-attention", "target asks source", "attention")
d.arrow((MIDDLE, 454), (MIDDLE, 422), head=False)
sublayer(466, "masked self-attention", "itself and the past", "attention")
d.arrow((MIDDLE, 648), (MIDDLE, 616))
d.text(MIDDLE, 670, "target so far: $m$ × $d_{model}$", size=16)

d.box(14, 272, 122, 100, line="memory", fill="memory-wash", weight=1.8)
d.text(75, 302, "memory", bold=True, size=17, colour="memory-ink")
d.text(75, 325, "the encoder’s", size=15, colour="muted")
d.text(75, 344, "final output", size=15, colour="muted")
d.text(75, 363, "$n$ × $d_{model}$", size=15, colour="muted")
d.arrow((136, 314), (LEFT, 314), colour="key")
d.text(166, 305, "keys", colour="key-ink", size=15)
d.arrow((136, 338), (LEFT, 338), colour="value")
d.text(166, 358, "values", colour="value-ink", size=15)
d.text(MIDDLE + 12, 371, "queries", anchor="start", colour="query-ink", size=14)

d.save("decoder_layer.svg")
