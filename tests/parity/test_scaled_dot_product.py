"""`scaled_dot_product_attention` against PyTorch's, for any shapes and masks."""

from functools import partial

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given
from hypothesis import strategies as st

from glassbox import additive_attention, scaled_dot_product_attention

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
    torch.testing.assert_close(weights.double(), exact.to(dtype).double(), atol=1e-7, rtol=1e-2)
    half_a_step = torch.finfo(dtype).eps / 2
    errors = (weights.double() - exact).abs() / exact.clamp(min=torch.finfo(dtype).tiny)
    assert errors.max() <= half_a_step * 1.01
