"""ALiBi for the newest queries of a text."""

from collections.abc import Callable, Iterator

import torch
from torch import Tensor

from glassbox_book.exercises.exercise import Case, Draw, Exercise, slips


def _alibi(
    n_heads: int,
    q_len: int,
    k_len: int,
    *,
    exponent: Callable[[Tensor, int], Tensor] = lambda h, n: 8 * (h + 1) / n,
    sign: int = -1,
    distance: Callable[[Tensor], Tensor] = torch.abs,
    top_left: bool = False,
) -> Tensor:
    slopes = 2.0 ** -exponent(torch.arange(n_heads), n_heads)
    queries = torch.arange(q_len) + (0 if top_left else k_len - q_len)
    far = distance(queries[:, None] - torch.arange(k_len))
    return sign * slopes[:, None, None] * far


def _sizes(draw: Draw) -> Iterator[Case]:
    yield Case("one head", n_heads=1, q_len=3, k_len=3)
    yield Case("two heads", n_heads=2, q_len=4, k_len=4)
    yield Case("eight heads", n_heads=8, q_len=5, k_len=5)
    yield Case("one new query", n_heads=4, q_len=1, k_len=7)
    yield Case("two new queries", n_heads=4, q_len=2, k_len=6)


alibi = Exercise(
    "positional_encoding.alibi",
    _alibi,
    _sizes,
    returns=("bias",),
    mistakes=slips(
        _alibi,
        {
            "Far keys gain in your bias: they should lose.": {"sign": 1},
            "Your slopes start at 1: the first head has 2 to the power of -8/n, because heads are "
            "counted from 1 in the formula.": {"exponent": lambda h, n: 8 * h / n},
            "Your slopes do not depend on the number of heads: the exponent is 8h/n.": {
                "exponent": lambda h, n: h + 1
            },
            "Keys to the right gain in your bias: a distance has no sign.": {
                "distance": lambda signed: signed
            },
            "Your queries are the first positions: with fewer queries than keys they are the "
            "last.": {"top_left": True},
        },
    ),
)
