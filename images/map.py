"""The book on one picture: a Transformer whose parts are chapters. Reads `_toc.yml`.

Run it when a chapter is added: what is in the table of contents becomes a link.
"""

from drawing import Drawing, written_chapters

CHAPTERS = {
    1: "Architecture",
    2: "Tokens and embeddings",
    3: "Self-attention",
    4: "Scaled dot-product",
    5: "Multi-head",
    6: "Positional encoding",
    7: "Encoder",
    8: "Decoder",
    9: "Training",
    10: "Generation",
    11: "Variants",
    12: "Efficiency and scale",
    13: "Reading attention",
    14: "Common mistakes",
}
WRITTEN = written_chapters()

d = Drawing(592, 812)


def chapter(number: int, x: float, y: float, width: float, height: float = 44) -> None:
    """Draw a chapter's box: a link if it is written, dashed if it is planned."""
    written = number in WRITTEN
    if written:
        d.link(f"{WRITTEN[number]}.html")
    d.box(
        x,
        y,
        width,
        height,
        line="accent" if written else "line",
        fill="accent-wash" if written else "paper",
        dashed=not written,
        weight=2.2 if written else 1.4,
    )
    colour = "accent" if written else "text"
    d.text(
        x + 14, y + height / 2 + 6, str(number), anchor="start", colour=colour, bold=True, size=19
    )
    left = x + (44 if number > 9 else 34)
    title = CHAPTERS[number]
    d.text(left, y + height / 2 + 6, title, anchor="start", colour=colour, bold=written, size=19)
    if written:
        d.end()


def layer(x: float, y: float, words: str) -> None:
    """Draw a layer that has no chapter of its own."""
    d.box(x, y, 216, 40, fill="surface", line="line", weight=0.8)
    d.text(x + 108, y + 26, words, size=18, colour="muted")


d.text(418, 24, "the next word comes out", size=19)
d.arrow((418, 88), (418, 36), colour="accent")

# The glass box: the architecture, chapter 1, around everything the paper describes.
d.box(8, 68, 544, 522, line="accent", fill="surface", radius=14, weight=1.8)
chapter(1, 24, 88, 236)
chapter(10, 300, 88, 236)
d.arrow((418, 160), (418, 138), colour="accent")

d.box(24, 160, 236, 292, line="line")
chapter(7, 34, 170, 216)
for place, number in enumerate((5, 4, 3)):
    chapter(number, 34, 294 + place * 51, 216)
layer(34, 226, "feed-forward network")
d.text(142, 286, "attention", size=18, colour="muted")

d.box(300, 160, 236, 292, line="line")
chapter(8, 310, 170, 216)
layer(310, 226, "feed-forward network")
layer(310, 322, "cross-attention")
layer(310, 398, "masked attention")
d.arrow((260, 342), (308, 342), colour="accent")

chapter(6, 24, 470, 512)
chapter(2, 24, 528, 512)
d.arrow((142, 612), (142, 578), colour="accent")
d.arrow((418, 612), (418, 578), colour="accent")
d.text(142, 632, "a sentence goes in", size=19)
d.text(418, 632, "the words so far", size=19)
d.arrow((536, 110), (578, 110), (578, 626), (494, 626), colour="accent")

for place, number in enumerate((9, 11, 12, 13, 14)):
    chapter(number, 8 + place % 2 * 284, 656 + place // 2 * 53, 268)
d.box(300, 768, 34, 26, line="line", dashed=True)
d.text(344, 787, "planned, not written yet", anchor="start", size=17, colour="muted")

d.save("map.svg")

import architecture as architecture  # noqa: E402  (the other picture whose parts are links)
