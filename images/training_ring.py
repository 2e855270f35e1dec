"""The ring of training with the names alone, for the summary, where it is small."""

from drawing import Drawing

WIDTH, HEIGHT = 104, 46
LEFT, RIGHT, TOP, BOTTOM = 4, 192, 6, 124

d = Drawing(300, 176)
for x, y, title in (
    (LEFT, TOP, "1 forward"),
    (RIGHT, TOP, "2 loss"),
    (RIGHT, BOTTOM, "3 backward"),
    (LEFT, BOTTOM, "4 update"),
):
    d.box(x, y, WIDTH, HEIGHT, line="accent", fill="accent-wash", weight=1.8)
    d.text(x + WIDTH / 2, y + 29, title, size=15.5, bold=True)

across, down = (LEFT + RIGHT + WIDTH) / 2, (TOP + BOTTOM + HEIGHT) / 2 + 5
d.arrow((LEFT + WIDTH + 4, TOP + HEIGHT / 2), (RIGHT - 4, TOP + HEIGHT / 2))
d.text(across, TOP + HEIGHT / 2 - 8, "logits", size=15, colour="muted")
d.arrow((RIGHT + WIDTH / 2, TOP + HEIGHT + 4), (RIGHT + WIDTH / 2, BOTTOM - 4))
d.text(RIGHT + WIDTH / 2 - 10, down, "the loss", anchor="end", size=15, colour="muted")
d.arrow((RIGHT - 4, BOTTOM + HEIGHT / 2), (LEFT + WIDTH + 4, BOTTOM + HEIGHT / 2))
d.text(across, BOTTOM + HEIGHT / 2 - 8, "gradient", size=15, colour="muted")
d.arrow((LEFT + WIDTH / 2, BOTTOM - 4), (LEFT + WIDTH / 2, TOP + HEIGHT + 4))
d.text(LEFT + WIDTH / 2 + 10, down, "parameters", anchor="start", size=15, colour="muted")

d.save("training_ring.svg")
