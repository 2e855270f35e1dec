"""A linear map of a few vectors is the same linear map, however its matrix is read."""

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any
from unittest.mock import patch

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from glassbox import kernels
from glassbox.linear import Linear

EQUAL = torch.testing.assert_close


@contextmanager
def cores(number: int, large: int = 0, long: int = kernels.LONG) -> Iterator[list[str]]:
    """Let so many cores compute, with these limits; yield the names of PyTorch's programs used."""
    before, used = torch.get_num_threads(), []

    def watch(place: Any, name: str) -> AbstractContextManager[object]:
        program = getattr(place, name)

        def watched(*inputs: Tensor) -> Tensor:
            used.append(name)
            return program(*inputs)

        return patch.object(place, name, watched)

    torch.set_num_threads(number)
    try:
        with (
            torch.no_grad(),
            patch.object(kernels, "LARGE", large),
            patch.object(kernels, "LONG", long),
            watch(torch, "bmm"),
            watch(F, "linear"),
        ):
            yield used
    finally:
        torch.set_num_threads(before)


def linear(weight: Tensor, bias: Tensor | None = None) -> Linear:
    """The module with these parameters."""
    made = Linear(weight.size(1), weight.size(0), bias=bias is not None)
    made.weight = torch.nn.Parameter(weight)
    made.bias = None if bias is None else torch.nn.Parameter(bias)  # type: ignore[assignment]
    return made


@given(
    batch=st.integers(0, 5),
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
    expected = F.linear(x, weight, bias)
    with cores(threads) as used:
        out = linear(weight, bias)(x)
    EQUAL(out, expected)
    assert out.is_contiguous()
    few = batch * length < kernels.MANY and dtype in (torch.float32, torch.float64)
    assert used[0] == ("bmm" if few else "linear")


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("d_out", [1, 3, 7, 8, 9, 50_257])
@pytest.mark.parametrize("biased", [True, False])
def test_rows_that_do_not_divide_among_the_pieces_are_there_too(threads, d_out, biased):
    x, weight = torch.randn(2, 1, 5), torch.randn(d_out, 5)
    bias = torch.randn(d_out) if biased else None
    expected = F.linear(x, weight, bias)
    with cores(threads) as used:
        EQUAL(linear(weight, bias)(x), expected)
    left_over = d_out % min(max(2, threads), d_out)
    assert used == ["bmm", "linear"][: 1 + bool(left_over)]


def test_biases_may_be_mapped_over():
    map_ = linear(torch.randn(5, 3), torch.zeros(5))
    x, biases = torch.randn(1, 3), torch.randn(4, 5)
    with cores(2):
        found = torch.func.vmap(lambda b: torch.func.functional_call(map_, {"bias": b}, x))(biases)
    EQUAL(found[:, 0], x @ map_.weight.mT + biases)


def test_long_vectors_are_left_to_pytorch():
    module = linear(torch.randn(20, 5))
    with cores(2, long=20) as used:
        module(torch.randn(3, 1, 5))
        assert used == ["bmm"]
        module(torch.randn(4, 1, 5))
        assert used == ["bmm", "linear"]


def test_small_matrices_are_left_to_pytorch():
    x = torch.randn(1, 1, 5)
    with cores(2, large=110) as used:
        linear(torch.randn(21, 5))(x)
        assert used == ["linear"]
        linear(torch.randn(22, 5))(x)
        assert used == ["linear", "bmm"]


def test_where_gradients_are_wanted_pytorch_reads():
    with cores(2) as used, torch.enable_grad():
        linear(torch.randn(20, 5))(torch.randn(1, 1, 5)).sum().backward()
    assert used == ["linear"]


def test_what_is_computed_in_half_precision_is_left_to_pytorch():
    module, x = linear(torch.randn(20, 5), torch.randn(20)), torch.randn(1, 1, 5)
    with cores(2) as used, torch.autocast("cpu", torch.bfloat16):
        assert module(x).dtype == torch.bfloat16
    assert used == ["linear"]
