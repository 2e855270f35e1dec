"""Which of several finished beams is returned."""

from collections.abc import Iterator

import torch
from torch import Tensor

from glassbox_book.exercises.exercise import Case, Draw, Exercise


def _best(log_probabilities: Tensor, lengths: Tensor, alpha: float) -> int:
    return int((log_probabilities / lengths**alpha).argmax())


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


best_beam = Exercise(
    "generation.best_beam",
    _best,
    _beams,
    returns=("place",),
    mistakes={
        "You left the lengths out: divide by their power.": (
            lambda log_probabilities, lengths, alpha: int(log_probabilities.argmax())
        ),
        "You always took averages: the length is raised to the power alpha.": (
            lambda log_probabilities, lengths, alpha: int((log_probabilities / lengths).argmax())
        ),
        "You multiplied by alpha: it is the power of the length.": (
            lambda log_probabilities, lengths, alpha: int(
                (log_probabilities / (lengths * alpha)).argmax()
            )
        ),
        "You returned the worst: scores are negative, and the largest is the best.": (
            lambda log_probabilities, lengths, alpha: int(
                (log_probabilities / lengths**alpha).argmin()
            )
        ),
    },
)
