"""What is left of a distribution before a token is drawn from it."""

from collections.abc import Iterator

import torch
from torch import Tensor

from glassbox_book.exercises.exercise import Case, Draw, Exercise, slips

# The nucleus ---------------------------------------------------------------------------------


def _nucleus(
    probabilities: Tensor,
    P: float,
    *,
    crossing: bool = True,
    normalised: bool = True,
    sorted_out: bool = False,
) -> Tensor:
    ordered, order = probabilities.sort(descending=True)
    reached = ordered.cumsum(dim=0)
    kept = reached - ordered < P if crossing else reached <= P
    left = ordered * kept
    if not sorted_out:
        left = torch.zeros_like(probabilities).scatter(0, order, left)
    return left / left.sum() if normalised else left


def _above(probabilities: Tensor, P: float) -> Tensor:
    left = probabilities * (probabilities >= 1 - P)
    return left / left.sum()


def _rows(draw: Draw) -> Iterator[Case]:
    def row(*numbers: float) -> Tensor:
        return torch.tensor(numbers, dtype=torch.float64)

    yield Case("four tokens in order", probabilities=row(0.5, 0.25, 0.15, 0.1), P=0.7)
    yield Case("not in order", probabilities=row(0.1, 0.3, 0.2, 0.4), P=0.65)
    yield Case("one token is enough", probabilities=row(0.05, 0.85, 0.1), P=0.6)
    yield Case("all of them", probabilities=row(0.2, 0.5, 0.3), P=1.0)
    yield Case("many tokens", probabilities=draw(30).double().softmax(dim=0), P=0.8)


nucleus_shares = Exercise(
    "generation.nucleus_shares",
    _nucleus,
    _rows,
    returns=("probabilities",),
    mistakes={
        **slips(
            _nucleus,
            {
                "You left out the token that crosses P: it is kept.": {"crossing": False},
                "Your probabilities do not sum to one: divide by what is left.": {
                    "normalised": False
                },
                "Your probabilities are in sorted order: bring them back to their tokens.": {
                    "sorted_out": True
                },
            },
        ),
        "You compared each probability with 1 - P: it is the sum of the largest that counts.": (
            _above
        ),
    },
)

# Temperature, then min-p ---------------------------------------------------------------------


def _sampler(
    logits: Tensor,
    T: float,
    r: float,
    *,
    temperature_first: bool = True,
    relative: bool = True,
    times: bool = False,
    normalised: bool = True,
) -> Tensor:
    scaled = logits * T if times else logits / T
    shares = scaled.softmax(dim=-1)
    judged = shares if temperature_first else logits.softmax(dim=-1)
    least = r * judged.max() if relative else r
    shares = shares * (judged >= least)
    return shares / shares.sum() if normalised else shares


def _logits(draw: Draw) -> Iterator[Case]:
    def case(about: str, logits: list[float], T: float, r: float) -> Case:
        return Case(about, logits=torch.tensor(logits, dtype=torch.float64), T=T, r=r)

    yield case("neither does anything", [2.0, 1.0, 0.0], 1.0, 0.01)
    yield case("a temperature alone", [2.0, 1.0, 0.0], 2.0, 0.01)
    yield case("a cut alone", [2.0, 1.0, 0.0, -1.0], 1.0, 0.3)
    yield case("a high temperature lets one more in", [2.0, 0.5, -1.0, -4.0], 2.0, 0.3)
    yield case("a low one keeps one out", [2.0, 1.5, 0.5, 0.0], 0.5, 0.2)


sampler = Exercise(
    "generation.sampler",
    _sampler,
    _logits,
    returns=("probabilities",),
    mistakes=slips(
        _sampler,
        {
            "You judged the probabilities before the temperature: it comes first.": {
                "temperature_first": False
            },
            "You compared with r itself: it is r times the largest probability.": {
                "relative": False
            },
            "You multiplied by the temperature: divide the logits by it.": {"times": True},
            "Your probabilities do not sum to one: divide by what is left.": {"normalised": False},
        },
    ),
)
