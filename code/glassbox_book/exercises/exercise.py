"""What an exercise is: a reference, cases, and the mistakes that people make."""

import tomllib
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache, partial
from importlib.resources import files
from typing import Any

import torch
from torch import Tensor

from glassbox_book.exercises.compare import show

#: Makes the tensors of the cases: ``torch.randn`` with a seeded generator.
Draw = Callable[..., Tensor]

#: All declared exercises by name.
EXERCISES: dict[str, "Exercise"] = {}


class Case:
    """One call of the reader's function: what is special about it, and the arguments in order."""

    def __init__(self, about: str, /, **arguments: Any) -> None:
        self.about = about
        self.arguments = arguments

    def __repr__(self) -> str:
        return ", ".join(f"{name} {_sketch(value)}" for name, value in self.arguments.items())


@dataclass(frozen=True)
class Exercise:
    """A function to write, with all that is needed to judge what the reader wrote.

    Attributes
    ----------
    name : str
        ``chapter.function``.
    reference : callable
        The right answer.
    cases : callable
        Yields the cases. It is given ``draw``: ``torch.randn`` with a seeded generator.
    flawed : callable, optional
        Makes the mistake that its argument ``flaw`` names; the reference if left out. What each
        flaw deserves to hear is in the chapter's ``mistakes.toml``.
    returns : tuple of str
        What the results are called.
    gradients : bool
        Whether gradients must be right too.
    tolerance : float
        Relative and absolute.

    Raises
    ------
    ValueError
        If there is one of that name.
    """

    name: str
    reference: Callable[..., Any]
    cases: Callable[[Draw], Iterable[Case]]
    flawed: Callable[..., Any] | None = None
    returns: tuple[str, ...] = ("result",)
    gradients: bool = False
    tolerance: float = 1e-5

    def __post_init__(self) -> None:
        if self.name in EXERCISES:
            raise ValueError(f"there are two exercises called {self.name!r}")
        EXERCISES[self.name] = self

    @property
    def mistakes(self) -> dict[str, Callable[..., Any]]:
        """What people get wrong: the sentence that says it, and the function that does it."""
        chapter, _, function = self.name.partition(".")
        sentences = _sentences(chapter).get(function, {})
        make = self.flawed or self.reference
        return {sentence: partial(make, flaw=flaw) for flaw, sentence in sentences.items()}

    def hidden_cases(self) -> list[Case]:
        """Return the cases that are tried, the same ones every time."""
        return list(self.cases(partial(torch.randn, generator=torch.Generator().manual_seed(0))))


@cache
def _sentences(chapter: str) -> dict[str, dict[str, str]]:
    """Return what the flaws of each exercise of a chapter deserve to hear."""
    file = files("glassbox_book.exercises") / chapter / "mistakes.toml"
    return tomllib.loads(file.read_text(encoding="utf-8")) if file.is_file() else {}


def _sketch(value: Any) -> str:
    if isinstance(value, list) and any(isinstance(entry, Tensor) for entry in value):
        return f"[{', '.join(map(_sketch, value))}]"
    if isinstance(value, set | frozenset):
        return f"= {{{', '.join(map(show, sorted(value)))}}}"  # the same order at every run
    if not isinstance(value, Tensor):
        return f"= {show(value)}"
    kind_of = "" if value.dtype == torch.float32 else f" of {value.dtype}"
    numbers = f" = {show(value)}" if value.numel() <= 6 else ""
    return f"{tuple(value.shape)}{kind_of}{numbers}"
