"""Chapter 12: operations and bytes, an online softmax in two parts, and whole numbers."""

import torch
from torch import Tensor

from glassbox_book.exercises.exercise import Cases, Draw, cases_of

# Operations ----------------------------------------------------------------------------------


def _step_operations(n: int, d_model: int, d_ff: int, n_layers: int, flaw: str) -> int:
    d_ff = 4 * d_model if flaw == "always four" else d_ff
    projections = 1 if flaw == "one projection" else 4
    maps = n * (projections * d_model**2 + 2 * d_model * d_ff)
    pairs = {"no pairs": 0, "scores alone": n**2 * d_model}.get(flaw, 2 * n**2 * d_model)
    passes = {"forward alone": 1, "backward once": 2}.get(flaw, 3)
    each = 1 if flaw == "multiplications" else 2
    return passes * each * n_layers * (maps + pairs)


@cases_of(_step_operations, returns=("number of operations",))
def _stacks(draw: Draw) -> Cases:
    yield "a small layer", 10, 8, 32, 1
    yield "six of the paper's layers", 100, 512, 2048, 6
    yield "a long text", 10000, 64, 256, 2
    yield "not four times as wide", 50, 64, 100, 3


# Bytes ---------------------------------------------------------------------------------------


def _bytes_on_each(parameters: int, devices: int, sharded: int, flaw: str) -> float:
    order = {"weights first": (2, 2, 12), "two means": (8, 2, 2)}.get(flaw, (12, 2, 2))
    cut = {"all": 3, "none": 0}.get(flaw, sharded)
    parts = [parameters * n / (devices if i < cut else 1) for i, n in enumerate(order)]
    return sum(parts) * (devices if flaw == "all devices" else 1)


@cases_of(_bytes_on_each, returns=("number of bytes",))
def _models(draw: Draw) -> Cases:
    yield "one device", 1000, 1, 3
    yield "nothing is divided", 1000, 8, 0
    yield "the optimiser's states", 1000, 4, 1
    yield "and the gradients", 64000, 16, 2
    yield "and the weights", 64000, 64, 3
    yield "a number that does not divide evenly", 1001, 3, 3


def _merge(
    m_1: Tensor, l_1: Tensor, c_1: Tensor, m_2: Tensor, l_2: Tensor, c_2: Tensor, flaw: str
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
def _parts(draw: Draw) -> Cases:
    def part(maximum: float) -> tuple[Tensor, Tensor, Tensor]:
        scores = draw(5).double()
        scores = scores - scores.max() + maximum
        weights = (scores - maximum).exp()
        return scores.max(), weights.sum(), weights @ draw(5, 3).double()

    yield "the second has the maximum", *part(0.0), *part(2.0)
    yield "the first has it", *part(3.0), *part(0.0)
    yield "far apart", *part(0.0), *part(12.0)
    yield "both have it", *part(0.0), *part(0.0)
    yield "scores in the hundreds", *part(800.0), *part(805.0)


def _quantise_rows(weight: Tensor, bits: int, flaw: str) -> tuple[Tensor, Tensor]:
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
def _matrices(draw: Draw) -> Cases:
    def matrix(*rows: list[float]) -> Tensor:
        return torch.tensor(rows, dtype=torch.float64)

    yield "one row", matrix([0.31, -0.02, 0.12, -0.27]), 4
    yield "the largest is negative", matrix([-0.8, 0.1, 0.33, 0.2]), 8
    yield "rows of different size", draw(3, 4).double() * matrix([1.0], [9.0], [0.1]), 8
    yield "a row of zeros", matrix([0.0, 0.0], [0.5, -1.0]), 3
    yield "a row that contains 0 and sums to 0", matrix([0.0, 0.5, -0.5], [0.1, 0.25, 0.4]), 4
