"""BLEU of one translation."""

import math
from collections import Counter
from collections.abc import Iterator, Sequence

from glassbox_book.exercises.exercise import Case, Draw, Exercise


def _runs(words: Sequence[str], n: int) -> Counter[tuple[str, ...]]:
    return Counter(tuple(words[i : i + n]) for i in range(len(words) - n + 1))


def _bleu_score(translation: Sequence[str], reference: Sequence[str], flaw: str = "") -> float:
    longest = 3 if flaw == "three" else 4
    shares = []
    for n in range(1, longest + 1):
        ours, theirs = _runs(translation, n), _runs(reference, n)
        matches = (ours & theirs).total()  # the smaller count of each
        if flaw == "not clipped":
            matches = sum(count for run, count in ours.items() if run in theirs)
        shares.append(matches / max(1, (theirs if flaw == "recall" else ours).total()))
    means = {"mean": sum(shares) / longest, "product": math.prod(shares)}
    together = means.get(flaw, math.prod(shares) ** (1 / longest))
    short = 1 - len(reference) / len(translation)
    penalties = {"no penalty": 1.0, "reward": math.exp(short)}
    score = penalties.get(flaw, math.exp(min(0, short))) * together
    return score if flaw == "0 to 1" else 100 * score


def _sentences(draw: Draw) -> Iterator[Case]:
    def case(about: str, translation: str, reference: str) -> Case:
        return Case(about, translation=translation.split(), reference=reference.split())

    yield case("the same", "a dog sees the cat .", "a dog sees the cat .")
    field = ("a small dog runs over the field .", "a small dog runs across the green field .")
    yield case("the chapter's", *field)
    yield case("too long", "so a dog sees the cat there today .", "a dog sees the cat .")
    yield case("a word too often", "the the dog sees the cat .", "the dog sees the cat .")
    yield case("no run of four", "a dog and the cat .", "the dog sees a cat .")


bleu_score = Exercise("training.bleu_score", _bleu_score, _sentences, returns=("score",))
