"""Keys and values that heads share, and pruning heads."""

from collections.abc import Iterator

import torch
from torch import Tensor

from glassbox.attention import scaled_dot_product_attention
from glassbox_book.exercises.exercise import Case, Draw, Exercise


def _spread(x: Tensor, times: int, flaw: str) -> Tensor:
    """Repeat the heads of keys or values for the query heads that share them."""
    flaws = {
        "in turn": x.repeat(1, times, 1, 1),
        "first head": x[:, :1].expand(-1, times * x.size(1), -1, -1),
        "mean": x.mean(1, keepdim=True).expand(-1, times * x.size(1), -1, -1),
    }
    return flaws.get(flaw, x.repeat_interleave(times, dim=1))


def _grouped(query: Tensor, key: Tensor, value: Tensor, flaw: str = "") -> Tensor:
    times = query.size(1) // key.size(1)
    key, value = (_spread(x, times, flaw) for x in (key, value))
    scale = 1.0 if flaw == "no scale" else None
    return scaled_dot_product_attention(query, key, value, scale=scale)[0]


def _groups(draw: Draw) -> Iterator[Case]:
    def case(about: str, n_heads: int, n_kv_heads: int, *shape: int) -> Case:
        batch, q_len, k_len, d_k = shape
        shared = {name: draw(batch, n_kv_heads, k_len, d_k) for name in ("key", "value")}
        return Case(about, query=draw(batch, n_heads, q_len, d_k), **shared)

    yield case("four heads in two groups", 4, 2, 1, 3, 3, 4)
    yield case("six heads in two groups, and a batch", 6, 2, 2, 4, 5, 3)
    yield case("six heads in three groups", 6, 3, 2, 3, 6, 2)
    yield case("one head of keys for all", 4, 1, 2, 5, 5, 3)
    yield case("a head of keys for each", 3, 3, 1, 4, 4, 2)
    yield case("one new query and a cache", 8, 2, 2, 1, 7, 4)


grouped_query = Exercise(
    "multi_head_attention.grouped_query", _grouped, _groups, returns=("context",), gradients=True
)

# Heads that are cut out ---------------------------------------------------------------------

Matrices = tuple[Tensor, Tensor, Tensor, Tensor]


def _keep_heads(
    W_query: Tensor,
    W_key: Tensor,
    W_value: Tensor,
    W_output: Tensor,
    n_heads: int,
    keep: list[int],
    flaw: str = "",
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


def _matrices(draw: Draw) -> Iterator[Case]:
    def case(about: str, d_model: int, n_heads: int, d_k: int, keep: list[int]) -> Case:
        names = ("W_query", "W_key", "W_value")
        projections = {name: draw(d_model, n_heads * d_k) for name in names}
        output = draw(n_heads * d_k, d_model)
        return Case(about, **projections, W_output=output, n_heads=n_heads, keep=keep)

    yield case("the last of three heads", 6, 3, 2, [2])
    yield case("two of four heads", 8, 4, 2, [1, 3])
    yield case("a head that is narrower than its share", 8, 3, 2, [0, 2])
    yield case("heads in another order", 6, 3, 2, [2, 0])
    yield case("all heads", 4, 2, 2, [0, 1])


keep_heads = Exercise(
    "multi_head_attention.keep_heads",
    _keep_heads,
    _matrices,
    returns=("W_query", "W_key", "W_value", "W_output"),
)
