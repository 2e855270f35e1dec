"""Layer normalisation, and the root mean square alone."""

import math

import pytest
import torch

from glassbox.layers import LayerNorm, RMSNorm, layer_norm, rms_norm


def test_every_position_gets_mean_zero_and_variance_one(device):
    x = torch.randn(2, 5, 64, device=device) * 7 + 3
    out = LayerNorm(64).to(device)(x)
    torch.testing.assert_close(
        out.mean(dim=-1), torch.zeros(2, 5, device=device), atol=1e-5, rtol=0
    )
    variance = out.var(dim=-1, correction=0)
    torch.testing.assert_close(variance, torch.ones(2, 5, device=device), atol=1e-3, rtol=0)


def test_the_variance_divides_by_the_width_and_epsilon_stands_inside_the_root():
    x = torch.tensor([1.0, 3.0], dtype=torch.float64)  # variance 1, or 2 if divided by width - 1
    weight, bias = torch.ones_like(x), torch.zeros_like(x)
    expected = [-1 / math.sqrt(1 + 0.5), 1 / math.sqrt(1 + 0.5)]
    assert layer_norm(x, weight, bias, eps=0.5).tolist() == pytest.approx(expected)


def test_scale_and_shift_are_applied_to_the_normalised_values():
    x = torch.tensor([-1.0, 1.0])
    out = layer_norm(x, torch.tensor([2.0, 3.0]), torch.tensor([10.0, 20.0]), eps=0.0)
    assert out.tolist() == [10 - 2, 20 + 3]


def test_a_constant_vector_becomes_the_shift():
    norm = LayerNorm(4)
    torch.nn.init.normal_(norm.bias)
    assert torch.equal(norm(torch.full((2, 4), 5.0)), norm.bias.expand(2, 4))


def test_the_module_is_the_function_with_its_parameters(device):
    norm = LayerNorm(16, eps=1e-3).to(device)
    for parameter in norm.parameters():
        torch.nn.init.normal_(parameter)
    x = torch.randn(3, 16, device=device)
    torch.testing.assert_close(norm(x), layer_norm(x, norm.weight, norm.bias, eps=1e-3))


def test_the_default_epsilon_is_the_same_for_function_and_module():
    x = torch.randn(5, 8) * 1e-3
    norm = LayerNorm(8)
    torch.testing.assert_close(norm(x), layer_norm(x, norm.weight, norm.bias))
    assert norm.eps == 1e-5
    assert repr(norm) == "LayerNorm(8, eps=1e-05)"


def test_every_position_gets_mean_square_one_and_keeps_its_direction(device):
    x = torch.randn(2, 5, 64, device=device) * 7 + 3
    out = RMSNorm(64).to(device)(x)
    ones = torch.ones(2, 5, device=device)
    torch.testing.assert_close(out.square().mean(dim=-1), ones, atol=1e-5, rtol=0)
    torch.testing.assert_close(torch.cosine_similarity(out, x, dim=-1), ones)


def test_the_mean_square_divides_by_the_width_and_epsilon_stands_inside_the_root():
    x = torch.tensor([1.0, 7.0], dtype=torch.float64)  # mean square 25
    weight = torch.tensor([2.0, 3.0], dtype=torch.float64)
    root = math.sqrt(25 + 11)
    assert rms_norm(x, weight, eps=11.0).tolist() == pytest.approx([2 * 1 / root, 3 * 7 / root])


def test_without_a_mean_and_a_shift_layer_norm_is_rms_norm():
    x, weight = torch.randn(3, 16, dtype=torch.float64), torch.randn(16, dtype=torch.float64)
    x = x - x.mean(dim=-1, keepdim=True)
    expected = layer_norm(x, weight, torch.zeros_like(weight), eps=1e-6)
    torch.testing.assert_close(rms_norm(x, weight, eps=1e-6), expected)


def test_a_factor_changes_nothing_and_for_layer_norm_neither_does_a_sum():
    x, ones = torch.randn(5, 16, dtype=torch.float64), torch.ones(16, dtype=torch.float64)
    torch.testing.assert_close(rms_norm(9 * x, ones, eps=1e-30), rms_norm(x, ones, eps=1e-30))
    moved = layer_norm(9 * x + 4, ones, 0 * ones, eps=1e-30)
    torch.testing.assert_close(moved, layer_norm(x, ones, 0 * ones, eps=1e-30))


def test_zeros_stay_zeros_without_nan():
    assert torch.equal(rms_norm(torch.zeros(2, 4), torch.ones(4)), torch.zeros(2, 4))


def test_the_rms_module_is_the_function_with_its_parameter(device):
    norm = RMSNorm(16, eps=1e-3).to(device)
    torch.nn.init.normal_(norm.weight)
    x = torch.randn(3, 16, device=device)
    torch.testing.assert_close(norm(x), rms_norm(x, norm.weight, eps=1e-3))
    x = torch.randn(5, 16, device=device) * 1e-3
    torch.testing.assert_close(RMSNorm(16).to(device)(x), rms_norm(x, torch.ones(16).to(device)))
    assert repr(RMSNorm(16)) == "RMSNorm(16, eps=1e-06)"
    assert list(norm.state_dict()) == ["weight"]


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float64], ids=str)
def test_norms_keep_the_dtype_and_stay_finite_at_its_ends(dtype, device):
    """Squares of numbers beyond 256 overflow half precision."""
    x = torch.tensor([[3e4, -2e4, 1e4, 0.0]], dtype=dtype, device=device)
    weight, bias = torch.ones(4, dtype=dtype, device=device), torch.zeros(4).to(device, dtype)
    for out in (
        layer_norm(x, weight, bias),
        rms_norm(x, weight),
        LayerNorm(4).to(device, dtype)(x),
        RMSNorm(4).to(device, dtype)(x),
    ):
        assert out.dtype == dtype
        assert 1.0 < out.abs().max() < 2.0
