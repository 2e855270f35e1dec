"""ALiBi for the newest queries of a text."""

from collections.abc import Iterator

import torch
from torch import Tensor

from glassbox_book.exercises.exercise import Case, Draw, Exercise


def _alibi(n_heads: int, q_len: int, k_len: int, flaw: str = "") -> Tensor:
    heads = torch.arange(n_heads)
    flaws = {"from 1": 8 * heads / n_heads, "no number of heads": heads + 1}
    slopes = 2.0 ** -flaws.get(flaw, 8 * (heads + 1) / n_heads)
    queries = torch.arange(q_len) + (0 if flaw == "first positions" else k_len - q_len)
    away = queries[:, None] - torch.arange(k_len)
    bias = -slopes[:, None, None] * (away if flaw == "signed" else away.abs())
    return -bias if flaw == "gain" else bias


def _sizes(draw: Draw) -> Iterator[Case]:
    yield Case("one head", n_heads=1, q_len=3, k_len=3)
    yield Case("two heads", n_heads=2, q_len=4, k_len=4)
    yield Case("eight heads", n_heads=8, q_len=5, k_len=5)
    yield Case("one new query", n_heads=4, q_len=1, k_len=7)
    yield Case("two new queries", n_heads=4, q_len=2, k_len=6)


alibi = Exercise("positional_encoding.alibi", _alibi, _sizes, returns=("bias",))
