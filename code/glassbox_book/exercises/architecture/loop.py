"""The loop that writes: append the most probable token until the end."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import torch
from torch import Tensor

from glassbox_book.exercises.exercise import Case, Draw, Exercise


@dataclass(frozen=True)
class Writer:
    """A model that writes the tokens of ``text``, provided it is shown all tokens so far.

    Its vocabulary has nine tokens; 7 begins and 8 ends a text.
    """

    text: tuple[int, ...]

    def __call__(self, token_ids: Tensor) -> Tensor:
        """Return the logits of the next token, ``(9,)``; after a wrong beginning, 0 wins."""
        written = tuple(int(token) for token in token_ids.reshape(-1))
        place = len(written)
        right = (7, *self.text)[:place] == written and place <= len(self.text)
        logits = torch.arange(9.0).cos()
        logits[self.text[place - 1] if right else 0] += 5.0
        return logits

    def __repr__(self) -> str:
        return f"a model that writes {' '.join(map(str, self.text))}"


def _greedy(
    model: Callable[[Tensor], Tensor], begin: int, end: int, longest: int, flaw: str = ""
) -> Tensor:
    written = [begin]
    for _ in range(longest + {"one more": 1, "one fewer": -1}.get(flaw, 0)):
        shown = {"last token": written[-1:], "no beginning": written[1:]}.get(flaw, written)
        logits = model(torch.tensor(shown))
        token = int(logits.argmin() if flaw == "smallest" else logits.argmax())
        written.append(token)
        if token == end and flaw != "no stop":
            break
    if flaw == "end left out" and written[-1] == end:
        written.pop()
    return torch.tensor(written[1:] if flaw == "beginning left out" else written)


def _texts(draw: Draw) -> Iterator[Case]:
    yield Case("three words and the end", model=Writer((4, 2, 5, 8)), begin=7, end=8, longest=10)
    yield Case("the end at once", model=Writer((8,)), begin=7, end=8, longest=5)
    yield Case("a word twice", model=Writer((3, 1, 3, 6, 8)), begin=7, end=8, longest=10)
    yield Case("a text that does not end", model=Writer((1, 2, 3, 4, 5)), begin=7, end=8, longest=4)
    yield Case("exactly as long as allowed", model=Writer((6, 5, 8)), begin=7, end=8, longest=3)
    yield Case("token 0 is a word", model=Writer((1, 0, 2, 8)), begin=7, end=8, longest=10)


greedy = Exercise("architecture.greedy", _greedy, _texts, returns=("tokens",))
