"""The character language model in a chapter: what the page shows before it is loaded."""

import torch

from glassbox.models import CharacterModel
from glassbox.modes import evaluating
from glassbox_book.machine.assets import POET, size, version
from glassbox_book.machine.scene import likely
from glassbox_book.templates import fill
from glassbox_book.viz.tokens import visible

BEGINNING = "ROMEO: What l"


def html() -> str:
    """Return the piece in its initial state, which ``poet.js`` makes interactive."""
    poet = CharacterModel.from_pretrained(POET)
    with evaluating(poet.model), torch.inference_mode():
        logits = poet.model(poet.encode(BEGINNING)[None])[0, -1]
    return fill(
        "machine/page/poet.html",
        size=size(POET),
        version=version(POET),
        characters=poet.characters,
        beginning=BEGINNING,
        all={"characters": poet.characters, "logits": [round(x, 4) for x in logits.tolist()]},
        likely=likely(logits.softmax(-1), lambda token: named(poet.characters[token])),
    )


def named(character: str) -> str:
    """Return a character as a page shows it."""
    return "new line" if character == "\n" else visible(character)
