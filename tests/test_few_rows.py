"""A linear map whose matrix all cores read is the same linear map."""

from collections.abc import Iterator
from contextlib import contextmanager
from unittest.mock import patch

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from glassbox import kernels
from glassbox.linear import Linear


@contextmanager
def cores(number: int) -> Iterator[list[bool]]:
    """Let so many cores compute, matrices of any size; yield what says that they shared one."""
    before, shared = torch.get_num_threads(), []
    product = torch.bmm

    def watched(*inputs: Tensor) -> Tensor:
        shared.append(True)
        return product(*inputs)

    torch.set_num_threads(number)
    try:
        with (
            torch.no_grad(),
            patch.object(kernels, "LARGE", 0),
            patch.object(torch, "bmm", watched),
        ):
            yield shared
    finally:
        torch.set_num_threads(before)


def linear(weight: Tensor, bias: Tensor | None) -> Linear:
    """The module with these parameters."""
    made = Linear(weight.size(1), weight.size(0), bias=bias is not None)
    made.weight = torch.nn.Parameter(weight)
    made.bias = None if bias is None else torch.nn.Parameter(bias)  # type: ignore[assignment]
    return made


@given(
    batch=st.integers(1, 5),
    length=st.integers(1, 3),
    sizes=st.tuples(st.integers(1, 9), st.integers(1, 9)),
    biased=st.booleans(),
    dtype=st.sampled_from([torch.float32, torch.float64, torch.bfloat16, torch.float16]),
    threads=st.integers(1, 4),
)
def test_it_equals_pytorch_s_for_any_shape(batch, length, sizes, biased, dtype, threads):
    x = torch.randn(batch, length, sizes[0]).to(dtype)
    weight = torch.randn(sizes[1], sizes[0]).to(dtype)
    bias = torch.randn(sizes[1]).to(dtype) if biased else None
    with cores(threads) as shared:
        torch.testing.assert_close(linear(weight, bias)(x), F.linear(x, weight, bias))
    few = batch * length < kernels.MANY and min(threads, sizes[1]) > 1
    assert shared == [True] * (few and dtype in (torch.float32, torch.float64))


@pytest.mark.parametrize("d_out", [3, 7, 8, 9, 50_257])
@pytest.mark.parametrize("biased", [True, False])
def test_rows_that_do_not_divide_among_the_cores_are_there_too(d_out, biased):
    x, weight = torch.randn(2, 1, 5), torch.randn(d_out, 5)
    bias = torch.randn(d_out) if biased else None
    with cores(3) as shared:
        torch.testing.assert_close(linear(weight, bias)(x), F.linear(x, weight, bias))
    assert shared


def test_small_matrices_are_not_cut():
    x = torch.randn(1, 1, 5)
    with cores(2) as shared, patch.object(kernels, "LARGE", 101):
        linear(torch.randn(20, 5), None)(x)
        assert not shared
        linear(torch.randn(21, 5), None)(x)
        assert shared


def test_where_gradients_are_wanted_pytorch_reads():
    with cores(2) as shared, torch.enable_grad():
        linear(torch.randn(20, 5), None)(torch.randn(1, 1, 5)).sum().backward()
    assert not shared


def test_what_is_computed_in_half_precision_is_left_to_pytorch():
    module, x = linear(torch.randn(20, 5), torch.randn(20)), torch.randn(1, 1, 5)
    with cores(2) as shared, torch.autocast("cpu", torch.bfloat16):
        assert module(x).dtype == torch.bfloat16
    assert not shared
