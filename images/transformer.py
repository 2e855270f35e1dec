"""The whole Transformer: a stack that reads, a stack that writes, and what joins them."""

from drawing import Drawing

d = Drawing(600, 756)
LEFT, RIGHT, WIDTH = 150, 446, 220


def box(middle: float, y: float, title: str, colour: str = "accent", *, height: float = 38) -> None:
    """Draw a box around a title."""
    d.part(middle - WIDTH / 2, y, WIDTH, height, title, colour, bold=True)


def between(middle: float, below: float, above: float, shape: str = "") -> None:
    """Draw an arrow upwards, with the shape of what flows along it."""
    d.arrow((middle, below), (middle, above))
    if shape:
        d.text(middle + 10, (below + above) / 2 + 6, shape, anchor="start", size=17, colour="muted")


# The way out.
d.text(RIGHT, 20, "the next word, at each position", size=17)
between(RIGHT, 58, 28)
box(RIGHT, 58, "softmax")
between(RIGHT, 132, 96, "logits: $m$ × $n_{vocab}$")
box(RIGHT, 132, "linear", "embedding")
between(RIGHT, 210, 170, "$m$ × $d_{model}$")

# The decoder.
d.box(RIGHT - 132, 210, 264, 244, fill="surface", radius=12)
d.text(RIGHT + 122, 232, "$N$ decoder layers", anchor="end", size=17, colour="muted")
box(RIGHT, 242, "feed-forward network", "feed-forward", height=44)
between(RIGHT, 312, 286)
box(RIGHT, 312, "cross-attention", "attention", height=44)
between(RIGHT, 386, 356)
box(RIGHT, 386, "masked self-attention", "attention", height=44)
between(RIGHT, 524, 454, "$m$ × $d_{model}$")

# The encoder.
d.box(LEFT - 132, 284, 264, 170, fill="surface", radius=12)
d.text(LEFT + 122, 306, "$N$ encoder layers", anchor="end", size=17, colour="muted")
box(LEFT, 316, "feed-forward network", "feed-forward", height=44)
between(LEFT, 386, 360)
box(LEFT, 386, "self-attention", "attention", height=44)
between(LEFT, 524, 454, "$n$ × $d_{model}$")

# What joins them.
d.arrow((LEFT, 284), (LEFT, 250), (298, 250), (298, 334), (RIGHT - WIDTH / 2, 334), colour="memory")
d.text(LEFT, 222, "memory", size=17, bold=True, colour="memory-ink")
d.text(LEFT, 242, "$n$ × $d_{model}$, to every layer", size=17, colour="muted")

# The way in.
for middle, tokens, ids in (
    (LEFT, "source", "dogs are great &lt;/s&gt;"),
    (RIGHT, "target, shifted right", "&lt;s&gt; les chiens sont super"),
):
    box(middle, 524, "+ positions", "embedding")
    between(middle, 598, 562)
    box(middle, 598, "embedding × √$d_{model}$", "embedding")
    between(middle, 672, 636)
    d.text(middle, 694, tokens, size=17, bold=True)
    ids = ids.replace("&lt;", "<").replace("&gt;", ">")
    d.text(middle, 716, ids, size=17, colour="muted")

# One table at both ends.
d.add(
    '<path d="M556 617H586V151H556" fill="none" stroke-width="1.6" stroke-dasharray="5 4" '
    'style="stroke: var(--gb-embedding, #2b7f86)"/>'
)
d.add(
    '<path d="M260 617H336" fill="none" stroke-width="1.6" stroke-dasharray="5 4" '
    'style="stroke: var(--gb-embedding, #2b7f86)"/>'
)
d.text(298, 644, "one", size=17, colour="embedding-ink")
d.text(298, 661, "table", size=17, colour="embedding-ink")

d.save("transformer.svg")
