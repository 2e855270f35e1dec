"""How long a step is: a schedule, and gradients that are clipped together."""

from collections.abc import Iterator

import torch
from torch import Tensor

from glassbox_book.exercises.exercise import Case, Draw, Exercise, slips


def _learning_rate(
    step: int,
    peak: float,
    warmup: int,
    *,
    rises: bool = True,
    falls: str = "root",
    first: int = 0,
) -> float:
    step = step - first
    up = step / warmup if rises else 1.0
    down = {"root": (warmup / max(step, 1)) ** 0.5, "one": warmup / max(step, 1), "not": 1.0}[falls]
    return peak * min(up, down, 1.0)


def _moments(draw: Draw) -> Iterator[Case]:
    yield Case("the first step", step=1, peak=0.01, warmup=100)
    yield Case("half-way up", step=50, peak=0.01, warmup=100)
    yield Case("the highest", step=100, peak=0.01, warmup=100)
    yield Case("four times as far", step=400, peak=0.01, warmup=100)
    yield Case("late", step=2000, peak=2.0, warmup=20)


learning_rate = Exercise(
    "training.learning_rate",
    _learning_rate,
    _moments,
    returns=("rate",),
    mistakes=slips(
        _learning_rate,
        {
            "Your rate has no warm-up: it rises on a straight line until step warmup.": {
                "rises": False
            },
            "Your rate does not fall after the warm-up.": {"falls": "not"},
            "Your rate falls with one over the step: it should be one over its root.": {
                "falls": "one"
            },
            "Your steps are counted from 0: the first is 1, and its rate is not zero.": {
                "first": 1
            },
        },
    ),
)

# Clipping --------------------------------------------------------------------------------------


def _clip(
    first: Tensor,
    second: Tensor,
    limit: float,
    *,
    together: bool = True,
    lengthen: bool = False,
    entries: bool = False,
    squared: bool = False,
) -> tuple[Tensor, Tensor]:
    if entries:
        return first.clamp(-limit, limit), second.clamp(-limit, limit)

    def factor(*parts: Tensor) -> Tensor:
        length = torch.cat([part.flatten() for part in parts]).norm()
        ratio = limit / (length**2 if squared else length)
        return ratio if lengthen else ratio.clamp(max=1)

    if together:
        return first * factor(first, second), second * factor(first, second)
    return first * factor(first), second * factor(second)


def _gradients(draw: Draw) -> Iterator[Case]:
    yield Case("both too long", first=draw(4) * 5, second=draw(3) * 5, limit=1.0)
    yield Case("short enough", first=draw(3) * 0.1, second=draw(2, 2) * 0.1, limit=1.0)
    yield Case("a long and a short one", first=draw(3, 2) * 9, second=draw(2) * 0.1, limit=2.0)
    yield Case(
        "each short, together long",
        first=torch.tensor([0.9]),
        second=torch.tensor([[0.6, 0.6]]),
        limit=1.0,
    )


clip = Exercise(
    "training.clip",
    _clip,
    _gradients,
    returns=("first", "second"),
    mistakes=slips(
        _clip,
        {
            "You clipped each tensor by itself, which changes the direction: take the length of "
            "all together.": {"together": False},
            "You made short gradients longer: the factor is at most 1.": {"lengthen": True},
            "You cut entry by entry, which changes the direction: multiply all by one factor.": {
                "entries": True
            },
            "You divided by the square of the length: take its root.": {"squared": True},
        },
    ),
)
