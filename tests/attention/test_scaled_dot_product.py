"""Properties that attention has by its definition."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from glassbox import (
    additive_attention,
    causal_mask,
    scaled_dot_product_attention,
)
from glassbox.attention import dot_product_scores, masked_softmax


def qkv(q_len=5, k_len=5, d_k=8, d_v=8, batch=(2, 3), **options):
    """Random query, key, value."""
    return (
        torch.randn(*batch, q_len, d_k, **options),
        torch.randn(*batch, k_len, d_k, **options),
        torch.randn(*batch, k_len, d_v, **options),
    )


@given(seed=st.integers(0, 2**16), share=st.floats(0, 1), scale=st.sampled_from([0.1, 1.0, 1e4]))
def test_weights_are_not_negative_and_sum_to_one_where_anything_is_allowed(seed, share, scale):
    generator = torch.Generator().manual_seed(seed)
    scores = torch.randn(2, 6, 7, generator=generator) * scale
    mask = torch.rand(2, 6, 7, generator=generator) < share
    weights = masked_softmax(scores, mask)
    assert (weights >= 0).all()
    assert (weights[~mask] == 0).all()
    torch.testing.assert_close(weights.sum(dim=-1), mask.any(dim=-1).float())


def test_without_a_mask_everything_is_allowed(device):
    query, key, value = qkv(device=device)
    everything = torch.ones(5, 5, dtype=torch.bool, device=device)
    for ours, expected in zip(
        scaled_dot_product_attention(query, key, value),
        scaled_dot_product_attention(query, key, value, everything),
        strict=True,
    ):
        torch.testing.assert_close(ours, expected)


def test_scores_are_divided_by_the_root_of_the_width():
    query, key = torch.tensor([[3.0, 4.0, 0.0, 0.0]]), torch.tensor([[2.0, 1.0, 5.0, 5.0]])
    assert dot_product_scores(query, key).item() == (3 * 2 + 4 * 1) / 2


@pytest.mark.parametrize("d_k", [1, 16, 256])
def test_scores_have_variance_one_at_every_width(d_k):
    query, key, _ = qkv(300, 300, d_k=d_k, batch=())
    assert dot_product_scores(query, key).var().item() == pytest.approx(1.0, abs=0.15)


def test_a_query_with_nothing_to_attend_to_gets_zeros_and_passes_no_gradient_back(device):
    query, key, value = inputs = qkv(device=device, requires_grad=True)
    mask = torch.ones(5, 5, dtype=torch.bool, device=device)
    mask[2] = False
    context, weights = scaled_dot_product_attention(query, key, value, mask)
    assert (context[..., 2, :] == 0).all()
    assert (weights[..., 2, :] == 0).all()
    assert (context[..., [0, 1, 3, 4], :] != 0).all()
    query_gradient, *gradients = torch.autograd.grad(context.square().sum(), inputs)
    assert (query_gradient[..., 2, :] == 0).all()
    assert all(gradient.isfinite().all() for gradient in (query_gradient, *gradients))


def test_no_nan_arises_on_the_way_back_from_such_a_query(device):
    query, key, value = inputs = qkv(device=device, requires_grad=True)
    mask = torch.zeros(5, 5, dtype=torch.bool, device=device)
    with torch.autograd.set_detect_anomaly(True):  # refuses NaN in every step of the way back
        context, _ = scaled_dot_product_attention(query, key, value, mask)
        gradients = torch.autograd.grad(context.sum(), inputs)
    assert all((gradient == 0).all() for gradient in gradients)


def test_what_is_masked_has_no_influence(device):
    query, key, value = qkv(device=device)
    mask = torch.tensor([True, True, False, True, False], device=device)
    context, _ = scaled_dot_product_attention(query, key, value, mask)
    key[..., [2, 4], :], value[..., [2, 4], :] = 100.0, -100.0
    same, _ = scaled_dot_product_attention(query, key, value, mask)
    torch.testing.assert_close(same, context)


def test_changing_the_future_changes_nothing_before_it(device):
    query, key, value = qkv(device=device)
    context, _ = scaled_dot_product_attention(query, key, value, causal_mask(5, device=device))
    for tensor in (query, key, value):
        tensor[..., 3:, :] = torch.randn_like(tensor[..., 3:, :])
    changed, _ = scaled_dot_product_attention(query, key, value, causal_mask(5, device=device))
    torch.testing.assert_close(changed[..., :3, :], context[..., :3, :])
    assert not torch.isclose(changed[..., 3:, :], context[..., 3:, :]).any()


def test_the_order_of_the_keys_does_not_matter(device):
    query, key, value = qkv(device=device)
    order = torch.randperm(5, device=device)
    context, weights = scaled_dot_product_attention(query, key, value)
    same, shuffled = scaled_dot_product_attention(query, key[..., order, :], value[..., order, :])
    torch.testing.assert_close(same, context)
    torch.testing.assert_close(shuffled, weights[..., order])


def test_context_is_linear_in_the_values():
    query, key, value = qkv(dtype=torch.float64)
    other = torch.randn_like(value)

    def context(value):
        return scaled_dot_product_attention(query, key, value)[0]

    combined = context(2 * value - 3 * other)
    torch.testing.assert_close(combined, 2 * context(value) - 3 * context(other))


def test_one_key_receives_all_the_weight():
    query, key, value = qkv(k_len=1)
    context, weights = scaled_dot_product_attention(query, key, value)
    assert (weights == 1).all()
    torch.testing.assert_close(context, value.expand_as(context))


def test_equal_keys_give_the_plain_average():
    query, key, value = qkv()
    key[:] = key[..., :1, :]
    context, weights = scaled_dot_product_attention(query, key, value)
    torch.testing.assert_close(weights, torch.full_like(weights, 1 / 5))
    torch.testing.assert_close(context, value.mean(dim=-2, keepdim=True).expand_as(context))


def test_huge_scores_pick_one_key_and_stay_finite(device):
    query, key, value = qkv(device=device)
    context, weights = scaled_dot_product_attention(query * 1e6, key * 1e6, value)
    assert context.isfinite().all()
    best = dot_product_scores(query, key).argmax(dim=-1)
    assert (weights.gather(-1, best[..., None]) == 1).all()


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float64], ids=str)
def test_results_have_the_dtype_of_the_inputs(dtype, device):
    context, weights = scaled_dot_product_attention(*qkv(dtype=dtype, device=device))
    assert context.dtype == weights.dtype == dtype


def test_no_input_is_modified():
    mask = torch.tensor([[False] * 5, *causal_mask(5)[1:].tolist()])
    query, key, value = qkv(batch=(2,))
    bias, weights = torch.randn(5, 5), (torch.randn(4, 8), torch.randn(4, 8), torch.randn(4))
    tensors = [query, key, value, mask, bias, *weights]
    copies = [tensor.clone() for tensor in tensors]
    scaled_dot_product_attention(query, key, value, mask, bias=bias, scale=0.5)
    additive_attention(query, key, value, *weights, mask)
    for tensor, copy in zip(tensors, copies, strict=True):
        assert torch.equal(tensor, copy)
        assert tensor._version == 0


def test_a_bias_is_added_before_the_mask_and_after_the_scale(device):
    query, key, value = qkv(device=device)
    bias, mask = torch.randn(3, 5, 5, device=device), causal_mask(5, device=device)
    context, weights = scaled_dot_product_attention(query, key, value, mask, bias=bias, scale=0.25)
    expected = masked_softmax(query @ key.mT * 0.25 + bias, mask)
    torch.testing.assert_close(weights, expected)
    torch.testing.assert_close(context, expected @ value)
    assert (weights[..., 0, 1:] == 0).all()  # whatever the bias says of them


def test_a_scale_of_one_leaves_the_products_as_they_are():
    query, key, _ = qkv()
    torch.testing.assert_close(dot_product_scores(query, key, scale=1.0), query @ key.mT)
    assert torch.equal(
        dot_product_scores(query, key), dot_product_scores(query, key, scale=8**-0.5)
    )


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float64], ids=str)
@pytest.mark.parametrize("biased", [False, True], ids=["no bias", "bias"])
def test_in_every_dtype_an_empty_row_is_zeros_without_a_gradient(dtype, biased, device):
    query, key, value = inputs = qkv(dtype=dtype, device=device, requires_grad=True)
    mask = torch.ones(2, 1, 5, 5, dtype=torch.bool, device=device)
    mask[0, :, 3], mask[1] = False, False
    bias = torch.randn(5, 5, device=device) if biased else None  # single precision, as ALiBi's
    context, weights = scaled_dot_product_attention(query, key, value, mask, bias=bias)
    for result in (context, weights):
        assert result.dtype == dtype
        assert (result[0, :, 3] == 0).all()
        assert (result[1] == 0).all()
    gradients = torch.autograd.grad(context.square().sum(), inputs)
    assert all(gradient.isfinite().all() for gradient in gradients)
    assert all((gradient[1] == 0).all() for gradient in gradients)
    assert (gradients[0][0, :, 3] == 0).all()
