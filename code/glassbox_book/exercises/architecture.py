"""Chapter 1: which positions depend on which, the loop that writes, and the costs of layers."""

import math
from collections.abc import Callable, Mapping, Sequence

import torch
from torch import Tensor

from glassbox_book.exercises.exercise import Cases, Draw, Named, cases_of


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
    "negation": torch.neg,
    "the last component of the position before": lambda x: torch.cat(
        [torch.zeros_like(x[:1]), x[:-1, -1:] * torch.ones_like(x[:1])]
    ),
    "a part just large enough": lambda x: x + 2e-5 * x.flip(0),
    "a part too small to count": lambda x: x + 1e-7 * x.flip(0),
}


def _dependencies(network: Callable[[Tensor], Tensor], x: Tensor, flaw: str) -> Tensor:
    jacobian = torch.autograd.functional.jacobian(network, x)  # (n, outputs, n, inputs)
    flaws = {
        "sum": jacobian.sum(dim=1).abs().amax(dim=-1),
        "first component": jacobian[:, 0].abs().amax(dim=-1),
    }
    found = flaws.get(flaw, jacobian.abs().amax(dim=(1, 3))) > 1e-5
    if flaw == "polarity":
        return ~found
    return found.mT if flaw == "transposed" else found


@cases_of(_dependencies, returns=("dependencies",))
def _networks(draw: Draw) -> Cases:
    for about in NETWORKS:
        yield about, Named(f"({about})", NETWORKS[about]), draw(5, 3)
    yield "one position", Named("(attention)", NETWORKS["attention"]), draw(1, 3)


def _writer(*text: int, begin: int = 7) -> Named:
    """Return a model that writes the tokens of ``text``, provided it is shown all tokens so far.

    Its vocabulary has nine tokens, one of which begins the text; after a wrong beginning, 0 wins.
    """

    def model(token_ids: Tensor) -> Tensor:
        if token_ids.dim() != 1:
            raise ValueError(f"token_ids has shape {tuple(token_ids.shape)}, expected (length,)")
        written = tuple(token_ids.tolist())
        place = len(written)
        right = (begin, *text)[:place] == written and place <= len(text)
        logits = torch.arange(9.0).cos()
        logits[text[place - 1] if right else 0] += 5.0
        return logits

    return Named(f"a model that writes {' '.join(map(str, text))}", model)


def _greedy(
    model: Callable[[Tensor], Tensor], begin: int, end: int, longest: int, flaw: str
) -> Tensor:
    written = [begin]
    for _ in range(longest + {"one more": 1, "one fewer": -1}.get(flaw, 0)):
        shown = {"last token": written[-1:], "no beginning": written[1:]}.get(flaw, written)
        logits = model(torch.tensor(shown))
        token = int(logits.argmin() if flaw == "smallest" else logits.argmax())
        written.append(token)
        if token == end and flaw != "no stop":
            break
    if flaw == "end left out" and written[-1] == end:
        written.pop()
    return torch.tensor(written[1:] if flaw == "beginning left out" else written)


@cases_of(_greedy, returns=("tokens",))
def _texts(draw: Draw) -> Cases:
    yield "three words and the end", _writer(4, 2, 5, 8), 7, 8, 10
    yield "the end at once", _writer(8), 7, 8, 5
    yield "a word twice", _writer(3, 1, 3, 6, 8), 7, 8, 10
    yield "a text that does not end", _writer(1, 2, 3, 4, 5), 7, 8, 4
    yield "exactly as long as allowed", _writer(6, 5, 8), 7, 8, 3
    yield "token 0 is a word", _writer(1, 0, 2, 8), 7, 8, 10
    yield "other begin and end tokens", _writer(8, 7, 4, begin=2), 2, 4, 10


Graph = Mapping[str, Sequence[str]]


# The shortest path ---------------------------------------------------------------------------


def _path_length(graph: Graph, first: str, last: str, flaw: str) -> int:
    steps = {first: 1 if flaw == "stations" else 0}
    for station, sources in graph.items():
        asked = sources[:1] if flaw == "first source" else sources
        known = [steps[source] for source in asked if source in steps]
        if known:
            steps[station] = (max(known) if flaw == "longest" else min(known)) + 1
    return steps.get(last, 0 if flaw == "zero" else -1)


@cases_of(_path_length, returns=("path length",))
def _graphs(draw: Draw) -> Cases:
    chain = {"h1": ["x1"], "h2": ["x2", "h1"], "h3": ["x3", "h2"], "h4": ["x4", "h3"]}
    yield "recurrence, from end to end", chain, "x1", "h4"
    yield "recurrence, from the middle", chain, "x3", "h4"
    yield "recurrence, backwards", chain, "x4", "h1"
    attention = {f"y{i}": ["x1", "x2", "x3"] for i in (1, 2, 3)}
    yield "attention", attention, "x3", "y1"
    two = attention | {f"z{i}": ["y1", "y2", "y3"] for i in (1, 2, 3)}
    yield "two layers of attention", two, "x1", "z3"
    yield "a chain with a shortcut", chain | {"out": ["h4", "x1"]}, "x1", "out"
    yield "the shortcut listed first", chain | {"out": ["x1", "h4"]}, "x1", "out"
    yield "a station and itself", chain, "x2", "x2"


# Layers of a convolution ---------------------------------------------------------------------


def _layers(n: int, kernel_size: int, flaw: str) -> int:
    reach = {"end to end": kernel_size - 1, "kernel": kernel_size}.get(flaw, (kernel_size - 1) / 2)
    share = (n if flaw == "n positions" else n - 1) / reach
    return math.floor(share) if flaw == "down" else math.ceil(share)


@cases_of(_layers, returns=("number of layers",))
def _sizes(draw: Draw) -> Cases:
    yield "three neighbours, five words", 5, 3
    yield "one word", 1, 3
    yield "a wider kernel", 9, 5
    yield "a width that does not divide the distance", 8, 5
    yield "a little more than two layers", 8, 7
    yield "a kernel wider than the text", 4, 9
    yield "a long text", 1000, 7


# Multiplications -----------------------------------------------------------------------------


def _multiplications(n: int, d_model: int, flaw: str) -> tuple[int, int]:
    matrices = 1 if flaw == "one matrix" else 2
    projections = {"no projections": 0, "three projections": 3}.get(flaw, 4)
    maps = 1 if flaw == "one product" else 2
    compared = 1 if flaw == "one other" else n
    recurrent = matrices * n * d_model**2
    attention = projections * n * d_model**2 + maps * n * compared * d_model
    return (attention, recurrent) if flaw == "exchanged" else (recurrent, attention)


@cases_of(_multiplications, returns=("recurrent layer's count", "attention layer's count"))
def _widths(draw: Draw) -> Cases:
    yield "a sentence", 20, 512
    yield "one word", 1, 8
    yield "as long as wide", 64, 64
    yield "a book", 100_000, 256
