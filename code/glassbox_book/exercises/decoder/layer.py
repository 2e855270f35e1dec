"""A decoder layer without norms, projections and heads."""

from collections.abc import Iterator

import torch
from torch import Tensor

from glassbox.attention import scaled_dot_product_attention
from glassbox.masks import causal_mask
from glassbox_book.exercises.exercise import Case, Draw, Exercise


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
    "decoder.decoder_layer", _decoder_layer, _texts, returns=("output",), gradients=True
)
