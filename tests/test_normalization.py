"""Layer normalisation."""

import math

import pytest
import torch

from glassbox.normalization import LayerNorm, layer_norm


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
