"""How good and how different translations are, for each way of decoding, on held-out sentences.

    python -m benchmarks.diversity

translates test sentences of Tatoeba with the translator that the package carries, several times
each, and writes `decoding.json` into the folder of its run, from which chapter 10 draws. The
sentences are not needed to read that file.
"""

import json
from collections.abc import Sequence
from itertools import permutations
from statistics import mean
from typing import Any

import torch

from benchmarks import machine
from glassbox.evaluation import parallel_test, score_translations
from glassbox.evaluation.corpora import ParallelTest
from glassbox.results import RUNS
from glassbox.translation import Translator

FILE = RUNS / "tatoeba" / "decoding.json"
SENTENCES, DRAWS, SEED = 150, 4, 1
#: The ways of drawing: a family of one option, with the values that it takes.
FAMILIES: dict[str, list[dict[str, float]]] = {
    "temperature": [{"temperature": value} for value in (0.2, 0.4, 0.6, 0.8, 1.0)],
    "top-k": [{"top_k": value} for value in (2, 5, 20, 100)],
    "top-p": [{"top_p": value} for value in (0.5, 0.7, 0.8, 0.9)],
    "min-p": [{"min_p": value} for value in (0.5, 0.2, 0.05, 0.01)],
    "typical": [{"typical_p": value} for value in (0.5, 0.7, 0.8, 0.9)],
}
#: The beams: how many, and the power of the length by which a score is divided.
BEAMS, POWERS = (1, 2, 5, 20), (0.0, 1.0)


def quality(test: ParallelTest, translations: Sequence[Sequence[str]]) -> dict[str, float]:
    """Return the mean scores of several translations of all sentences, against people's."""
    scores = [score_translations(one, test.references) for one in translations]
    return {"bleu": mean(s.bleu for s in scores), "chrf": mean(s.chrf for s in scores)}


def diversity(translations: Sequence[Sequence[str]]) -> dict[str, float]:
    """Return how much several translations of the same sentences differ.

    `distinct` is the share of different texts among those of a sentence, so that it is at least
    one divided by their number; `pairwise_bleu` is the BLEU of one translation with another as
    its reference, 100 if all are the same.
    """
    several = list(zip(*translations, strict=True))
    pairs = permutations(translations, 2)
    return {
        "distinct": mean(len({*texts}) / len(texts) for texts in several),
        "pairwise_bleu": mean(score_translations(one, other).bleu for one, other in pairs),
    }


def drawn(translator: Translator, test: ParallelTest, options: dict[str, float]) -> dict[str, Any]:
    """Draw several translations of each sentence and measure them."""
    generator = torch.Generator().manual_seed(SEED)
    settings: dict[str, Any] = {"sample": True, "generator": generator, **options}
    translations = [
        translator.translate(test.sources, test.to, batch_size=150, **settings)
        for _ in range(DRAWS)
    ]
    return {"options": options, **quality(test, translations), **diversity(translations)}


def searched(
    translator: Translator, test: ParallelTest, n_beams: int, power: float
) -> dict[str, Any]:
    """Translate each sentence with beams; measure the scores, the length and the empty answers."""
    options: dict[str, Any] = {"n_beams": n_beams}
    if n_beams > 1:
        options["length_penalty"] = power
    translations = translator.translate(test.sources, test.to, batch_size=30, **options)
    words = sum(len(text.split()) for text in translations)
    right = sum(mean(len(text.split()) for text in texts) for texts in test.references)
    return {
        "n_beams": n_beams,
        "length_penalty": power,
        **quality(test, [translations]),
        "length_ratio": words / right,
        "empty": sum(not text for text in translations) / len(translations),
    }


def against_people(translator: Translator, test: ParallelTest) -> dict[str, float]:
    """Compare how probable the model finds its own best translation and what people wrote."""
    own, people, likelier = [], [], 0
    for source, references in zip(test.sources, test.references, strict=True):
        row = translator.tokenizer.encode_source(source, test.to)
        targets = [translator.tokenizer.encode_target(text) for text in references]
        (best,) = translator.alternatives(source, test.to, n=1, n_beams=5)
        human = max(translator._log_probabilities(row, targets))
        likelier += best.log_probability > human
        own.append(best.log_probability)
        people.append(human)
    return {"model": mean(own), "people": mean(people), "model_likelier": likelier / len(own)}


def measure(sentences: int = SENTENCES) -> dict[str, Any]:
    """Return everything that is written to the file."""
    translator = Translator.from_pretrained("tatoeba-en-fr")
    test = parallel_test("tatoeba", "test", "fr", "en").first(sentences)
    signature = score_translations(test.sources, test.references).bleu_signature
    return {
        "machine": machine.describe(),
        "model": "tatoeba-en-fr",
        "corpus": {"name": test.corpus, "split": test.split, "source": "fr", "to": "en"}
        | {"sentences": len(test.sources), "files": test.files},
        "draws": DRAWS,
        "seed": SEED,
        "bleu_signature": signature,
        "families": {
            name: [drawn(translator, test, options) for options in family]
            for name, family in FAMILIES.items()
        },
        "beams": [
            searched(translator, test, n_beams, power)
            for power in POWERS
            for n_beams in BEAMS
            if n_beams > 1 or power == POWERS[-1]
        ],
        "likelihood": against_people(translator, test),
    }


def rounded(found: Any) -> Any:
    """Return the same with its numbers to four decimals."""
    if isinstance(found, dict):
        return {name: rounded(value) for name, value in found.items()}
    if isinstance(found, list):
        return [rounded(value) for value in found]
    return round(found, 4) if isinstance(found, float) else found


if __name__ == "__main__":
    FILE.write_text(json.dumps(rounded(measure()), indent=1) + "\n", encoding="utf-8")
