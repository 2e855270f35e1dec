"""What one head of a real BERT attends to, computed with this book's own code.

The head is found, not picked: of all heads it attends most to the next token.
"""

import torch
from drawing import COLOURS, Drawing
from transformers import AutoTokenizer

from glassbox import record
from glassbox.models import Bert, find_weights

tokenizer = AutoTokenizer.from_pretrained(find_weights())
ids = tokenizer("time flies like an arrow", return_tensors="pt").input_ids
tokens = tokenizer.convert_ids_to_tokens(ids[0])
bert = Bert.from_pretrained()
with torch.no_grad(), record(bert) as tape:
    bert(ids)

weights = torch.stack([found.weights[0] for found in tape.values()])  # (layers, heads, n, n)
to_the_next = weights.diagonal(offset=1, dim1=-2, dim2=-1).mean(-1)
layer, head = divmod(int(to_the_next.argmax()), weights.shape[1])

TOP, BOTTOM, LEFT, STEP = 44, 172, 52, 89
d = Drawing(640, 274)
d.add(
    f'<defs><linearGradient id="flow" gradientUnits="userSpaceOnUse" x1="0" x2="0" y1="{TOP}" '
    f'y2="{BOTTOM}"><stop style="stop-color: {COLOURS["query"]}"/>'
    f'<stop offset="1" style="stop-color: {COLOURS["key"]}"/></linearGradient></defs>'
)
middle = (TOP + BOTTOM) / 2
for query, row in enumerate(weights[layer, head].tolist()):
    for key, weight in enumerate(row):
        x0, x1 = LEFT + query * STEP, LEFT + key * STEP
        if weight < 0.02:
            continue  # would not be seen
        d.add(
            f'<path d="M{x0} {TOP}C{x0} {middle} {x1} {middle} {x1} {BOTTOM}" '
            f'fill="none" stroke="url(#flow)" stroke-linecap="round" '
            f'stroke-width="{1 + 8 * weight:.2f}" stroke-opacity="{0.2 + 0.75 * weight:.2f}"/>'
        )
for place, token in enumerate(tokens):
    x = LEFT + place * STEP
    d.add(f'<circle cx="{x}" cy="{TOP}" r="5.5" style="fill: {COLOURS["query"]}"/>')
    d.add(f'<circle cx="{x}" cy="{BOTTOM}" r="5.5" style="fill: {COLOURS["key"]}"/>')
    d.text(x, TOP - 18, token, size=18, colour="query-ink")
    d.text(x, BOTTOM + 30, token, size=18, colour="key-ink")
d.text(320, BOTTOM + 68, f"Layer {layer}, head {head} of a real BERT, found by measuring:", size=18)
d.text(320, BOTTOM + 92, "of all heads, it attends most to the next token.", size=18)
d.save("hero.svg")
