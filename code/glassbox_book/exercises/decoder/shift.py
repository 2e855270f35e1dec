"""The inputs of a decoder: its labels, shifted right."""

from collections.abc import Iterator

import torch
from torch import Tensor

from glassbox_book.exercises.exercise import Case, Draw, Exercise


def _shift_right(labels: Tensor, bos_id: int, flaw: str = "") -> Tensor:
    begin = torch.full_like(labels[:, :1], 0 if flaw == "zero" else bos_id)
    flaws = {
        "round": labels.roll(1, dims=1),
        "left": torch.cat([labels[:, 1:], begin], dim=1),
        "nothing dropped": torch.cat([begin, labels], dim=1),
        "overwritten": torch.cat([begin, labels[:, 1:]], dim=1),
        "batch": torch.cat([torch.full_like(labels[:1], bos_id), labels[:-1]]),
    }
    return flaws.get(flaw, torch.cat([begin, labels[:, :-1]], dim=1))


def _labels(draw: Draw) -> Iterator[Case]:
    yield Case("one sentence", labels=torch.tensor([[5, 9, 4, 2]]), bos_id=1)
    yield Case("two sentences", labels=torch.tensor([[5, 9, 4, 2], [7, 3, 8, 2]]), bos_id=1)
    yield Case("one token each", labels=torch.tensor([[2], [2]]), bos_id=1)
    yield Case("a padded one", labels=torch.tensor([[5, 9, 2, 0, 0], [7, 3, 8, 6, 2]]), bos_id=1)
    yield Case("another beginning", labels=torch.tensor([[5, 9, 4, 0]]), bos_id=11)


shift_right = Exercise("decoder.shift_right", _shift_right, _labels, returns=("inputs",))
