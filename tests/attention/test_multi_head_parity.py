"""`MultiHeadAttention` against `torch.nn.MultiheadAttention` with the same weights."""

from contextlib import nullcontext

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn

from glassbox import MultiHeadAttention, padding_mask, record
from glassbox.around import Around
from tests.references.pytorch_modules import (
    HALF,
    MASKS,
    assert_as_exact_as,
    assert_same,
    assert_same_gradients,
    blocked,
    load,
    randomize,
)

SHAPES = [
    (2, 5, 7, 24, 4),
    (1, 1, 1, 8, 2),
    (3, 1, 9, 12, 1),
    (2, 6, 6, 16, 16),
    (2, 40, 33, 32, 8),
]
RECORDED = pytest.mark.parametrize("recorded", [False, True], ids=["fused", "recorded"])


def make_pair(d_model=24, n_heads=4, *, bias=True, device="cpu", dtype=torch.float32):
    """Return ours and the reference, with the same weights."""
    reference = nn.MultiheadAttention(d_model, n_heads, bias=bias, batch_first=True)
    randomize(reference)
    ours = MultiHeadAttention(d_model, n_heads, bias=bias)
    reference.to(device, dtype)
    load(ours, reference)
    return ours, reference


def copies(*tensors):
    return [tensor.detach().clone().requires_grad_() for tensor in tensors]


@pytest.mark.parametrize("kind", MASKS)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
@RECORDED
def test_cross_attention_and_its_gradients_equal_pytorch_s(shape, kind, recorded, device):
    batch, q_len, k_len, d_model, n_heads = shape
    ours, reference = make_pair(d_model, n_heads, device=device)
    mask = MASKS[kind](batch, n_heads, q_len, k_len)
    mask = None if mask is None else mask.to(device)
    query, memory = (torch.randn(batch, n, d_model, device=device) for n in (q_len, k_len))
    query, memory = copies(query, memory)
    their_query, their_memory = copies(query, memory)
    with record(ours) if recorded else nullcontext():
        out = ours(query, memory, mask=mask)
    expected, _ = reference(
        their_query,
        their_memory,
        their_memory,
        attn_mask=blocked(mask, (batch, n_heads, q_len, k_len)),
        need_weights=False,
    )
    assert_same(out, expected)
    inputs = (query, memory), (their_query, their_memory)
    assert_same_gradients(ours, reference, out, expected, *inputs)


@pytest.mark.parametrize("train", [False, True], ids=["eval", "train"])
@pytest.mark.parametrize("padded", [False, True], ids=["whole", "padded"])
@pytest.mark.parametrize("bias", [True, False], ids=["bias", "no bias"])
@RECORDED
def test_causal_self_attention_and_its_gradients_equal_pytorch_s(
    bias, padded, train, recorded, device
):
    ours, reference = make_pair(bias=bias, device=device)
    x = torch.randn(3, 6, 24, device=device)
    (a,), (b,) = copies(x), copies(x)
    ids = torch.tensor([[4] * 6, [4, 4, 4, 0, 0, 0], [4, 0, 0, 0, 0, 0]], device=device)
    future = nn.Transformer.generate_square_subsequent_mask(6, device=device, dtype=torch.float32)
    with record(ours.train(train)) if recorded else nullcontext():
        out = ours(a, mask=padding_mask(ids, 0) if padded else None, causal=True)
    expected, _ = reference.train(train)(
        b,
        b,
        b,
        attn_mask=future.isinf(),
        key_padding_mask=ids == 0 if padded else None,
        is_causal=True,
        need_weights=False,
    )
    assert_same(out, expected)
    assert_same_gradients(ours, reference, out, expected, [a], [b])


@pytest.mark.parametrize("kind", [kind for kind in MASKS if kind != "fully masked rows"])
def test_recorded_weights_equal_the_maps_that_pytorch_returns(kind, device):
    ours, reference = make_pair(device=device)
    query, memory = torch.randn(2, 5, 24, device=device), torch.randn(2, 7, 24, device=device)
    mask = MASKS[kind](2, 4, 5, 7)
    mask = None if mask is None else mask.to(device) | torch.eye(5, 7, device=device).bool()
    hidden = blocked(mask, (2, 4, 5, 7))
    with record(ours) as tape:
        ours(query, memory, mask=mask)
    _, expected = reference(query, memory, memory, attn_mask=hidden, average_attn_weights=False)
    assert_same(tape[""].weights, expected)


@pytest.mark.parametrize("per_head", [False, True], ids=["one for all", "per head"])
@RECORDED
def test_pytorch_s_float_mask_is_our_bias(per_head, recorded, device):
    ours, reference = make_pair(device=device)
    query, memory, bias = copies(
        torch.randn(2, 5, 24, device=device),
        torch.randn(2, 7, 24, device=device),
        torch.randn(2, 4, 5, 7, device=device) if per_head else torch.randn(5, 7, device=device),
    )
    their_query, their_memory, their_bias = copies(query, memory, bias)
    with record(ours) if recorded else nullcontext():
        out = ours(query, memory, around=Around(bias=bias))
    added = their_bias.flatten(0, 1) if per_head else their_bias
    expected, _ = reference(
        their_query, their_memory, their_memory, attn_mask=added, need_weights=False
    )
    assert_same(out, expected)
    inputs = (query, memory, bias), (their_query, their_memory, their_bias)
    assert_same_gradients(ours, reference, out, expected, *inputs)


def test_values_of_their_own_equal_pytorch_s(device):
    ours, reference = make_pair(device=device)
    query, key, value = (torch.randn(3, 6, 24, device=device) for _ in range(3))
    assert_same(ours(query, key, value), reference(query, key, value)[0])


def test_pytorch_s_key_padding_mask_is_ours_inverted(device):
    ours, reference = make_pair(device=device)
    ids = torch.tensor([[3, 4, 5, 0], [3, 0, 0, 0]], device=device)
    x = torch.randn(2, 4, 24, device=device)
    expected, _ = reference(x, x, x, key_padding_mask=ids == 0)
    assert_same(ours(x, mask=padding_mask(ids, pad_id=0)), expected)


@torch.no_grad()
def test_pytorch_s_path_for_inference_equals_ours(device):
    ours, reference = (module.eval() for module in make_pair(device=device))
    x = torch.randn(2, 6, 24, device=device)
    assert_same(ours(x), reference(x, x, x, need_weights=False)[0])


@settings(max_examples=80)
@given(
    sizes=st.tuples(*(st.integers(1, 5) for _ in range(5))),
    shares=st.tuples(st.sampled_from([0.0, 0.4, 0.8]), st.booleans(), st.booleans()),
    axes=st.tuples(*(st.booleans() for _ in range(4))),
    recorded=st.booleans(),
    seed=st.integers(0, 2**16),
)
def test_any_shape_mask_and_bias_equal_pytorch_s_to_twelve_digits(
    sizes, shares, axes, recorded, seed
):
    torch.manual_seed(seed)
    batch, q_len, k_len, n_heads, d_k = sizes
    share, masked, biased = shares
    ours, reference = make_pair(n_heads * d_k, n_heads, dtype=torch.float64)
    shape = (batch, n_heads, q_len, k_len)
    some = [size if there else 1 for size, there in zip(shape, axes, strict=True)]
    mask = torch.rand(some) < share if masked else None
    bias = torch.randn(some[1:], dtype=torch.float64) if biased else None
    query, memory = (torch.randn(batch, n, n_heads * d_k, dtype=torch.float64) for n in sizes[1:3])
    query, memory = copies(query, memory)
    their_query, their_memory = copies(query, memory)
    with record(ours) if recorded else nullcontext():
        out = ours(query, memory, mask=mask, around=Around(bias=bias))
    added = torch.zeros(shape, dtype=torch.float64) if bias is None else bias.expand(shape)
    added = added if mask is None else added.masked_fill(~mask, -torch.inf)
    expected, _ = reference(
        their_query, their_memory, their_memory, attn_mask=added.flatten(0, 1), need_weights=False
    )
    assert_same(out, expected)
    inputs = (query, memory), (their_query, their_memory)
    assert_same_gradients(ours, reference, out, expected, *inputs)


@pytest.mark.parametrize("dtype", HALF, ids=str)
@pytest.mark.parametrize("kind", ["none", "causal", "padding", "fully masked rows"])
@RECORDED
def test_in_half_precision_it_is_as_exact_as_pytorch_s(dtype, kind, recorded, device):
    ours, reference = make_pair(64, 4, dtype=dtype, device=device)
    x = torch.randn(2, 48, 64, device=device, dtype=dtype)
    mask = MASKS[kind](2, 4, 48, 48)
    mask = None if mask is None else mask.to(device)
    hidden = blocked(mask, (2, 4, 48, 48))
    with record(ours) if recorded else nullcontext():
        out = ours(x, mask=mask)
    theirs, _ = reference(x, x, x, attn_mask=hidden, need_weights=False)
    x, reference = x.double(), reference.double()
    exact, _ = reference(x, x, x, attn_mask=hidden, need_weights=False)
    assert_as_exact_as(out, theirs, exact)
