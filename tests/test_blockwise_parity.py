"""`blockwise_attention` against PyTorch's fused kernel and our plain formula."""

from functools import partial

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given
from hypothesis import strategies as st

from glassbox import causal_mask, scaled_dot_product_attention
from glassbox.blockwise import blockwise_attention

pytestmark = pytest.mark.slow

TOLERANCE = {torch.float64: 1e-12, torch.float32: 4e-6, torch.bfloat16: 2e-2, torch.float16: 2e-3}
sizes = st.integers(1, 9)


@st.composite
def blockwise_inputs(draw, heads=False):
    """Draw query, key, value, a mask that broadcasts to the scores or none, and options."""
    batch = draw(st.lists(st.integers(1, 3), max_size=2))
    q_len, d_k, d_v = (draw(sizes) for _ in range(3))
    causal = draw(st.booleans())
    k_len = q_len + draw(st.integers(0, 5)) if causal else draw(sizes)
    generator = torch.Generator().manual_seed(draw(st.integers(0, 2**16)))

    def randn(*shape):
        return torch.randn(*shape, dtype=torch.float64, generator=generator)

    mask = None
    if draw(st.booleans()):
        shape = [size if draw(st.booleans()) else 1 for size in (*batch, q_len, k_len)]
        shape = shape[draw(st.integers(0, len(shape))) :]  # leading axes may be left out
        share = draw(st.sampled_from([0.0, 0.3, 0.7, 1.0]))
        mask = torch.rand(shape, generator=generator) < share
    options = {
        "causal": causal,
        "block_size": draw(st.sampled_from([1, 2, 3, 4, 16])),
        "scale": draw(st.sampled_from([None, 0.3])),
    }
    tensors = randn(*batch, q_len, d_k), randn(*batch, k_len, d_k), randn(*batch, k_len, d_v)
    return tensors, mask, options


def whole_mask(mask, causal, query, key):
    """One mask that says all, as large as the scores, or none."""
    if not causal:
        return mask
    future = causal_mask(query.size(-2), key.size(-2), device=query.device)
    return future if mask is None else mask & future


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
    tensors, mask, options = inputs
    mask = None if mask is None else mask.to(device)
    ours = [tensor.to(device, dtype).requires_grad_() for tensor in tensors]
    theirs = [tensor.detach().clone().requires_grad_() for tensor in ours]
    context = blockwise_attention(ours[0], ours[1], ours[2], mask, **options)
    assert context.dtype == dtype
    allowed = whole_mask(mask, options["causal"], ours[0], ours[1])
    allowed = None if allowed is None else torch.atleast_2d(allowed)
    expected = F.scaled_dot_product_attention(
        theirs[0], theirs[1], theirs[2], allowed, scale=options["scale"]
    )
    assert_same_derivatives(ours, theirs, context, expected, TOLERANCE[dtype])


@pytest.mark.parametrize("block_size", [4, 16, 1000])
@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("kind", ["none", "of keys", "of queries", "of pairs", "of heads"])
def test_context_and_gradients_equal_the_plain_formula_s(block_size, causal, kind, device):
    """With 25 queries and 37 keys, which no block divides."""
    shapes = {"of keys": (2, 1, 1, 37), "of queries": (25, 1), "of pairs": (2, 1, 25, 37)}
    shapes["of heads"] = (3, 25, 37)
    mask = None if kind == "none" else torch.rand(shapes[kind], device=device) < 0.5
    tensors = [torch.randn(2, 3, length, 8, device=device) for length in (25, 37, 37)]
    ours = [tensor.requires_grad_() for tensor in tensors]
    theirs = [tensor.detach().clone().requires_grad_() for tensor in ours]
    context = blockwise_attention(
        ours[0], ours[1], ours[2], mask, causal=causal, block_size=block_size
    )
    allowed = whole_mask(mask, causal, ours[0], ours[1])
    expected, _ = scaled_dot_product_attention(theirs[0], theirs[1], theirs[2], allowed)
    assert_same_derivatives(ours, theirs, context, expected, 4e-6)


@pytest.mark.parametrize("n_kv_heads", [1, 2, 3, 6])
def test_shared_heads_equal_pytorch_s(n_kv_heads, device):
    ours = [torch.randn(2, 6, 11, 8, device=device)]
    ours += [torch.randn(2, n_kv_heads, 13, 8, device=device) for _ in range(2)]
    ours = [tensor.requires_grad_() for tensor in ours]
    theirs = [tensor.detach().clone().requires_grad_() for tensor in ours]
    context = blockwise_attention(ours[0], ours[1], ours[2], causal=True, block_size=4)
    expected = F.scaled_dot_product_attention(
        theirs[0], theirs[1], theirs[2], causal_mask(11, 13, device=device), enable_gqa=True
    )
    assert_same_derivatives(ours, theirs, context, expected, 4e-6)


@given(inputs=blockwise_inputs())
def test_derivatives_are_those_of_the_formula(inputs):
    tensors, mask, options = inputs
    tensors = [tensor.requires_grad_() for tensor in tensors]
    assert torch.autograd.gradcheck(
        partial(blockwise_attention, mask=mask, **options), tensors, fast_mode=True
    )


@pytest.mark.parametrize("causal", [False, True])
def test_a_thousand_positions_in_default_blocks_equal_pytorch_s(causal, device):
    ours = [torch.randn(1, 2, 1100, 16, device=device).requires_grad_() for _ in range(3)]
    theirs = [tensor.detach().clone().requires_grad_() for tensor in ours]
    context = blockwise_attention(ours[0], ours[1], ours[2], causal=causal)
    expected = F.scaled_dot_product_attention(theirs[0], theirs[1], theirs[2], is_causal=causal)
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
