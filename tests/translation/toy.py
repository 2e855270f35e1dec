"""A translator that learns a small language in two seconds, and one that knows nothing."""

from functools import cache
from itertools import product

import jaxtyping
import torch
import torch.nn.functional as F
from torch import Tensor

from glassbox import padding_mask
from glassbox.transformer import Transformer, TransformerConfig
from glassbox.translation import TranslationTokenizer, Translator

SUBJECTS = {"I see": "Je vois", "We love": "Nous aimons", "You know": "Tu connais"}
NOUNS = {
    "a dog": "un chien",
    "the tree": "l'arbre",
    "a red cat": "un chat rouge",
    "the old house": "la vieille maison",
    "a green elephant": "un éléphant vert",
}

#: English and French; the longest have twice the words of the shortest.
PAIRS = [
    (f"{english} {noun}.", f"{french} {nom}.")
    for (english, french), (noun, nom) in product(SUBJECTS.items(), NOUNS.items())
] + [
    (f"{english} {noun} and the tree.", f"{french} {nom} et l'arbre.")
    for (english, french), (noun, nom) in product(SUBJECTS.items(), NOUNS.items())
]
ENGLISH, FRENCH = ([pair[side] for pair in PAIRS] for side in (0, 1))


@cache
def tokenizer() -> TranslationTokenizer:
    return TranslationTokenizer.train({"en": ENGLISH, "fr": FRENCH}, 340)


def blank(**sizes: object) -> Translator:
    """Return a translator with random weights."""
    torch.manual_seed(0)
    words = {"vocab_size": len(tokenizer()), "n_layers": 1, "d_model": 64, "d_ff": 128}
    return Translator(Transformer(TransformerConfig.tiny(**(words | sizes))), tokenizer())


@cache
def trained() -> Translator:
    """Return a translator that has learned the pairs by heart, in both directions."""
    translator = blank(dropout=0.1)
    model, encode = translator.model, translator.tokenizer.encode_source
    sources = fill([encode(one, "fr") for one in ENGLISH] + [encode(one, "en") for one in FRENCH])
    targets = fill([*map(translator.tokenizer.encode_target, FRENCH + ENGLISH)])
    optimizer = torch.optim.AdamW(model.parameters(), lr=6e-3)
    executed, jaxtyping.config.jaxtyping_disable = jaxtyping.config.jaxtyping_disable, True
    for _ in range(70):  # without executing annotations, which takes long
        logits = model(sources, targets[:, :-1], padding_mask(sources, 0))
        loss = F.cross_entropy(logits.flatten(0, 1), targets[:, 1:].flatten(), ignore_index=0)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    jaxtyping.config.jaxtyping_disable = executed
    return translator


def fill(rows: list[list[int]]) -> Tensor:
    """Return rows as a tensor, filled up with 0."""
    longest = max(map(len, rows))
    return torch.tensor([row + [0] * (longest - len(row)) for row in rows])
