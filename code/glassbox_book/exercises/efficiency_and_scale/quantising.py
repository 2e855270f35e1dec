"""Weights as whole numbers, with a scale for each row."""

from collections.abc import Iterator

import torch
from torch import Tensor

from glassbox_book.exercises.exercise import Case, Draw, Exercise


def _quantise(weight: Tensor, bits: int, flaw: str = "") -> tuple[Tensor, Tensor]:
    most = 2**bits - 1 if flaw == "no sign" else 2 ** (bits - 1) - 1
    sizes = weight if flaw == "not absolute" else weight.abs()
    largest = sizes.amax(dim=1, keepdim=True)
    if flaw == "one scale":
        largest = torch.ones_like(largest) * weight.abs().max()
    scale = torch.where(largest == 0, torch.ones_like(largest), largest / most)
    if flaw == "columns":
        scale = (weight.abs().amax(dim=0, keepdim=True) / most).clamp(min=1e-9)
    whole = weight / scale
    return whole.trunc() if flaw == "cut off" else whole.round(), scale


def _matrices(draw: Draw) -> Iterator[Case]:
    def matrix(*rows: list[float]) -> Tensor:
        return torch.tensor(rows, dtype=torch.float64)

    yield Case("one row", weight=matrix([0.31, -0.02, 0.12, -0.27]), bits=4)
    yield Case("the largest is negative", weight=matrix([-0.8, 0.1, 0.33, 0.2]), bits=8)
    yield Case(
        "rows of different size", weight=draw(3, 4).double() * matrix([1.0], [9.0], [0.1]), bits=8
    )
    yield Case("a row of zeros", weight=matrix([0.0, 0.0], [0.5, -1.0]), bits=3)


quantise_rows = Exercise(
    "efficiency_and_scale.quantise_rows", _quantise, _matrices, returns=("whole", "scale")
)
