"""How far apart a model keeps two senses of a word."""

from collections.abc import Iterator

import torch
import torch.nn.functional as F
from torch import Tensor

from glassbox_book.exercises.exercise import Case, Draw, Exercise


def _sense_gap(first: Tensor, second: Tensor, flaw: str = "") -> float:
    vectors = torch.cat([first, second])
    if flaw != "dot products":
        vectors = F.normalize(vectors, dim=-1)
    similarity = vectors @ vectors.mT
    sense = torch.tensor([0] * len(first) + [1] * len(second))
    same = sense[:, None] == sense
    pairs = same if flaw == "itself" else same & ~torch.eye(len(sense), dtype=torch.bool)
    between, within = similarity[~same].mean(), similarity[pairs].mean()
    if flaw == "each sense":
        within = torch.stack([similarity[pairs & (sense == s)].mean() for s in (0, 1)]).mean()
    flaws = {"within": within, "sign": between - within}
    return float(flaws.get(flaw, within - between))


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


# Where the senses are one, the two means nearly cancel, so the last digits of the gap are rounding.
sense_gap = Exercise("encoder.sense_gap", _sense_gap, _words, returns=("gap",), tolerance=1e-3)
