"""Chapter 5: heads: splitting, using, sharing and pruning them."""

import torch
from torch import Tensor

from glassbox.attention import scaled_dot_product_attention
from glassbox.masks import causal_mask
from glassbox_book.exercises.exercise import Cases, Draw, Given, cases_of


def _split_heads(x: Tensor, n_heads: int, flaw: str) -> Tensor:
    """Return ``x`` of shape (batch, length, d_model) as (batch, n_heads, length, d_k)."""
    if flaw == "by shape":
        return x.reshape(x.size(0), n_heads, x.size(1), -1)
    if flaw == "in turn":
        return x.unflatten(-1, (-1, n_heads)).permute(0, 3, 1, 2)
    heads = x.unflatten(-1, (n_heads, -1)).transpose(1, 2)
    flaws = {"heads behind": heads.transpose(1, 2), "last two": heads.mT}
    return flaws.get(flaw, heads)


@cases_of(_split_heads, returns=("heads",), gradients=True)
def _widths(draw: Draw) -> Cases:
    yield "three positions, two heads of width two", draw(1, 3, 4), 2
    yield "a batch", draw(2, 5, 12), 3
    yield "one head", draw(2, 3, 4), 1
    yield "heads of width one", draw(1, 4, 3), 3
    yield "a single position", draw(2, 1, 6), 2
    yield "a transposed input", draw(2, 6, 4).mT, 3


# From beginning to end ----------------------------------------------------------------------


def _multi_head(
    x: Tensor,
    W_query: Tensor,
    W_key: Tensor,
    W_value: Tensor,
    W_output: Tensor,
    n_heads: int,
    mask: Tensor | None = None,
    *,
    flaw: str,
) -> Tensor:
    many, how = 1 if flaw == "one head" else n_heads, flaw.removesuffix(", both ways")
    query, key, value = (_split_heads(x @ W, many, how) for W in (W_query, W_key, W_value))
    width = {"whole width": W_query.size(1), "no scale": 1}.get(flaw, query.size(-1))
    if mask is not None and flaw in ("mask", "polarity"):
        mask = None if flaw == "mask" else ~mask
    if flaw in ("queries", "late"):
        allowed = torch.tensor(True) if mask is None else mask
        scores = query @ key.mT * width**-0.5
        hidden = scores.masked_fill(~allowed, -torch.inf)
        weights = scores.softmax(-1) * allowed if flaw == "late" else hidden.softmax(-2)
        context = weights @ value
    else:
        context, _ = scaled_dot_product_attention(query, key, value, mask, scale=width**-0.5)
    rows = context if flaw in ("merge", "by shape, both ways") else context.transpose(1, 2)
    merged = rows.reshape(context.size(0), context.size(2), -1)
    return merged if flaw == "no output" else merged @ W_output


@cases_of(_multi_head, returns=("output",), gradients=True, tolerance=0.0001)
def _layers(draw: Draw) -> Cases:
    def case(about: str, n_heads: int, *shape: int) -> Given:
        weights = [draw(shape[-1], shape[-1]) for _ in range(4)]
        return about, draw(*shape), *weights, n_heads

    yield case("two heads, three positions", 2, 1, 3, 4)
    yield case("three heads and a batch", 3, 2, 5, 6)
    yield case("one head", 1, 2, 4, 3)
    yield case("heads of width one", 4, 1, 3, 4)
    yield case("as many heads as positions", 4, 2, 4, 8)
    yield *case("a causal mask", 2, 2, 6, 4), causal_mask(6)
    own = torch.tensor([[True, False, False], [False, True, True], [True, True, False]])
    yield *case("a mask for each head", 2, 1, 3, 6), torch.stack([own, own.mT])[None]


def _spread(x: Tensor, times: int, flaw: str) -> Tensor:
    """Repeat the heads of keys or values for the query heads that share them."""
    flaws = {
        "in turn": x.repeat(1, times, 1, 1),
        "first head": x[:, :1].expand(-1, times * x.size(1), -1, -1),
        "mean": x.mean(1, keepdim=True).expand(-1, times * x.size(1), -1, -1),
    }
    return flaws.get(flaw, x.repeat_interleave(times, dim=1))


def _grouped_query(query: Tensor, key: Tensor, value: Tensor, flaw: str) -> Tensor:
    times = query.size(1) // key.size(1)
    key, value = (_spread(x, times, flaw) for x in (key, value))
    scale = 1.0 if flaw == "no scale" else None
    return scaled_dot_product_attention(query, key, value, scale=scale)[0]


@cases_of(_grouped_query, returns=("context",), gradients=True)
def _groups(draw: Draw) -> Cases:
    def case(about: str, n_heads: int, n_kv_heads: int, *shape: int) -> Given:
        batch, q_len, k_len, d_k = shape
        shared = [draw(batch, n_kv_heads, k_len, d_k) for _ in range(2)]
        return about, draw(batch, n_heads, q_len, d_k), *shared

    yield case("four heads in two groups", 4, 2, 1, 3, 3, 4)
    yield case("six heads in two groups, and a batch", 6, 2, 2, 4, 5, 3)
    yield case("six heads in three groups", 6, 3, 2, 3, 6, 2)
    yield case("one head of keys for all", 4, 1, 2, 5, 5, 3)
    yield case("a head of keys for each", 3, 3, 1, 4, 4, 2)
    yield case("one new query and a cache", 8, 2, 2, 1, 7, 4)


# Heads that are cut out ---------------------------------------------------------------------

Matrices = tuple[Tensor, Tensor, Tensor, Tensor]


def _keep_heads(
    W_query: Tensor,
    W_key: Tensor,
    W_value: Tensor,
    W_output: Tensor,
    n_heads: int,
    keep: list[int],
    flaw: str,
) -> Matrices:
    columns = torch.arange(W_query.size(1)).view(n_heads, -1)  # those of head h in row h
    others = [head for head in range(n_heads) if head not in keep]
    flaws = {
        "removed": columns[others],
        "every h-th": columns.flatten().view(-1, n_heads).T[keep],
        "one column": torch.tensor(keep),
        "ascending": columns[sorted(keep)],
    }
    taken = flaws.get(flaw, columns[keep]).flatten()
    if flaw == "zeros":
        kept = torch.zeros(W_query.size(1)).index_fill(0, taken, 1.0)
        return W_query * kept, W_key * kept, W_value * kept, W_output * kept[:, None]
    output = W_output[:, taken] if flaw == "output columns" else W_output[taken]
    return W_query[:, taken], W_key[:, taken], W_value[:, taken], output


@cases_of(_keep_heads, returns=("W_query", "W_key", "W_value", "W_output"))
def _matrices(draw: Draw) -> Cases:
    def case(about: str, d_model: int, n_heads: int, d_k: int, keep: list[int]) -> Given:
        projections = [draw(d_model, n_heads * d_k) for _ in range(3)]
        return about, *projections, draw(n_heads * d_k, d_model), n_heads, keep

    yield case("the last of three heads", 6, 3, 2, [2])
    yield case("two of four heads", 8, 4, 2, [1, 3])
    yield case("a head that is narrower than its share", 8, 3, 2, [0, 2])
    yield case("heads in another order", 6, 3, 2, [2, 0])
    yield case("all heads", 4, 2, 2, [0, 1])
    yield case("narrow heads in a wide model", 10, 3, 2, [0, 2])
