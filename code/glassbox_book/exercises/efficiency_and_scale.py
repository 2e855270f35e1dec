"""Chapter 12: operations and bytes, an online softmax in two parts, and whole numbers."""

from collections.abc import Iterator

import torch
from torch import Tensor

from glassbox_book.exercises.exercise import Case, Draw, cases_of

# Operations ----------------------------------------------------------------------------------


def _step_operations(n: int, d_model: int, d_ff: int, n_layers: int, flaw: str = "") -> int:
    if flaw == "always four":
        d_ff = 4 * d_model
    projections = 1 if flaw == "one projection" else 4
    maps = n * (projections * d_model**2 + 2 * d_model * d_ff)
    pairs = {"no pairs": 0, "scores alone": n**2 * d_model}.get(flaw, 2 * n**2 * d_model)
    passes = {"forward alone": 1, "backward once": 2}.get(flaw, 3)
    each = 1 if flaw == "multiplications" else 2
    return passes * each * n_layers * (maps + pairs)


@cases_of(_step_operations, returns=("number of operations",))
def _stacks(draw: Draw) -> Iterator[Case]:
    yield Case("a small layer", n=10, d_model=8, d_ff=32, n_layers=1)
    yield Case("six of the paper's layers", n=100, d_model=512, d_ff=2048, n_layers=6)
    yield Case("a long text", n=10000, d_model=64, d_ff=256, n_layers=2)
    yield Case("not four times as wide", n=50, d_model=64, d_ff=100, n_layers=3)


# Bytes ---------------------------------------------------------------------------------------


def _bytes_on_each(parameters: int, devices: int, sharded: int, flaw: str = "") -> float:
    order = {"weights first": (2, 2, 12), "two means": (8, 2, 2)}.get(flaw, (12, 2, 2))
    cut = {"all": 3, "none": 0}.get(flaw, sharded)
    parts = [parameters * n / (devices if i < cut else 1) for i, n in enumerate(order)]
    return sum(parts) * (devices if flaw == "all devices" else 1)


@cases_of(_bytes_on_each, returns=("number of bytes",))
def _models(draw: Draw) -> Iterator[Case]:
    yield Case("one device", parameters=1000, devices=1, sharded=3)
    yield Case("nothing is divided", parameters=1000, devices=8, sharded=0)
    yield Case("the optimiser's states", parameters=1000, devices=4, sharded=1)
    yield Case("and the gradients", parameters=64000, devices=16, sharded=2)
    yield Case("and the weights", parameters=64000, devices=64, sharded=3)
    yield Case("a number that does not divide evenly", parameters=1001, devices=3, sharded=3)


def _merge(
    m_1: Tensor, l_1: Tensor, c_1: Tensor, m_2: Tensor, l_2: Tensor, c_2: Tensor, flaw: str = ""
) -> tuple[Tensor, Tensor, Tensor]:
    m = torch.maximum(m_1, m_2)
    old, new = (m_1 - m).exp(), (m_2 - m).exp()
    if flaw == "no correction":
        old = new = torch.ones_like(m)
    if flaw == "first alone":
        new = torch.ones_like(m)
    if flaw == "other way":
        old, new = (m - m_1).exp(), (m - m_2).exp()
    total, context = old * l_1 + new * l_2, old * c_1 + new * c_2
    return m, total, context / total if flaw == "divided" else context


@cases_of(_merge, returns=("maximum", "sum", "context"))
def _parts(draw: Draw) -> Iterator[Case]:
    def part(maximum: float) -> tuple[Tensor, Tensor, Tensor]:
        scores = draw(5).double()
        scores = scores - scores.max() + maximum
        weights = (scores - maximum).exp()
        return scores.max(), weights.sum(), weights @ draw(5, 3).double()

    def case(about: str, first: float, second: float) -> Case:
        (m_1, l_1, c_1), (m_2, l_2, c_2) = part(first), part(second)
        return Case(about, m_1=m_1, l_1=l_1, c_1=c_1, m_2=m_2, l_2=l_2, c_2=c_2)

    yield case("the second has the maximum", 0.0, 2.0)
    yield case("the first has it", 3.0, 0.0)
    yield case("far apart", 0.0, 12.0)
    yield case("both have it", 0.0, 0.0)
    yield case("scores in the hundreds", 800.0, 805.0)


def _quantise_rows(weight: Tensor, bits: int, flaw: str = "") -> tuple[Tensor, Tensor]:
    wrong = {"no sign": 2**bits - 1, "one more": 2 ** (bits - 1)}
    most = wrong.get(flaw, 2 ** (bits - 1) - 1)
    sizes = weight if flaw == "not absolute" else weight.abs()
    largest = sizes.amax(dim=1, keepdim=True)
    if flaw == "one scale":
        largest = torch.ones_like(largest) * weight.abs().max()
    scale = torch.where(largest == 0, torch.ones_like(largest), largest / most)
    if flaw == "columns":
        scale = (weight.abs().amax(dim=0, keepdim=True) / most).clamp(min=1e-9)
    whole = weight / scale
    return whole.trunc() if flaw == "cut off" else whole.round(), scale


@cases_of(_quantise_rows, returns=("matrix of whole numbers", "scale"))
def _matrices(draw: Draw) -> Iterator[Case]:
    def matrix(*rows: list[float]) -> Tensor:
        return torch.tensor(rows, dtype=torch.float64)

    yield Case("one row", weight=matrix([0.31, -0.02, 0.12, -0.27]), bits=4)
    yield Case("the largest is negative", weight=matrix([-0.8, 0.1, 0.33, 0.2]), bits=8)
    unequal = draw(3, 4).double() * matrix([1.0], [9.0], [0.1])
    yield Case("rows of different size", weight=unequal, bits=8)
    yield Case("a row of zeros", weight=matrix([0.0, 0.0], [0.5, -1.0]), bits=3)
    zeros = matrix([0.0, 0.5, -0.5], [0.1, 0.25, 0.4])
    yield Case("a row that contains 0 and sums to 0", weight=zeros, bits=4)
