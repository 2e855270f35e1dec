"""The comparison of outputs lets rounding through, and nothing else."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tools.same_output import Output, same

SAME = [
    ("0.1234", "0.1234"),
    ("0.1234", "0.1235"),
    ("tensor([[0.1234, 0.5000]])", "tensor([[0.1233, 0.5001]])"),
    ("-0.0000", "0.0000"),
    ("[-0.0000,  0.5000]", "[ 0.0000,  0.5000]"),
    ("largest difference 4.8e-07", "largest difference 4.7e-07"),
    ("1e-05", "2e-05"),
    ("9.9e-06", "1.0e-05"),
    ("0.5", "0.4999"),
    ("[0.12,3.00]", "[0.13,2.99]"),
    ("sums to 1.000.", "sums to 0.999."),
    ("0.999", "1.000"),
    ("tensor([1., 1.])", "tensor([1.0000, 1.0000])"),  # what PyTorch prints if all are whole
]

DIFFERENT = [
    ("0.1234", "0.1236"),  # two units
    ("0.1234", "0.1334"),  # another place
    ("0.1234", "-0.1234"),
    ("0.50", "0.41"),
    ("5", "6"),
    ("[1, 5, 768]", "[1, 5, 769]"),
    ("[2051, 10029]", "[2051, 10028]"),
    ("tensor([1., 0.])", "tensor([2., 0.])"),  # printed whole: nothing was rounded
    ("tensor([1., 1.])", "tensor([1.0000, 1.0002])"),
    ("in chapter 5.", "in chapter 6."),
    ("1e-05", "1e-04"),
    ("4.8e-07", "4.8e-06"),
    ("flies 0.31", "arrow 0.31"),
    ("0.31 flies", "0.31 arrow"),
    ("0.31 flies", "0.31"),
    ("0.31", "0.31 0.32"),
    ("0.31 0.32", "0.31"),
    ("version 1.4.0", "version 1.4.1"),
    ("size 1.5MB", "size 1.6MB"),
    ("x = 0.5000", "x =  0.5000"),  # blanks count where no sign changed
    ("inf", "nan"),
    ("True", "False"),
    ("", "0.1"),
]


@pytest.mark.parametrize(("one", "other"), SAME)
def test_rounding_of_the_last_place_is_the_same(one: str, other: str) -> None:
    assert same(one, other)
    assert same(other, one)


@pytest.mark.parametrize(("one", "other"), DIFFERENT)
def test_anything_else_is_different(one: str, other: str) -> None:
    assert not same(one, other)
    assert not same(other, one)


@given(st.integers(-(10**6), 10**6), st.integers(1, 6), st.integers(2, 50))
def test_more_than_one_unit_is_always_different(units: int, places: int, apart: int) -> None:
    one, other = (f"{n / 10**places:.{places}f}" for n in (units, units + apart))
    assert not same(f"[ {one}]", f"[ {other}]")


@given(st.text())
def test_every_text_is_the_same_as_itself_and_not_as_a_longer_one(text: str) -> None:
    assert same(text, text)
    assert not same(text, text + "x")


def test_outputs_compare_as_nbval_compares_them() -> None:
    assert (Output("0.12") != Output("0.13")) is False  # nbval asks with !=
    assert Output("0.12") != Output("0.14")
    assert Output("0.12") != 0.12
