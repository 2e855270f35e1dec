"""A head that is switched off adds nothing, and is there again afterwards."""

import copy
from typing import Any

import pytest
import torch
from torch import nn

from glassbox import MultiHeadAttention, record
from glassbox.config import StackConfig
from glassbox.looking.ablation import without_heads
from glassbox.transformer import Encoder
from tests.machines import assert_near, randomize

CONFIG = StackConfig(d_model=16, n_heads=(4, 2, 8), n_layers=3, d_ff=32, dropout=0.0)


@pytest.fixture
def encoder(device):
    encoder = Encoder(CONFIG).to(device).eval()
    randomize(encoder)
    return encoder


@pytest.fixture
def x(device):
    return torch.randn(2, 5, 16, device=device)


def with_zeroed_rows(model, layer, heads):
    """Return a copy whose output matrix has zeros where these heads come in."""
    model = copy.deepcopy(model)
    attention: Any = model.layers[layer].self_attention
    columns = attention.output.weight.data.unflatten(1, (attention.n_heads, -1))
    columns[:, heads] = 0.0
    return model


@pytest.mark.parametrize(("layer", "heads"), [(0, [2]), (1, [0, 1]), (2, [7, 0, 3])])
def test_switching_off_is_zeroing_the_head_s_part_of_the_output_matrix(encoder, x, layer, heads):
    with without_heads(encoder, [(layer, head) for head in heads]):
        out = encoder(x)
    assert_near(out, with_zeroed_rows(encoder, layer, heads)(x), 1e-6)
    assert (out - encoder(x)).abs().max() > 1e-3


def test_heads_of_several_layers_go_together(encoder, x):
    with without_heads(encoder, [(0, 1), (2, 5)]):
        out = encoder(x)
    assert_near(out, with_zeroed_rows(with_zeroed_rows(encoder, 0, [1]), 2, [5])(x), 1e-6)


def test_a_number_and_a_name_mean_the_same_attention(encoder, x):
    with record(encoder) as tape:
        encoder(x)
    for number, name in enumerate(tape):
        with without_heads(encoder, [(number, 1)]):
            by_number = encoder(x)
        with without_heads(encoder, [(name, 1)]):
            assert torch.equal(encoder(x), by_number)


def test_without_all_heads_an_attention_gives_its_bias_alone(device):
    attention = MultiHeadAttention(16, 4, n_kv_heads=2).to(device)
    nn.init.normal_(attention.output.bias)
    with without_heads(attention, [(0, head) for head in range(4)]):
        out = attention(torch.randn(2, 5, 16, device=device))
    torch.testing.assert_close(out, attention.output.bias.expand(2, 5, 16))


def test_afterwards_everything_is_as_it_was(encoder, x):
    before, whole = copy.deepcopy(encoder.state_dict()), encoder(x)
    with pytest.raises(ValueError, match="d_model"), without_heads(encoder, [(0, 0)]):
        encoder(x[..., :-1])
    assert torch.equal(encoder(x), whole)
    assert all(torch.equal(before[name], now) for name, now in encoder.state_dict().items())
    assert not any(module._forward_pre_hooks for module in encoder.modules())


@pytest.mark.usefixtures("compiler")
def test_heads_of_a_compiled_model_are_switched_off_too(encoder, x):
    expected = with_zeroed_rows(encoder, 0, [2])(x)
    compiled: Any = torch.compile(encoder, backend="eager")
    whole = compiled(x)
    for which in (0, "layers.0.self_attention"):
        with without_heads(compiled, [(which, 2)]):
            assert_near(compiled(x), expected, 1e-6)
    torch.testing.assert_close(compiled(x), whole)


def test_no_heads_change_nothing(encoder, x):
    whole = encoder(x)
    with without_heads(encoder, []):
        assert torch.equal(encoder(x), whole)


def test_what_it_computes_is_recorded_and_passes_no_gradient(device):
    attention, x = MultiHeadAttention(16, 4).to(device), torch.randn(1, 5, 16, device=device)
    with record(attention) as tape, without_heads(attention, [(0, 2)]):
        out = attention(x)
    assert tape[""].context[:, 2].abs().max() > 0
    (gradient,) = torch.autograd.grad(out.square().sum(), attention.query.weight)
    of_heads = gradient.unflatten(0, (4, 4)).abs().amax(dim=(1, 2))
    assert (of_heads > 0).tolist() == [True, True, False, True]


def test_a_head_that_gives_nan_can_be_switched_off(device):
    attention = MultiHeadAttention(16, 4).to(device)
    attention.value.weight.data[4:8] = torch.nan
    x = torch.randn(1, 5, 16, device=device)
    assert attention(x).isnan().all()
    with without_heads(attention, [(0, 1)]):
        assert attention(x).isfinite().all()


@pytest.mark.parametrize(
    ("pair", "words"),
    [
        ((3, 0), r"no attention 3; there are 3: \['layers.0.self_attention', "),
        ((-1, 0), "no attention -1; there are 3"),
        (("attention", 0), "no attention 'attention'; there are 3"),
        ((1, 2), "attention 1 has heads 0 to 1; got 2"),
        ((0, -1), "attention 0 has heads 0 to 3; got -1"),
    ],
)
def test_a_head_that_is_not_there_is_refused_with_those_that_are(encoder, pair, words):
    with pytest.raises(ValueError, match=words), without_heads(encoder, [pair]):
        pass


@pytest.mark.usefixtures("as_a_reader")
def test_a_single_pair_is_refused_with_how_to_pass_it(encoder):
    pair: Any = (0, 1)
    with (
        pytest.raises(TypeError, match=r"0 is not an .*\[\(0, 1\)\]"),
        without_heads(encoder, pair),
    ):
        pass


@pytest.mark.usefixtures("as_a_reader")
def test_what_is_no_model_is_refused_by_its_type():
    translator: Any = "english-french"
    with (
        pytest.raises(ValueError, match=r"no attention 0; there are 0: \[\], in this str"),
        without_heads(translator, [(0, 0)]),
    ):
        pass
