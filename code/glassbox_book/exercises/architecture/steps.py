"""Steps that wait, paths between positions, and the work of a layer."""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial

from glassbox_book.exercises.exercise import Case, Draw, Exercise, slips

Graph = Mapping[str, Sequence[str]]

# The shortest path ---------------------------------------------------------------------------


def _path(
    graph: Graph,
    first: str,
    last: str,
    *,
    choose: Callable[[Iterable[int]], int] = min,
    begin: int = 0,
    none: int = -1,
) -> int:
    steps = {first: begin}
    for station, sources in graph.items():
        known = [steps[source] for source in sources if source in steps]
        if known:
            steps[station] = choose(known) + 1
    return steps.get(last, none)


def _first_source(graph: Graph, first: str, last: str) -> int:
    """Follow the first source of each station alone."""
    count = 0
    while last != first:
        if last not in graph:
            return -1
        last, count = graph[last][0], count + 1
    return count


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


path_length = Exercise(
    "architecture.path_length",
    _path,
    _graphs,
    returns=("path length",),
    mistakes={
        "You count the longest path: what stands at a position takes the shortest way there is, "
        "so take the smallest.": partial(_path, choose=max),
        "You count stations, not steps: the station where you begin is 0 steps away.": partial(
            _path, begin=1
        ),
        "You follow the first source of each station and no other: there may be a way through any "
        "of them.": _first_source,
        "You give 0 where there is no way: return -1, since 0 is the way from a station to "
        "itself.": partial(_path, none=0),
    },
)

# Layers of a convolution ---------------------------------------------------------------------


def _layers(n: int, kernel_size: int, *, reach: str = "half", gap: int = 1, up: bool = True) -> int:
    width = {"half": (kernel_size - 1) / 2, "all": kernel_size - 1, "kernel": kernel_size}[reach]
    share = (n - gap) / width
    return math.ceil(share) if up else math.floor(share)


def _sizes(draw: Draw) -> Iterator[Case]:
    yield Case("three neighbours, five words", n=5, kernel_size=3)
    yield Case("one word", n=1, kernel_size=3)
    yield Case("a wider kernel", n=9, kernel_size=5)
    yield Case("a width that does not divide the distance", n=8, kernel_size=5)
    yield Case("a kernel wider than the text", n=4, kernel_size=9)
    yield Case("a long text", n=1000, kernel_size=7)


layers = Exercise(
    "architecture.layers",
    _layers,
    _sizes,
    returns=("number of layers",),
    mistakes=slips(
        _layers,
        {
            "You let a layer carry from one end of its kernel to the other: it looks (kernel_size "
            "- 1) / 2 positions to the left of its middle.": {"reach": "all"},
            "You let a layer carry as far as its kernel is wide: it looks (kernel_size - 1) / 2 "
            "positions to the left of its middle.": {"reach": "kernel"},
            "You bridge n positions: from the first to the last it is n - 1.": {"gap": 0},
            "You round down: a part of a layer does not reach the end, so round up.": {"up": False},
        },
    ),
)

# Multiplications -----------------------------------------------------------------------------


def _work(
    n: int,
    d_model: int,
    *,
    matrices: int = 2,
    projections: int = 4,
    maps: int = 2,
    power: int = 2,
    swap: bool = False,
) -> tuple[int, int]:
    recurrent = matrices * n * d_model**2
    pairs = n**power * d_model if not swap else n * d_model**2
    return recurrent, projections * n * d_model**2 + maps * pairs


def _widths(draw: Draw) -> Iterator[Case]:
    yield Case("a sentence", n=20, d_model=512)
    yield Case("one word", n=1, d_model=8)
    yield Case("as long as wide", n=64, d_model=64)
    yield Case("a book", n=100_000, d_model=256)


work = Exercise(
    "architecture.multiplications",
    _work,
    _widths,
    returns=("recurrent", "attention"),
    mistakes=slips(
        _work,
        {
            "Your recurrent layer has one matrix: it has one for the word and one for the hidden "
            "state.": {"matrices": 1},
            "Your attention has no projections: there are four, each of d_model by d_model.": {
                "projections": 0
            },
            "Your attention has three projections: there is one more, for the output.": {
                "projections": 3
            },
            "You left out the scores or the averages: each takes n² products of d_model terms.": {
                "maps": 1
            },
            "You compare each position with one other: it is compared with all n.": {"power": 1},
        },
    ),
)
