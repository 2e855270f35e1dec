"""A decoder layer without norms, projections and heads."""

from collections.abc import Iterator

import torch
from torch import Tensor

from glassbox.attention import scaled_dot_product_attention
from glassbox.masks import causal_mask
from glassbox_book.exercises.exercise import Case, Draw, Exercise, slips


def _decoder_layer(
    x: Tensor,
    memory: Tensor,
    memory_mask: Tensor,
    W1: Tensor,
    W2: Tensor,
    *,
    causal: bool = True,
    masked: bool = True,
    flip: bool = False,
    residual: tuple[bool, bool, bool] = (True, True, True),
    cross_first: bool = False,
    asks: str = "x",
    relu: bool = True,
) -> Tensor:
    def self_attention(x: Tensor) -> Tensor:
        mask = causal_mask(x.size(1)) if causal else None
        return x * residual[0] + scaled_dot_product_attention(x, x, x, mask)[0]

    def cross_attention(x: Tensor) -> Tensor:
        mask = (~memory_mask if flip else memory_mask) if masked else None
        query = x if asks == "x" else start
        return x * residual[1] + scaled_dot_product_attention(query, memory, memory, mask)[0]

    start = x
    for step in (
        (cross_attention, self_attention) if cross_first else (self_attention, cross_attention)
    ):
        x = step(x)
    inner = x @ W1
    return x * residual[2] + (inner.relu() if relu else inner) @ W2


def _texts(draw: Draw) -> Iterator[Case]:
    def case(about: str, real: list[list[int]], m: int, d: int, d_ff: int) -> Case:
        return Case(
            about,
            x=draw(len(real), m, d),
            memory=draw(len(real), len(real[0]), d),
            memory_mask=torch.tensor(real).bool()[:, None],
            W1=draw(d, d_ff),
            W2=draw(d_ff, d),
        )

    yield case("one target position, one of the source", [[1]], 1, 3, 5)
    yield case("as many positions in both", [[1, 1, 1]], 3, 4, 6)
    yield case("a longer source", [[1, 1, 1, 1, 1]], 2, 4, 6)
    yield case("a padded source", [[1, 1, 0, 0], [1, 1, 1, 1]], 3, 4, 8)
    yield case("a padded source as long as the target", [[1, 0, 0], [1, 1, 0]], 3, 5, 7)


decoder_layer = Exercise(
    "decoder.decoder_layer",
    _decoder_layer,
    _texts,
    returns=("output",),
    gradients=True,
    mistakes=slips(
        _decoder_layer,
        {
            "Your target positions see the future: the self-attention needs the causal mask.": {
                "causal": False
            },
            "You ignored the padding of the source: memory_mask belongs in cross-attention.": {
                "masked": False
            },
            "Your mask of the source has the opposite polarity: True means may attend.": {
                "flip": True
            },
            "There is no residual connection around your self-attention.": {
                "residual": (False, True, True)
            },
            "There is no residual connection around your cross-attention.": {
                "residual": (True, False, True)
            },
            "There is no residual connection around your feed-forward network.": {
                "residual": (True, True, False)
            },
            "Your cross-attention comes first: a decoder layer looks at itself, then at the "
            "source.": {"cross_first": True},
            "Your cross-attention asks with the layer's input: its queries come from what the "
            "self-attention has left.": {"asks": "start"},
            "There is no ReLU in your feed-forward network.": {"relu": False},
        },
    ),
)
