"""`blockwise_attention` against PyTorch's fused kernel and our plain formula."""

from functools import partial

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given
from hypothesis import strategies as st

from glassbox import scaled_dot_product_attention
from glassbox.blockwise import blockwise_attention

pytestmark = pytest.mark.slow

TOLERANCE = {torch.float64: 1e-12, torch.float32: 4e-6, torch.bfloat16: 2e-2, torch.float16: 2e-3}
sizes = st.integers(1, 9)


@st.composite
def blockwise_inputs(draw):
    """Draw query, key, value, and the size of a block."""
    batch = draw(st.lists(st.integers(1, 3), max_size=2))
    q_len, k_len, d_k, d_v = (draw(sizes) for _ in range(4))
    generator = torch.Generator().manual_seed(draw(st.integers(0, 2**16)))

    def randn(*shape):
        return torch.randn(*shape, dtype=torch.float64, generator=generator)

    tensors = randn(*batch, q_len, d_k), randn(*batch, k_len, d_k), randn(*batch, k_len, d_v)
    return tensors, draw(st.sampled_from([1, 2, 3, 4, 16]))


def assert_same_derivatives(ours, theirs, context, expected, tolerance):
    assert_close = partial(torch.testing.assert_close, atol=tolerance, rtol=tolerance)
    assert_close(context, expected)
    direction = torch.linspace(-1, 1, context.numel(), device=context.device, dtype=context.dtype)
    direction = direction.view_as(context)
    for a, b in zip(
        torch.autograd.grad(context, ours, direction),
        torch.autograd.grad(expected, theirs, direction),
        strict=True,
    ):
        assert_close(a, b)


@pytest.mark.parametrize("dtype", TOLERANCE, ids=str)
@given(inputs=blockwise_inputs())
def test_context_and_gradients_equal_pytorch_s(inputs, dtype, device):
    tensors, block_size = inputs
    ours = [tensor.to(device, dtype).requires_grad_() for tensor in tensors]
    theirs = [tensor.detach().clone().requires_grad_() for tensor in ours]
    context = blockwise_attention(ours[0], ours[1], ours[2], block_size=block_size)
    assert context.dtype == dtype
    expected = F.scaled_dot_product_attention(theirs[0], theirs[1], theirs[2])
    assert_same_derivatives(ours, theirs, context, expected, TOLERANCE[dtype])


@pytest.mark.parametrize("block_size", [4, 16, 1000])
def test_context_and_gradients_equal_the_plain_formula_s(block_size, device):
    """With 25 queries and 37 keys, which no block divides."""
    tensors = [torch.randn(2, 3, length, 8, device=device) for length in (25, 37, 37)]
    ours = [tensor.requires_grad_() for tensor in tensors]
    theirs = [tensor.detach().clone().requires_grad_() for tensor in ours]
    context = blockwise_attention(ours[0], ours[1], ours[2], block_size=block_size)
    expected, _ = scaled_dot_product_attention(theirs[0], theirs[1], theirs[2])
    assert_same_derivatives(ours, theirs, context, expected, 4e-6)


@given(inputs=blockwise_inputs())
def test_derivatives_are_those_of_the_formula(inputs):
    tensors, block_size = inputs
    tensors = [tensor.requires_grad_() for tensor in tensors]
    assert torch.autograd.gradcheck(
        partial(blockwise_attention, block_size=block_size), tensors, fast_mode=True
    )


def test_a_thousand_positions_in_default_blocks_equal_pytorch_s(device):
    ours = [torch.randn(1, 2, 1100, 16, device=device).requires_grad_() for _ in range(3)]
    theirs = [tensor.detach().clone().requires_grad_() for tensor in ours]
    context = blockwise_attention(ours[0], ours[1], ours[2])
    expected = F.scaled_dot_product_attention(theirs[0], theirs[1], theirs[2])
    assert_same_derivatives(ours, theirs, context, expected, 4e-6)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16], ids=str)
def test_half_precision_is_added_up_in_single_and_rounded_once(dtype, device):
    query, key, value = (torch.randn(2, 300, 16, device=device, dtype=dtype) for _ in range(3))
    exact, _ = scaled_dot_product_attention(query.double(), key.double(), value.double())
    context = blockwise_attention(query, key, value, block_size=32)
    # Each is the exact value rounded; only where that lies between two it may be the other.
    rounded = exact.to(dtype)
    assert (context == rounded).float().mean() > 0.99
    torch.testing.assert_close(context, rounded, atol=1e-6, rtol=torch.finfo(dtype).eps)
