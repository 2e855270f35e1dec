"""How far apart a model keeps two senses of a word."""

from collections.abc import Iterator

import torch
import torch.nn.functional as F
from torch import Tensor

from glassbox_book.exercises.exercise import Case, Draw, Exercise, slips


def _sense_gap(
    first: Tensor,
    second: Tensor,
    *,
    cosine: bool = True,
    selves: bool = False,
    part: str = "gap",
    pooled: bool = True,
) -> float:
    vectors = torch.cat([first, second])
    if cosine:
        vectors = F.normalize(vectors, dim=-1)
    similarity = vectors @ vectors.mT
    sense = torch.tensor([0] * len(first) + [1] * len(second))
    same = sense[:, None] == sense
    pairs = same if selves else same & ~torch.eye(len(sense), dtype=torch.bool)
    between = similarity[~same].mean()
    if pooled:
        within = similarity[pairs].mean()
    else:
        of = [similarity[pairs & (sense == s) & (sense[:, None] == s)].mean() for s in (0, 1)]
        within = torch.stack(of).mean()
    return float({"gap": within - between, "within": within, "flip": between - within}[part])


def _words(draw: Draw) -> Iterator[Case]:
    def case(about: str, n: int, m: int, d: int, apart: float = 1.0, size: float = 1.0) -> Case:
        middle, way = draw(d), draw(d)
        lengths = 1 + size * torch.arange(m)[:, None]
        return Case(
            about,
            first=middle + 0.3 * draw(n, d),
            second=lengths * (middle + apart * way + 0.3 * draw(m, d)),
        )

    yield case("two vectors of each sense", 2, 2, 5)
    yield case("senses of unequal number", 2, 6, 8)
    yield case("vectors of unequal length", 4, 3, 6, size=3.0)
    yield case("two senses that are one", 5, 4, 8, apart=0.0)


sense_gap = Exercise(
    "encoder.sense_gap",
    _sense_gap,
    _words,
    returns=("gap",),
    mistakes=slips(
        _sense_gap,
        {
            "You took dot products: vectors differ in length, so divide by their lengths.": {
                "cosine": False
            },
            "You counted the similarity of each vector with itself, which is 1 and says nothing.": {
                "selves": True
            },
            "That is the similarity within the senses: take the one between them away.": {
                "part": "within"
            },
            "You took within from between: the gap is positive if the senses are apart.": {
                "part": "flip"
            },
            "You averaged each sense first: count every pair of one sense once.": {"pooled": False},
        },
    ),
)
