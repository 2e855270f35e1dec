"""Chapter 8: word alignments, a layer, the number of parameters, and the shifted inputs."""

from collections.abc import Iterator

import torch
from torch import Tensor

from glassbox.attention import scaled_dot_product_attention
from glassbox.masks import causal_mask
from glassbox_book.exercises.exercise import Case, Draw, cases_of


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


@cases_of(_word_weights, returns=("table",))
def _pieces(draw: Draw) -> Iterator[Case]:
    def case(about: str, query_words: list[int], key_words: list[int]) -> Case:
        rows, columns = torch.tensor(query_words), torch.tensor(key_words)
        weights = draw(len(rows), len(columns)).softmax(dim=-1)
        return Case(about, weights=weights, query_words=rows, key_words=columns)

    yield case("a piece for each word", [0, 1, 2], [0, 1, 2])
    yield case("a source word of two pieces", [0, 1], [0, 1, 1])
    yield case("a target word of three pieces", [0, 1, 1, 1], [0, 1, 2])
    yield case("special tokens around", [0, 1, 2, -1], [-1, 0, 1, -1])
    yield case("all of it", [0, 1, 1, 2, -1], [-1, 0, 1, 1, 2, 3, -1])


# The error rate ------------------------------------------------------------------------------


def _alignment_error(guessed: Tensor, sure: Tensor, possible: Tensor, flaw: str = "") -> float:
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


@cases_of(_alignment_error, returns=("error",))
def _links(draw: Draw) -> Iterator[Case]:
    def links(table: str) -> Tensor:
        return torch.tensor([[sign == "x" for sign in row] for row in table.split()])

    def case(about: str, guessed: str, sure: str, possible: str) -> Case:
        return Case(about, guessed=links(guessed), sure=links(sure), possible=links(possible))

    none = "... ... ..."
    yield case("all right, in another order", "x.. ..x .x.", "x.. ..x .x.", none)
    yield case("one of three wrong", "x.. .x. .x.", "x.. ..x .x.", none)
    yield case("two links of a word, one found", "x.. .x. ..x", "x.. .xx ..x", none)
    yield case("a guess that is possible", "x.. .x. ..x", "x.. .x. ...", "... ... ..x")
    yield case("all of it", "xx. .x. x..", "x.. ..x x..", ".x. ... .xx")


def _decoder_layer(
    x: Tensor, memory: Tensor, memory_mask: Tensor, W1: Tensor, W2: Tensor, flaw: str = ""
) -> Tensor:
    def self_attention(x: Tensor) -> Tensor:
        mask = None if flaw == "future" else causal_mask(x.size(1))
        return kept(x, "self") + scaled_dot_product_attention(x, x, x, mask)[0]

    def cross_attention(x: Tensor) -> Tensor:
        mask = {"padding": None, "polarity": ~memory_mask}.get(flaw, memory_mask)
        query = start if flaw == "asks with input" else x
        return kept(x, "cross") + scaled_dot_product_attention(query, memory, memory, mask)[0]

    def kept(x: Tensor, sublayer: str) -> Tensor:
        return torch.zeros_like(x) if flaw == f"no {sublayer} residual" else x

    start = x
    if flaw == "cross first":
        x = self_attention(cross_attention(x))
    else:
        x = cross_attention(self_attention(x))
    inner = x @ W1
    return kept(x, "last") + (inner if flaw == "no relu" else inner.relu()) @ W2


@cases_of(_decoder_layer, returns=("output",), gradients=True)
def _texts(draw: Draw) -> Iterator[Case]:
    def case(about: str, real: list[list[int]], m: int, d: int, d_ff: int) -> Case:
        mask = torch.tensor(real).bool()[:, None]
        x, memory = draw(len(real), m, d), draw(len(real), mask.size(-1), d)
        weights = {"W1": draw(d, d_ff), "W2": draw(d_ff, d)}
        return Case(about, x=x, memory=memory, memory_mask=mask, **weights)

    yield case("one target position, one of the source", [[1]], 1, 3, 5)
    yield case("as many positions in both", [[1, 1, 1]], 3, 4, 6)
    yield case("a longer source", [[1, 1, 1, 1, 1]], 2, 4, 6)
    yield case("a padded source", [[1, 1, 0, 0], [1, 1, 1, 1]], 3, 4, 8)
    yield case("a padded source as long as the target", [[1, 0, 0], [1, 1, 0]], 3, 5, 7)
    yield case("padding on the left", [[0, 1, 1, 1]], 2, 4, 6)


def _count_parameters(
    d_model: int, d_ff: int, n_layers: int, vocab_size: int, flaw: str = ""
) -> int:
    attentions = 2 if flaw == "no cross-attention" else 3
    norms = {"no norms": 0, "one norm fewer": 4}.get(flaw, 5)
    tables = {"two tables": 2, "no table": 0}.get(flaw, 1)
    attention = 4 * d_model**2 + (0 if flaw == "attention biases" else 4 * d_model)
    feed_forward = 2 * d_model * d_ff + (0 if flaw == "other biases" else d_ff + d_model)
    norm = d_model if flaw == "half a norm" else 2 * d_model
    layer = attentions * attention + 2 * feed_forward + norms * norm
    return n_layers * layer + tables * vocab_size * d_model


@cases_of(_count_parameters, returns=("number",))
def _sizes(draw: Draw) -> Iterator[Case]:
    yield Case("small numbers", d_model=2, d_ff=5, n_layers=1, vocab_size=7)
    yield Case("two layers", d_model=3, d_ff=4, n_layers=2, vocab_size=11)
    yield Case("the paper's base", d_model=512, d_ff=2048, n_layers=6, vocab_size=37_000)
    yield Case("the paper's big", d_model=1024, d_ff=4096, n_layers=6, vocab_size=37_000)


def _shift_right(labels: Tensor, bos_id: int, flaw: str = "") -> Tensor:
    begin = torch.full_like(labels[:, :1], 0 if flaw == "zero" else bos_id)
    flaws = {
        "round": labels.roll(1, dims=1),
        "left": torch.cat([labels[:, 1:], begin], dim=1),
        "nothing dropped": torch.cat([begin, labels], dim=1),
        "overwritten": torch.cat([begin, labels[:, 1:]], dim=1),
        "batch": torch.cat([torch.full_like(labels[:1], bos_id), labels[:-1]]),
    }
    return flaws.get(flaw, torch.cat([begin, labels[:, :-1]], dim=1))


@cases_of(_shift_right, returns=("inputs",))
def _labels(draw: Draw) -> Iterator[Case]:
    yield Case("one sentence", labels=torch.tensor([[5, 9, 4, 2]]), bos_id=1)
    yield Case("two sentences", labels=torch.tensor([[5, 9, 4, 2], [7, 3, 8, 2]]), bos_id=1)
    yield Case("one token each", labels=torch.tensor([[2], [2]]), bos_id=1)
    yield Case("a padded one", labels=torch.tensor([[5, 9, 2, 0, 0], [7, 3, 8, 6, 2]]), bos_id=1)
    yield Case("another beginning", labels=torch.tensor([[5, 9, 4, 0]]), bos_id=11)
