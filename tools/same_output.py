"""Compare the output of a cell with the one that the book shows.

Text must be equal, except that another processor may round differently: two decimal numbers are the
same when they differ by at most one unit in the last printed place. Integers, shapes and words must
be identical. So `0.1234` is `0.1235` and not `0.1236`; `1e-05` is `2e-05` and not `1e-04`.
"""

import re
from decimal import Decimal

# A number with a point or an exponent on its own: not a version such as 1.4.0, not the 5 in a name
# such as v1.5b.
DECIMAL = re.compile(
    r"(?<![\w.])(-?(?:\d+\.\d*|\.\d+|\d+(?=[eE]))(?:[eE][+-]?\d+)?)(?!\w|\.\d)", re.ASCII
)


def close(one: str, other: str) -> bool:
    """Return whether two numbers differ by at most one unit in the last place of the finer one."""
    a, b = Decimal(one), Decimal(other)
    if one.endswith(".") and other.endswith("."):
        return a == b  # PyTorch's "1." in a tensor of whole numbers: nothing was rounded
    places = min(int(a.as_tuple().exponent), int(b.as_tuple().exponent))
    return abs(a - b) <= Decimal(1).scaleb(places)


def same(one: str, other: str) -> bool:
    """Return whether outputs are equal up to one unit in the last printed place of each decimal."""
    if one == other:
        return True
    # Splitting by a group yields text, number, text, number, ..., text.
    left, right = DECIMAL.split(one), DECIMAL.split(other)
    if len(left) != len(right):
        return False
    for place in range(0, len(left) - 1, 2):
        (text, number), (text_too, number_too) = left[place : place + 2], right[place : place + 2]
        if not close(number, number_too):
            return False
        if number.startswith("-") != number_too.startswith("-"):
            # -0.0000 and 0.0000: the minus replaces the blank that PyTorch pads with.
            text, text_too = text.rstrip(" "), text_too.rstrip(" ")
        if text != text_too:
            return False
    return left[-1] == right[-1]


class Output(str):
    """The text of an output, which equals another if `same` says so."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        return same(str(self), str(other)) if isinstance(other, str) else NotImplemented

    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__ = str.__hash__
