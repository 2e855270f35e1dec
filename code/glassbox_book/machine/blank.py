"""The BERT in a chapter: what the page shows before the model is loaded."""

import torch

from glassbox.models.fill_mask import FillMask
from glassbox_book.machine.assets import BERT, size, version
from glassbox_book.machine.scene import likely
from glassbox_book.templates import fill
from glassbox_book.viz.tokens import visible

SENTENCE = "The dog is ___ in the water."


def html() -> str:
    """Return the piece in its initial state, which ``blank.js`` makes interactive."""
    fill_mask = FillMask.from_pretrained(BERT)
    tokenizer = fill_mask.tokenizer
    ids = torch.tensor(tokenizer.encode(SENTENCE.replace("___", "[MASK]")))
    probabilities = fill_mask.predict(ids, ids == fill_mask.mask_id)[0].softmax(-1)
    return fill(
        "machine/page/blank.html",
        size=size(BERT),
        version=version(BERT),
        mask=fill_mask.mask_id,
        ids=ids.tolist(),
        tokens=tokenizer.tokens,
        text=SENTENCE,
        likely=likely(probabilities, lambda token: visible(tokenizer.tokens[token])),
    )
