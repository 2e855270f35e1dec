"""Chapter 8: word alignments, a layer, the number of parameters, and the shifted inputs."""

import torch
from torch import Tensor

from glassbox.attention import scaled_dot_product_attention
from glassbox.masks import causal_mask
from glassbox_book.exercises.exercise import Cases, Draw, Given, cases_of


def _word_weights(weights: Tensor, query_words: Tensor, key_words: Tensor, flaw: str) -> Tensor:
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
def _pieces(draw: Draw) -> Cases:
    def case(about: str, query_words: list[int], key_words: list[int]) -> Given:
        weights = draw(len(query_words), len(key_words)).softmax(dim=-1)
        return about, weights, torch.tensor(query_words), torch.tensor(key_words)

    yield case("a piece for each word", [0, 1, 2], [0, 1, 2])
    yield case("a source word of two pieces", [0, 1], [0, 1, 1])
    yield case("a target word of three pieces", [0, 1, 1, 1], [0, 1, 2])
    yield case("special tokens around", [0, 1, 2, -1], [-1, 0, 1, -1])
    yield case("all of it", [0, 1, 1, 2, -1], [-1, 0, 1, 1, 2, 3, -1])


# The error rate ------------------------------------------------------------------------------


def _alignment_error(guessed: Tensor, sure: Tensor, possible: Tensor, flaw: str) -> float:
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
def _links(draw: Draw) -> Cases:
    def links(table: str) -> Tensor:
        return torch.tensor([[sign == "x" for sign in row] for row in table.split()])

    none = links("... ... ...")
    yield "all right, in another order", links("x.. ..x .x."), links("x.. ..x .x."), none
    yield "one of three wrong", links("x.. .x. .x."), links("x.. ..x .x."), none
    yield "two links of a word, one found", links("x.. .x. ..x"), links("x.. .xx ..x"), none
    possible = links("... ... ..x")
    yield "a guess that is possible", links("x.. .x. ..x"), links("x.. .x. ..."), possible
    yield "all of it", links("xx. .x. x.."), links("x.. ..x x.."), links(".x. ... .xx")


def _decoder_layer(
    x: Tensor, memory: Tensor, memory_mask: Tensor, W1: Tensor, W2: Tensor, flaw: str
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
def _texts(draw: Draw) -> Cases:
    def case(about: str, real: list[list[int]], m: int, d: int, d_ff: int) -> Given:
        mask = torch.tensor(real).bool()[:, None]
        x, memory = draw(len(real), m, d), draw(len(real), mask.size(-1), d)
        return about, x, memory, mask, draw(d, d_ff), draw(d_ff, d)

    yield case("one target position, one of the source", [[1]], 1, 3, 5)
    yield case("as many positions in both", [[1, 1, 1]], 3, 4, 6)
    yield case("a longer source", [[1, 1, 1, 1, 1]], 2, 4, 6)
    yield case("a padded source", [[1, 1, 0, 0], [1, 1, 1, 1]], 3, 4, 8)
    yield case("a padded source as long as the target", [[1, 0, 0], [1, 1, 0]], 3, 5, 7)
    yield case("padding on the left", [[0, 1, 1, 1]], 2, 4, 6)


def _count_parameters(d_model: int, d_ff: int, n_layers: int, vocab_size: int, flaw: str) -> int:
    attentions = 2 if flaw == "no cross-attention" else 3
    norms = {"no norms": 0, "one norm fewer": 4}.get(flaw, 5)
    tables = {"two tables": 2, "no table": 0}.get(flaw, 1)
    attention = 4 * d_model**2 + (0 if flaw == "attention biases" else 4 * d_model)
    feed_forward = 2 * d_model * d_ff + (0 if flaw == "other biases" else d_ff + d_model)
    norm = d_model if flaw == "half a norm" else 2 * d_model
    layer = attentions * attention + 2 * feed_forward + norms * norm
    return n_layers * layer + tables * vocab_size * d_model


@cases_of(_count_parameters, returns=("number",))
def _sizes(draw: Draw) -> Cases:
    yield "small numbers", 2, 5, 1, 7
    yield "two layers", 3, 4, 2, 11
    yield "the paper's base", 512, 2048, 6, 37_000
    yield "the paper's big", 1024, 4096, 6, 37_000


def _shift_right(labels: Tensor, bos_id: int, flaw: str) -> Tensor:
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
def _labels(draw: Draw) -> Cases:
    yield "one sentence", torch.tensor([[5, 9, 4, 2]]), 1
    yield "two sentences", torch.tensor([[5, 9, 4, 2], [7, 3, 8, 2]]), 1
    yield "one token each", torch.tensor([[2], [2]]), 1
    yield "a padded one", torch.tensor([[5, 9, 2, 0, 0], [7, 3, 8, 6, 2]]), 1
    yield "another beginning", torch.tensor([[5, 9, 4, 0]]), 11
