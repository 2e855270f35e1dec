"""Find out from outside which positions of a network depend on which."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import torch
from torch import Tensor

from glassbox_book.exercises.exercise import Case, Draw, Exercise


def _recurrence(x: Tensor) -> Tensor:
    state, states = torch.zeros_like(x[0]), []
    for row in x:
        state = torch.tanh(0.9 * state + row)
        states.append(state)
    return torch.stack(states)


def _causal_attention(x: Tensor) -> Tensor:
    weights = (x @ x.T).masked_fill(~torch.ones(len(x), len(x)).tril().bool(), float("-inf"))
    return weights.softmax(dim=-1) @ x


def _convolution(x: Tensor) -> Tensor:
    edge = torch.zeros_like(x[:1])
    return torch.tanh(x + torch.cat([edge, x[:-1]]) + torch.cat([x[1:], edge]))


NETWORKS: dict[str, Callable[[Tensor], Tensor]] = {
    "each for itself": torch.tanh,
    "attention": lambda x: (x @ x.T).softmax(dim=-1) @ x,
    "causal attention": _causal_attention,
    "recurrence": _recurrence,
    "convolution": _convolution,
    "the position before": lambda x: torch.cat([torch.zeros_like(x[:1]), x[:-1]]),
    "shares that sum to 1": lambda x: (2 * x).softmax(dim=-1),
    "wider outputs": lambda x: torch.cat([x, x.flip(0), x], dim=-1),
}


@dataclass(frozen=True)
class Network:
    """One of the networks, identified by name, so it can be copied, compared and printed."""

    name: str

    def __call__(self, x: Tensor) -> Tensor:
        """Apply it to ``(n, d)`` and return one vector for each input vector."""
        return NETWORKS[self.name](x)

    def __repr__(self) -> str:
        return f"({self.name})"


def _dependencies(network: Callable[[Tensor], Tensor], x: Tensor, flaw: str = "") -> Tensor:
    jacobian = torch.autograd.functional.jacobian(network, x)  # (n, outputs, n, inputs)
    flaws = {
        "sum": jacobian.sum(dim=1).abs().amax(dim=-1),
        "first component": jacobian[:, 0].abs().amax(dim=-1),
    }
    found = flaws.get(flaw, jacobian.abs().amax(dim=(1, 3))) > 1e-5
    if flaw == "polarity":
        return ~found
    return found.mT if flaw == "transposed" else found


def _networks(draw: Draw) -> Iterator[Case]:
    for about in NETWORKS:
        yield Case(about, network=Network(about), x=draw(5, 3))
    yield Case("one position", network=Network("attention"), x=draw(1, 3))


dependencies = Exercise(
    "architecture.dependencies", _dependencies, _networks, returns=("dependencies",)
)
