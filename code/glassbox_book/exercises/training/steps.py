"""The size of a step: a schedule, and clipping gradients by their joint norm."""

from collections.abc import Iterator

import torch
from torch import Tensor

from glassbox_book.exercises.exercise import Case, Draw, Exercise


def _learning_rate(step: int, peak: float, warmup: int, flaw: str = "") -> float:
    if flaw == "from 0":
        step -= 1
    rise = 1.0 if flaw == "no warm-up" else step / warmup
    ratio = warmup / max(step, 1)
    fall = {"no fall": 1.0, "one over the step": ratio}.get(flaw, ratio**0.5)
    return peak * min(rise, fall, 1.0)


def _moments(draw: Draw) -> Iterator[Case]:
    yield Case("the first step", step=1, peak=0.01, warmup=100)
    yield Case("half-way up", step=50, peak=0.01, warmup=100)
    yield Case("the highest", step=100, peak=0.01, warmup=100)
    yield Case("four times as far", step=400, peak=0.01, warmup=100)
    yield Case("late", step=2000, peak=2.0, warmup=20)


learning_rate = Exercise("training.learning_rate", _learning_rate, _moments, returns=("rate",))

# Clipping --------------------------------------------------------------------------------------


def _clip(first: Tensor, second: Tensor, limit: float, flaw: str = "") -> tuple[Tensor, Tensor]:
    if flaw == "entries":
        return first.clamp(-limit, limit), second.clamp(-limit, limit)

    def factor(*parts: Tensor) -> Tensor:
        length = torch.cat([part.flatten() for part in parts]).norm()
        ratio = limit / (length.square() if flaw == "squared" else length)
        return ratio if flaw == "lengthened" else ratio.clamp(max=1)

    if flaw == "each":
        return first * factor(first), second * factor(second)
    return first * factor(first, second), second * factor(first, second)


def _gradients(draw: Draw) -> Iterator[Case]:
    yield Case("both too long", first=draw(4) * 5, second=draw(3) * 5, limit=1.0)
    yield Case("short enough", first=draw(3) * 0.1, second=draw(2, 2) * 0.1, limit=1.0)
    yield Case("a long and a short one", first=draw(3, 2) * 9, second=draw(2) * 0.1, limit=2.0)
    one, two = torch.tensor([0.9]), torch.tensor([[0.6, 0.6]])
    yield Case("each short, together long", first=one, second=two, limit=1.0)


clip = Exercise("training.clip", _clip, _gradients, returns=("first", "second"))
