"""A linear map whose matrix all cores read is the same linear map."""

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given
from hypothesis import strategies as st

from glassbox.kernels import few_rows


@pytest.fixture
def three_threads():
    """As many as divide no power of two."""
    before = torch.get_num_threads()
    torch.set_num_threads(3)
    yield
    torch.set_num_threads(before)


@given(
    batch=st.integers(1, 5),
    length=st.integers(1, 3),
    sizes=st.tuples(st.integers(1, 9), st.integers(1, 9)),
    biased=st.booleans(),
    dtype=st.sampled_from([torch.float32, torch.float64, torch.bfloat16, torch.float16]),
    threads=st.integers(1, 4),
)
def test_it_equals_pytorch_s_for_any_shape(batch, length, sizes, biased, dtype, threads):
    before = torch.get_num_threads()
    torch.set_num_threads(threads)
    try:
        x = torch.randn(batch, length, sizes[0]).to(dtype)
        weight = torch.randn(sizes[1], sizes[0]).to(dtype)
        bias = torch.randn(sizes[1]).to(dtype) if biased else None
        torch.testing.assert_close(few_rows(x, weight, bias), F.linear(x, weight, bias))
    finally:
        torch.set_num_threads(before)


@pytest.mark.usefixtures("three_threads")
@pytest.mark.parametrize("d_out", [3, 7, 8, 9, 50_257])
@pytest.mark.parametrize("biased", [True, False])
def test_rows_that_do_not_divide_among_the_cores_are_there_too(d_out, biased):
    x, weight = torch.randn(2, 1, 5), torch.randn(d_out, 5)
    bias = torch.randn(d_out) if biased else None
    torch.testing.assert_close(few_rows(x, weight, bias), F.linear(x, weight, bias))


def test_the_gradient_is_the_same(three_threads):
    x, weight, bias = (
        torch.randn(*shape, requires_grad=True) for shape in ((2, 1, 5), (7, 5), (7,))
    )
    ours, theirs = (
        torch.autograd.grad(function(x, weight, bias).square().sum(), (x, weight, bias))
        for function in (few_rows, F.linear)
    )
    for a, b in zip(ours, theirs, strict=True):
        torch.testing.assert_close(a, b)
