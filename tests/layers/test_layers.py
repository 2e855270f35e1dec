"""Layers of encoder and decoder: where norms, residual sums and dropout stand."""

import pytest
import torch
from torch import nn

from glassbox import causal_mask
from glassbox.config import StackConfig
from glassbox.layers import (
    DecoderLayer,
    EncoderLayer,
    FeedForward,
    GatedFeedForward,
    LayerNorm,
    RMSNorm,
)
from tests.machines import randomize

SUBLAYERS = ("self_attention", "cross_attention", "feed_forward")
LAST = {"self_attention": "output", "cross_attention": "output", "feed_forward": "contract"}
NORMS = {
    "self_attention": "attention_norm",
    "cross_attention": "cross_attention_norm",
    "feed_forward": "feed_forward_norm",
}


def encoder_layer(**options):
    return EncoderLayer(StackConfig(d_model=16, n_heads=4, d_ff=32, **options))


def decoder_layer(**options):
    layer = DecoderLayer(StackConfig(d_model=16, n_heads=4, d_ff=32, **options))
    randomize(layer)
    return layer.eval()


def test_post_norm_ends_normalised_and_pre_norm_does_not():
    x = torch.randn(2, 5, 16) * 3
    spread = {
        first: encoder_layer(norm_first=first).eval()(x).std(dim=-1, correction=0)
        for first in (False, True)
    }
    torch.testing.assert_close(spread[False], torch.ones(2, 5), atol=1e-3, rtol=0)
    assert (spread[True] > 1.5).all()


@pytest.mark.parametrize("sublayer", ["self_attention.output", "feed_forward.contract"])
def test_a_pre_norm_layer_adds_its_sublayers_to_the_input(sublayer):
    layer = encoder_layer(norm_first=True).eval()
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
    pre, post = encoder_layer(norm_first=True).train(), encoder_layer().train()
    pre.dropout.p = post.dropout.p = 1.0
    assert torch.equal(pre(x), x)  # both sublayers are dropped whole, the input is left
    torch.testing.assert_close(post(x), post.feed_forward_norm(post.attention_norm(x)))


def test_dropout_is_for_training_alone():
    layer, x = encoder_layer(dropout=0.5), torch.randn(2, 5, 16)
    assert not torch.equal(layer.train()(x), layer.train()(x))
    torch.testing.assert_close(layer.eval()(x), layer.eval()(x))


def test_the_paper_s_dropout_is_a_tenth():
    assert encoder_layer().dropout.p == 0.1


def apply(layer, sublayer, x, memory):
    """Return what a sublayer of a decoder layer makes of its input."""
    module = layer.get_submodule(sublayer)
    if sublayer == "feed_forward":
        return module(x)
    if sublayer == "self_attention":
        return module(x, mask=causal_mask(x.size(1)))
    return module(x, memory)


@pytest.mark.parametrize("norm", ["layer", "rms"])
def test_a_decoder_layer_looks_back_then_at_the_source_then_thinks(norm):
    x, memory = torch.randn(2, 5, 16), torch.randn(2, 7, 16)
    post, pre = (decoder_layer(norm=norm, norm_first=first) for first in (False, True))
    a = b = x
    for sublayer in SUBLAYERS:
        a = getattr(post, NORMS[sublayer])(a + apply(post, sublayer, a, memory))
        b = b + apply(pre, sublayer, getattr(pre, NORMS[sublayer])(b), memory)
    torch.testing.assert_close(post(x, memory), a)
    torch.testing.assert_close(pre(x, memory), b)


@pytest.mark.parametrize("sublayer", SUBLAYERS)
def test_a_pre_norm_decoder_layer_adds_its_sublayers_to_the_input(sublayer):
    layer = decoder_layer(norm_first=True)
    for other in set(SUBLAYERS) - {sublayer}:
        for parameter in layer.get_submodule(f"{other}.{LAST[other]}").parameters():
            nn.init.zeros_(parameter)
    x, memory = torch.randn(2, 5, 16), torch.randn(2, 7, 16)
    added = apply(layer, sublayer, getattr(layer, NORMS[sublayer])(x), memory)
    torch.testing.assert_close(layer(x, memory), x + added)


def test_a_decoder_layer_drops_out_of_each_sublayer_s_output_before_the_residual_sum():
    x, memory = torch.randn(2, 5, 16), torch.randn(2, 7, 16)
    pre, post = decoder_layer(norm_first=True).train(), decoder_layer().train()
    pre.dropout.p = post.dropout.p = 1.0
    assert torch.equal(pre(x, memory), x)
    expected = x
    for sublayer in SUBLAYERS:
        expected = getattr(post, NORMS[sublayer])(expected)
    torch.testing.assert_close(post(x, memory), expected)


def test_without_a_memory_a_decoder_layer_is_an_encoder_layer_that_cannot_look_ahead():
    config = StackConfig(d_model=16, n_heads=4, d_ff=32)
    decoder = DecoderLayer(config, cross_attention=False).eval()
    encoder = EncoderLayer(config).eval()
    encoder.load_state_dict(decoder.state_dict())
    x, mask = torch.randn(2, 5, 16), torch.rand(2, 1, 1, 5) < 0.7
    torch.testing.assert_close(decoder(x), encoder(x, causal_mask(5)))
    torch.testing.assert_close(decoder(x, mask=mask), encoder(x, mask & causal_mask(5)))


def test_the_configuration_chooses_norm_network_and_heads():
    plain = DecoderLayer(StackConfig(16, 4, 1, 32))
    other = DecoderLayer(StackConfig(16, (4, 2), 2, 32, norm="rms", gated=True, bias=False), 1)
    for name in NORMS.values():
        assert isinstance(plain.get_submodule(name), LayerNorm)
        assert isinstance(other.get_submodule(name), RMSNorm)
    assert isinstance(plain.feed_forward, FeedForward)
    assert isinstance(other.feed_forward, GatedFeedForward)
    assert (plain.self_attention.n_heads, other.self_attention.n_heads) == (4, 2)
    assert not any(name.endswith("bias") for name in other.state_dict())
