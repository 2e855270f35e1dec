"""The three places at which a model can be told where its tokens stand."""

from drawing import Drawing

d = Drawing(480, 690)
MIDDLE = 130


def station(y: float, words: str, colour: str = "line", ink: str = "text") -> None:
    """A box of the flow."""
    d.box(MIDDLE - 95, y, 190, 40, line=colour)
    d.text(MIDDLE, y + 26, words, colour=ink, size=16)


def place(y: float, verb: str, schemes: str, method: str, colour: str) -> None:
    """One of the three places, with the schemes that act there."""
    d.box(272, y - 44, 196, 88, line=colour, fill=f"{colour}-wash", weight=2)
    d.text(370, y - 18, verb, bold=True, colour=colour, size=16)
    d.text(370, y + 6, schemes, size=16)
    d.text(370, y + 30, method, colour="muted", size=15)
    d.arrow((272, y), (MIDDLE + 22, y), colour=colour)


def circle(y: float, sign: str, colour: str) -> None:
    """Where something acts on the flow."""
    d.box(MIDDLE - 18, y - 18, 36, 36, line=colour, radius=18, weight=2)
    d.text(MIDDLE, y + 6, sign, size=19, colour=colour)


station(14, "token embeddings")
d.arrow((MIDDLE, 54), (MIDDLE, 90))
circle(110, "+", "accent")
place(110, "added once", "sinusoidal, learned", "embed", "accent")
d.arrow((MIDDLE, 128), (MIDDLE, 196))

d.box(8, 176, 464, 418, line="line", fill="surface", dashed=True)
d.text(460, 584, "in every layer", anchor="end", colour="muted", size=15)
d.arrow((MIDDLE, 128), (MIDDLE, 196))
station(196, "times $W_Q$, $W_K$, $W_V$")
d.arrow((MIDDLE, 236), (MIDDLE, 272))
d.text(MIDDLE - 26, 260, "$Q$, $K$", anchor="end", size=16)
circle(292, "↻", "accent")
place(292, "queries and keys turned", "rotary", "rotation", "accent")
d.arrow((MIDDLE, 310), (MIDDLE, 346))
station(346, "scores $QK^{⊤}$ / √$d_k$")
d.arrow((MIDDLE, 386), (MIDDLE, 422))
circle(442, "+", "accent")
place(442, "added to the scores", "relative (T5), ALiBi", "bias", "accent")
d.arrow((MIDDLE, 460), (MIDDLE, 500))
station(500, "softmax: weights")
d.arrow((MIDDLE, 540), (MIDDLE, 624))
d.text(MIDDLE + 12, 566, "times $V$, as it is", anchor="start", colour="value-ink", size=16)
d.arrow((35, 216), (22, 216), (22, 562), (MIDDLE - 4, 562), colour="value")
station(624, "context")

d.save("positions.svg")
