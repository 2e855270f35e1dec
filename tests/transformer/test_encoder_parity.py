"""Encoder layer and encoder against PyTorch's with the same weights."""

from contextlib import nullcontext

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn

from glassbox import record
from glassbox.config import StackConfig
from glassbox.layers import EncoderLayer
from glassbox.transformer import Encoder
from tests.references.pytorch_modules import (
    HALF,
    MASKS,
    WAYS,
    assert_as_exact_as,
    assert_same,
    assert_same_gradients,
    blocked,
    load,
    randomize,
)

pytestmark = pytest.mark.slow

NORMS = pytest.mark.parametrize("norm_first", [False, True], ids=["post-norm", "pre-norm"])


def layers(config, dtype=torch.float32, device="cpu"):
    """Return our layer and the reference's, with the same weights."""
    reference = nn.TransformerEncoderLayer(
        config.d_model,
        config.n_heads,
        config.d_ff,
        0.0,
        config.activation,
        config.norm_eps,
        batch_first=True,
        norm_first=config.norm_first,
        bias=config.bias,
    )
    randomize(reference)
    ours = EncoderLayer(config)
    load(ours, reference.to(device, dtype))
    return ours, reference


def stacks(config, dtype=torch.float32, device="cpu"):
    """Return our encoder and the reference's, with the same weights.

    Its own final norm is an argument; a pre-norm stack needs one, a post-norm stack none.
    """
    reference = nn.TransformerEncoder(
        nn.TransformerEncoderLayer(
            config.d_model,
            config.n_heads,
            config.d_ff,
            0.0,
            batch_first=True,
            norm_first=config.norm_first,
        ),
        config.n_layers,
        nn.LayerNorm(config.d_model) if config.norm_first else None,
        enable_nested_tensor=False,
    )
    randomize(reference)
    ours = Encoder(config)
    load(ours, reference.to(device, dtype))
    return ours, reference


def compare(ours, reference, shape, mask, recorded=False):
    """Compare the outputs and the gradients of the input and of all weights."""
    batch, length, d_model, n_heads = shape
    like = next(reference.parameters())
    x = torch.randn(batch, length, d_model).to(like).requires_grad_()
    theirs = x.detach().clone().requires_grad_()
    mask = None if mask is None else mask.to(like.device)
    with record(ours) if recorded else nullcontext():
        out = ours(x, mask)
    expected = reference(theirs, blocked(mask, (batch, n_heads, length, length)))
    assert_same(out, expected)
    assert_same_gradients(ours, reference, out, expected, [x], [theirs])


@pytest.mark.parametrize("kind", MASKS)
@pytest.mark.parametrize("way", WAYS, ids=lambda way: "-".join(map(str, way.values())))
def test_a_layer_and_its_gradients_equal_pytorch_s(way, kind, device):
    train = way["train"]
    options = {name: way[name] for name in ("norm_first", "activation", "bias")}
    config = StackConfig(16, 4, 1, 40, dropout=0.0, norm_eps=1e-3, **options)
    ours, reference = (module.train(train) for module in layers(config, device=device))
    compare(ours, reference, (3, 5, 16, 4), MASKS[kind](3, 4, 5, 5), recorded=train)


@NORMS
@pytest.mark.parametrize("kind", MASKS)
@pytest.mark.parametrize("shape", [(2, 5, 16, 2), (1, 1, 8, 4), (2, 33, 24, 3)], ids=str)
def test_an_encoder_and_its_gradients_equal_pytorch_s(norm_first, kind, shape, device):
    batch, length, d_model, n_heads = shape
    ours, reference = stacks(
        StackConfig(d_model, n_heads, 3, 24, 0.0, norm_first=norm_first), device=device
    )
    compare(ours, reference, shape, MASKS[kind](batch, n_heads, length, length))


@settings(max_examples=40)
@given(
    sizes=st.tuples(*(st.integers(1, 4) for _ in range(4))),
    n_layers=st.integers(1, 3),
    norm_first=st.booleans(),
    kind=st.sampled_from(list(MASKS)),
    recorded=st.booleans(),
    seed=st.integers(0, 2**16),
)
def test_any_shape_and_mask_equal_pytorch_s_to_twelve_digits(
    sizes, n_layers, norm_first, kind, recorded, seed
):
    torch.manual_seed(seed)
    batch, length, n_heads, pairs = sizes
    d_model = 2 * pairs * n_heads
    config = StackConfig(d_model, n_heads, n_layers, 7, 0.0, norm_first=norm_first)
    ours, reference = stacks(config, torch.float64)
    mask = MASKS[kind](batch, n_heads, length, length)
    compare(ours, reference, (batch, length, d_model, n_heads), mask, recorded)


@NORMS
@pytest.mark.parametrize("dtype", HALF, ids=str)
@pytest.mark.parametrize("kind", ["none", "padding", "fully masked rows"])
def test_in_half_precision_it_is_as_exact_as_pytorch_s(norm_first, dtype, kind, device):
    config = StackConfig(64, 4, 2, 128, 0.0, norm_first=norm_first)
    ours, reference = stacks(config, dtype, device)
    x, mask = torch.randn(2, 20, 64, device=device, dtype=dtype), MASKS[kind](2, 4, 20, 20)
    mask = None if mask is None else mask.to(device)
    hidden = blocked(mask, (2, 4, 20, 20))
    out, theirs = ours(x, mask), reference(x, hidden)
    assert_as_exact_as(out, theirs, reference.double()(x.double(), hidden))


@NORMS
@torch.no_grad()
def test_pytorch_s_path_for_inference_equals_ours(norm_first, device):
    config = StackConfig(16, 4, 2, 40, 0.0, norm_first=norm_first)
    ours, reference = (module.eval() for module in stacks(config, device=device))
    x = torch.randn(2, 6, 16, device=device)
    assert_same(ours(x), reference(x))
