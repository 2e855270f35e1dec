"""Quality and diversity of translations, for each way of decoding, on held-out sentences.

    python -m benchmarks.diversity

translates the test sentences of Tatoeba with the package's translator, twice each when sampling,
and writes `decoding.json` into the folder of its run, which chapter 10 plots. The sentences are not
needed to read that file. Intervals are 95 % bootstrap intervals over clusters of sentences that
share translations, with the same resamples for all ways of decoding.
"""

import argparse
import json
from collections.abc import Sequence
from statistics import mean
from typing import Any, NamedTuple

import torch
from sacrebleu.metrics import BLEU
from torch import Tensor

from benchmarks import machine
from glassbox.evaluation import parallel_test, score_translations
from glassbox.evaluation.corpora import ParallelTest
from glassbox.results import RUNS
from glassbox.translation import Translator

FILE = RUNS / "tatoeba" / "decoding.json"
DRAWS, SEED, RESAMPLES, FEW = 2, 1, 1000, 150
#: Each cut is drawn again with these, because the interval covers only the choice of sentences.
OTHER_SEEDS = [2, 3, 4, 5]
#: Close together where the curve bends, so that a line from point to point follows it.
TEMPERATURES = (0.3, 0.6, 0.7, 0.8, 0.85, 0.9, 1.0)
#: The ways of sampling: families of one option, with its values.
FAMILIES: dict[str, list[dict[str, float]]] = {
    "temperature": [{"temperature": value} for value in TEMPERATURES],
    "top-k": [{"top_k": 5}],
    "top-p": [{"top_p": 0.9}],
    "min-p": [{"min_p": 0.05}],
}
#: Numbers of beams, and powers of the length by which a score is divided.
BEAMS, POWERS = (1, 5), (0.0, 1.0)


def statistics(translations: Sequence[str], references: Sequence[Sequence[str]]) -> Tensor:
    """Return what BLEU sums over sentences: `(sentences, 10)`, two lengths, matches, n-grams."""
    measure = BLEU()
    scores = [
        measure.corpus_score([one], [[text] for text in several])
        for one, several in zip(translations, references, strict=True)
    ]
    rows = [[s.sys_len, s.ref_len, *s.counts, *s.totals] for s in scores]
    return torch.tensor(rows, dtype=torch.float64)


def clusters(references: Sequence[Sequence[str]]) -> Tensor:
    """Return the cluster of each sentence; two that share a translation are in the same one."""
    found = list(range(len(references)))
    first: dict[str, int] = {}  # the first sentence with a translation
    for sentence, texts in enumerate(references):
        for text in texts:
            one, other = found[first.setdefault(text, sentence)], found[sentence]
            if one != other:
                found = [one if cluster == other else cluster for cluster in found]
    return torch.tensor(found).unique(return_inverse=True)[1]


def resampled(references: Sequence[Sequence[str]], seed: int = SEED) -> Tensor:
    """Return how often each sentence is in each resample; the first row has each once.

    Whole clusters are drawn, because the sentences of a cluster are not independent.
    """
    cluster = clusters(references)
    count = int(cluster.max()) + 1
    generator = torch.Generator().manual_seed(seed)
    drawn = torch.randint(count, (RESAMPLES, count), generator=generator)
    counts = torch.zeros(RESAMPLES, count, dtype=torch.float64)
    counts.scatter_add_(1, drawn, torch.ones_like(drawn, dtype=torch.float64))
    return torch.cat([torch.ones(1, len(references)), counts[:, cluster]])


def bleu(samples: Tensor, rows: Tensor) -> Tensor:
    """Return the corpus BLEU of each sample."""
    scores = []
    for length, reference, *counted in (samples @ rows).long().tolist():
        matches, totals = counted[:4], counted[4:]
        scores.append(BLEU.compute_bleu(matches, totals, length, reference, "exp").score)
    return torch.tensor(scores, dtype=torch.float64)


def interval(values: Tensor) -> list[float]:
    """Return the value of the sample itself, and the bounds of 95 % of the resamples."""
    low, high = torch.quantile(values[1:], torch.tensor([0.025, 0.975], dtype=values.dtype))
    return [values[0].item(), low.item(), high.item()]


def differ(translations: Sequence[Sequence[str]]) -> Tensor:
    """Return for each sentence whether its two translations differ."""
    one, other = translations
    return torch.tensor([a != b for a, b in zip(one, other, strict=True)], dtype=torch.float64)


def drawn(
    translator: Translator,
    test: ParallelTest,
    options: dict[str, float],
    samples: Tensor,
    seed: int = SEED,
) -> tuple[Tensor, Tensor]:
    """Draw two translations of each sentence; return their quality and diversity, by sample."""
    generator = torch.Generator().manual_seed(seed)
    settings: dict[str, Any] = {"sample": True, "generator": generator, **options}
    translations = [
        translator.translate(test.sources, test.to, batch_size=150, **settings)
        for _ in range(DRAWS)
    ]
    scores = [bleu(samples, statistics(one, test.references)) for one in translations]
    return torch.stack(scores).mean(dim=0), samples @ differ(translations) / samples.sum(dim=1)


def above(way: tuple[Tensor, Tensor], curve: Sequence[tuple[Tensor, Tensor]]) -> Tensor | None:
    """Return how far a way of decoding lies above a curve at the same diversity, by sample.

    The curve is a line through its points, in the order of their diversity; None if the way is less
    diverse than the first point or more so than the last.
    """
    quality, diversity = way
    places = torch.stack([point[1] for point in curve])
    heights = torch.stack([point[0] for point in curve])
    if not (places[0, 0] <= diversity[0] <= places[-1, 0]):
        return None
    right = (places < diversity).sum(dim=0).clamp(1, len(curve) - 1)[None]
    x0, x1 = places.gather(0, right - 1)[0], places.gather(0, right)[0]
    y0, y1 = heights.gather(0, right - 1)[0], heights.gather(0, right)[0]
    return quality - (y0 + (y1 - y0) * (diversity - x0) / (x1 - x0))


def repeated(
    translator: Translator,
    test: ParallelTest,
    options: dict[str, float],
    curve: Sequence[tuple[Tensor, Tensor]],
) -> list[float | None]:
    """Return how far above a curve a way of decoding lies with each of the other seeds."""
    found = []
    for seed in OTHER_SEEDS:
        way = drawn(translator, test, options, torch.ones(1, len(test.sources)).double(), seed)
        over = above(way, [(quality[:1], diversity[:1]) for quality, diversity in curve])
        found.append(None if over is None else over.item())
    return found


def families(translator: Translator, test: ParallelTest, samples: Tensor) -> dict[str, Any]:
    """Measure every way of sampling."""
    found = {
        name: [drawn(translator, test, options, samples) for options in family]
        for name, family in FAMILIES.items()
    }
    described: dict[str, Any] = {}
    for name, ways in found.items():
        described[name] = []
        for options, way in zip(FAMILIES[name], ways, strict=True):
            line = found["temperature"]
            over = None if name == "temperature" else above(way, line)
            described[name].append(
                {
                    "options": options,
                    "bleu": interval(way[0]),
                    "differ": interval(way[1]),
                    "above_temperature": None if over is None else interval(over),
                    "with_other_seeds": None
                    if over is None
                    else repeated(translator, test, options, line),
                }
            )
    return described


class Searched(NamedTuple):
    """The result of a search for each sentence, and its settings."""

    n_beams: int
    length_penalty: float
    translations: list[str]
    rows: Tensor


def searches(translator: Translator, test: ParallelTest) -> list[Searched]:
    """Translate each sentence with every number of beams and length penalty, greedily first."""
    found = []
    for n_beams, power in sorted((n, power) for n in BEAMS for power in POWERS):
        if n_beams == 1 and power != POWERS[-1]:
            continue  # with a single beam, there are no lengths to compare
        options = {"n_beams": n_beams} | ({"length_penalty": power} if n_beams > 1 else {})
        translations = translator.translate(test.sources, test.to, batch_size=150, **options)
        rows = statistics(translations, test.references)
        found.append(Searched(n_beams, power, translations, rows))
    return found


def described(found: Sequence[Searched], test: ParallelTest) -> list[dict[str, Any]]:
    """Measure the searches on these sentences: scores, gain over greedy, length, empty answers."""
    count = len(test.sources)
    samples = resampled(test.references)
    right = sum(mean(len(text.split()) for text in texts) for texts in test.references)
    greedy = bleu(samples, found[0].rows[:count])
    measured = []
    for one in found:
        scores, texts = bleu(samples, one.rows[:count]), one.translations[:count]
        measured.append(
            {
                "n_beams": one.n_beams,
                "length_penalty": one.length_penalty,
                "bleu": interval(scores),
                "gain": interval(scores - greedy),
                "length_ratio": sum(len(text.split()) for text in texts) / right,
                "empty": sum(not text for text in texts) / count,
            }
        )
    return measured


def against_people(
    translator: Translator, test: ParallelTest, translations: Sequence[str]
) -> dict[str, list[float]]:
    """Compare the model's probabilities of its own, the human and the empty translation."""
    rows, encode = [], translator.tokenizer.encode_target
    for source, own, people in zip(test.sources, translations, test.references, strict=True):
        row = translator.tokenizer.encode_source(source, test.to)
        empty, mine, *theirs = translator._log_probabilities(
            row, [*map(encode, ("", own, *people))]
        )
        same = own in people
        rows.append([mine, max(theirs), mine > max(theirs) and not same, same, empty > mine])
    samples = resampled(test.references)
    means = samples @ torch.tensor(rows, dtype=torch.float64) / samples.sum(dim=1, keepdim=True)
    names = ("model", "people", "model_likelier", "same", "empty_likelier")
    return {name: interval(column) for name, column in zip(names, means.T, strict=True)}


def measure(sentences: int | None = None) -> dict[str, Any]:
    """Return the content of the file."""
    translator = Translator.from_pretrained("tatoeba-en-fr")
    test = parallel_test("tatoeba", "test", "fr", "en").first(sentences)
    found, few = searches(translator, test), test.first(FEW)
    (five,) = (one for one in found if (one.n_beams, one.length_penalty) == (5, POWERS[-1]))
    return {
        "machine": machine.describe(),
        "model": "tatoeba-en-fr",
        "corpus": {"name": test.corpus, "split": test.split, "source": "fr", "to": "en"}
        | {"sentences": len(test.sources), "files": test.files},
        "draws": DRAWS,
        "seed": SEED,
        "other_seeds": OTHER_SEEDS,
        "resamples": RESAMPLES,
        "clusters": len(clusters(test.references).unique()),
        "bleu_signature": score_translations(test.sources, test.references).bleu_signature,
        "beams": described(found, test),
        "few": {"sentences": len(few.sources), "beams": described(found, few)},
        "likelihood": against_people(translator, test, five.translations),
        "families": families(translator, test, resampled(test.references)),
    }


def rounded(found: Any) -> Any:
    """Return a copy with numbers rounded to four decimals."""
    if isinstance(found, dict):
        return {name: rounded(value) for name, value in found.items()}
    if isinstance(found, list):
        return [rounded(value) for value in found]
    return round(found, 4) if isinstance(found, float) else found


if __name__ == "__main__":
    argparse.ArgumentParser(description=__doc__.splitlines()[0]).parse_args()  # it takes none
    FILE.write_text(json.dumps(rounded(measure()), indent=1) + "\n", encoding="utf-8")
