"""What holds for any layer, and what happens when layers are stacked."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

import torch
from torch import Tensor

from glassbox.attention.self_attention import simple_self_attention
from glassbox_book.exercises.exercise import Case, Draw, Exercise, slips

_RULES: dict[str, Callable[[Tensor], Tensor]] = {
    "simple self-attention": lambda x: simple_self_attention(x)[0],
    "the plain average for everybody": lambda x: x.mean(0, keepdim=True).expand_as(x).clone(),
    "twice each vector": lambda x: 2 * x,
    "the average so far": lambda x: x.cumsum(0) / torch.arange(1.0, len(x) + 1)[:, None],
    "every vector one place down": lambda x: x.roll(1, 0),
    "each plus its position": lambda x: x + torch.arange(float(len(x)))[:, None],
    "all rows sorted": lambda x: x.sort(0).values,
}


@dataclass(frozen=True)
class Layer:
    """A function of a sequence, with a name to show in place of its address."""

    name: str

    def __call__(self, x: Tensor) -> Tensor:
        return _RULES[self.name](x)

    def __repr__(self) -> str:
        return self.name


def _layers(draw: Draw) -> Iterator[Case]:
    order = torch.tensor([2, 0, 3, 1])
    for name in _RULES:
        yield Case(name, layer=Layer(name), x=draw(4, 3), order=order)


def _is_equivariant(
    layer: Callable[[Tensor], Tensor],
    x: Tensor,
    order: Tensor,
    *,
    kept: bool = False,
    idle: bool = False,
    sums: bool = False,
    back: bool = False,
) -> bool:
    moved = layer(x if idle else x[order])
    out = layer(x)
    expected = out if kept else out[order.argsort() if back else order]
    if idle:
        expected = out
    if sums:
        return bool((moved.sum(0) - expected.sum(0)).abs().max() < 1e-5)
    return bool(torch.allclose(moved, expected, atol=1e-5))


is_equivariant = Exercise(
    "self_attention.is_equivariant",
    _is_equivariant,
    _layers,
    returns=("answer",),
    # In this order, because two of them may give the same answers where one is wrong.
    mistakes={
        "You moved the outputs the other way: index them with order, like the inputs.": partial(
            _is_equivariant, back=True
        ),
        "You asked whether the outputs stay the same: they should move with the inputs.": partial(
            _is_equivariant, kept=True
        ),
        "You compared sums over the tokens: these cannot tell who has got which output.": partial(
            _is_equivariant, sums=True
        ),
        "You never reordered the input: every layer agrees with itself.": partial(
            _is_equivariant, idle=True
        ),
    },
)


def _stacks(draw: Draw) -> Iterator[Case]:
    plane = torch.tensor([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    yield Case("three tokens in the plane", x=plane, tolerance=0.01)
    yield Case("a finer tolerance", x=plane, tolerance=1e-4)
    yield Case("longer vectors", x=2.0 * plane, tolerance=0.01)
    yield Case("tokens that are alike from the start", x=plane[:1].repeat(4, 1), tolerance=0.01)
    yield Case("two tokens far apart", x=torch.tensor([[1.5, 0.0], [-1.5, 0.5]]), tolerance=0.1)
    yield Case("six tokens", x=0.8 * draw(6, 4), tolerance=0.01)


def _layers_until_alike(
    x: Tensor,
    tolerance: float,
    *,
    late: int = 0,
    attend: Callable[[Tensor, Tensor], Tensor] = lambda x, first: simple_self_attention(x)[0],
    distance: Callable[[Tensor], Tensor] = lambda x: torch.cdist(x, x).max(),
) -> int:
    count, now = 0, x
    while distance(now) >= tolerance and count < 100:
        now = attend(now, x)
        count += 1
    return count + late


layers_until_alike = Exercise(
    "self_attention.layers_until_alike",
    _layers_until_alike,
    _stacks,
    returns=("number of layers",),
    mistakes=slips(
        _layers_until_alike,
        {
            "You are one layer off: look at the distances before the first layer too.": {"late": 1},
            "You kept the first layer's weights: each layer makes its own from what it gets.": {
                "attend": lambda x, first: simple_self_attention(first)[1] @ x
            },
            "You took the average distance: ask for the largest between any two tokens.": {
                "distance": lambda x: torch.cdist(x, x).mean()
            },
        },
    ),
)
