"""A feed-forward network, a norm, and the sum around a sublayer."""

from collections.abc import Callable, Iterator

import torch
from torch import Tensor

from glassbox.layers import gelu, gelu_tanh
from glassbox.layers import layer_norm as reference_norm
from glassbox_book.exercises.exercise import Case, Draw, Exercise, slips


def _feed_forward(
    x: Tensor,
    W_1: Tensor,
    b_1: Tensor,
    W_2: Tensor,
    b_2: Tensor,
    *,
    bend: Callable[[Tensor], Tensor] = gelu,
    last: Callable[[Tensor], Tensor] = lambda y: y,
    inner: float = 1.0,
    outer: float = 1.0,
    add: float = 0.0,
) -> Tensor:
    hidden = bend(x @ W_1 + inner * b_1)
    return add * x + last(hidden @ W_2 + outer * b_2)


def _networks(draw: Draw) -> Iterator[Case]:
    def case(about: str, *shape: int, d_ff: int) -> Case:
        d = shape[-1]
        sizes = {"x": shape, "W_1": (d, d_ff), "b_1": (d_ff,), "W_2": (d_ff, d), "b_2": (d,)}
        return Case(about, **{name: draw(*size) for name, size in sizes.items()})

    yield case("three positions", 3, 4, d_ff=8)
    yield case("one vector without other axes", 4, d_ff=6)
    yield case("a batch of sequences", 2, 5, 6, d_ff=24)
    yield case("a network that is narrow inside", 3, 6, d_ff=2)
    yield Case("double precision", **_double(case("", 3, 4, d_ff=8)))


def _double(case: Case) -> dict[str, Tensor]:
    return {name: value.double() for name, value in case.arguments.items()}


feed_forward = Exercise(
    "encoder.feed_forward",
    _feed_forward,
    _networks,
    gradients=True,
    mistakes=slips(
        _feed_forward,
        {
            "This is ReLU: BERT's GELU lets a little of a small negative number through.": {
                "bend": torch.relu
            },
            "This is the approximation with tanh, which GPT-2 uses: BERT has the exact one, with "
            "erf.": {"bend": gelu_tanh},
            "There is no bend between the two maps, and two linear maps in a row are one.": {
                "bend": lambda y: y
            },
            "The output is bent too: the second map is the last thing that happens.": {
                "last": gelu
            },
            "The first bias is missing.": {"inner": 0.0},
            "The second bias is missing.": {"outer": 0.0},
            "You added x: the residual connection is not a part of the network.": {"add": 1.0},
        },
    ),
)


def _layer_norm(
    x: Tensor,
    weight: Tensor,
    bias: Tensor,
    eps: float,
    *,
    dim: int | tuple[int, ...] = -1,
    correction: int = 0,
    where: str = "inside",
    center: bool = True,
    scale: bool = True,
    shift: bool = True,
    root: bool = True,
) -> Tensor:
    mean = x.mean(dim, keepdim=True)
    variance = x.var(dim, keepdim=True, correction=correction)
    size = {
        "inside": (variance + eps).sqrt(),
        "outside": variance.sqrt() + eps,
        "none": variance.sqrt(),
    }[where]
    y = (x - mean if center else x) / (size if root else variance + eps)
    return (y * weight if scale else y) + (bias if shift else 0.0)


def _vectors(draw: Draw) -> Iterator[Case]:
    def case(about: str, x: Tensor, eps: float = 1e-5) -> Case:
        width = x.size(-1)
        return Case(
            about,
            x=x,
            weight=draw(width).to(x.dtype),
            bias=draw(width).to(x.dtype),
            eps=eps,
        )

    yield case("two positions", draw(2, 4))
    yield case("as many positions as components", 3 * draw(5, 5) + 2)
    yield case("one vector without other axes", draw(6) - 4)
    yield case("a batch of sequences", draw(2, 3, 8))
    yield case("numbers so small that epsilon counts", 1e-3 * draw(3, 8), eps=1e-6)
    yield case("equal components, which have no variance", torch.full((2, 4), 3.0))
    yield case("double precision", draw(3, 6).double())


layer_norm = Exercise(
    "encoder.layer_norm",
    reference_norm,
    _vectors,
    gradients=True,
    mistakes=slips(
        _layer_norm,
        {
            "Your variance divides by d - 1: a layer norm divides by d, correction=0.": {
                "correction": 1
            },
            "Your epsilon stands outside the root: add it to the variance, then take the root.": {
                "where": "outside"
            },
            "Without epsilon a vector of equal components gives 0/0.": {"where": "none"},
            "You normalised over positions: mean and variance belong to one position, dim=-1.": {
                "dim": 0
            },
            "You did not take the mean away.": {"center": False},
            "You divided by the variance, not by its root.": {"root": False},
            "The learned scale, weight, is missing.": {"scale": False},
            "The learned shift, bias, is missing.": {"shift": False},
        },
    ),
)


def _residual(
    x: Tensor,
    W: Tensor,
    weight: Tensor,
    bias: Tensor,
    norm_first: bool,
    *,
    swap: bool = False,
    keep: str = "x",
    twice: bool = False,
) -> Tensor:
    def norm(y: Tensor) -> Tensor:
        return reference_norm(y, weight, bias)

    def sublayer(y: Tensor) -> Tensor:
        return torch.relu(y @ W)

    if norm_first != swap:
        kept = {"x": x, "normed": norm(x), "none": torch.zeros_like(x)}[keep]
        y = kept + sublayer(norm(x))
        return norm(y) if twice else y
    kept = {"x": x, "normed": x, "none": torch.zeros_like(x)}[keep]
    return norm(kept + sublayer(norm(x) if twice else x))


def _steps(draw: Draw) -> Iterator[Case]:
    for norm_first, name in ((False, "post-norm"), (True, "pre-norm")):
        for about, shape in ((", two positions", (2, 4)), (", a batch", (2, 3, 6))):
            d = shape[-1]
            yield Case(
                name + about,
                x=draw(*shape),
                W=draw(d, d),
                weight=draw(d),
                bias=draw(d),
                norm_first=norm_first,
            )


residual = Exercise(
    "encoder.residual",
    _residual,
    _steps,
    gradients=True,
    mistakes=slips(
        _residual,
        {
            "You took pre-norm for post-norm: norm_first means that the norm comes before the "
            "sublayer.": {"swap": True},
            "You added the normalised x: in pre-norm x itself goes past the norm.": {
                "keep": "normed"
            },
            "You left x out: add it to what the sublayer returns.": {"keep": "none"},
            "You normalised twice: each of the two forms has one norm.": {"twice": True},
        },
    ),
)
