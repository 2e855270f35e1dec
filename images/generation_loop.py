"""The loop of generation: what runs once, what runs for every token, and where one is chosen."""

from drawing import Drawing

d = Drawing(484, 520)


def station(
    x: float, y: float, words: str, small: str = "", *, line: str = "line", fill: str = "paper"
) -> None:
    """Draw a box with its words, and smaller ones below."""
    d.box(x, y, 190, 54, line=line, fill=fill)
    d.text(x + 95, y + (24 if small else 33), words, size=17, bold=True)
    if small:
        d.text(x + 95, y + 44, small, size=15, colour="muted")


LEFT, RIGHT = 10, 270
d.text(LEFT + 95, 20, "once", size=16, colour="muted")
d.text(RIGHT + 95, 20, "for every token", size=16, colour="muted")

station(LEFT, 436, "tokenizer", "the source’s numbers")
station(LEFT, 330, "encoder")
station(LEFT, 224, "memory", "a vector for each token", line="memory", fill="memory-wash")
d.arrow((LEFT + 95, 436), (LEFT + 95, 385))
d.arrow((LEFT + 95, 330), (LEFT + 95, 279))

station(RIGHT, 436, "written so far", "at first <s> alone")
station(RIGHT, 330, "decoder")
station(RIGHT, 224, "logits", "one for each token")
station(RIGHT, 128, "processors", "reshape", line="accent", fill="accent-wash")
station(RIGHT, 36, "choice", "pick one", line="accent", fill="accent-wash")
for start, end in ((436, 385), (330, 279), (224, 183), (128, 91)):
    d.arrow((RIGHT + 95, start), (RIGHT + 95, end))
d.arrow((LEFT + 190, 251), (235, 251), (235, 357), (RIGHT, 357), colour="memory")

d.arrow((RIGHT + 190, 63), (478, 63), (478, 463), (RIGHT + 191, 463), colour="accent")
d.text(RIGHT + 95, 512, "the token comes back", size=15, colour="accent")
station(LEFT, 36, "text", "the tokenizer joins")
d.arrow((RIGHT, 63), (LEFT + 191, 63), colour="accent")
d.text(235, 52, "</s>", size=15, colour="accent")
d.text(LEFT + 95, 512, "J’aime …", size=15, colour="muted")

d.save("generation_loop.svg")
