"""What happens at each position by itself."""

import math

import torch

from glassbox.feed_forward import FeedForward


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
