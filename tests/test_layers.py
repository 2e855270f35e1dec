"""Norms, the feed-forward network and the encoder layer."""

import math

import pytest
import torch

from glassbox.layers import EncoderLayer, FeedForward, LayerNorm, layer_norm


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


def test_post_norm_ends_normalised_and_pre_norm_does_not():
    x = torch.randn(2, 5, 16) * 3
    spread = {
        first: EncoderLayer(16, 4, 32, norm_first=first).eval()(x).std(dim=-1, correction=0)
        for first in (False, True)
    }
    torch.testing.assert_close(spread[False], torch.ones(2, 5), atol=1e-3, rtol=0)
    assert (spread[True] > 1.5).all()


@pytest.mark.parametrize("sublayer", ["self_attention.output", "feed_forward.contract"])
def test_a_pre_norm_layer_adds_its_sublayers_to_the_input(sublayer):
    layer = EncoderLayer(16, 4, 32, norm_first=True).eval()
    for other in {"self_attention.output", "feed_forward.contract"} - {sublayer}:
        for parameter in layer.get_submodule(other).parameters():
            torch.nn.init.zeros_(parameter)
    x = torch.randn(2, 5, 16)
    if sublayer == "self_attention.output":
        added = layer.self_attention(layer.attention_norm(x))
    else:
        added = layer.feed_forward(layer.feed_forward_norm(x))
    torch.testing.assert_close(layer(x), x + added)


def test_dropout_takes_from_each_sublayer_s_output_before_the_residual_sum():
    x = torch.randn(2, 5, 16)
    pre = EncoderLayer(16, 4, 32, dropout=1.0, norm_first=True).train()
    assert torch.equal(pre(x), x)  # both sublayers are dropped whole, the input is left
    post = EncoderLayer(16, 4, 32, dropout=1.0).train()
    torch.testing.assert_close(post(x), post.feed_forward_norm(post.attention_norm(x)))


def test_dropout_is_for_training_alone():
    layer, x = EncoderLayer(16, 4, 32, dropout=0.5), torch.randn(2, 5, 16)
    assert not torch.equal(layer.train()(x), layer.train()(x))
    torch.testing.assert_close(layer.eval()(x), layer.eval()(x))


def test_the_paper_s_dropout_is_a_tenth():
    assert EncoderLayer(16, 4, 32).dropout.p == 0.1
