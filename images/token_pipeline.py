"""From text to tokens to ids to rows of a table; the ids are those of BERT's vocabulary."""

from drawing import COLOURS, Drawing

TOKENS = {"time": 2051, "flies": 10029, "like": 2066, "an": 2019, "arrow": 8612}
SHADES = (  # six of the numbers of each vector, as shades
    (0.2, 0.7, 0.1, 0.5, 0.9, 0.3),
    (0.8, 0.1, 0.6, 0.2, 0.4, 0.7),
    (0.3, 0.3, 0.9, 0.1, 0.2, 0.5),
    (0.1, 0.4, 0.8, 0.3, 0.1, 0.6),
    (0.6, 0.9, 0.2, 0.7, 0.3, 0.1),
)
WIDE, GAP, LEFT = 78, 14, 17

d = Drawing(480, 452)
middle = d.width / 2


def down(y: float, words: str) -> None:
    """Draw the arrow of a step with its name."""
    d.arrow((middle, y), (middle, y + 44), colour="line")
    d.text(middle + 14, y + 27, words, anchor="start", colour="muted", size=16)


d.text(middle, 26, "“Time flies like an arrow”", size=19)
down(38, "the tokenizer cuts")
for place, (token, number) in enumerate(TOKENS.items()):
    x = LEFT + place * (WIDE + GAP)
    d.box(x, 90, WIDE, 42, line="accent", fill="accent-wash")
    d.text(x + WIDE / 2, 117, token, size=18)
    d.text(x + WIDE / 2, 212, f"{number:,}", size=18)
down(140, "the vocabulary numbers")
d.add(f'<path d="M17 226h446" stroke-width="1" style="stroke: {COLOURS["line"]}"/>')
down(232, "the table gives a row for each")
for place, shades in enumerate(SHADES):
    x = LEFT + place * (WIDE + GAP)
    d.matrix(x + WIDE / 2 - 10, 286, [[shade] for shade in shades], cell=20, colour="embedding")
    d.text(x + WIDE / 2, 426, "⋮", size=18, colour="muted")
d.text(middle, 446, "384 numbers each in MiniLM, 768 in BERT-base", colour="muted", size=15)

d.save("token_pipeline.svg")
