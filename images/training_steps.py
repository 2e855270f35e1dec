"""The ring of training: forward, loss, backward, update, and again."""

from drawing import Drawing

WIDTH, HEIGHT = 210, 84
LEFT, RIGHT, TOP, BOTTOM = 12, 298, 52, 226

d = Drawing(520, 362)


def box(x: float, y: float, title: str, lines: tuple[str, str]) -> None:
    """Draw a step with what it does."""
    d.box(x, y, WIDTH, HEIGHT, line="accent", fill="accent-wash", weight=1.8)
    d.text(x + WIDTH / 2, y + 26, title, size=17, bold=True)
    for number, words in enumerate(lines):
        d.text(x + WIDTH / 2, y + 49 + 21 * number, words, size=15.5)


d.text(LEFT, 20, "the next batch: source and target", anchor="start", size=15.5, colour="muted")
d.arrow((LEFT + WIDTH / 2, 28), (LEFT + WIDTH / 2, TOP - 2))
box(LEFT, TOP, "1 forward", ("source and shifted target", "become logits"))
box(RIGHT, TOP, "2 loss", ("logits and labels", "become one number"))
box(
    RIGHT,
    BOTTOM,
    "3 backward",
    ("from the loss down", "to the embedding table"),
)
box(
    LEFT,
    BOTTOM,
    "4 update",
    ("every parameter moves", "against its gradient"),
)
d.arrow((LEFT + WIDTH + 4, TOP + HEIGHT / 2), (RIGHT - 4, TOP + HEIGHT / 2))
d.text((LEFT + RIGHT + WIDTH) / 2, TOP + HEIGHT / 2 - 10, "logits", size=15.5, colour="muted")
d.arrow((RIGHT + WIDTH / 2, TOP + HEIGHT + 4), (RIGHT + WIDTH / 2, BOTTOM - 4))
d.text(RIGHT + WIDTH / 2 + 12, 186, "the loss", anchor="start", size=15.5, colour="muted")
d.arrow((RIGHT - 4, BOTTOM + HEIGHT / 2), (LEFT + WIDTH + 4, BOTTOM + HEIGHT / 2))
d.text((LEFT + RIGHT + WIDTH) / 2, BOTTOM + HEIGHT / 2 - 10, "gradient", size=15.5, colour="muted")
d.arrow((LEFT + WIDTH / 2, BOTTOM - 4), (LEFT + WIDTH / 2, TOP + HEIGHT + 4))
d.text(LEFT + WIDTH / 2 + 12, 186, "new parameters", anchor="start", size=15.5, colour="muted")
d.text(260, 344, "some hundred to some hundred thousand times", size=15.5, colour="muted")

d.save("training_steps.svg")
