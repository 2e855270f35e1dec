"""A feed-forward network with a gate."""

from collections.abc import Iterator

import torch
import torch.nn.functional as F
from torch import Tensor

from glassbox_book.exercises.exercise import Case, Draw, Exercise


def _swiglu(x: Tensor, W_g: Tensor, W_1: Tensor, W_2: Tensor, flaw: str = "") -> Tensor:
    gate, inner = x @ W_g, x @ W_1
    ways = {
        "no bend": gate * inner,
        "sigmoid": gate.sigmoid() * inner,
        "gelu": F.gelu(gate) * inner,
        "relu": gate.relu() * inner,
        "wrong map": gate * F.silu(inner),
        "both": F.silu(gate) * F.silu(inner),
        "after": F.silu(gate * inner),
        "added": F.silu(gate) + inner,
        "no gate": F.silu(inner),
        "no second map": F.silu(gate),
    }
    result = ways.get(flaw, F.silu(gate) * inner) @ W_2
    return x + result if flaw == "residual" else result


def _networks(draw: Draw) -> Iterator[Case]:
    def case(about: str, *shape: int, d_ff: int, dtype: torch.dtype = torch.float32) -> Case:
        d = shape[-1]
        sizes = {"x": shape, "W_g": (d, d_ff), "W_1": (d, d_ff), "W_2": (d_ff, d)}
        return Case(about, **{name: draw(*size).to(dtype) for name, size in sizes.items()})

    yield case("three positions", 3, 4, d_ff=6)
    yield case("one vector without other axes", 4, d_ff=5)
    yield case("as wide inside as outside", 2, 4, d_ff=4)
    yield case("a batch of sequences", 2, 5, 6, d_ff=16)
    yield case("double precision", 3, 4, d_ff=6, dtype=torch.float64)


swiglu = Exercise("variants.swiglu", _swiglu, _networks, returns=("output",), gradients=True)
