"""The BERT in a chapter: what the page shows before the model is loaded."""

from html import escape

import torch

from glassbox.models.fill_mask import FillMask
from glassbox_book.machine.assets import BERT, model_files, page_file, size, version
from glassbox_book.machine.scene import N_BARS, bars
from glassbox_book.viz.tokens import visible

SENTENCE = "The dog is ___ in the water."


def html() -> str:
    """Return the piece in its initial state, which ``blank.js`` makes interactive."""
    fill_mask = FillMask.from_pretrained(model_files(BERT)[0].parent)
    tokenizer = fill_mask.tokenizer
    ids = torch.tensor(tokenizer.encode(SENTENCE.replace("___", "[MASK]")))
    probabilities = fill_mask.predict(ids, ids == fill_mask.mask_id)[0].softmax(-1)
    best = probabilities.topk(N_BARS)
    likely = [
        (token, visible(tokenizer.tokens[token]), probability)
        for token, probability in zip(best.indices.tolist(), best.values.tolist(), strict=True)
    ]
    pieces = (tokenizer.tokens[token] for token in ids.tolist())
    slots = {
        "size": str(size(BERT)),
        "version": version(BERT),
        "megabytes": f"{size(BERT) / 1e6:.0f}",
        "mask": str(fill_mask.mask_id),
        "ids": str(ids.tolist()),
        "n-pieces": f"{len(tokenizer):,}",
        "text": escape(SENTENCE),
        "pieces": "".join(f"<li><span>{escape(piece)}</span></li>" for piece in pieces),
        "bars": bars(likely),
    }
    template = page_file("blank.html")
    for slot, content in slots.items():
        template = template.replace("{{ " + slot + " }}", content)
    return template
