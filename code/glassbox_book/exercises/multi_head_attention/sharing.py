"""Keys and values that heads share, and heads that are cut out."""

from collections.abc import Callable, Iterator

import torch
from torch import Tensor

from glassbox.attention import scaled_dot_product_attention
from glassbox_book.exercises.exercise import Case, Draw, Exercise


def _grouped(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    *,
    spread: Callable[[Tensor, int], Tensor] = lambda x, times: x.repeat_interleave(times, dim=1),
    scale: float | None = None,
) -> Tensor:
    times = query.size(1) // key.size(1)
    context, _ = scaled_dot_product_attention(
        query, spread(key, times), spread(value, times), scale=scale
    )
    return context


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
    "multi_head_attention.grouped_query",
    _grouped,
    _groups,
    returns=("context",),
    gradients=True,
    mistakes={
        "Your groups are dealt out in turn, 0 1 0 1: query heads that lie next to each other share "
        "a head of keys, 0 0 1 1. repeat_interleave does this; repeat and tile do the other.": (
            lambda query, key, value: _grouped(
                query, key, value, spread=lambda x, times: x.repeat(1, times, 1, 1)
            )
        ),
        "All your query heads use the first head of keys and values: each group has its own.": (
            lambda query, key, value: _grouped(
                query,
                key,
                value,
                spread=lambda x, times: x[:, :1].expand(-1, times * x.size(1), -1, -1),
            )
        ),
        "You averaged the heads of keys and values: each group keeps its own.": (
            lambda query, key, value: _grouped(
                query,
                key,
                value,
                spread=lambda x, times: x.mean(1, keepdim=True).expand(
                    -1, times * x.size(1), -1, -1
                ),
            )
        ),
        "The scores are not divided by the root of d_k.": (
            lambda query, key, value: _grouped(query, key, value, scale=1.0)
        ),
    },
)

# Heads that are cut out ---------------------------------------------------------------------

Matrices = tuple[Tensor, Tensor, Tensor, Tensor]
#: From the kept heads, the number of heads and their width to the columns that are taken.
Places = Callable[[list[int], int, int], Tensor]


def _columns(keep: list[int], n_heads: int, d_k: int) -> Tensor:
    return torch.tensor([head * d_k + i for head in keep for i in range(d_k)], dtype=torch.long)


def _taking(
    places: Places = _columns, *, output_rows: bool = True, cut: bool = True
) -> Callable[[Tensor, Tensor, Tensor, Tensor, int, list[int]], Matrices]:
    def keep_heads(
        W_query: Tensor,
        W_key: Tensor,
        W_value: Tensor,
        W_output: Tensor,
        n_heads: int,
        keep: list[int],
    ) -> Matrices:
        taken = places(keep, n_heads, W_query.size(1) // n_heads)
        if not cut:
            kept = torch.zeros(W_query.size(1)).index_fill(0, taken, 1.0)
            return W_query * kept, W_key * kept, W_value * kept, W_output * kept[:, None]
        output = W_output[taken] if output_rows else W_output[:, taken]
        return W_query[:, taken], W_key[:, taken], W_value[:, taken], output

    return keep_heads


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
    _taking(),
    _matrices,
    returns=("W_query", "W_key", "W_value", "W_output"),
    mistakes={
        "You cut the columns of the output matrix: a head comes in by its rows, the columns are "
        "the model's width.": _taking(output_rows=False),
        "You removed the heads that were to be kept.": _taking(
            lambda keep, n_heads, d_k: _columns(
                [head for head in range(n_heads) if head not in keep], n_heads, d_k
            )
        ),
        "You set the other heads to zero: that is right for the output, but nothing has become "
        "smaller. Take the kept parts out.": _taking(cut=False),
        "You took every h-th column: a head owns d_k columns that lie next to each other.": _taking(
            lambda keep, n_heads, d_k: torch.cat([h + n_heads * torch.arange(d_k) for h in keep])
        ),
        "You took one column for each head: a head owns d_k of them.": _taking(
            lambda keep, n_heads, d_k: torch.tensor(keep)
        ),
        "You kept the heads in ascending order: they were to come in the order of keep.": _taking(
            lambda keep, n_heads, d_k: _columns(sorted(keep), n_heads, d_k)
        ),
    },
)
