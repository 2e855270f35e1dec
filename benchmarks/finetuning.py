"""Fine-tuning on SST-2 and WNUT 2017: the book's BERT, the same network untrained, and baselines.

    python -m benchmarks.finetuning [--seeds 3] [--encoders bert-english minilm]

writes `glassbox/results/finetuning.json`, adding to what is there. Every choice is made on the
validation split; the test split is read once for each seed.
"""

import argparse
import itertools
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import torch
from torch import nn

from benchmarks.snapshots import restored
from benchmarks.studies import measure_missing, read_results
from glassbox.data import sst2, wnut17
from glassbox.evaluation import score_entities
from glassbox.results import FINETUNING
from glassbox.training import (
    ClassificationConfig,
    ClassificationTask,
    Schedule,
    TrainingConfig,
    checkpoints,
    read_metrics,
    train,
)

#: The measure of each corpus.
MEASURES = {"sst2": "accuracy", "wnut17": "f1"}
#: Epochs, and the highest rates that are tried on the validation split.
EPOCHS = {"sst2": 4, "wnut17": 6}
RATES = {"bert-english": (3e-4, 1e-3), "scratch": (3e-4, 1e-3), "minilm": (1e-4,)}


def tune(corpus: Any, encoder: str, rate: float, seed: int) -> dict[str, float]:
    """Fine-tune once, and return the measure on the validation and the test split."""
    scratch = encoder == "scratch"
    source = "bert-english" if scratch else encoder
    task = ClassificationTask(ClassificationConfig(corpus, source, scratch=scratch), seed)
    steps = EPOCHS[corpus] * len(task.epoch(0))
    schedule = Schedule("linear", rate, warmup=steps // 10, total=steps)
    config = TrainingConfig(
        schedule,
        steps,
        betas=(0.9, 0.999),
        eps=1e-8,
        weight_decay=0.01,
        seed=seed,
        validate_every=steps,
        checkpoint_every=steps,
    )
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        if not train(task, config, folder):
            raise SystemExit("stopped")
        (last,) = (e for e in read_metrics(folder / "metrics.jsonl") if e["split"] == "valid")
        model = restored(task.build().eval(), checkpoints(folder / "checkpoints")[-1])
    with torch.inference_mode():
        test = task.score(model, task.read("test"))
    return {"valid": last[MEASURES[corpus]], "test": test[MEASURES[corpus]]}


#: For each split, which words each sentence has, and its label.
WordSets = Mapping[str, tuple[torch.Tensor, torch.Tensor]]


def word_sets() -> WordSets:
    """Return the sentences of SST-2 as sets of the words of its training split."""
    splits = {name: sst2(name) for name in ("train", "valid", "test")}
    counts = Counter(word for text, _ in splits["train"] for word in {*text.split()})
    number = {word: i for i, word in enumerate(counts)}
    data = {}
    for name, sentences in splits.items():
        x = torch.zeros(len(sentences), len(number))
        for row, (text, _) in enumerate(sentences):
            x[row, [number[word] for word in {*text.split()} if word in number]] = 1.0
        data[name] = x, torch.tensor([float(label) for _, label in sentences])
    return data


def best_of(data: WordSets, candidates: Iterable[torch.Tensor]) -> dict[str, float]:
    """Return the accuracies of the candidate that is best on the validation split.

    A candidate is a weight for each word, and last the bias.
    """

    def accuracy(weights: torch.Tensor, split: str) -> float:
        x, y = data[split]
        return ((x @ weights[:-1] + weights[-1] > 0) == (y > 0)).float().mean().item()

    best = max(candidates, key=lambda weights: accuracy(weights, "valid"))
    return {split: accuracy(best, split) for split in ("valid", "test")}


def bag_of_words() -> dict[str, float]:
    """Return the accuracy on SST-2 of logistic regression on the words that a sentence has."""
    data = word_sets()
    penalties = (1e-5, 1e-4, 3e-4, 1e-3, 3e-3, 1e-2)
    return best_of(data, (logistic(*data["train"], penalty) for penalty in penalties))


def naive_bayes() -> dict[str, float]:
    """Return the accuracy on SST-2 of naive Bayes on the words that a sentence has."""
    data = word_sets()
    x, y = data["train"]

    def weights(smoothing: float) -> torch.Tensor:
        counts = torch.stack([x[y == label].sum(dim=0) for label in (0, 1)]) + smoothing
        of_one, of_other = (counts / counts.sum(dim=1, keepdim=True)).log()
        return torch.cat([of_other - of_one, (y.mean() / (1 - y.mean())).log()[None]])

    return best_of(data, map(weights, (0.5, 1.0, 2.0)))


def logistic(x: torch.Tensor, y: torch.Tensor, penalty: float) -> torch.Tensor:
    """Return the weights, and last the bias, of logistic regression with a quadratic penalty."""
    weights = torch.zeros(x.size(1) + 1, requires_grad=True)
    optimizer = torch.optim.LBFGS([weights], max_iter=200, line_search_fn="strong_wolfe")

    def loss() -> torch.Tensor:
        optimizer.zero_grad()
        logits = x @ weights[:-1] + weights[-1]
        value = nn.functional.binary_cross_entropy_with_logits(logits, y)
        value = value + penalty * weights[:-1].square().sum()
        value.backward()
        return value

    optimizer.step(loss)
    return weights.detach()


def word_memory(capitals: bool = False) -> dict[str, float]:
    """Return the F1 on WNUT 2017 of giving each word the tag it has most often in training.

    A word that was not seen in training gets the tag ``O``; with ``capitals``, it belongs to the
    name of a person if a capital begins it and a small letter follows.
    """
    seen: dict[str, Counter[str]] = {}
    for words, tags in wnut17("train"):
        for word, tag in zip(words, tags, strict=True):
            seen.setdefault(word.lower(), Counter())[tag] += 1
    most = {word: tags.most_common(1)[0][0] for word, tags in seen.items()}

    def guess(before: str, word: str) -> str:
        if capitals and word.lower() not in most and word[:1].isupper() and word[1:2].islower():
            return "I-person" if before.endswith("-person") else "B-person"
        return most.get(word.lower(), "O")

    def f1(split: str) -> float:
        sentences = wnut17(split)
        given = [[*itertools.accumulate(s.words, guess, initial="O")][1:] for s in sentences]
        return score_entities(given, [s.tags for s in sentences]).f1

    return {"valid": f1("valid"), "test": f1("test")}


def majority() -> dict[str, float]:
    """Return the accuracy on SST-2 of the label that is most frequent in training."""
    label = Counter(label for _, label in sst2("train")).most_common(1)[0][0]
    return {
        split: sum(one == label for _, one in sst2(split)) / len(sst2(split))
        for split in ("valid", "test")
    }


def studies(
    encoders: Sequence[str], seeds: range
) -> Iterator[tuple[tuple[str, str, str], Callable[[], dict[str, float]]]]:
    """Yield corpus, model, name and the function of every measurement.

    The first seed tries every rate; the others take the one that was best on the validation split.
    """
    yield ("sst2", "majority", "1"), majority
    yield ("sst2", "bag of words", "1"), bag_of_words
    yield ("sst2", "naive Bayes", "1"), naive_bayes
    yield ("wnut17", "tag of each word", "1"), word_memory
    yield ("wnut17", "capitals", "1"), partial(word_memory, capitals=True)
    for seed, encoder, corpus in itertools.product(seeds, encoders, MEASURES):
        rates = RATES[encoder]
        if seed != seeds[0]:
            first = read_results(FINETUNING)[corpus][encoder]
            rates = (max(rates, key=lambda rate: first[f"{rate:g}/{seeds[0]}"]["valid"]),)
        for rate in rates:
            study = partial(tune, corpus, encoder, rate, seed)
            yield (corpus, encoder, f"{rate:g}/{seed}"), study


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--encoders", nargs="+", default=[*RATES])
    arguments = parser.parse_args()
    measure_missing(FINETUNING, studies(arguments.encoders, range(arguments.seeds)))


if __name__ == "__main__":
    main()
