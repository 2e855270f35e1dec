"""`scaled_dot_product_attention` against PyTorch's, for any shapes and masks."""

from functools import partial
from types import SimpleNamespace

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given
from hypothesis import strategies as st

from glassbox import additive_attention, causal_mask, scaled_dot_product_attention
from glassbox.around import Around
from glassbox.kernels import KERNELS
from tests.references.pytorch_modules import HALF, assert_as_exact_as

TOLERANCE = {torch.float64: 1e-12, torch.float32: 2e-6, torch.bfloat16: 2e-2, torch.float16: 2e-3}
sizes = st.integers(1, 6)


@st.composite
def attention_inputs(draw, batch_axes=2):
    """Draw query, key, value, and a mask that broadcasts to the scores, or none."""
    batch = draw(st.lists(st.integers(1, 3), max_size=batch_axes))
    q_len, k_len, d_k, d_v = (draw(sizes) for _ in range(4))
    generator = torch.Generator().manual_seed(draw(st.integers(0, 2**16)))

    def randn(*shape):
        return torch.randn(*shape, dtype=torch.float64, generator=generator)

    mask = None
    if draw(st.booleans()):
        shape = [size if draw(st.booleans()) else 1 for size in (*batch, q_len, k_len)]
        shape = shape[draw(st.integers(0, len(batch))) :]  # leading axes may be left out
        share = draw(st.sampled_from([0.0, 0.3, 0.7, 1.0]))
        mask = torch.rand(shape, generator=generator) < share
    return randn(*batch, q_len, d_k), randn(*batch, k_len, d_k), randn(*batch, k_len, d_v), mask


def fused_attention(*inputs):
    return KERNELS["MultiHeadAttention.attend"](SimpleNamespace(scale=None), *inputs)


@pytest.mark.parametrize("dtype", TOLERANCE, ids=str)
@given(inputs=attention_inputs())
def test_context_and_gradients_equal_pytorch_s(inputs, dtype, device):
    *tensors, mask = inputs
    mask = None if mask is None else mask.to(device)
    ours = [tensor.to(device, dtype).requires_grad_() for tensor in tensors]
    theirs = [tensor.detach().clone().requires_grad_() for tensor in ours]
    context, weights = scaled_dot_product_attention(ours[0], ours[1], ours[2], mask)
    expected = F.scaled_dot_product_attention(theirs[0], theirs[1], theirs[2], mask)
    assert_close = partial(torch.testing.assert_close, atol=TOLERANCE[dtype], rtol=TOLERANCE[dtype])
    assert_close(context, expected)
    assert weights.dtype == dtype
    direction = torch.linspace(-1, 1, context.numel(), device=device, dtype=dtype)
    context.backward(direction.view_as(context))
    expected.backward(direction.view_as(expected))
    for a, b in zip(ours, theirs, strict=True):
        assert a.grad is not None
        assert b.grad is not None
        assert_close(a.grad, b.grad)


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32], ids=str)
@given(
    inputs=attention_inputs(),
    axes=st.lists(st.booleans(), max_size=4),
    scale=st.sampled_from([None, 1e-3, 0.3, 1.0, 4.0]),
)
def test_scores_with_a_bias_and_another_scale_equal_pytorch_s(inputs, axes, scale, dtype, device):
    *tensors, mask = inputs
    mask = None if mask is None else mask.to(device)
    ours = [tensor.to(device, dtype).requires_grad_() for tensor in tensors]
    shape = (*ours[0].shape[:-1], ours[1].size(-2))
    axes = axes[: len(shape)]  # a bias may leave axes out, or have them with a single entry
    some = [size if full else 1 for size, full in zip(shape[-len(axes) :], axes, strict=False)]
    ours.append(torch.randn(some if axes else (), dtype=dtype, device=device, requires_grad=True))
    theirs = [tensor.detach().clone().requires_grad_() for tensor in ours]
    query, key, value, bias = ours
    context, _ = scaled_dot_product_attention(query, key, value, mask, bias=bias, scale=scale)
    added = theirs[3].expand(shape)
    added = added if mask is None else added.masked_fill(~mask, -torch.inf)
    query, key, value, _ = theirs
    expected = F.scaled_dot_product_attention(query, key, value, added, scale=scale)
    direction = torch.randn_like(context)
    gradients, expected_gradients = (
        torch.autograd.grad(y, xs, direction) for y, xs in ((context, ours), (expected, theirs))
    )
    for a, b in zip((context, *gradients), (expected, *expected_gradients), strict=True):
        size = max(1.0, b.abs().max().item())
        torch.testing.assert_close(a, b, atol=TOLERANCE[dtype] * size, rtol=0)


@pytest.mark.parametrize("dtype", HALF, ids=str)
@pytest.mark.parametrize("biased", [False, True], ids=["no bias", "bias"])
@pytest.mark.parametrize("causal", [False, True], ids=["all", "causal"])
def test_in_half_precision_context_is_as_exact_as_pytorch_s(causal, biased, dtype, device):
    query, key, value = (torch.randn(2, 4, 70, 32, device=device).to(dtype) for _ in range(3))
    mask = causal_mask(70, device=device) if causal else torch.rand(70, 70, device=device) < 0.9
    bias = torch.randn(4, 70, 70, device=device) if biased else torch.zeros(4, 70, 70).to(device)
    context, weights = scaled_dot_product_attention(query, key, value, mask, bias=bias)
    assert weights.dtype == dtype
    added = bias.to(dtype).masked_fill(~mask, -torch.inf)
    fused = fused_attention(query, key, value, mask, False, Around(bias))
    theirs = F.scaled_dot_product_attention(query, key, value, added[None])
    query, key, value, added = (x.double() for x in (query, key, value, added))
    exact = F.scaled_dot_product_attention(query, key, value, added[None])
    assert_as_exact_as(fused, theirs, exact, factor=1.1)
    # Scores and weights are kept here, in half precision; the kernel rounds its sums alone.
    assert_as_exact_as(context, theirs, exact, factor=4)


@pytest.mark.parametrize("kv_heads", [1, 2, 3, 6])
@pytest.mark.parametrize("kind", ["none", "mask", "causal", "bias"])
def test_shared_heads_and_their_gradients_equal_pytorch_s(kind, kv_heads, device):
    shapes = (2, 6, 5, 8), (2, kv_heads, 7, 8), (2, kv_heads, 7, 8)
    ours = [torch.randn(shape, device=device, requires_grad=True) for shape in shapes]
    theirs = [x.detach().clone().requires_grad_() for x in ours]
    added = torch.randn(6, 5, 7, device=device) if kind == "bias" else None
    mask = {"mask": torch.rand(2, 6, 5, 7) < 0.7, "causal": causal_mask(5, 7)}.get(kind)
    mask = None if mask is None else mask.to(device)
    causal = kind == "causal"
    query, key, value = ours
    around = Around(added)
    context = fused_attention(query, key, value, None if causal else mask, causal, around)
    key, value = (x.repeat_interleave(6 // kv_heads, dim=1) for x in (key, value))
    plain, _ = scaled_dot_product_attention(query, key, value, mask, bias=added)
    query, key, value = theirs
    hidden = added if kind == "bias" else mask
    expected = F.scaled_dot_product_attention(query, key, value, hidden, enable_gqa=True)
    direction = torch.randn_like(context)
    wanted = torch.autograd.grad(expected, theirs, direction)
    for out in (context, plain):
        torch.testing.assert_close(out, expected, atol=1e-6, rtol=0)
        for a, b in zip(torch.autograd.grad(out, ours, direction), wanted, strict=True):
            torch.testing.assert_close(a, b, atol=1e-5, rtol=0)


@given(inputs=attention_inputs())
def test_context_and_weights_equal_a_plain_double_loop(inputs):
    query, key, value, mask = inputs
    context, weights = scaled_dot_product_attention(query, key, value, mask)
    allowed = torch.ones_like(weights, dtype=torch.bool) if mask is None else mask
    allowed = allowed.expand(weights.shape)
    for *batch, i in torch.cartesian_prod(*map(torch.arange, weights.shape[:-1])).view(
        -1, weights.dim() - 1
    ):
        at = tuple(batch)
        exponentials = [
            (query[*at, i] @ key[*at, j] / query.size(-1) ** 0.5).exp() * allowed[*at, i, j]
            for j in range(key.size(-2))
        ]
        total = sum(exponentials)
        for j, exponential in enumerate(exponentials):
            expected = exponential / total if total else 0.0
            assert weights[*at, i, j].item() == pytest.approx(float(expected), abs=1e-12)
        average = sum(w * v for w, v in zip(weights[*at, i], value[at], strict=True))
        torch.testing.assert_close(context[*at, i], average, atol=1e-12, rtol=0)


@given(inputs=attention_inputs(), d_query=sizes, d_hidden=sizes, seed=st.integers(0, 2**16))
def test_additive_attention_equals_a_plain_double_loop(inputs, d_query, d_hidden, seed):
    query, key, value, mask = inputs
    generator = torch.Generator().manual_seed(seed)

    def randn(*shape):
        return torch.randn(*shape, dtype=torch.float64, generator=generator)

    query = randn(*query.shape[:-1], d_query)  # queries and keys need not be equally wide
    w, u, v = randn(d_hidden, d_query), randn(d_hidden, key.size(-1)), randn(d_hidden)
    context, weights = additive_attention(query, key, value, w, u, v, mask)

    scores = torch.empty_like(weights)
    for i in range(query.size(-2)):
        for j in range(key.size(-2)):
            for at in torch.cartesian_prod(*map(torch.arange, (1, *weights.shape[:-2]))).view(
                -1, weights.dim() - 1
            ):
                q, k = query[*at[1:], i], key[*at[1:], j]
                scores[*at[1:], i, j] = v @ torch.tanh(w @ q + u @ k)
    if mask is not None:
        scores = scores.masked_fill(~mask, -torch.inf)
    expected = scores.softmax(dim=-1).nan_to_num(0.0)
    torch.testing.assert_close(weights, expected, atol=1e-12, rtol=0)
    torch.testing.assert_close(context, expected @ value, atol=1e-12, rtol=0)


def test_derivatives_are_those_of_the_formula():
    query, key, value = (torch.randn(2, 3, 4, dtype=torch.float64) for _ in range(3))
    mask = torch.tensor([[True, True, False], [False, True, True], [True, True, True]])
    inputs = [tensor.requires_grad_() for tensor in (query, key, value)]
    assert torch.autograd.gradcheck(partial(scaled_dot_product_attention, mask=mask), inputs)
    weights = [
        torch.randn(*s, dtype=torch.float64).requires_grad_() for s in ((5, 4), (5, 4), (5,))
    ]
    assert torch.autograd.gradcheck(partial(additive_attention, mask=mask), inputs + weights)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16], ids=str)
def test_in_half_precision_weights_are_rounded_once(dtype, device):
    query, key, value = (torch.randn(2, 300, 16, device=device, dtype=dtype) for _ in range(3))
    mask = torch.rand(300, 300, device=device) < 0.9
    _, weights = scaled_dot_product_attention(query, key, value, mask)
    scores = (query @ key.mT) * (1 / 16**0.5)  # rounded to half precision, as ours are
    exact = scores.double().masked_fill(~mask, -torch.inf).softmax(dim=-1)
    assert weights.dtype == dtype
    torch.testing.assert_close(weights, exact.to(dtype), atol=1e-7, rtol=1e-2)
    half_a_step = torch.finfo(dtype).eps / 2
    errors = (weights.double() - exact).abs() / exact.clamp(min=torch.finfo(dtype).tiny)
    assert errors.max() <= half_a_step * 1.01
