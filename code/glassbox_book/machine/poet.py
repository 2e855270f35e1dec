"""The character language model in a chapter: what the page shows before it is loaded."""

from html import escape

import torch

from glassbox.models import CharacterModel
from glassbox.modes import evaluating
from glassbox_book.machine.assets import POET, model_files, page_file, size, version
from glassbox_book.machine.scene import N_BARS, bars
from glassbox_book.viz.tokens import visible

BEGINNING = "ROMEO: What l"


def html() -> str:
    """Return the piece in its initial state, which ``poet.js`` makes interactive."""
    poet = CharacterModel.from_pretrained(model_files(POET)[0].parent)
    with evaluating(poet.model), torch.inference_mode():
        probabilities = poet.model(poet.encode(BEGINNING)[None])[0, -1].softmax(-1)
    likely = [
        (token, named(poet.characters[token]), probability)
        for probability, token in zip(
            *map(torch.Tensor.tolist, probabilities.topk(N_BARS)), strict=True
        )
    ]
    slots = {
        "size": str(size(POET)),
        "version": version(POET),
        "megabytes": f"{size(POET) / 1e6:.1f}",
        "n-characters": str(len(poet.characters)),
        "beginning": escape(BEGINNING),
        "bars": bars(likely),
    }
    template = page_file("poet.html")
    for slot, content in slots.items():
        template = template.replace("{{ " + slot + " }}", content)
    return template


def named(character: str) -> str:
    """Return a character as a page shows it."""
    return "new line" if character == "\n" else visible(character)
