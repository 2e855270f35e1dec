"""BLEU of one translation."""

import math
from collections import Counter
from collections.abc import Iterator, Sequence

from glassbox_book.exercises.exercise import Case, Draw, Exercise, slips


def _bleu_score(
    translation: Sequence[str],
    reference: Sequence[str],
    *,
    clipped: bool = True,
    brief: str = "right",
    mean: str = "geometric",
    longest: int = 4,
    percent: bool = True,
    recall: bool = False,
) -> float:
    shares = []
    for n in range(1, longest + 1):
        ours, theirs = (
            Counter(tuple(words[i : i + n]) for i in range(len(words) - n + 1))
            for words in (translation, reference)
        )
        matches = sum(
            min(count, theirs[run]) if clipped else count * (run in theirs)
            for run, count in ours.items()
        )
        shares.append(matches / max(1, (theirs if recall else ours).total()))
    if mean == "geometric":
        together = math.prod(shares) ** (1 / longest)
    elif mean == "product":
        together = math.prod(shares)
    else:
        together = sum(shares) / longest
    ratio = len(reference) / len(translation)
    penalty = {"right": math.exp(min(0, 1 - ratio)), "none": 1.0, "both": math.exp(1 - ratio)}
    return (100 if percent else 1) * penalty[brief] * together


def _sentences(draw: Draw) -> Iterator[Case]:
    def case(about: str, translation: str, reference: str) -> Case:
        return Case(about, translation=translation.split(), reference=reference.split())

    yield case("the same", "a dog sees the cat .", "a dog sees the cat .")
    yield case(
        "the chapter's",
        "a small dog runs over the field .",
        "a small dog runs across the green field .",
    )
    yield case("too long", "so a dog sees the cat there today .", "a dog sees the cat .")
    yield case("a word too often", "the the dog sees the cat .", "the dog sees the cat .")
    yield case("no run of four", "a dog and the cat .", "the dog sees a cat .")


bleu_score = Exercise(
    "training.bleu_score",
    _bleu_score,
    _sentences,
    returns=("score",),
    mistakes=slips(
        _bleu_score,
        {
            "Your matches are not clipped: none counts more often than in the reference.": {
                "clipped": False
            },
            "There is no brevity penalty in your score.": {"brief": "none"},
            "You reward what is longer than the reference: the penalty is at most 1.": {
                "brief": "both"
            },
            "You took the mean of the shares: it is the fourth root of their product.": {
                "mean": "arithmetic"
            },
            "You took the product of the shares without its root.": {"mean": "product"},
            "You count runs of up to three words: there are four lengths.": {"longest": 3},
            "Your score is from 0 to 1: BLEU is from 0 to 100.": {"percent": False},
            "You divided by the runs of the reference: a share is of the translation's runs.": {
                "recall": True
            },
        },
    ),
)
