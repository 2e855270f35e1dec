"""The loss without padding, and labels that are not quite sure."""

from collections.abc import Iterator

import torch
import torch.nn.functional as F
from torch import Tensor

from glassbox_book.exercises.exercise import Case, Draw, Exercise, slips


def _masked_loss(
    logits: Tensor,
    labels: Tensor,
    pad_id: int,
    *,
    masked: bool = True,
    negative: bool = True,
    divided: str = "real",
    rows: bool = False,
    pad_is_zero: bool = False,
) -> Tensor:
    logs = logits.log_softmax(-1).gather(-1, labels[..., None])[..., 0]
    real = labels != (0 if pad_is_zero else pad_id)
    if not masked:
        real = torch.ones_like(real)
    logs = logs * real
    if rows:
        loss = (logs.sum(1) / real.sum(1)).mean()
    else:
        count = {"real": int(real.sum()), "all": real.numel(), "none": 1}[divided]
        loss = logs.sum() / count
    return -loss if negative else loss


def _batches(draw: Draw) -> Iterator[Case]:
    def case(about: str, labels: list[list[int]], pad_id: int) -> Case:
        table = torch.tensor(labels)
        return Case(about, logits=draw(*table.shape, 6), labels=table, pad_id=pad_id)

    yield case("no padding", [[4, 2, 5]], 0)
    yield case("one padded sentence of two", [[4, 2, 5, 1], [3, 0, 0, 0]], 0)
    yield case("padding with another id", [[4, 0, 1, 1], [3, 2, 5, 1]], 1)
    yield case("three lengths", [[4, 2, 5, 1, 2], [3, 4, 0, 0, 0], [5, 5, 1, 0, 0]], 0)


masked_loss = Exercise(
    "training.masked_loss",
    _masked_loss,
    _batches,
    returns=("loss",),
    gradients=True,
    mistakes=slips(
        _masked_loss,
        {
            "Padding counts in your loss: leave out the positions whose label is pad_id.": {
                "masked": False
            },
            "Your loss has the wrong sign: it is the negative logarithm.": {"negative": False},
            "You left padding out of the sum and not of the number that you divide by.": {
                "divided": "all"
            },
            "You added up and did not divide: a mean over the real positions is wanted.": {
                "divided": "none"
            },
            "You averaged each sentence, then the sentences: every token should count the same.": {
                "rows": True
            },
            "You took 0 for the padding: it is pad_id.": {"pad_is_zero": True},
        },
    ),
)

# Smoothed labels -------------------------------------------------------------------------------


def _smoothed_labels(
    labels: Tensor,
    vocab_size: int,
    epsilon: float,
    *,
    kept: bool = True,
    spread: bool = True,
    over: str = "all",
) -> Tensor:
    certain = F.one_hot(labels, vocab_size).float()
    q = (1 - epsilon if kept else 1.0) * certain
    if spread and over == "all":
        q = q + epsilon / vocab_size
    elif spread:
        q = q + epsilon / (vocab_size - 1) * (1 - certain)
    return q


def _labels(draw: Draw) -> Iterator[Case]:
    yield Case("one label", labels=torch.tensor([2]), vocab_size=4, epsilon=0.1)
    yield Case("three labels", labels=torch.tensor([0, 3, 3]), vocab_size=5, epsilon=0.2)
    yield Case("no smoothing", labels=torch.tensor([1, 0]), vocab_size=3, epsilon=0.0)


smoothed_labels = Exercise(
    "training.smoothed_labels",
    _smoothed_labels,
    _labels,
    returns=("q",),
    mistakes=slips(
        _smoothed_labels,
        {
            "The label keeps all it had, so your rows sum to more than one: it gives epsilon.": {
                "kept": False
            },
            "What the label gives is lost in yours: spread epsilon over the vocabulary.": {
                "spread": False
            },
            "You spread epsilon over all but the label: the equation spreads it over all.": {
                "over": "others"
            },
        },
    ),
)
