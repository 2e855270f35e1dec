"""Sequential steps, paths between positions, and the cost of a layer."""

import math
from collections.abc import Iterator, Mapping, Sequence

from glassbox_book.exercises.exercise import Case, Draw, Exercise

Graph = Mapping[str, Sequence[str]]

# The shortest path ---------------------------------------------------------------------------


def _path(graph: Graph, first: str, last: str, flaw: str = "") -> int:
    steps = {first: 1 if flaw == "stations" else 0}
    for station, sources in graph.items():
        asked = sources[:1] if flaw == "first source" else sources
        known = [steps[source] for source in asked if source in steps]
        if known:
            steps[station] = (max(known) if flaw == "longest" else min(known)) + 1
    return steps.get(last, 0 if flaw == "zero" else -1)


def _graphs(draw: Draw) -> Iterator[Case]:
    chain = {"h1": ["x1"], "h2": ["x2", "h1"], "h3": ["x3", "h2"], "h4": ["x4", "h3"]}
    yield Case("recurrence, from end to end", graph=chain, first="x1", last="h4")
    yield Case("recurrence, from the middle", graph=chain, first="x3", last="h4")
    yield Case("recurrence, backwards", graph=chain, first="x4", last="h1")
    attention = {f"y{i}": ["x1", "x2", "x3"] for i in (1, 2, 3)}
    yield Case("attention", graph=attention, first="x3", last="y1")
    two = attention | {f"z{i}": ["y1", "y2", "y3"] for i in (1, 2, 3)}
    yield Case("two layers of attention", graph=two, first="x1", last="z3")
    shortcut = chain | {"out": ["h4", "x1"]}
    yield Case("a chain with a short cut", graph=shortcut, first="x1", last="out")
    yield Case("a station and itself", graph=chain, first="x2", last="x2")


path_length = Exercise("architecture.path_length", _path, _graphs, returns=("path length",))

# Layers of a convolution ---------------------------------------------------------------------


def _layers(n: int, kernel_size: int, flaw: str = "") -> int:
    reach = {"end to end": kernel_size - 1, "kernel": kernel_size}.get(flaw, (kernel_size - 1) / 2)
    share = (n if flaw == "n positions" else n - 1) / reach
    return math.floor(share) if flaw == "down" else math.ceil(share)


def _sizes(draw: Draw) -> Iterator[Case]:
    yield Case("three neighbours, five words", n=5, kernel_size=3)
    yield Case("one word", n=1, kernel_size=3)
    yield Case("a wider kernel", n=9, kernel_size=5)
    yield Case("a width that does not divide the distance", n=8, kernel_size=5)
    yield Case("a kernel wider than the text", n=4, kernel_size=9)
    yield Case("a long text", n=1000, kernel_size=7)


layers = Exercise("architecture.layers", _layers, _sizes, returns=("number of layers",))

# Multiplications -----------------------------------------------------------------------------


def _work(n: int, d_model: int, flaw: str = "") -> tuple[int, int]:
    matrices = 1 if flaw == "one matrix" else 2
    projections = {"no projections": 0, "three projections": 3}.get(flaw, 4)
    maps = 1 if flaw == "one product" else 2
    compared = 1 if flaw == "one other" else n
    recurrent = matrices * n * d_model**2
    return recurrent, projections * n * d_model**2 + maps * n * compared * d_model


def _widths(draw: Draw) -> Iterator[Case]:
    yield Case("a sentence", n=20, d_model=512)
    yield Case("one word", n=1, d_model=8)
    yield Case("as long as wide", n=64, d_model=64)
    yield Case("a book", n=100_000, d_model=256)


work = Exercise("architecture.multiplications", _work, _widths, returns=("recurrent", "attention"))
