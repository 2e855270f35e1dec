"""Cutting a distribution before a token is drawn from it."""

from collections.abc import Iterator

import torch
from torch import Tensor

from glassbox_book.exercises.exercise import Case, Draw, Exercise

# The nucleus ---------------------------------------------------------------------------------


def _nucleus(probabilities: Tensor, P: float, flaw: str = "") -> Tensor:
    ordered, order = probabilities.sort(descending=True)
    reached = ordered.cumsum(dim=0)
    left = ordered * (reached <= P if flaw == "crossing" else reached - ordered < P)
    if flaw != "sorted":
        left = torch.zeros_like(probabilities).scatter(0, order, left)
    if flaw == "each":
        left = probabilities * (probabilities >= 1 - P)
    return left if flaw == "not divided" else left / left.sum()


def _rows(draw: Draw) -> Iterator[Case]:
    def row(*numbers: float) -> Tensor:
        return torch.tensor(numbers, dtype=torch.float64)

    yield Case("four tokens in order", probabilities=row(0.5, 0.25, 0.15, 0.1), P=0.7)
    yield Case("not in order", probabilities=row(0.1, 0.3, 0.2, 0.4), P=0.65)
    yield Case("one token is enough", probabilities=row(0.05, 0.85, 0.1), P=0.6)
    yield Case("all of them", probabilities=row(0.2, 0.5, 0.3), P=1.0)
    yield Case("many tokens", probabilities=draw(30).double().softmax(dim=0), P=0.8)


nucleus_shares = Exercise("generation.nucleus_shares", _nucleus, _rows, returns=("probabilities",))

# Temperature, then min-p ---------------------------------------------------------------------


def _sampler(logits: Tensor, T: float, r: float, flaw: str = "") -> Tensor:
    shares = (logits * T if flaw == "times" else logits / T).softmax(dim=-1)
    judged = logits.softmax(dim=-1) if flaw == "temperature last" else shares
    least = r if flaw == "absolute" else r * judged.max()
    left = shares * (judged >= least)
    return left if flaw == "not divided" else left / left.sum()


def _logits(draw: Draw) -> Iterator[Case]:
    def case(about: str, logits: list[float], T: float, r: float) -> Case:
        return Case(about, logits=torch.tensor(logits, dtype=torch.float64), T=T, r=r)

    yield case("neither does anything", [2.0, 1.0, 0.0], 1.0, 0.01)
    yield case("a temperature alone", [2.0, 1.0, 0.0], 2.0, 0.01)
    yield case("a cut alone", [2.0, 1.0, 0.0, -1.0], 1.0, 0.3)
    yield case("a high temperature lets one more in", [2.0, 0.5, -1.0, -4.0], 2.0, 0.3)
    yield case("a low one keeps one out", [2.0, 1.5, 0.5, 0.0], 0.5, 0.2)


sampler = Exercise("generation.sampler", _sampler, _logits, returns=("probabilities",))
