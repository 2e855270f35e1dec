"""Chapter 9: the loss, BLEU, and the size of a step."""

import math
from collections.abc import Sequence

import torch
import torch.nn.functional as F
from torch import Tensor

from glassbox.evaluation.bleu import count_ngrams
from glassbox_book.exercises.exercise import Cases, Draw, Given, cases_of


def _masked_loss(logits: Tensor, labels: Tensor, pad_id: int, flaw: str) -> Tensor:
    real = labels != {"zero": 0, "padding": -1}.get(flaw, pad_id)  # no label is -1
    chances = logits.softmax(-1)
    flaws = {"underflow": chances.log(), "twice": chances.log_softmax(-1), "no logarithm": chances}
    logs = flaws.get(flaw, logits.log_softmax(-1))
    logs = logs.gather(-1, labels[..., None])[..., 0] * real
    if flaw == "sentences":
        return -(logs.sum(1) / real.sum(1)).mean()
    count = {"all": real.numel(), "sum": 1}.get(flaw, int(real.sum()))
    loss = logs.sum() / count
    return loss if flaw == "sign" else -loss


@cases_of(_masked_loss, returns=("loss",), gradients=True)
def _batches(draw: Draw) -> Cases:
    def case(about: str, labels: list[list[int]], pad_id: int) -> Given:
        table = torch.tensor(labels)
        return about, draw(*table.shape, 6), table, pad_id

    yield case("no padding", [[4, 2, 5]], 0)
    yield case("one padded sentence of two", [[4, 2, 5, 1], [3, 0, 0, 0]], 0)
    yield case("padding with another id", [[4, 0, 1, 1], [3, 2, 5, 1]], 1)
    yield case("three lengths", [[4, 2, 5, 1, 2], [3, 4, 0, 0, 0], [5, 5, 1, 0, 0]], 0)
    yield "large logits", 100 * draw(1, 3, 6), torch.tensor([[4, 2, 5]]), 0


# Smoothed labels -------------------------------------------------------------------------------


def _smoothed_labels(labels: Tensor, vocab_size: int, epsilon: float, flaw: str) -> Tensor:
    certain = F.one_hot(labels, vocab_size).float()
    kept = certain if flaw == "kept" else (1 - epsilon) * certain
    flaws = {
        "lost": kept,
        "not added": kept + epsilon / vocab_size * (1 - certain),
        "others": kept + epsilon / (vocab_size - 1) * (1 - certain),
    }
    return flaws.get(flaw, kept + epsilon / vocab_size)


@cases_of(_smoothed_labels, returns=("distributions",))
def _labels(draw: Draw) -> Cases:
    yield "one label", torch.tensor([2]), 4, 0.1
    yield "three labels", torch.tensor([0, 3, 3]), 5, 0.2
    yield "no smoothing", torch.tensor([1, 0]), 3, 0.0


def _bleu_score(translation: Sequence[str], reference: Sequence[str], flaw: str) -> float:
    longest = 3 if flaw == "three" else 4
    shares = []
    for n in range(1, longest + 1):
        ours, theirs = count_ngrams(translation, n), count_ngrams(reference, n)
        matches = (ours & theirs).total()  # the smaller count of each
        if flaw == "not clipped":
            matches = sum(count for run, count in ours.items() if run in theirs)
        shares.append(matches / max(1, (theirs if flaw == "recall" else ours).total()))
    means = {"mean": sum(shares) / longest, "product": math.prod(shares)}
    together = means.get(flaw, math.prod(shares) ** (1 / longest))
    short = 1 - len(reference) / len(translation)
    long = 1 - len(translation) / len(reference)
    penalties = {
        "no penalty": 1.0,
        "reward": math.exp(short),
        "turned round": math.exp(min(0, long)),
    }
    score = penalties.get(flaw, math.exp(min(0, short))) * together
    return score if flaw == "0 to 1" else 100 * score


@cases_of(_bleu_score, returns=("score",))
def _sentences(draw: Draw) -> Cases:
    def case(about: str, translation: str, reference: str) -> Given:
        return about, translation.split(), reference.split()

    yield case("the same", "a dog sees the cat .", "a dog sees the cat .")
    field = ("a small dog runs over the field .", "a small dog runs across the green field .")
    yield case("the chapter's", *field)
    yield case("too long", "so a dog sees the cat there today .", "a dog sees the cat .")
    yield case("a word too often", "the the dog sees the cat .", "the dog sees the big cat .")
    yield case("three words", "a dog .", "a dog .")
    yield case("four words", "a dog runs .", "a dog runs .")
    yield case("no run of four", "a dog and the cat .", "the dog sees a cat .")


def _learning_rate(step: int, peak: float, warmup: int, flaw: str) -> float:
    if flaw == "from 0":
        step -= 1
    rise = 1.0 if flaw == "no warm-up" else step / warmup
    ratio = warmup / max(step, 1)
    fall = {"no fall": 1.0, "one over the step": ratio}.get(flaw, ratio**0.5)
    highest = peak / warmup**0.5 if flaw == "root" else peak
    return highest * min(rise, fall, 1.0)


@cases_of(_learning_rate, returns=("rate",))
def _moments(draw: Draw) -> Cases:
    yield "the first step", 1, 0.01, 100
    yield "half-way up", 50, 0.01, 100
    yield "the highest", 100, 0.01, 100
    yield "four times as far", 400, 0.01, 100
    yield "two and a half times as far", 250, 0.01, 100
    yield "late", 2000, 2.0, 20


# Clipping --------------------------------------------------------------------------------------


def _clip(first: Tensor, second: Tensor, limit: float, flaw: str) -> tuple[Tensor, Tensor]:
    if flaw == "entries":
        return first.clamp(-limit, limit), second.clamp(-limit, limit)

    def factor(*parts: Tensor) -> Tensor:
        length = torch.cat([part.flatten() for part in parts]).norm()
        ratio = limit / (length.square() if flaw == "squared" else length)
        return ratio if flaw == "lengthened" else ratio.clamp(max=1)

    if flaw == "each":
        return first * factor(first), second * factor(second)
    return first * factor(first, second), second * factor(first, second)


@cases_of(_clip, returns=("first gradient", "second gradient"))
def _gradients(draw: Draw) -> Cases:
    yield "both too long", draw(4) * 5, draw(3) * 5, 1.0
    yield "short enough", draw(3) * 0.1, draw(2, 2) * 0.1, 1.0
    yield "a long and a short one", draw(3, 2) * 9, draw(2) * 0.1, 2.0
    one, two = torch.tensor([0.9]), torch.tensor([[0.6, 0.6]])
    yield "each short, together long", one, two, 1.0
    yield "just short enough", one / 1.5, one[None] / 1.5, 1.0
    yield "short enough for another limit", one * 1.3, one * 1.3, 2.0
