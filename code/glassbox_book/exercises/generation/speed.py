"""What a cache saves, and how often a guess is taken."""

from collections.abc import Iterator

import torch
from torch import Tensor

from glassbox_book.exercises.exercise import Case, Draw, Exercise, slips

# Acceptance ----------------------------------------------------------------------------------


def _acceptance(target: Tensor, draft: Tensor) -> Tensor:
    return torch.minimum(target, draft).sum(dim=-1)


def _distributions(draw: Draw) -> Iterator[Case]:
    same = draw(1, 4).double().softmax(dim=-1)
    yield Case("the same", target=same, draft=same.clone())
    for about, shape in (("one place", (1, 3)), ("several places", (4, 6))):
        p, q = (draw(*shape).double().mul(2).softmax(dim=-1) for _ in range(2))
        yield Case(about, target=p, draft=q)
    one, other = (torch.eye(3, dtype=torch.float64)[[i]] for i in (0, 2))
    yield Case("nothing in common", target=one, draft=other)


acceptance = Exercise(
    "generation.acceptance",
    _acceptance,
    _distributions,
    returns=("chances",),
    mistakes={
        "You left the draft's probability of guessing a token out: weigh each token by it.": (
            lambda target, draft: (target / draft).clamp(max=1).sum(dim=-1)
        ),
        "This is the chance that both draw the same token; a guess may be taken though the target "
        "would have drawn another.": lambda target, draft: (target * draft).sum(dim=-1),
        "This is the chance of a refusal: take it from one.": (
            lambda target, draft: 1 - _acceptance(target, draft)
        ),
        "You averaged over the tokens: add them up.": (
            lambda target, draft: torch.minimum(target, draft).mean(dim=-1)
        ),
    },
)

# Positions -----------------------------------------------------------------------------------


def _positions(
    prompt: int,
    count: int,
    use_cache: bool,
    *,
    last: bool = False,
    prompt_once: bool = True,
    ignored: bool = False,
    forgotten: bool = False,
) -> int:
    steps = count + last
    if ignored or (use_cache and not forgotten):
        return prompt + steps - 1 if prompt_once else steps
    return sum((prompt if prompt_once else 1) + step for step in range(steps))


def _texts(draw: Draw) -> Iterator[Case]:
    yield Case("one token, cached", prompt=5, count=1, use_cache=True)
    yield Case("one token, not cached", prompt=5, count=1, use_cache=False)
    yield Case("four tokens, cached", prompt=3, count=4, use_cache=True)
    yield Case("four tokens, not cached", prompt=3, count=4, use_cache=False)
    yield Case("a long text", prompt=100, count=1000, use_cache=False)


positions_computed = Exercise(
    "generation.positions_computed",
    _positions,
    _texts,
    returns=("number",),
    mistakes={
        **slips(
            _positions,
            {
                "You read the last token as well: it is written, and nothing comes behind it.": {
                    "last": True
                },
                "You left out the prompt: the first pass reads all of it.": {"prompt_once": False},
            },
        ),
        "Without the cache each pass reads the whole text again: add up all passes.": (
            lambda prompt, count, use_cache: _positions(prompt, count, use_cache, ignored=True)
        ),
        "With the cache a pass reads one new token, the first one the prompt.": (
            lambda prompt, count, use_cache: _positions(prompt, count, use_cache, forgotten=True)
        ),
    },
)
