"""The encoder layer: where norms, residual sums and dropout stand."""

import pytest
import torch

from glassbox.config import StackConfig
from glassbox.layers import EncoderLayer


def encoder_layer(**options):
    return EncoderLayer(StackConfig(d_model=16, n_heads=4, d_ff=32, **options))


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
