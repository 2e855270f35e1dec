"""A causal mask for a cache, and attention to a padded source."""

from collections.abc import Callable, Iterator

import torch
from torch import Tensor

from glassbox.attention import scaled_dot_product_attention
from glassbox.masks import causal_mask
from glassbox_book.exercises.exercise import Case, Draw, Exercise, slips


def _sizes(draw: Draw) -> Iterator[Case]:
    yield Case("as many queries as keys", q_len=4, k_len=4)
    yield Case("one position", q_len=1, k_len=1)
    yield Case("one new query and a cache", q_len=1, k_len=6)
    yield Case("two new queries and a cache", q_len=2, k_len=5)
    yield Case("three of seven", q_len=3, k_len=7)


def _compare(j_and_i: Callable[[Tensor, Tensor, int], Tensor]) -> Callable[[int, int], Tensor]:
    def mask(q_len: int, k_len: int) -> Tensor:
        return j_and_i(torch.arange(k_len), torch.arange(q_len)[:, None], k_len - q_len)

    return mask


causal = Exercise(
    "scaled_dot_product.causal_mask",
    causal_mask,
    _sizes,
    returns=("mask",),
    mistakes={
        "Your queries are the first positions: with a cache they are the last, and query i stands "
        "at position k_len - q_len + i.": _compare(lambda j, i, shift: j <= i),
        "Your queries do not see themselves: a position may attend to itself and to those before "
        "it.": _compare(lambda j, i, shift: j < i + shift),
        "Your mask has the opposite polarity: here True means that a query may attend.": _compare(
            lambda j, i, shift: j > i + shift
        ),
        "Your queries look ahead: the keys allowed are those before, not those after.": _compare(
            lambda j, i, shift: j >= i + shift
        ),
    },
)

# Cross-attention ----------------------------------------------------------------------------


def _cross(
    target: Tensor,
    source: Tensor,
    W_query: Tensor,
    W_key: Tensor,
    W_value: Tensor,
    source_ids: Tensor,
    pad_id: int,
    *,
    roles: str = "tss",
    hide: Callable[[Tensor], Tensor | None] = lambda real: real[:, None, :],
    flip: bool = False,
) -> tuple[Tensor, Tensor]:
    asks, offers, gives = ({"t": target, "s": source}[role] for role in roles)
    real = source_ids == pad_id if flip else source_ids != pad_id
    query, key, value = asks @ W_query, offers @ W_key, gives @ W_value
    return scaled_dot_product_attention(query, key, value, hide(real))


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
    yield case(
        "a padded source of another width", [[5, 9, 4, 0, 0], [7, 3, 8, 6, 1]], 3, 4, 6, 8, 2
    )
    yield case("another padding id", [[5, 0, 3, 1, 1], [7, 0, 8, 6, 1]], 2, 5, 5, 3, 4, pad_id=1)


cross_attention = Exercise(
    "scaled_dot_product.cross_attention",
    _cross,
    _translations,
    returns=("context", "weights"),
    gradients=True,
    mistakes=slips(
        _cross,
        {
            "The source asks the target: queries come from the target, keys and values from the "
            "source.": {"roles": "stt"},
            "This is self-attention of the target: keys and values come from the source.": {
                "roles": "ttt"
            },
            "This is self-attention of the source: queries come from the target.": {"roles": "sss"},
            "Your values come from the target: they belong to the keys, so to the source.": {
                "roles": "tst"
            },
            "Your keys come from the target: they belong to the values, so to the source.": {
                "roles": "tts"
            },
            "You ignored the padding of the source.": {"hide": lambda real: None},
            "You masked queries, not keys: source positions are the last axis of the scores, so "
            "the mask needs shape (batch, 1, k_len).": {"hide": lambda real: real[:, :, None]},
            "Your mask has the opposite polarity: True means that a key may be attended to, so it "
            "is true where the source is not padding.": {"flip": True},
        },
    ),
)
