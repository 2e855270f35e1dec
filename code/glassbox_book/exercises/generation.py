"""Chapter 10: cutting a distribution, ranking beams, and what a cache and a guess save."""

import torch
from torch import Tensor

from glassbox_book.exercises.exercise import Cases, Draw, Given, cases_of

# The nucleus ---------------------------------------------------------------------------------


def _nucleus_shares(probabilities: Tensor, P: float, flaw: str) -> Tensor:
    ordered, order = probabilities.sort(descending=True)
    reached = ordered.cumsum(dim=0)
    before = reached - ordered
    left = ordered * {"crossing": reached <= P, "reached": before <= P}.get(flaw, before < P)
    if flaw != "sorted":
        left = torch.zeros_like(probabilities).scatter(0, order, left)
    if flaw == "each":
        left = probabilities * (probabilities >= 1 - P)
    return left if flaw == "not divided" else left / left.sum()


@cases_of(_nucleus_shares, returns=("probabilities",))
def _rows(draw: Draw) -> Cases:
    def row(*numbers: float) -> Tensor:
        return torch.tensor(numbers, dtype=torch.float64)

    yield "four tokens in order", row(0.5, 0.25, 0.1875, 0.0625), 0.75
    yield "not in order", row(0.1, 0.3, 0.2, 0.4), 0.65
    yield "one token is enough", row(0.05, 0.85, 0.1), 0.6
    yield "all of them", row(0.2, 0.5, 0.3), 1.0
    yield "many tokens", draw(30).double().softmax(dim=0), 0.8


# Temperature, then min-p ---------------------------------------------------------------------


def _sampler(logits: Tensor, T: float, r: float, flaw: str) -> Tensor:
    shares = (logits * T if flaw == "times" else logits / T).softmax(dim=-1)
    judged = logits.softmax(dim=-1) if flaw == "temperature last" else shares
    least = r if flaw == "absolute" else r * judged.max()
    left = shares * (judged > least if flaw == "above" else judged >= least)
    return left if flaw == "not divided" else left / left.sum()


@cases_of(_sampler, returns=("probabilities",))
def _logits(draw: Draw) -> Cases:
    def case(about: str, logits: list[float], T: float, r: float) -> Given:
        return about, torch.tensor(logits, dtype=torch.float64), T, r

    yield case("neither does anything", [2.0, 1.0, 0.0], 1.0, 0.01)
    yield case("a temperature alone", [2.0, 1.0, 0.0], 2.0, 0.01)
    yield case("a cut alone", [2.0, 2.0, 0.0, -1.0], 1.0, 1.0)
    yield case("a high temperature lets one more in", [2.0, 0.5, -1.0, -4.0], 2.0, 0.3)
    yield case("a low one keeps one out", [2.0, 1.5, 0.5, 0.0], 0.5, 0.2)
    yield case("not in order", [0.0, 2.0, -1.0, 1.0], 1.0, 0.3)


def _best_beam(log_probabilities: Tensor, lengths: Tensor, alpha: float, flaw: str) -> int:
    flaws = {
        "google": log_probabilities / ((5 + lengths) / 6) ** alpha,
        "multiplied": log_probabilities * lengths**alpha,
        "no lengths": log_probabilities,
        "averages": log_probabilities / lengths,
        "times alpha": log_probabilities / (lengths * alpha),
        "worst": -log_probabilities / lengths**alpha,
    }
    return int(flaws.get(flaw, log_probabilities / lengths**alpha).argmax())


@cases_of(_best_beam, returns=("place",))
def _beams(draw: Draw) -> Cases:
    def case(about: str, logs: list[float], lengths: list[int], alpha: float) -> Given:
        return about, torch.tensor(logs, dtype=torch.float64), torch.tensor(lengths), alpha

    six = [-8.5, -5.0, -2.4, -3.3, -2.2, -3.0], [3, 16, 13, 18, 8, 4]
    yield case("no penalty", *six, 0.0)
    yield case("averages", *six, 1.0)
    close = [-3.4, -2.4, -4.9, -2.3, -3.2, -2.4], [18, 7, 9, 5, 16, 4]
    yield case("half a power", *close, 0.5)
    long = [-4.8, -6.6, -8.7, -5.7, -7.5, -4.1], [8, 15, 10, 13, 16, 9]
    yield case("long ones preferred", *long, 2.0)


# Acceptance ----------------------------------------------------------------------------------


def _acceptance(target: Tensor, draft: Tensor, flaw: str) -> Tensor:
    taken = torch.minimum(target, draft)
    flaws = {
        "divided": (draft * (target / draft).clamp(max=1)).sum(dim=-1),
        "not weighed": (target / draft).clamp(max=1).sum(dim=-1),
        "same token": (target * draft).sum(dim=-1),
        "refusal": 1 - taken.sum(dim=-1),
        "mean": taken.mean(dim=-1),
    }
    return flaws.get(flaw, taken.sum(dim=-1))


@cases_of(_acceptance, returns=("chances",))
def _distributions(draw: Draw) -> Cases:
    same = draw(1, 4).double().softmax(dim=-1)
    yield "the same", same, same.clone()
    for about, shape in (("one place", (1, 3)), ("several places", (4, 6))):
        p, q = (draw(*shape).double().mul(2).softmax(dim=-1) for _ in range(2))
        yield about, p, q
    one, other = (torch.eye(3, dtype=torch.float64)[[i]] for i in (0, 2))
    yield "nothing in common", one, other


# Positions -----------------------------------------------------------------------------------


def _positions_computed(prompt: int, count: int, use_cache: bool, flaw: str) -> int:
    steps = count + 1 if flaw == "last token" else count
    read_first = 1 if flaw == "no prompt" else prompt
    use_cache = {"always cached": True, "never cached": False}.get(flaw, use_cache)
    if use_cache:
        return read_first + steps - 1
    return sum(read_first + step for step in range(steps))


@cases_of(_positions_computed, returns=("number",))
def _texts(draw: Draw) -> Cases:
    yield "one token, cached", 5, 1, True
    yield "one token, not cached", 5, 1, False
    yield "four tokens, cached", 3, 4, True
    yield "four tokens, not cached", 3, 4, False
    yield "three tokens, not cached", 5, 3, False
    yield "a long text", 100, 1000, False
