"""The Transformer at work on one step of one sentence; its parts are links to their chapters.

Reads `_toc.yml`, so that it follows when a chapter is added.
"""

import numpy as np
from drawing import Drawing, written_chapters

WRITTEN = {number: file.removeprefix("chapters/") for number, file in written_chapters().items()}
SOURCE = ["<fr>", "dogs", "are", "great", "</s>"]
TARGET = ["<s>", "les", "chiens"]
LEFT, RIGHT, WIDTH = 14, 312, 252
NARROW, WIDE = 50.4, 60

random = np.random.default_rng(3)  # shades that stand for any numbers
d = Drawing(592, 790)


def part(x: float, y: float, words: str, chapter: int, colour: str, *, height: float = 40) -> None:
    """Draw a part with the number of its chapter: a link if that is written."""
    there = chapter in WRITTEN
    if there:
        d.link(f"{WRITTEN[chapter]}.html")
    d.box(x, y, WIDTH - 24, height, line=colour, fill=f"{colour}-wash", weight=1.8)
    colour = "text" if colour == "accent" else f"{colour}-ink"
    d.text(x + 12, y + height / 2 + 6, words, anchor="start", size=18, colour=colour)
    number = {"anchor": "end", "size": 18, "bold": there}
    d.text(x + WIDTH - 36, y + height / 2 + 6, str(chapter), colour=colour, **number)
    if there:
        d.end()


def frame(x: float, y: float, height: float, words: str, chapter: int) -> None:
    """Draw a stack: a frame whose title, at its foot, is the link."""
    d.box(x + 8, y - 8, WIDTH, height, fill="surface", weight=1)
    d.box(x + 4, y - 4, WIDTH, height, fill="surface", weight=1)
    d.box(x, y, WIDTH, height, fill="surface")
    there = chapter in WRITTEN
    if there:
        d.link(f"{WRITTEN[chapter]}.html")
    colour, foot = "accent" if there else "text", y + height
    d.box(x + 12, foot - 42, WIDTH - 24, 34, line="surface", fill="surface")
    d.text(x + 24, foot - 18, words, anchor="start", size=18, colour=colour, bold=True)
    d.text(x + WIDTH - 24, foot - 18, str(chapter), anchor="end", size=18, colour=colour, bold=True)
    if there:
        d.end()


def vectors(x: float, y: float, count: int, cell: float, colour: str = "embedding") -> None:
    """Draw one vector for each token, above its token."""
    for place in range(count):
        left = x + (place + 0.5) * cell - 16
        d.matrix(left, y, random.uniform(size=(1, 4)), cell=8, colour=colour)


def tokens(x: float, y: float, words: list[str], cell: float, **look: str) -> None:
    """Draw tokens side by side."""
    for place, word in enumerate(words):
        d.box(x + place * cell + 1, y, cell - 2, 32, radius=4, **look)
        d.text(x + (place + 0.5) * cell, y + 21.5, word, size=17)


MIDDLES = LEFT + WIDTH / 2, RIGHT + WIDTH / 2
TARGET_LEFT = MIDDLES[1] - len(TARGET) * WIDE / 2

# What comes out: one probability for each word of the vocabulary, and the word chosen from them.
tokens(MIDDLES[1] - WIDE / 2, 6, ["sont"], WIDE, line="accent", fill="accent-wash")
d.text(MIDDLES[1] - 44, 28, "the next word", anchor="end", size=17, colour="muted")
d.arrow((MIDDLES[1], 62), (MIDDLES[1], 42))
part(RIGHT + 12, 64, "choice of a word", 10, "accent", height=36)
d.arrow((MIDDLES[1], 124), (MIDDLES[1], 104))
SHARES = (3, 5, 4, 7, 3, 6, 3, 42, 9, 4, 3, 5, 3, 4, 3)
for place, share in enumerate(SHARES):
    colour = "accent" if share == max(SHARES) else "line"
    left = MIDDLES[1] + (place - len(SHARES) / 2) * 14
    d.box(left + 2, 172 - share, 10, share, line=colour, fill=colour, radius=1)
d.text(RIGHT - 4, 148, "one probability for each", anchor="end", size=17, colour="muted")
d.text(RIGHT - 4, 170, "word of the vocabulary", anchor="end", size=17, colour="muted")
d.arrow((MIDDLES[1], 200), (MIDDLES[1], 180))
part(RIGHT + 12, 202, "projection, softmax", 8, "accent", height=36)
d.arrow((MIDDLES[1], 266), (MIDDLES[1], 242))

# The decoder.
frame(RIGHT, 278, 246, "decoder", 8)
part(RIGHT + 12, 290, "feed-forward", 7, "feed-forward")
d.arrow((MIDDLES[1], 354), (MIDDLES[1], 334))
part(RIGHT + 12, 356, "cross-attention", 8, "attention")
d.arrow((MIDDLES[1], 430), (MIDDLES[1], 400))
part(RIGHT + 12, 432, "masked attention", 4, "attention")

# The encoder, and the memory.
d.text(LEFT + 8, 262, "the memory", anchor="start", size=17, colour="memory-ink")
d.text(LEFT + 8, 241, "one vector per token:", anchor="start", size=17, colour="muted")
vectors(LEFT, 272, len(SOURCE), NARROW, "memory")
d.arrow((MIDDLES[0], 316), (MIDDLES[0], 288), colour="memory")
d.arrow((LEFT + WIDTH, 276), (292, 276), (292, 376), (RIGHT + 10, 376), colour="memory")
frame(LEFT, 328, 196, "encoder", 7)
part(LEFT + 12, 340, "feed-forward", 7, "feed-forward")
d.arrow((MIDDLES[0], 402), (MIDDLES[0], 384))
part(LEFT + 12, 404, "in several heads", 5, "attention", height=34)
part(LEFT + 12, 438, "self-attention", 3, "attention", height=34)

# What goes in.
for left, words, x, cell in (
    (LEFT, SOURCE, LEFT, NARROW),
    (RIGHT, TARGET, TARGET_LEFT, WIDE),
):
    middle = left + WIDTH / 2
    d.arrow((middle, 550), (middle, 528))
    vectors(x, 558, len(words), cell)
    d.arrow((middle, 594), (middle, 574))
    part(left + 12, 596, "positions", 6, "embedding", height=36)
    d.arrow((middle, 656), (middle, 636))
    part(left + 12, 658, "embeddings", 2, "embedding", height=36)
    d.arrow((middle, 718), (middle, 698))
    tokens(x, 722, words, cell, line="line", fill="paper")
d.text(MIDDLES[0], 778, "the sentence to translate", size=17, colour="muted")
d.text(MIDDLES[1], 778, "the words so far", size=17, colour="muted")

# The loop: the word goes back in.
d.arrow(
    (MIDDLES[1] + WIDE / 2 + 2, 22),
    (584, 22),
    (584, 738),
    (TARGET_LEFT + len(TARGET) * WIDE + 3, 738),
    colour="accent",
)

d.save("architecture.svg")
