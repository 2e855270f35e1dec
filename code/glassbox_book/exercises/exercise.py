"""What an exercise is: a reference, cases, and the mistakes that people make.

Each mistake is a function together with the sentence that it deserves.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from itertools import combinations
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
    mistakes : mapping of str to callable
        What people get wrong: the sentence that says it, and the function that does it.
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
    mistakes: Mapping[str, Callable[..., Any]] = field(default_factory=dict)
    returns: tuple[str, ...] = ("result",)
    gradients: bool = False
    tolerance: float = 1e-5

    def __post_init__(self) -> None:
        if self.name in EXERCISES:
            raise ValueError(f"there are two exercises called {self.name!r}")
        EXERCISES[self.name] = self

    def hidden_cases(self) -> list[Case]:
        """Return the cases that are tried, the same ones every time."""
        return list(self.cases(partial(torch.randn, generator=torch.Generator().manual_seed(0))))


def slips(
    flawed: Callable[..., Any], table: Mapping[str, Mapping[str, Any]]
) -> Mapping[str, Callable[..., Any]]:
    """Make mistakes of one function with flaws to choose, each alone and any two together.

    Parameters
    ----------
    flawed : callable
        Right by default; its keyword arguments put mistakes in.
    table : mapping of str to mapping
        The keyword arguments of each slip, by the sentence that names it.

    Returns
    -------
    mapping of str to callable
        For :attr:`Exercise.mistakes`.
    """
    alone = {sentence: partial(flawed, **flaw) for sentence, flaw in table.items()}
    together = {
        f"{first} {second}": partial(flawed, **flaw, **other)
        for (first, flaw), (second, other) in combinations(table.items(), 2)
        if not flaw.keys() & other.keys()
    }
    return alone | together


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
