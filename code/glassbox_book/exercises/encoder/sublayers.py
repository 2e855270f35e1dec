"""A feed-forward network, a norm, and the sum around a sublayer."""

from collections.abc import Iterator

import torch
from torch import Tensor

from glassbox.layers import gelu, gelu_tanh
from glassbox.layers import layer_norm as reference_norm
from glassbox_book.exercises.exercise import Case, Draw, Exercise


def _feed_forward(
    x: Tensor, W_1: Tensor, b_1: Tensor, W_2: Tensor, b_2: Tensor, flaw: str = ""
) -> Tensor:
    inner = x @ W_1 + (0.0 if flaw == "no first bias" else b_1)
    bends = {"relu": inner.relu(), "tanh": gelu_tanh(inner), "no bend": inner}
    outer = bends.get(flaw, gelu(inner)) @ W_2 + (0.0 if flaw == "no second bias" else b_2)
    flaws = {"two bends": gelu(outer), "residual": x + outer}
    return flaws.get(flaw, outer)


def _networks(draw: Draw) -> Iterator[Case]:
    def case(about: str, *shape: int, d_ff: int, dtype: torch.dtype = torch.float32) -> Case:
        d = shape[-1]
        sizes = {"x": shape, "W_1": (d, d_ff), "b_1": (d_ff,), "W_2": (d_ff, d), "b_2": (d,)}
        return Case(about, **{name: draw(*size).to(dtype) for name, size in sizes.items()})

    yield case("three positions", 3, 4, d_ff=8)
    yield case("one vector without other axes", 4, d_ff=6)
    yield case("a batch of sequences", 2, 5, 6, d_ff=24)
    yield case("a network that is narrow inside", 3, 6, d_ff=2)
    yield case("double precision", 3, 4, d_ff=8, dtype=torch.float64)


feed_forward = Exercise("encoder.feed_forward", _feed_forward, _networks, gradients=True)


def _layer_norm(x: Tensor, weight: Tensor, bias: Tensor, eps: float, flaw: str) -> Tensor:
    dim = 0 if flaw == "positions" else -1
    mean = x.mean(dim, keepdim=True)
    variance = x.var(dim, keepdim=True, correction=1 if flaw == "d - 1" else 0)
    sizes = {
        "epsilon outside": variance.sqrt() + eps,
        "no epsilon": variance.sqrt(),
        "no root": variance + eps,
    }
    size = sizes.get(flaw, (variance + eps).sqrt())
    y = (x if flaw == "no mean" else x - mean) / size
    flaws = {"no scale": y + bias, "no shift": y * weight}
    return flaws.get(flaw, y * weight + bias)


def _vectors(draw: Draw) -> Iterator[Case]:
    def case(about: str, x: Tensor, eps: float = 1e-5) -> Case:
        weight, bias = (draw(x.size(-1)).to(x.dtype) for _ in range(2))
        return Case(about, x=x, weight=weight, bias=bias, eps=eps)

    yield case("two positions", draw(2, 4))
    yield case("as many positions as components", 3 * draw(5, 5) + 2)
    yield case("one vector without other axes", draw(6) - 4)
    yield case("a batch of sequences", draw(2, 3, 8))
    yield case("numbers so small that epsilon counts", 1e-3 * draw(3, 8), eps=1e-6)
    yield case("equal components, which have no variance", torch.full((2, 4), 3.0))
    yield case("double precision", draw(3, 6).double())


layer_norm = Exercise("encoder.layer_norm", reference_norm, _vectors, _layer_norm, gradients=True)


def _residual(
    x: Tensor, W: Tensor, weight: Tensor, bias: Tensor, norm_first: bool, flaw: str = ""
) -> Tensor:
    def norm(y: Tensor) -> Tensor:
        return reference_norm(y, weight, bias)

    def sublayer(y: Tensor) -> Tensor:
        return torch.relu(y @ W)

    twice = flaw == "two norms"
    kept = torch.zeros_like(x) if flaw == "no residual" else x
    if norm_first != (flaw == "exchanged"):
        y = (norm(x) if flaw == "normed" else kept) + sublayer(norm(x))
        return norm(y) if twice else y
    return norm(kept + sublayer(norm(x) if twice else x))


def _steps(draw: Draw) -> Iterator[Case]:
    for norm_first, name in ((False, "post-norm"), (True, "pre-norm")):
        for about, shape in ((", two positions", (2, 4)), (", a batch", (2, 3, 6))):
            d = shape[-1]
            sizes = {"x": shape, "W": (d, d), "weight": (d,), "bias": (d,)}
            given = {argument: draw(*size) for argument, size in sizes.items()}
            yield Case(name + about, **given, norm_first=norm_first)


residual = Exercise("encoder.residual", _residual, _steps, gradients=True)
