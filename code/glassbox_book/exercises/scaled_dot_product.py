"""Chapter 4: scores, attention and its masks, a head, and the softmax."""

import math
from functools import partial

import torch
from torch import Tensor

from glassbox.attention import dot_product_scores, scaled_dot_product_attention
from glassbox.masks import causal_mask
from glassbox_book.exercises.exercise import Cases, Draw, Given, cases_of


def _scale(query: Tensor, key: Tensor, flaw: str) -> float:
    d_k = query.size(-1)
    flaws = {
        "no scale": 1.0,
        "d_k": 1 / d_k,
        "multiplied": math.sqrt(d_k),
        "number of keys": 1 / math.sqrt(key.size(-2)),
    }
    return flaws.get(flaw, 1 / math.sqrt(d_k))


def _scores(query: Tensor, key: Tensor, flaw: str) -> Tensor:
    if flaw == "directions":
        query, key = (x / x.norm(dim=-1, keepdim=True) for x in (query, key))
    scores = query @ key.mT * _scale(query, key, flaw)
    return scores.mT if flaw == "transposed" else scores


@cases_of(_scores, reference=dot_product_scores, returns=("scores",))
def _pairs(draw: Draw) -> Cases:
    yield "two queries and three keys", draw(2, 4), draw(3, 4)
    yield "self-attention", draw(5, 8), draw(5, 8)
    yield "a single query", draw(1, 16), draw(7, 16)
    yield "more queries than keys", draw(6, 9), draw(2, 9)
    yield "a transposed view", draw(6, 3).mT, draw(6, 4).mT
    yield "double precision", draw(3, 5).double(), draw(4, 5).double()


def _masked(scores: Tensor, mask: Tensor, dim: int, flaw: str) -> Tensor:
    hidden = scores.masked_fill(~mask, -math.inf).softmax(dim)
    flaws = {
        "NaN": hidden,
        "ignored": scores.softmax(dim),
        "zeros": (scores * mask).softmax(dim),
        "added": (scores + mask).softmax(dim),
        "late": scores.softmax(dim) * mask,
        "finite": scores.masked_fill(~mask, -1e9).softmax(dim),
    }
    return flaws.get(flaw, hidden.nan_to_num(0.0))


def _attention(
    query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None, *, flaw: str
) -> tuple[Tensor, Tensor]:
    scores = query @ key.mT * _scale(query, key, flaw)
    dim = {"queries": -2, "first axis": 0}.get(flaw, -1)
    if flaw == "no shift":
        powers = scores.exp() if mask is None else scores.masked_fill(~mask, -math.inf).exp()
        total = powers.sum(-1, keepdim=True)
        weights = powers / total.masked_fill(total == 0, 1.0)
    elif flaw == "no softmax":
        weights = scores if mask is None else scores * mask
    elif mask is None:
        weights = scores.softmax(dim)
    else:
        shown, _, then = flaw.partition(", then ")
        weights = _masked(scores, ~mask if shown == "polarity" else mask, dim, then or flaw)
    return weights @ value, weights


@cases_of(_attention, scaled_dot_product_attention, returns=("context", "weights"), gradients=True)
def _attentions(draw: Draw) -> Cases:
    def case(about: str, *shape: int) -> Given:
        *batch, q_len, k_len, d_k, d_v = shape
        sizes = (q_len, d_k), (k_len, d_k), (k_len, d_v)
        return about, *(draw(*batch, *size) for size in sizes)

    yield case("two queries and three keys", 2, 3, 4, 2)
    yield case("self-attention in a batch of heads", 2, 3, 5, 5, 8, 8)
    yield case("values of another width", 2, 6, 7, 9, 3)
    yield *case("a causal mask", 4, 4, 9, 9), causal_mask(4)
    padding = torch.tensor([[True, True, True], [True, False, False]])[:, None, None]
    yield *case("a padding mask that broadcasts", 2, 2, 4, 3, 8, 8), padding
    nothing = torch.tensor([[True, False, True], [False, False, False]])
    yield *case("a query that may attend to nothing", 2, 3, 5, 2), nothing
    heads = [draw(2, 5, 3, 4).transpose(1, 2) for _ in range(3)]
    yield "heads split by a transpose", *heads, causal_mask(5)
    yield "scores in the hundreds", 600 * draw(3, 4), draw(5, 4), draw(5, 2)
    yield "double precision", *(draw(4, 6).double() for _ in range(3)), causal_mask(4)
    far = torch.tensor([[-2.0, 1.0], [-3.0, 0.0], [2.0, 1.0]])
    query, mask = torch.tensor([[3e4, 0.0]]), torch.tensor([[True, True, False]])
    yield "scores far below zero", query, far, far, mask


def _next_token_head(maps: list[Tensor], flaw: str) -> tuple[int, int]:
    offset = {"previous": -1, "itself": 0}.get(flaw, 1)
    found = [weights.diagonal(offset, -2, -1) for weights in maps]
    together = torch.cat(found, dim=-1)
    flaws = {
        "each sentence": torch.stack([look.mean(-1) for look in found if look.numel()]).mean(0),
        "first sentence": found[0].mean(-1),
        "peak": together.amax(-1),
    }
    many = maps[0].size(0 if flaw == "number of layers" else 1)
    layer, head = divmod(int(flaws.get(flaw, together.mean(-1)).argmax()), many)
    return (head, layer) if flaw == "exchanged" else (layer, head)


@cases_of(_next_token_head, returns=("layer", "head"))
def _maps(draw: Draw) -> Cases:
    def case(about: str, n_layers: int, n_heads: int, *lengths: int) -> Given:
        return about, [draw(n_layers, n_heads, n, n).mul(2).softmax(-1) for n in lengths]

    yield case("one sentence", 2, 3, 5)
    yield case("a sentence of two tokens", 3, 4, 2)
    yield case("three sentences of different length", 5, 7, 5, 9, 3)
    yield case("short sentences and a long one", 4, 6, 2, 12, 2)
    yield case("a sentence of one token, which has no next", 3, 4, 7, 1, 5)


def _causal_mask(q_len: int, k_len: int, flaw: str) -> Tensor:
    key, query = torch.arange(k_len), torch.arange(q_len)[:, None] + k_len - q_len
    flaws = {
        "first positions": key <= torch.arange(q_len)[:, None],
        "not itself": key < query,
        "polarity": key > query,
        "ahead": key >= query,
        "too far": key <= query + 1,
    }
    return flaws[flaw]


@cases_of(_causal_mask, reference=causal_mask, returns=("mask",))
def _sizes(draw: Draw) -> Cases:
    yield "as many queries as keys", 4, 4
    yield "one position", 1, 1
    yield "one new query and a cache", 1, 6
    yield "two new queries and a cache", 2, 5
    yield "three of seven", 3, 7


# Cross-attention ----------------------------------------------------------------------------


def _cross_attention(
    target: Tensor,
    source: Tensor,
    W_query: Tensor,
    W_key: Tensor,
    W_value: Tensor,
    source_ids: Tensor,
    pad_id: int,
    flaw: str,
) -> tuple[Tensor, Tensor]:
    asks, offers, gives = {
        "exchanged": (source, target, target),
        "target alone": (target, target, target),
        "source alone": (source, source, source),
        "values": (target, source, target),
        "keys": (target, target, source),
    }.get(flaw, (target, source, source))
    real = source_ids != (0 if flaw == "zero" else pad_id)
    real = ~real if flaw == "polarity" else real
    mask = {"ignored": None, "queries": real[:, :, None]}.get(flaw, real[:, None, :])
    query, key, value = asks @ W_query, offers @ W_key, gives @ W_value
    if flaw == "columns":
        scores = query @ key.mT / math.sqrt(query.size(-1))
        weights = scores.masked_fill(~real[:, None], -math.inf).softmax(-2)
        return weights @ value, weights
    scale = 1.0 if flaw == "no scale" else None
    return scaled_dot_product_attention(query, key, value, mask, scale=scale)


@cases_of(_cross_attention, returns=("context", "weights"), gradients=True)
def _translations(draw: Draw) -> Cases:
    def case(about: str, ids: list[list[int]], q_len: int, *widths: int, pad_id: int = 0) -> Given:
        d_target, d_source, d_k, d_v = widths
        source_ids = torch.tensor(ids)
        target, source = draw(len(ids), q_len, d_target), draw(*source_ids.shape, d_source)
        weights = draw(d_target, d_k), draw(d_source, d_k), draw(d_source, d_v)
        return about, target, source, *weights, source_ids, pad_id

    yield case("source and target equally long, no padding", [[5, 9, 4]], 3, 6, 6, 4, 4)
    yield case("a longer source", [[5, 9, 4, 2, 7, 3, 8]], 5, 6, 6, 4, 3)
    yield case("a padded source as long as the target", [[5, 9, 0, 0], [7, 3, 8, 0]], 4, 6, 6, 4, 4)
    wide = [[5, 9, 4, 0, 0], [7, 3, 8, 6, 1]]
    yield case("a padded source of another width", wide, 3, 4, 6, 8, 2)
    yield case("another padding id", [[5, 0, 3, 1, 1], [7, 0, 8, 6, 1]], 2, 5, 5, 3, 4, pad_id=1)


def _softmax(scores: Tensor, flaw: str) -> Tensor:
    dim = -2 if flaw == "queries" else -1
    largest = scores.amax(dim, keepdim=True)
    none = torch.zeros_like(largest)
    shifts = {"no shift": none, "one sum": none, "one shift": scores.max(), "added": -largest}
    shifted = scores - shifts.get(flaw, largest)
    powers = (-shifted if flaw == "sign" else shifted).exp()
    if flaw == "one sum":
        return powers / powers.sum()
    return powers / powers.sum(dim, keepdim=flaw != "no keepdim")


@cases_of(_softmax, reference=partial(torch.softmax, dim=-1), returns=("weights",), gradients=True)
def _rows(draw: Draw) -> Cases:
    yield "two rows of three", draw(2, 3)
    yield "a square", draw(4, 4)
    yield "a single row without other axes", draw(6)
    yield "a batch of heads", draw(2, 3, 3, 5)
    yield "scores in the hundreds", 900 * draw(3, 4)
    yield "one row far below another", draw(2, 3) + torch.tensor([[0.0], [-500.0]])
    hidden = torch.tensor([[False, False, True], [False, True, True]])
    yield "keys hidden by a score of -inf", draw(2, 3).masked_fill(hidden, -math.inf)
    yield "a transposed view", draw(5, 3).mT
    yield "double precision", draw(2, 4).double()


def _jacobian(scores: Tensor) -> Tensor:
    of_a_row = partial(torch.autograd.functional.jacobian, partial(torch.softmax, dim=-1))
    rows = scores.reshape(-1, scores.size(-1))
    return torch.stack([of_a_row(row) for row in rows]).reshape(*scores.shape, -1)


def _softmax_jacobian(scores: Tensor, flaw: str) -> Tensor:
    w = scores if flaw == "scores" else scores.softmax(-1)
    outer = w[..., :, None] * w[..., None, :]
    flaws = {
        "added": -outer,
        "no outer": 0 * outer,
        "one number": w.square().sum(-1)[..., None, None],
        "diagonal": outer * torch.eye(w.size(-1)),
    }
    return torch.diag_embed(w) - flaws.get(flaw, outer)


@cases_of(_softmax_jacobian, reference=_jacobian, returns=("Jacobian",))
def _single_rows(draw: Draw) -> Cases:
    yield "a row of three", draw(3)
    yield "a row of seven", draw(7)
    yield "equal scores", torch.zeros(4)
    yield "a row so sharp that no gradient is left", torch.tensor([0.0, 200.0, 50.0])
    yield "a matrix of rows", draw(4, 4)
    yield "a batch of heads", draw(2, 3, 4, 5)


# The temperature for an entropy -------------------------------------------------------------


def _temperature(scores: Tensor, entropy: float, flaw: str) -> float:
    unit = math.log(2) if flaw == "bits" else 1.0
    low, high = 1e-6, 1e6
    for _ in range(80):
        middle = math.sqrt(low * high)
        weights = (scores.double() / middle).softmax(-1)
        if torch.special.entr(weights).sum() / unit < entropy:
            low = middle
        else:
            high = middle
    return 1 / middle if flaw == "inverse" else middle


@cases_of(_temperature, returns=("temperature",), tolerance=0.001)
def _entropies(draw: Draw) -> Cases:
    yield "four keys", draw(4), 1.0
    yield "scores of width 64, not scaled", draw(20, 64) @ draw(64), 2.0
    yield "nearly uniform weights", draw(8), 0.99 * math.log(8)
    yield "nearly all weight on one key", draw(8), 0.05
    yield "scores in the thousands", 2000 * draw(6), 1.2
    yield "scores close together", draw(6) / 500, 0.9
