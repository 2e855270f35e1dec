"""Describe how a result differs from the expected one."""

import math
import numbers
from collections.abc import Sequence
from itertools import permutations
from typing import Any

import torch
from torch import Tensor


def difference(names: Sequence[str], expected: Any, got: Any, tolerance: float) -> str | None:
    """Describe the first difference between ``got`` and ``expected``.

    Parameters
    ----------
    names : sequence of str
        The name of the result, or one name for each part if ``expected`` is a tuple.
    expected : Tensor, number, text, list of texts, or tuple of these
        The right result. A number may come as a tensor with one entry.
    got : Any
        The result to judge, of any type.
    tolerance : float
        The relative and the absolute tolerance.

    Returns
    -------
    str or None
        A sentence, or ``None`` if there is no difference.
    """
    if got is None:
        return "Your function gave None. Did you forget return?"
    if isinstance(expected, tuple):
        return _tuple_difference(names, expected, got, tolerance)
    if isinstance(expected, Tensor):
        return _tensor_difference(names[0], expected, got, tolerance)
    if isinstance(expected, str | list):
        return _text_difference(names[0], expected, got)
    number = _as_number(got)
    if number is None:
        return f"Expected {kind(expected)} for the {names[0]}, got {kind(got)}."
    both_nan = math.isnan(number) and math.isnan(expected)
    if both_nan or abs(number - expected) <= tolerance * (abs(expected) or 1.0):
        return None
    shown, should = _show_apart(got if isinstance(got, int) else number, expected)
    return f"The {names[0]} is {shown}, expected {should}."


def resemblance(names: Sequence[str], expected: Any, got: Any, tolerance: float) -> str | None:
    """Describe what a wrong tensor has in common with the right one, if anything.

    Parameters
    ----------
    names : sequence of str
        As for :func:`difference`.
    expected, got : Any
        The right result and the one to judge; only tensors and pairs of tensors are compared.
    tolerance : float
        The relative and the absolute tolerance.

    Returns
    -------
    str or None
        A sentence, or ``None``.
    """
    if isinstance(expected, tuple) and isinstance(got, tuple | list):
        parts = zip(names, expected, got, strict=False)
        for name, part, given in reversed(list(parts)):  # the earlier step first
            if said := resemblance([name], part, given, tolerance):
                return f"The {name}: {said[0].lower()}{said[1:]}"
        return None
    if not (isinstance(expected, Tensor) and isinstance(got, Tensor)):
        return None
    if got.layout != expected.layout or got.device != expected.device or got.is_complex():
        return None
    is_truth = expected.dtype == torch.bool
    expected, got = expected.detach().double(), got.detach().double()
    if _same(expected, got, tolerance):
        return None
    if expected.dim() > 1 and _same(expected.mT, got, tolerance):
        return "This is the expected result transposed, with the last two axes exchanged."
    if _same(1 - expected, got, tolerance):
        exchanged = ", with true and false exchanged" if is_truth else ""
        return f"This is 1 minus the expected result{exchanged}."
    if got.shape == expected.shape and expected.numel() > 1 and expected.any():
        factor = (got * expected).sum() / expected.square().sum()
        if factor.isfinite() and factor != 0 and _same(factor * expected, got, tolerance):
            return f"Every entry is {show(factor)} times the expected one."
    return None


def show(value: Any, digits: int = 4) -> str:
    """Format a number, or a tensor as nested lists.

    Parameters
    ----------
    value : Tensor, list, number or str
        The value to format.
    digits : int, optional
        How many significant digits are shown of a number that is not whole. Defaults to 4.

    Returns
    -------
    str
        One line.
    """
    if isinstance(value, Tensor):
        value = value.tolist()
    if isinstance(value, list):
        return f"[{', '.join(show(entry, digits) for entry in value)}]"
    if isinstance(value, float) and not (value.is_integer() and abs(value) < 1e15):
        return f"{value:.{digits}g}"
    return str(int(value) if isinstance(value, float) else value)


def kind(value: Any) -> str:
    """Return the type of a value as it is written in code.

    Parameters
    ----------
    value : Any
        The value.

    Returns
    -------
    str
        For example ``torch.Tensor``, ``numpy.ndarray`` or ``list``.
    """
    cls = type(value)
    return cls.__name__ if cls.__module__ == "builtins" else f"{cls.__module__}.{cls.__name__}"


def _show_apart(one: Any, other: Any) -> tuple[str, str]:
    """Format two values with as many digits as it takes to tell them apart."""
    for digits in (4, 6, 17):
        texts = show(one, digits), show(other, digits)
        if texts[0] != texts[1]:
            break
    return texts


def _same(expected: Any, got: Any, tolerance: float) -> bool:
    return difference(["part"], expected, got, tolerance) is None


def _tuple_difference(
    names: Sequence[str], expected: tuple[Any, ...], got: Any, tolerance: float
) -> str | None:
    wanted = f"expected the tuple ({', '.join(names)})"
    for name, part in zip(names, expected, strict=True):
        if _same(part, got, tolerance):
            return f"Your function returned the {name} alone, {wanted}."
    if not isinstance(got, tuple | list):
        return f"The result is of type {kind(got)}, {wanted}."
    if len(got) != len(expected):
        return f"The result has length {len(got)}, {wanted}."
    for name, part, given in zip(names, expected, got, strict=True):
        if fault := difference([name], part, given, tolerance):
            if not all(isinstance(part, str | int) for part in expected) and any(
                all(_same(*pair, tolerance) for pair in zip(expected, order, strict=True))
                for order in permutations(got)
            ):
                return f"These are the right results in the wrong order, {wanted}."
            return fault if given is not None else f"The {name} is None, {wanted}."
    return None


def _tensor_difference(name: str, expected: Tensor, got: Any, tolerance: float) -> str | None:
    if not isinstance(got, Tensor):
        return f"Expected torch.Tensor for the {name}, got {kind(got)}."
    for what in ("layout", "device", "shape", "dtype"):
        is_, should = getattr(got, what), getattr(expected, what)
        if is_ != should:
            is_, should = (tuple(is_), tuple(should)) if what == "shape" else (is_, should)
            advice = " New tensors take the dtype of the inputs." if should is torch.float64 else ""
            return f"The {what} of the {name} is {is_}, expected {should}.{advice}"
    is_, should = got.detach().double(), expected.detach().double()
    wrong = ~torch.isclose(is_, should, rtol=tolerance, atol=tolerance, equal_nan=True)
    if not wrong.any():
        return None
    if got.numel() <= 12:
        shown, wanted = _show_apart(got, expected)
        return f"The {name}: {shown}\nexpected: {wanted}"
    gap = (is_ - should).abs().nan_to_num(nan=torch.inf)  # NaN is the largest difference
    at = tuple(torch.unravel_index(gap.argmax(), gap.shape))
    shown, wanted = _show_apart(got[at], expected[at])
    return (
        f"The {name} at {show(torch.stack(at))}: {shown}, expected {wanted} "
        f"({int(wrong.sum())} of {wrong.numel()} entries are wrong)."
    )


def _text_difference(name: str, expected: str | list[str], got: Any) -> str | None:
    if not isinstance(got, type(expected)):
        return f"Expected {kind(expected)} for the {name}, got {kind(got)}."
    texts = all(isinstance(part, str) for part in got)
    same = texts and got == expected
    return None if same else f"The {name} is {show(got)}, expected {show(expected)}."


def _as_number(value: Any) -> float | None:
    if not isinstance(value, numbers.Real | Tensor):
        return None
    try:
        return float(value.detach() if isinstance(value, Tensor) else value)
    except (ArithmeticError, RuntimeError, TypeError, ValueError):  # several entries, no data
        return None
