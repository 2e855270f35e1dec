"""Attention as a search among films, hard and soft; every number is computed here."""

import math

from drawing import COLOURS, Drawing

TOPICS = ("space", "comedy", "crime")
QUERY = (2.0, 2.0, 0.0)
FILMS = {  # what each film's index card says
    "Orbit of Fools": (0.9, 0.8, 0.0),
    "The Long Silence": (0.9, 0.1, 0.1),
    "Two Left Feet": (0.0, 0.9, 0.2),
    "Cold Harbour": (0.1, 0.0, 0.9),
}
scores = [sum(q * k for q, k in zip(QUERY, card, strict=True)) for card in FILMS.values()]
weights = [math.exp(s) / sum(map(math.exp, scores)) for s in scores]

d = Drawing(480, 610)

d.text(14, 24, "query", anchor="start", bold=True, colour="query-ink", size=17)
d.text(72, 24, "what you ask for", anchor="start", colour="muted", size=15)
d.box(14, 36, 452, 44, line="query", fill="query-wash", radius=22, weight=2)
d.text(36, 64, "a funny film set in space", anchor="start", size=18)
d.text(446, 64, "space 2, comedy 2, crime 0", anchor="end", colour="query-ink", size=15)

d.text(14, 118, "keys", anchor="start", bold=True, colour="key-ink", size=17)
d.text(14, 138, "the index cards", anchor="start", colour="muted", size=15)
d.text(228, 118, "score", bold=True)
d.text(228, 138, "query · key", colour="muted", size=15)
d.text(466, 118, "values", anchor="end", bold=True, colour="value-ink", size=17)
d.text(466, 138, "the films themselves", anchor="end", colour="muted", size=15)

for row, (film, card) in enumerate(FILMS.items()):
    top = 150 + row * 74
    d.box(14, top, 164, 64, line="key", fill="key-wash")
    for line, (topic, amount) in enumerate(zip(TOPICS, card, strict=True)):
        base = top + 19 + line * 18
        d.text(24, base, topic, anchor="start", size=15)
        d.add(
            f'<rect x="84" y="{base - 9}" width="{84 * max(amount, 0.02):.1f}" height="8" rx="2" '
            f'style="fill: {COLOURS["key"]}"/>'
        )
    d.text(228, top + 39, f"{scores[row]:.1f}", size=19)
    d.arrow((258, top + 32), (296, top + 32), colour="line")
    d.box(304, top + 4, 162, 56, line="value", fill="value-wash")
    d.text(385, top + 38, film, size=17)

d.add(f'<path d="M14 458h452" stroke-width="1" style="stroke: {COLOURS["line"]}"/>')
d.text(14, 488, "Hard look-up", anchor="start", bold=True, size=17)
d.text(122, 488, "the best card decides alone", anchor="start", colour="muted", size=15)
best = list(FILMS)[scores.index(max(scores))]
d.text(466, 488, best, anchor="end", size=17, colour="value-ink", bold=True)

d.text(14, 524, "Attention", anchor="start", bold=True, size=17)
d.text(
    96,
    524,
    "every card decides, by its weight after softmax",
    anchor="start",
    colour="muted",
    size=15,
)
left = 14.0
for film, weight in zip(FILMS, weights, strict=True):
    width = 452 * weight
    d.add(
        f'<rect x="{left + 1:.1f}" y="538" width="{width - 2:.1f}" height="34" rx="3" '
        f'fill-opacity="{0.25 + 0.6 * weight:.2f}" style="fill: {COLOURS["value"]}"/>'
    )
    label = f"{weight:.2f} {film}" if width > 160 else f"{weight:.2f}"
    d.text(min(left + width / 2, 466), 594, label, size=15)
    left += width

d.save("film_search.svg")
