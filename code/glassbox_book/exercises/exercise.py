"""The parts of an exercise: a reference, cases, and common mistakes."""

import copy
import tomllib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache, partial
from importlib.resources import files
from inspect import signature
from typing import Any

import torch
from torch import Tensor

from glassbox_book.exercises.compare import show

#: Draws the tensors of the cases: ``torch.randn`` with a seeded generator.
Draw = Callable[..., Tensor]

#: What is special about a case, and the arguments in order.
Given = tuple[Any, ...]

#: The cases of an exercise.
Cases = Iterator[Given]

#: All declared exercises by name.
EXERCISES: dict[str, "Exercise"] = {}


class Case:
    """One call of the reader's function: what is special about it, and its arguments in order."""

    def __init__(self, about: str, /, **arguments: Any) -> None:
        self.about = about
        self.arguments = arguments

    def call(self, function: Callable[..., Any]) -> Any:
        """Return the result of a function, which may change its arguments: they are copies."""
        return function(*copy.deepcopy(self.arguments).values())

    def __repr__(self) -> str:
        return ", ".join(f"{name} {_sketch(value)}" for name, value in self.arguments.items())


@dataclass(frozen=True)
class Named:
    """A function as an argument of a case, printed by its name instead of its address."""

    name: str
    function: Callable[..., Any]

    def __call__(self, *arguments: Any) -> Any:
        return self.function(*arguments)

    def __repr__(self) -> str:
        return self.name


@dataclass(frozen=True)
class Exercise:
    """A function to write, with everything needed to judge the reader's version.

    Attributes
    ----------
    name : str
        ``chapter.function``.
    cases : callable
        Yields the cases: what is special about each, and the arguments, which have the names of
        those of ``flawed``. It is called with ``draw``: ``torch.randn`` with a seeded generator.
    flawed : callable
        Makes the mistake named by its argument ``flaw``. The explanation of each flaw is in the
        chapter's TOML file.
    reference : callable
        The right answer.
    returns : tuple of str
        The names of the results.
    gradients : bool
        Whether gradients must be right too.
    tolerance : float
        The relative and the absolute tolerance.
    """

    name: str
    cases: Callable[[Draw], Cases]
    flawed: Callable[..., Any]
    reference: Callable[..., Any]
    returns: tuple[str, ...] = ("result",)
    gradients: bool = False
    tolerance: float = 1e-5

    @property
    def mistakes(self) -> dict[str, Callable[..., Any]]:
        """The common mistakes: the sentence that explains each, and a function that makes it."""
        chapter, _, function = self.name.partition(".")
        sentences = _sentences(chapter).get(function, {})
        return {sentence: partial(self.flawed, flaw=flaw) for flaw, sentence in sentences.items()}

    def hidden_cases(self) -> list[Case]:
        """Return the hidden cases, the same every time."""
        draw = partial(torch.randn, generator=torch.Generator().manual_seed(0))
        names = [name for name in signature(self.flawed).parameters if name != "flaw"]
        return [
            Case(about, **dict(zip(names, given, strict=False)))
            for about, *given in self.cases(draw)
        ]


def cases_of(
    flawed: Callable[..., Any], reference: Callable[..., Any] | None = None, **options: Any
) -> Callable[[Callable[[Draw], Cases]], Callable[[Draw], Cases]]:
    """Decorate the function that yields the cases of an exercise, and register the exercise.

    Parameters
    ----------
    flawed : callable
        Makes the mistake named by its argument ``flaw``. The exercise has its name, without the
        underscore, in the chapter that its module is called after.
    reference : callable, optional
        The right answer. Defaults to ``flawed`` without a flaw.
    **options
        ``returns``, ``gradients`` and ``tolerance`` of :class:`Exercise`.

    Returns
    -------
    callable
        A decorator that changes nothing.

    Raises
    ------
    ValueError
        If an exercise of that name exists already.
    """
    name = f"{flawed.__module__.rpartition('.')[2]}.{flawed.__name__.removeprefix('_')}"

    def register(cases: Callable[[Draw], Cases]) -> Callable[[Draw], Cases]:
        if name in EXERCISES:
            raise ValueError(f"there are two exercises called {name!r}")
        right = reference or partial(flawed, flaw="")
        EXERCISES[name] = Exercise(name, cases, flawed, right, **options)
        return cases

    return register


@cache
def _sentences(chapter: str) -> dict[str, dict[str, str]]:
    """Return the explanations of the flaws of each exercise of a chapter."""
    file = files("glassbox_book.exercises") / f"{chapter}.toml"
    return tomllib.loads(file.read_text(encoding="utf-8")) if file.is_file() else {}


def _sketch(value: Any) -> str:
    if isinstance(value, list) and any(isinstance(entry, Tensor) for entry in value):
        return f"[{', '.join(map(_sketch, value))}]"
    if isinstance(value, set | frozenset):
        return f"= {{{', '.join(map(show, sorted(value)))}}}"  # the same order in every run
    if not isinstance(value, Tensor):
        return f"= {show(value)}"
    kind_of = "" if value.dtype == torch.float32 else f" of {value.dtype}"
    numbers = f" = {show(value)}" if value.numel() <= 6 else ""
    return f"{tuple(value.shape)}{kind_of}{numbers}"
