"""The weights of words from those of word pieces, and the error rate of an alignment."""

from collections.abc import Iterator

import torch
from torch import Tensor

from glassbox_book.exercises.exercise import Case, Draw, Exercise


def _word_weights(
    weights: Tensor, query_words: Tensor, key_words: Tensor, flaw: str = ""
) -> Tensor:
    def weight(rows: Tensor) -> Tensor:
        """Return the weight of one word in the rows of another, given its columns in these rows."""
        columns = {"mean of columns": rows.mean(-1), "one column": rows[:, :1].sum(-1)}
        each = columns.get(flaw, rows.sum(-1))
        return {"sum of rows": each.sum(), "one row": each[:1].sum()}.get(flaw, each.mean())

    first = -1 if flaw == "special tokens" else 0
    words = range(first, int(query_words.max()) + 1)
    others = range(first, int(key_words.max()) + 1)
    found = [weight(weights[query_words == i][:, key_words == j]) for i in words for j in others]
    table = torch.stack(found).view(len(words), len(others))
    return table.mT if flaw == "transposed" else table


def _pieces(draw: Draw) -> Iterator[Case]:
    def case(about: str, query_words: list[int], key_words: list[int]) -> Case:
        return Case(
            about,
            weights=draw(len(query_words), len(key_words)).softmax(dim=-1),
            query_words=torch.tensor(query_words),
            key_words=torch.tensor(key_words),
        )

    yield case("a piece for each word", [0, 1, 2], [0, 1, 2])
    yield case("a source word of two pieces", [0, 1], [0, 1, 1])
    yield case("a target word of three pieces", [0, 1, 1, 1], [0, 1, 2])
    yield case("special tokens around", [0, 1, 2, -1], [-1, 0, 1, -1])
    yield case("all of it", [0, 1, 1, 2, -1], [-1, 0, 1, 1, 2, 3, -1])


word_weights = Exercise("decoder.word_weights", _word_weights, _pieces, returns=("table",))

# The error rate ------------------------------------------------------------------------------


def _error(guessed: Tensor, sure: Tensor, possible: Tensor, flaw: str = "") -> float:
    if flaw == "entries":
        return (guessed != sure).float().mean().item()
    allowed = {"only possible": possible, "no possible": sure}.get(flaw, sure | possible)
    in_sure, in_allowed = ((guessed & links).sum().item() for links in (sure, allowed))
    guesses, needed = guessed.sum().item(), sure.sum().item()
    flaws = {
        "right": (in_sure + in_allowed) / (guesses + needed),
        "guesses": 1 - in_allowed / guesses,
        "sure": 1 - in_sure / needed,
    }
    return flaws.get(flaw, 1 - (in_sure + in_allowed) / (guesses + needed))


def _links(draw: Draw) -> Iterator[Case]:
    def case(about: str, guessed: str, sure: str, possible: str) -> Case:
        tables = (
            torch.tensor([[sign == "x" for sign in row] for row in table.split()])
            for table in (guessed, sure, possible)
        )
        return Case(about, **dict(zip(("guessed", "sure", "possible"), tables, strict=True)))

    none = "... ... ..."
    yield case("all right, in another order", "x.. ..x .x.", "x.. ..x .x.", none)
    yield case("one of three wrong", "x.. .x. .x.", "x.. ..x .x.", none)
    yield case("two links of a word, one found", "x.. .x. ..x", "x.. .xx ..x", none)
    yield case("a guess that is possible", "x.. .x. ..x", "x.. .x. ...", "... ... ..x")
    yield case("all of it", "xx. .x. x..", "x.. ..x x..", ".x. ... .xx")


alignment_error = Exercise("decoder.alignment_error", _error, _links, returns=("error",))
