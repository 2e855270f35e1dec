"""The loss without padding, and smoothed labels."""

from collections.abc import Iterator

import torch
import torch.nn.functional as F
from torch import Tensor

from glassbox_book.exercises.exercise import Case, Draw, Exercise


def _masked_loss(logits: Tensor, labels: Tensor, pad_id: int, flaw: str = "") -> Tensor:
    real = labels != (0 if flaw == "zero" else pad_id)
    if flaw == "padding":
        real = torch.ones_like(real)
    logs = logits.log_softmax(-1).gather(-1, labels[..., None])[..., 0] * real
    if flaw == "sentences":
        return -(logs.sum(1) / real.sum(1)).mean()
    count = {"all": real.numel(), "sum": 1}.get(flaw, int(real.sum()))
    loss = logs.sum() / count
    return loss if flaw == "sign" else -loss


def _batches(draw: Draw) -> Iterator[Case]:
    def case(about: str, labels: list[list[int]], pad_id: int) -> Case:
        table = torch.tensor(labels)
        return Case(about, logits=draw(*table.shape, 6), labels=table, pad_id=pad_id)

    yield case("no padding", [[4, 2, 5]], 0)
    yield case("one padded sentence of two", [[4, 2, 5, 1], [3, 0, 0, 0]], 0)
    yield case("padding with another id", [[4, 0, 1, 1], [3, 2, 5, 1]], 1)
    yield case("three lengths", [[4, 2, 5, 1, 2], [3, 4, 0, 0, 0], [5, 5, 1, 0, 0]], 0)


masked_loss = Exercise(
    "training.masked_loss", _masked_loss, _batches, returns=("loss",), gradients=True
)

# Smoothed labels -------------------------------------------------------------------------------


def _smoothed_labels(labels: Tensor, vocab_size: int, epsilon: float, flaw: str = "") -> Tensor:
    certain = F.one_hot(labels, vocab_size).float()
    kept = certain if flaw == "kept" else (1 - epsilon) * certain
    flaws = {"lost": kept, "others": kept + epsilon / (vocab_size - 1) * (1 - certain)}
    return flaws.get(flaw, kept + epsilon / vocab_size)


def _labels(draw: Draw) -> Iterator[Case]:
    yield Case("one label", labels=torch.tensor([2]), vocab_size=4, epsilon=0.1)
    yield Case("three labels", labels=torch.tensor([0, 3, 3]), vocab_size=5, epsilon=0.2)
    yield Case("no smoothing", labels=torch.tensor([1, 0]), vocab_size=3, epsilon=0.0)


smoothed_labels = Exercise("training.smoothed_labels", _smoothed_labels, _labels, returns=("q",))
