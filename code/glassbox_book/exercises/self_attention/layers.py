"""Properties of any layer, and the effect of stacking layers."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import torch
from torch import Tensor

from glassbox.attention.self_attention import simple_self_attention
from glassbox_book.exercises.exercise import Case, Draw, Exercise

_RULES: dict[str, Callable[[Tensor], Tensor]] = {
    "simple self-attention": lambda x: simple_self_attention(x)[0],
    "the plain average for every token": lambda x: x.mean(0, keepdim=True).expand_as(x).clone(),
    "twice each vector": lambda x: 2 * x,
    "the average so far": lambda x: x.cumsum(0) / torch.arange(1.0, len(x) + 1)[:, None],
    "every vector one place down": lambda x: x.roll(1, 0),
    "each plus its position": lambda x: x + torch.arange(float(len(x)))[:, None],
    "all rows sorted": lambda x: x.sort(0).values,
}


@dataclass(frozen=True)
class Layer:
    """A function of a sequence, displayed by its name instead of its address."""

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
    layer: Callable[[Tensor], Tensor], x: Tensor, order: Tensor, flaw: str = ""
) -> bool:
    out, moved = layer(x), layer(x[order])
    expected = {"back": out[order.argsort()], "the same": out}.get(flaw, out[order])
    if flaw == "not reordered":
        moved = expected
    if flaw == "sums":
        moved, expected = moved.sum(0), expected.sum(0)
    return bool(torch.allclose(moved, expected, atol=1e-5))


is_equivariant = Exercise(
    "self_attention.is_equivariant", _is_equivariant, _layers, returns=("answer",)
)


def _stacks(draw: Draw) -> Iterator[Case]:
    plane = torch.tensor([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    yield Case("three tokens in the plane", x=plane, tolerance=0.01)
    yield Case("a finer tolerance", x=plane, tolerance=1e-4)
    yield Case("longer vectors", x=2.0 * plane, tolerance=0.01)
    yield Case("tokens that are alike from the start", x=plane[:1].repeat(4, 1), tolerance=0.01)
    yield Case("two tokens far apart", x=torch.tensor([[1.5, 0.0], [-1.5, 0.5]]), tolerance=0.1)
    yield Case("six tokens", x=0.8 * draw(6, 4), tolerance=0.01)


def _layers_until_alike(x: Tensor, tolerance: float, flaw: str = "") -> int:
    count, now = 0, x
    first_weights = simple_self_attention(x)[1]
    while count < 100:
        distances = torch.cdist(now, now)
        if (distances.mean() if flaw == "average" else distances.max()) < tolerance:
            break
        now = first_weights @ now if flaw == "first weights" else simple_self_attention(now)[0]
        count += 1
    return count + 1 if flaw == "one off" else count


layers_until_alike = Exercise(
    "self_attention.layers_until_alike",
    _layers_until_alike,
    _stacks,
    returns=("number of layers",),
)
