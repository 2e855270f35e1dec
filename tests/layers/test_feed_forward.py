"""What happens at each position by itself."""

import math

import pytest
import torch
from torch import nn

from glassbox.layers import ACTIVATIONS, FeedForward, GatedFeedForward, gelu, gelu_tanh, silu


def test_feed_forward_is_two_linear_maps_with_a_relu_between():
    network, x = FeedForward(6, 10), torch.randn(2, 3, 6)
    hidden = (x @ network.expand.weight.T + network.expand.bias).clamp(min=0)
    expected = hidden @ network.contract.weight.T + network.contract.bias
    torch.testing.assert_close(network(x), expected)
    assert network.expand.weight.shape == (10, 6)


def test_gelu_is_the_exact_one():
    network, x = FeedForward(6, 10, "gelu").double(), torch.randn(2, 3, 6, dtype=torch.float64) * 3
    hidden = x @ network.expand.weight.T + network.expand.bias
    hidden = hidden * (1 + torch.erf(hidden / math.sqrt(2))) / 2
    expected = hidden @ network.contract.weight.T + network.contract.bias
    torch.testing.assert_close(network(x), expected, atol=1e-12, rtol=0)


def test_feed_forward_transforms_each_position_by_itself():
    network, x = FeedForward(6, 10), torch.randn(2, 4, 6)
    torch.testing.assert_close(network(x)[:, 2], network(x[:, 2]))


def test_the_tanh_approximates_the_exact_gelu_to_three_places_and_is_not_it():
    x = torch.linspace(-8, 8, 1001, dtype=torch.float64)
    difference = (gelu(x) - gelu_tanh(x)).abs()
    assert 1e-4 < difference.max() < 1e-3


def test_gelu_and_silu_let_large_numbers_through_and_hold_small_ones_back():
    x = torch.tensor([-30.0, 0.0, 30.0])
    for bend in (gelu, gelu_tanh, silu):
        torch.testing.assert_close(bend(x), torch.tensor([0.0, 0.0, 30.0]), atol=1e-5, rtol=0)
    assert silu(torch.tensor(1.0)).item() == pytest.approx(1 / (1 + math.exp(-1)))
    assert gelu(torch.tensor(1.0)).item() == pytest.approx(0.8413447)  # the normal's quantile


def test_a_gate_decides_how_much_of_the_first_map_goes_through():
    network, x = GatedFeedForward(6, 10, bias=True), torch.randn(2, 3, 6)
    opened = silu(x @ network.gate.weight.T + network.gate.bias)
    hidden = opened * (x @ network.expand.weight.T + network.expand.bias)
    expected = hidden @ network.contract.weight.T + network.contract.bias
    torch.testing.assert_close(network(x), expected)


def test_a_closed_gate_lets_nothing_through():
    network = GatedFeedForward(6, 10)
    nn.init.zeros_(network.gate.weight)
    assert (network(torch.randn(2, 6)) == 0).all()


def test_three_matrices_of_two_thirds_the_width_are_as_many_parameters_as_two():
    def count(network):
        return sum(parameter.numel() for parameter in network.parameters())

    assert count(GatedFeedForward(12, 32)) == count(FeedForward(12, 48, bias=False))
    assert count(FeedForward(12, 48)) == 2 * 12 * 48 + 48 + 12
    assert count(GatedFeedForward(12, 32, bias=True)) == 3 * 12 * 32 + 2 * 32 + 12


@pytest.mark.parametrize("kind", [FeedForward, GatedFeedForward])
@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_every_activation_transforms_each_position_by_itself_and_learns(kind, activation):
    network, x = kind(6, 10, activation, bias=True), torch.randn(2, 4, 6)
    out = network(x)
    torch.testing.assert_close(out[:, 2], network(x[:, 2]))
    out.square().sum().backward()
    for name, parameter in network.named_parameters():
        assert parameter.grad is not None, name
        assert parameter.grad.abs().max() > 1e-4, name


def test_no_two_activations_are_the_same():
    x = torch.linspace(-3, 3, 50)
    values = [bend(x) for bend in ACTIVATIONS.values()]
    for i, a in enumerate(values):
        assert not any(torch.equal(a, b) for b in values[i + 1 :])
