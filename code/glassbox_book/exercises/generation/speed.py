"""The savings of a cache, and how often a guess is accepted."""

from collections.abc import Iterator

import torch
from torch import Tensor

from glassbox_book.exercises.exercise import Case, Draw, Exercise

# Acceptance ----------------------------------------------------------------------------------


def _acceptance(target: Tensor, draft: Tensor, flaw: str = "") -> Tensor:
    taken = torch.minimum(target, draft)
    flaws = {
        "not weighed": (target / draft).clamp(max=1).sum(dim=-1),
        "same token": (target * draft).sum(dim=-1),
        "refusal": 1 - taken.sum(dim=-1),
        "mean": taken.mean(dim=-1),
    }
    return flaws.get(flaw, taken.sum(dim=-1))


def _distributions(draw: Draw) -> Iterator[Case]:
    same = draw(1, 4).double().softmax(dim=-1)
    yield Case("the same", target=same, draft=same.clone())
    for about, shape in (("one place", (1, 3)), ("several places", (4, 6))):
        p, q = (draw(*shape).double().mul(2).softmax(dim=-1) for _ in range(2))
        yield Case(about, target=p, draft=q)
    one, other = (torch.eye(3, dtype=torch.float64)[[i]] for i in (0, 2))
    yield Case("nothing in common", target=one, draft=other)


acceptance = Exercise("generation.acceptance", _acceptance, _distributions, returns=("chances",))

# Positions -----------------------------------------------------------------------------------


def _positions(prompt: int, count: int, use_cache: bool, flaw: str = "") -> int:
    steps = count + 1 if flaw == "last token" else count
    read_first = 1 if flaw == "no prompt" else prompt
    use_cache = {"always cached": True, "never cached": False}.get(flaw, use_cache)
    if use_cache:
        return read_first + steps - 1
    return sum(read_first + step for step in range(steps))


def _texts(draw: Draw) -> Iterator[Case]:
    yield Case("one token, cached", prompt=5, count=1, use_cache=True)
    yield Case("one token, not cached", prompt=5, count=1, use_cache=False)
    yield Case("four tokens, cached", prompt=3, count=4, use_cache=True)
    yield Case("four tokens, not cached", prompt=3, count=4, use_cache=False)
    yield Case("a long text", prompt=100, count=1000, use_cache=False)


positions_computed = Exercise(
    "generation.positions_computed", _positions, _texts, returns=("number",)
)
