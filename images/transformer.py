"""The whole Transformer: a stack that reads, a stack that writes, and what joins them."""

from drawing import Drawing

d = Drawing(600, 756)
LEFT, RIGHT, WIDTH = 150, 446, 220


def box(
    middle: float, y: float, title: str, line: str = "line", fill: str = "paper", height: float = 38
) -> None:
    """Draw a box around a title."""
    d.box(middle - WIDTH / 2, y, WIDTH, height, line=line, fill=fill, weight=1.8)
    d.text(middle, y + height / 2 + 6, title, size=16, bold=True)


def between(middle: float, below: float, above: float, shape: str = "") -> None:
    """Draw an arrow upwards, with the shape of what flows along it."""
    d.arrow((middle, below), (middle, above), colour="accent")
    if shape:
        d.text(middle + 10, (below + above) / 2 + 6, shape, anchor="start", size=14, colour="muted")


# The way out.
d.text(RIGHT, 20, "the next word, at each position", size=16)
between(RIGHT, 58, 28)
box(RIGHT, 58, "softmax")
between(RIGHT, 132, 96, "logits: $m$ × $n_{vocab}$")
box(RIGHT, 132, "linear", line="purple", fill="purple-wash")
between(RIGHT, 210, 170, "$m$ × $d_{model}$")

# The decoder.
d.box(RIGHT - 132, 210, 264, 244, line="accent", fill="surface", radius=12)
d.text(RIGHT + 122, 232, "$N$ decoder layers", anchor="end", size=15, colour="muted")
box(RIGHT, 242, "feed-forward network", line="accent", fill="accent-wash", height=44)
between(RIGHT, 312, 286)
box(RIGHT, 312, "cross-attention", line="key", fill="key-wash", height=44)
between(RIGHT, 386, 356)
box(RIGHT, 386, "masked self-attention", line="query", fill="query-wash", height=44)
between(RIGHT, 524, 454, "$m$ × $d_{model}$")

# The encoder.
d.box(LEFT - 132, 284, 264, 170, line="accent", fill="surface", radius=12)
d.text(LEFT + 122, 306, "$N$ encoder layers", anchor="end", size=15, colour="muted")
box(LEFT, 316, "feed-forward network", line="accent", fill="accent-wash", height=44)
between(LEFT, 386, 360)
box(LEFT, 386, "self-attention", line="query", fill="query-wash", height=44)
between(LEFT, 524, 454, "$n$ × $d_{model}$")

# What joins them.
d.arrow((LEFT, 284), (LEFT, 250), (298, 250), (298, 334), (RIGHT - WIDTH / 2, 334), colour="key")
d.text(LEFT, 222, "memory", size=16, bold=True)
d.text(LEFT, 242, "$n$ × $d_{model}$, to every layer", size=14, colour="muted")

# The way in.
for middle, tokens, ids in (
    (LEFT, "source", "dogs are great &lt;/s&gt;"),
    (RIGHT, "target, shifted right", "&lt;s&gt; les chiens sont super"),
):
    d.box(middle - WIDTH / 2, 524, WIDTH, 38, weight=1.4)
    d.text(middle, 549, "+ positions", size=16, bold=True)
    between(middle, 598, 562)
    box(middle, 598, "embedding × √$d_{model}$", line="purple", fill="purple-wash")
    between(middle, 672, 636)
    d.text(middle, 694, tokens, size=16, bold=True)
    ids = ids.replace("&lt;", "<").replace("&gt;", ">")
    d.text(middle, 716, ids, size=15, colour="muted")

# One table at both ends.
d.add(
    '<path d="M556 617H586V151H556" fill="none" stroke-width="1.6" stroke-dasharray="5 4" '
    'style="stroke: var(--gb-purple, #cc79a7)"/>'
)
d.add(
    '<path d="M260 617H336" fill="none" stroke-width="1.6" stroke-dasharray="5 4" '
    'style="stroke: var(--gb-purple, #cc79a7)"/>'
)
d.text(298, 644, "one", size=14, colour="purple-ink")
d.text(298, 661, "table", size=14, colour="purple-ink")

d.save("transformer.svg")
