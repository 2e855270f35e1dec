"""Two parts of an online softmax become one."""

from collections.abc import Iterator

import torch
from torch import Tensor

from glassbox_book.exercises.exercise import Case, Draw, Exercise


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


def _parts(draw: Draw) -> Iterator[Case]:
    for about, shift in (
        ("the second has the maximum", (0.0, 2.0)),
        ("the first has it", (3.0, 0.0)),
        ("far apart", (0.0, 12.0)),
        ("both have it", (0.0, 0.0)),
    ):
        parts = []
        for move in shift:
            scores = draw(5).double()
            scores = scores - scores.max() + move  # so that the maximum is known
            weights = (scores - move).exp()
            parts.append((scores.max(), weights.sum(), weights @ draw(5, 3).double()))
        (m_1, l_1, c_1), (m_2, l_2, c_2) = parts
        yield Case(about, m_1=m_1, l_1=l_1, c_1=c_1, m_2=m_2, l_2=l_2, c_2=c_2)


merge = Exercise(
    "efficiency_and_scale.merge", _merge, _parts, returns=("maximum", "sum", "context")
)
