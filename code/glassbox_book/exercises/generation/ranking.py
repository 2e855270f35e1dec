"""Which of several finished beams is returned."""

from collections.abc import Iterator

import torch
from torch import Tensor

from glassbox_book.exercises.exercise import Case, Draw, Exercise


def _best(log_probabilities: Tensor, lengths: Tensor, alpha: float, flaw: str = "") -> int:
    flaws = {
        "no lengths": log_probabilities,
        "averages": log_probabilities / lengths,
        "times alpha": log_probabilities / (lengths * alpha),
        "worst": -log_probabilities / lengths**alpha,
    }
    return int(flaws.get(flaw, log_probabilities / lengths**alpha).argmax())


def _beams(draw: Draw) -> Iterator[Case]:
    def case(about: str, logs: list[float], lengths: list[int], alpha: float) -> Case:
        return Case(
            about,
            log_probabilities=torch.tensor(logs, dtype=torch.float64),
            lengths=torch.tensor(lengths),
            alpha=alpha,
        )

    yield case("no penalty", [-3.0, -2.0, -2.5], [5, 4, 12], 0.0)
    yield case("averages", [-3.0, -2.0, -2.5], [5, 4, 12], 1.0)
    yield case("half a power", [-2.0, -2.6, -4.2], [4, 7, 14], 0.5)
    yield case("long ones preferred", [-2.0, -5.0, -3.0], [4, 11, 5], 2.0)


best_beam = Exercise("generation.best_beam", _best, _beams, returns=("place",))
