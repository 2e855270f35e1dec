"""What a decoder reads: its labels, shifted right."""

from collections.abc import Iterator

import torch
from torch import Tensor

from glassbox_book.exercises.exercise import Case, Draw, Exercise


def _shift_right(labels: Tensor, bos_id: int) -> Tensor:
    return torch.cat([torch.full_like(labels[:, :1], bos_id), labels[:, :-1]], dim=1)


def _labels(draw: Draw) -> Iterator[Case]:
    yield Case("one sentence", labels=torch.tensor([[5, 9, 4, 2]]), bos_id=1)
    yield Case("two sentences", labels=torch.tensor([[5, 9, 4, 2], [7, 3, 8, 2]]), bos_id=1)
    yield Case("one token each", labels=torch.tensor([[2], [2]]), bos_id=1)
    yield Case("a padded one", labels=torch.tensor([[5, 9, 2, 0, 0], [7, 3, 8, 6, 2]]), bos_id=1)
    yield Case("another beginning", labels=torch.tensor([[5, 9, 4, 0]]), bos_id=11)


shift_right = Exercise(
    "decoder.shift_right",
    _shift_right,
    _labels,
    returns=("inputs",),
    mistakes={
        "The last token comes round to the front: the first input is the beginning, whatever the "
        "labels are.": lambda labels, bos_id: labels.roll(1, dims=1),
        "You moved the labels to the left: an input comes before its label, so the labels move "
        "right.": lambda labels, bos_id: torch.cat(
            [labels[:, 1:], torch.full_like(labels[:, :1], bos_id)], dim=1
        ),
        "Nothing was dropped: with the beginning in front the last token has no label any more.": (
            lambda labels, bos_id: torch.cat([torch.full_like(labels[:, :1], bos_id), labels], 1)
        ),
        "You overwrote the first label: it must move to the second place.": (
            lambda labels, bos_id: torch.cat(
                [torch.full_like(labels[:, :1], bos_id), labels[:, 1:]], dim=1
            )
        ),
        "Your inputs begin with 0: the beginning is bos_id, not padding.": (
            lambda labels, bos_id: _shift_right(labels, 0)
        ),
        "You moved the sentences, not their tokens: the batch is the first axis.": (
            lambda labels, bos_id: torch.cat([torch.full_like(labels[:1], bos_id), labels[:-1]])
        ),
    },
)
