"""A causal mask for a cache, and attention to a padded source."""

from collections.abc import Iterator

import torch
from torch import Tensor

from glassbox.attention import scaled_dot_product_attention
from glassbox.masks import causal_mask
from glassbox_book.exercises.exercise import Case, Draw, Exercise


def _causal(q_len: int, k_len: int, flaw: str) -> Tensor:
    key, query = torch.arange(k_len), torch.arange(q_len)[:, None] + k_len - q_len
    flaws = {
        "first positions": key <= torch.arange(q_len)[:, None],
        "not itself": key < query,
        "polarity": key > query,
        "ahead": key >= query,
    }
    return flaws[flaw]


def _sizes(draw: Draw) -> Iterator[Case]:
    yield Case("as many queries as keys", q_len=4, k_len=4)
    yield Case("one position", q_len=1, k_len=1)
    yield Case("one new query and a cache", q_len=1, k_len=6)
    yield Case("two new queries and a cache", q_len=2, k_len=5)
    yield Case("three of seven", q_len=3, k_len=7)


causal = Exercise("scaled_dot_product.causal_mask", causal_mask, _sizes, _causal, returns=("mask",))

# Cross-attention ----------------------------------------------------------------------------


def _cross(
    target: Tensor,
    source: Tensor,
    W_query: Tensor,
    W_key: Tensor,
    W_value: Tensor,
    source_ids: Tensor,
    pad_id: int,
    flaw: str = "",
) -> tuple[Tensor, Tensor]:
    asks, offers, gives = {
        "exchanged": (source, target, target),
        "target alone": (target, target, target),
        "source alone": (source, source, source),
        "values": (target, source, target),
        "keys": (target, target, source),
    }.get(flaw, (target, source, source))
    real = source_ids == pad_id if flaw == "polarity" else source_ids != pad_id
    mask = {"ignored": None, "queries": real[:, :, None]}.get(flaw, real[:, None, :])
    return scaled_dot_product_attention(asks @ W_query, offers @ W_key, gives @ W_value, mask)


def _translations(draw: Draw) -> Iterator[Case]:
    def case(about: str, ids: list[list[int]], q_len: int, *widths: int, pad_id: int = 0) -> Case:
        d_target, d_source, d_k, d_v = widths
        source_ids = torch.tensor(ids)
        return Case(
            about,
            target=draw(len(ids), q_len, d_target),
            source=draw(*source_ids.shape, d_source),
            W_query=draw(d_target, d_k),
            W_key=draw(d_source, d_k),
            W_value=draw(d_source, d_v),
            source_ids=source_ids,
            pad_id=pad_id,
        )

    yield case("source and target equally long, no padding", [[5, 9, 4]], 3, 6, 6, 4, 4)
    yield case("a longer source", [[5, 9, 4, 2, 7, 3, 8]], 5, 6, 6, 4, 3)
    yield case("a padded source as long as the target", [[5, 9, 0, 0], [7, 3, 8, 0]], 4, 6, 6, 4, 4)
    wide = [[5, 9, 4, 0, 0], [7, 3, 8, 6, 1]]
    yield case("a padded source of another width", wide, 3, 4, 6, 8, 2)
    yield case("another padding id", [[5, 0, 3, 1, 1], [7, 0, 8, 6, 1]], 2, 5, 5, 3, 4, pad_id=1)


cross_attention = Exercise(
    "scaled_dot_product.cross_attention",
    _cross,
    _translations,
    returns=("context", "weights"),
    gradients=True,
)
