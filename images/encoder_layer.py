"""An encoder layer twice: with the norm after each sum, and before each sublayer."""

from drawing import Drawing

WIDTH, HEIGHT = 150, 44
d = Drawing(520, 640)


def norm(x: float, y: float) -> None:
    """Draw a norm whose middle is at x and whose upper edge is at y."""
    d.part(x - 52, y, 104, 32, "norm", "norm")


def plus(x: float, y: float) -> None:
    """Draw a sum of two vectors around x, y."""
    d.box(x - 13, y - 13, 26, 26, radius=13, weight=1.8)
    d.text(x, y + 6, "+", size=20, bold=True)


def sublayer(x: float, y: float, words: str, colour: str) -> None:
    """Draw attention or the feed-forward network."""
    d.part(x - WIDTH / 2, y, WIDTH, HEIGHT, words, colour)


def post(x: float, foot: float, words: str, colour: str) -> float:
    """Draw x → norm(x + f(x)) upwards from the foot; return its upper end."""
    d.arrow((x, foot), (x, foot - 46))
    sublayer(x, foot - 46 - HEIGHT, words, colour)
    d.arrow((x, foot - 46 - HEIGHT), (x, foot - 116))
    plus(x, foot - 129)
    d.arrow(
        (x, foot - 22), (x - 96, foot - 22), (x - 96, foot - 129), (x - 13, foot - 129),
    )  # fmt: skip
    d.arrow((x, foot - 142), (x, foot - 164))
    norm(x, foot - 196)
    return foot - 196


def pre(x: float, foot: float, words: str, colour: str) -> float:
    """Draw x → x + f(norm(x)) upwards from the foot; return its upper end."""
    d.arrow((x, foot), (x, foot - 46))
    norm(x, foot - 78)
    d.arrow((x, foot - 78), (x, foot - 100))
    sublayer(x, foot - 100 - HEIGHT, words, colour)
    d.arrow((x, foot - 100 - HEIGHT), (x, foot - 170))
    plus(x, foot - 183)
    d.arrow(
        (x, foot - 22), (x - 96, foot - 22), (x - 96, foot - 183), (x - 13, foot - 183),
    )  # fmt: skip
    return foot - 196


for middle, title, formula, draw in (
    (142, "post-norm", "norm($x$ + $f$($x$))", post),
    (398, "pre-norm", "$x$ + $f$(norm($x$))", pre),
):
    d.text(middle, 30, title, size=20, bold=True)
    d.text(middle, 56, formula, size=18, colour="muted")
    d.box(middle - 116, 166, 232, 400, fill="surface")
    foot = 584
    top = draw(middle, foot, "self-attention", "attention")
    top = draw(middle, top, "feed-forward", "feed-forward")
    d.arrow((middle, top), (middle, 138), head=draw is pre)
    d.text(middle, 608, "one vector per position", size=17, colour="muted")
d.arrow((142, 140), (142, 78), head=True)
d.box(398 - 110, 104, 220, 32, line="norm", fill="norm-wash", dashed=True)
d.text(398, 126, "after the last layer: norm", size=16, colour="norm-ink")
d.arrow((398, 104), (398, 78))
d.text(270, 632, "In: $n$ × $d_{model}$.  Out, above: $n$ × $d_{model}$.", size=17, colour="muted")

d.save("encoder_layer.svg")
