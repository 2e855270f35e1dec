"""From the weights of word pieces to those of words, and how far an alignment is off."""

from collections.abc import Callable, Iterator

import torch
from torch import Tensor

from glassbox_book.exercises.exercise import Case, Draw, Exercise, slips


def _word_weights(
    weights: Tensor,
    query_words: Tensor,
    key_words: Tensor,
    *,
    rows: Callable[[Tensor], Tensor] = lambda part: part.mean(dim=0),
    columns: Callable[[Tensor], Tensor] = lambda part: part.sum(dim=-1),
    first: int = 0,
    turned: bool = False,
) -> Tensor:
    n_rows, n_columns = int(query_words.max()) + 1, int(key_words.max()) + 1
    table = torch.stack(
        [
            torch.stack(
                [
                    rows(columns(weights[query_words == i][:, key_words == j]))
                    for j in range(first, n_columns)
                ]
            )
            for i in range(first, n_rows)
        ]
    )
    return table.mT if turned else table


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


word_weights = Exercise(
    "decoder.word_weights",
    _word_weights,
    _pieces,
    returns=("table",),
    mistakes=slips(
        _word_weights,
        {
            "You added up the rows of a word: each row sums to one, so average them.": {
                "rows": lambda part: part.sum(dim=0)
            },
            "You took one piece of a target word only: average over all of its rows.": {
                "rows": lambda part: part[0]
            },
            "You averaged the columns of a word: weights on its pieces are weights on the word, so "
            "add them up.": {"columns": lambda part: part.mean(dim=-1)},
            "You took one piece of a source word only: add up all of its columns.": {
                "columns": lambda part: part[..., 0]
            },
            "Your special tokens make a row and a column of their own: leave -1 out.": {
                "first": -1
            },
            "Your table has the source in its rows: rows are queries, words of the target.": {
                "turned": True
            },
        },
    ),
)

# The error rate ------------------------------------------------------------------------------


def _error(guessed: Tensor, sure: Tensor, possible: Tensor) -> float:
    in_sure = (guessed & sure).sum().item()
    in_possible = (guessed & (sure | possible)).sum().item()
    return 1 - (in_sure + in_possible) / (guessed.sum() + sure.sum()).item()


def _alone(guessed: Tensor, sure: Tensor, possible: Tensor) -> float:
    in_both = (guessed & sure).sum().item() + (guessed & possible).sum().item()
    return 1 - in_both / (guessed.sum() + sure.sum()).item()


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


alignment_error = Exercise(
    "decoder.alignment_error",
    _error,
    _links,
    returns=("error",),
    mistakes={
        "This is how much is right: the error is what is missing to one.": (
            lambda guessed, sure, possible: 1 - _error(guessed, sure, possible)
        ),
        "A sure link is possible too: count what is in sure or in possible.": _alone,
        "You left out the possible links.": (
            lambda guessed, sure, possible: _error(guessed, sure, torch.zeros_like(possible))
        ),
        "You divided by the guesses alone: sure links that nobody guessed count as errors too.": (
            lambda guessed, sure, possible: (
                1 - (guessed & (sure | possible)).sum().item() / guessed.sum().item()
            )
        ),
        "You divided by the sure links alone: guesses that are wrong count as errors too.": (
            lambda guessed, sure, possible: 1 - (guessed & sure).sum().item() / sure.sum().item()
        ),
        "You compared entry by entry: cells without a link are right by themselves and count "
        "nothing.": lambda guessed, sure, possible: (guessed != sure).float().mean().item(),
    },
)
