"""A tensor is shown with the numbers that PyTorch prints, and stays text without HTML."""

import re

import numpy as np
import pytest
import torch

from glassbox_book.viz import tensor
from glassbox_book.viz.tensors import PRINTED, drawn
from tests.viz.test_matrices import names, scale, shares, soup

MATRIX = torch.tensor([[0.25, -0.5, 0.0], [1.0, 0.125, 0.75]])


def cells(shown):
    return [cell.text for cell in soup(shown).select("tbody td")]


@pytest.mark.parametrize("precision", [2, 4])
def test_cells_hold_the_numbers_that_pytorch_prints(precision):
    torch.set_printoptions(precision=precision)
    try:
        shown = tensor(MATRIX)
        assert repr(shown) == repr(MATRIX)
        assert cells(shown) == re.findall(r"-?\d\.\d+", repr(MATRIX))
        assert shown._repr_mimebundle_()["text/plain"] == repr(MATRIX)
    finally:
        torch.set_printoptions(profile="default")


def test_cells_are_coloured_by_their_share_of_the_largest_number():
    assert np.allclose(shares(tensor(MATRIX)), MATRIX.flatten())
    assert np.allclose(shares(tensor(10 * MATRIX)), MATRIX.flatten())


def test_axes_and_positions_have_names():
    shown = tensor(MATRIX, "query", "key", row_names=["a", "b"], column_names=["x", "y", "z"])
    assert names(shown, "tbody") == ["a", "b"]
    assert names(shown, "thead") == ["x", "y", "z"]
    assert [part.text for part in soup(shown).select(".gb-axes span")] == ["↓ query", "→ key"]
    assert soup(tensor(MATRIX)).select_one(".gb-axes") is None


def test_cells_are_as_wide_as_their_numbers_and_names():
    assert "--letters:6;" in tensor(MATRIX).body
    named = tensor(MATRIX, column_names=["first", "second", "experiments"])
    assert "--letters:11;" in named.body
    assert set(re.findall(r"--[ab]:(\d)", named.body)) == {"0"}


@pytest.mark.parametrize(
    ("values", "shape"),
    [
        (torch.ones(3), "shape (3,)"),
        (torch.ones(1, 3), "shape (1, 3)"),
        (torch.ones(2, 1, 3), "shape (2, 1, 3)"),
    ],
)
def test_one_two_or_three_axes_are_shown_with_their_shape(values, shape):
    shown = tensor(values)
    assert len(cells(shown)) == values.numel()
    assert len(soup(shown).select("table")) == (values.size(0) if values.dim() == 3 else 1)
    assert scale(shown) == shape


@pytest.mark.parametrize(
    ("values", "found"),
    [
        (torch.tensor([1, 0, 1]), [1, 0, 1]),
        (torch.tensor([2051, 10029]), [0, 0]),
        (torch.tensor([True, False]), [1, 0]),
        (torch.tensor([-torch.inf, 2.0, torch.nan]), [0, 1, 0]),
        (torch.zeros(2), [0, 0]),
    ],
)
def test_only_what_is_large_or_small_has_a_colour(values, found):
    assert shares(tensor(values)) == found


@pytest.mark.parametrize(
    "text",
    [
        "tensor([1., 2.], dtype=torch.float64)",
        "tensor([[1., 2.],\n        [3., 4.]], grad_fn=<MulBackward0>)",
        "before\ntensor([0.500])\nafter",
        "tensor([1.], requires_grad=True)",
        "tensor([1.], device='cuda:0', grad_fn=<MulBackward0>)",
    ],
)
def test_what_is_printed_is_recognised(text):
    assert (found := PRINTED.search(text))
    assert drawn(found[1])


def test_a_parameter_is_a_tensor():
    shown = tensor(torch.nn.Parameter(MATRIX.double()))
    assert shown.body == tensor(MATRIX).body
    assert repr(shown).startswith("Parameter containing:\ntensor([[")


@pytest.mark.parametrize(
    "text", ["tensor(0.5)", "weights tensor([0.5])", "tensor([0.5]) and more", "torch.Size([2, 3])"]
)
def test_other_text_is_left_alone(text):
    assert not PRINTED.search(text)


@pytest.mark.parametrize("printed", ["[]", "[[[[1.]]]]", "[1., 2., ..., 9.]", "[[1.], [1., 2.]]"])
def test_what_is_no_small_tensor_is_not_drawn(printed):
    assert drawn(printed) is None


@pytest.mark.parametrize(
    ("values", "options", "reason"),
    [
        (torch.tensor(0.5), {}, r"expected a small tensor .*; this is tensor\(0.5000\)"),
        (torch.zeros(2000), {}, r"expected a small tensor"),
        (MATRIX, {"row_names": ["a"]}, r"there are 1 row_names for 2 rows"),
        (MATRIX, {"column_names": ["a"]}, r"there are 1 column_names for 3 columns"),
    ],
)
def test_what_does_not_fit_is_refused(values, options, reason):
    with pytest.raises(ValueError, match=reason):
        tensor(values, **options)
