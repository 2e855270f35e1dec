"""Checks that a widget can show its arguments."""

from collections.abc import Sequence
from numbers import Integral, Real
from typing import Any

import numpy as np

from glassbox_book.viz.panels import numbers
from glassbox_book.viz.tokens import visible_all


def check_numbers(name: str, given: Any) -> np.ndarray:
    """Return an array of finite numbers, in double precision.

    Raises
    ------
    TypeError
        If ``given`` holds something that is not a number.
    ValueError
        If a number is infinite or NaN.
    """
    try:
        array = numbers(given)
    except (TypeError, ValueError) as error:
        raise TypeError(f"{name} is {given!r}; pass numbers, as a list or a tensor") from error
    if not np.isfinite(array).all():
        place = tuple(int(i) for i in np.argwhere(~np.isfinite(array))[0])
        raise ValueError(f"{name}{list(place)} is {array[place]}; a widget needs finite numbers")
    return array


def check_texts(name: str, given: Sequence[str], count: int, of: str) -> list[str]:
    """Return tokens or labels as they are shown.

    Raises
    ------
    TypeError
        If they are not a list of strings.
    ValueError
        If their number is not ``count``.
    """
    texts = visible_all(given)
    if len(texts) != count:
        raise ValueError(f"{len(texts)} {name} for {count} {of}: {name}={texts}; pass one each")
    return texts


def check_between(name: str, given: Any, low: float | int, high: float | int) -> None:
    """Check that a number is between two others.

    Raises
    ------
    TypeError
        If it is not a number.
    ValueError
        If it is outside.
    """
    if isinstance(given, bool) or not isinstance(given, Real):
        raise TypeError(f"{name} is {given!r} of type {type(given).__name__}; pass a number")
    if not low <= float(given) <= high:
        raise ValueError(f"{name}={given!r}; it can be {low:g} to {high:g}")


def check_integer(name: str, given: Any, low: int, high: int) -> None:
    """Check that an integer is between two others.

    Raises
    ------
    TypeError
        If it is not an integer.
    ValueError
        If it is outside.
    """
    if isinstance(given, Real) and not isinstance(given, Integral):
        raise TypeError(f"{name} is {given!r} of type {type(given).__name__}; pass a whole number")
    check_between(name, given, low, high)
