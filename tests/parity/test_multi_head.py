"""`MultiHeadAttention` against `torch.nn.MultiheadAttention` with the same weights."""

import pytest
import torch
from torch import nn

from glassbox import MultiHeadAttention, causal_mask, padding_mask, record


def copy_weights(reference: nn.MultiheadAttention, *, bias: bool) -> MultiHeadAttention:
    """Build ours from the reference's stacked input projection."""
    d_model, n_heads = reference.embed_dim, reference.num_heads
    ours = MultiHeadAttention(d_model, n_heads, bias=bias).to(reference.out_proj.weight)
    state = {"output.weight": reference.out_proj.weight}
    names = ("query", "key", "value")
    state |= {
        f"{name}.weight": part
        for name, part in zip(names, reference.in_proj_weight.chunk(3), strict=True)
    }
    if bias:
        state["output.bias"] = reference.out_proj.bias
        state |= {
            f"{name}.bias": part
            for name, part in zip(names, reference.in_proj_bias.chunk(3), strict=True)
        }
    ours.load_state_dict(state)
    return ours


@pytest.fixture(params=[True, False], ids=["bias", "no bias"])
def pair(request, device):
    reference = nn.MultiheadAttention(24, 4, bias=request.param, batch_first=True, device=device)
    for parameter in reference.parameters():
        nn.init.normal_(parameter, std=0.3)  # biases start at 0, which would prove nothing
    return copy_weights(reference, bias=request.param), reference


def masks(device):
    causal = causal_mask(5, 7, device=device)
    ids = torch.tensor([[3, 4, 5, 6, 7, 8, 9], [3, 4, 5, 6, 0, 0, 0]], device=device)
    return {"none": None, "causal": causal, "both": causal & padding_mask(ids, 0)}


@pytest.mark.parametrize("kind", ["none", "causal", "both"])
@pytest.mark.parametrize("recorded", [False, True], ids=["fused", "recorded"])
def test_cross_attention_equals_pytorch_s(pair, kind, recorded, device):
    ours, reference = pair
    query, memory = torch.randn(2, 5, 24, device=device), torch.randn(2, 7, 24, device=device)
    mask = masks(device)[kind]
    blocked = None  # the reference's masks say who may not attend, one for each batch and head
    if mask is not None:
        blocked = ~mask.expand(2, 4, 5, 7).flatten(0, 1)
    expected, expected_weights = reference(
        query, memory, memory, attn_mask=blocked, average_attn_weights=False
    )
    if recorded:
        with record(ours) as tape:
            out = ours(query, memory, mask=mask)
        torch.testing.assert_close(tape[""].weights, expected_weights, atol=1e-6, rtol=1e-5)
    else:
        out = ours(query, memory, mask=mask)
    torch.testing.assert_close(out, expected, atol=1e-6, rtol=1e-5)

    out.square().sum().backward()
    expected.square().sum().backward()
    stacked = torch.cat([ours.query.weight.grad, ours.key.weight.grad, ours.value.weight.grad])
    torch.testing.assert_close(stacked, reference.in_proj_weight.grad, atol=1e-4, rtol=1e-5)
    torch.testing.assert_close(
        ours.output.weight.grad, reference.out_proj.weight.grad, atol=1e-4, rtol=1e-5
    )


def test_self_attention_equals_pytorch_s(pair, device):
    ours, reference = pair
    x = torch.randn(3, 6, 24, device=device)
    expected, _ = reference(x, x, x, need_weights=False)
    torch.testing.assert_close(ours(x), expected, atol=1e-6, rtol=1e-5)


def test_values_of_their_own_equal_pytorch_s(pair, device):
    ours, reference = pair
    query, key, value = (torch.randn(3, 6, 24, device=device) for _ in range(3))
    expected, _ = reference(query, key, value)
    torch.testing.assert_close(ours(query, key, value), expected, atol=1e-6, rtol=1e-5)


def test_pytorch_s_key_padding_mask_is_ours_inverted(pair, device):
    ours, reference = pair
    ids = torch.tensor([[3, 4, 5, 0], [3, 0, 0, 0]], device=device)
    x = torch.randn(2, 4, 24, device=device)
    expected, _ = reference(x, x, x, key_padding_mask=ids == 0)
    out = ours(x, mask=padding_mask(ids, pad_id=0))
    torch.testing.assert_close(out, expected, atol=1e-6, rtol=1e-5)


def test_in_double_precision_it_equals_pytorch_s_to_twelve_digits():
    reference = nn.MultiheadAttention(24, 3, batch_first=True, dtype=torch.float64)
    ours, x = copy_weights(reference, bias=True), torch.randn(2, 5, 24, dtype=torch.float64)
    torch.testing.assert_close(ours(x), reference(x, x, x)[0], atol=1e-12, rtol=0)
