"""Decoder layer and decoder against PyTorch's with the same weights."""

from contextlib import nullcontext

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn

from glassbox import causal_mask, record
from glassbox.config import StackConfig
from glassbox.layers import DecoderLayer
from glassbox.transformer import Decoder
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
KINDS = [kind for kind in MASKS if kind != "causal"]  # causal it is in any case


def layers(config, dtype=torch.float32, device="cpu"):
    """Return our layer and the reference's, with the same weights."""
    reference = nn.TransformerDecoderLayer(
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
    ours = DecoderLayer(config)
    load(ours, reference.to(device, dtype))
    return ours, reference


def stacks(config, dtype=torch.float32, device="cpu"):
    """Return our decoder and the reference's, with the same weights."""
    _, layer = layers(config)
    norm = nn.LayerNorm(config.d_model) if config.norm_first else None
    reference = nn.TransformerDecoder(layer, config.n_layers, norm)
    randomize(reference)
    ours = Decoder(config)
    load(ours, reference.to(device, dtype))
    return ours, reference


def masks_of(reference, shape, mask, memory_mask):
    """Return our masks and the reference's."""
    batch, length, memory_len, n_heads = shape
    device = next(reference.parameters()).device
    ours = [None if m is None else m.to(device) for m in (mask, memory_mask)]
    causal = causal_mask(length, device=device)
    theirs = {
        "tgt_mask": blocked(
            causal if ours[0] is None else ours[0] & causal, (batch, n_heads, length, length)
        ),
        "memory_mask": blocked(ours[1], (batch, n_heads, length, memory_len)),
    }
    return ours, theirs


def compare(ours, reference, shape, mask, memory_mask, recorded=False):
    """Compare the outputs and the gradients of both inputs and of all weights."""
    batch, length, memory_len, _ = shape
    like = next(reference.parameters())
    (d_model,) = like.shape[1:] or like.shape
    inputs = torch.randn(batch, length, d_model), torch.randn(batch, memory_len, d_model)
    x, memory = (tensor.to(like).requires_grad_() for tensor in inputs)
    theirs = [tensor.detach().clone().requires_grad_() for tensor in (x, memory)]
    our_masks, their_masks = masks_of(reference, shape, mask, memory_mask)
    with record(ours) if recorded else nullcontext():
        out = ours(x, memory, *our_masks)
    expected = reference(*theirs, **their_masks)
    assert_same(out, expected)
    assert_same_gradients(ours, reference, out, expected, [x, memory], theirs)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("way", WAYS, ids=lambda way: "-".join(map(str, way.values())))
def test_a_layer_and_its_gradients_equal_pytorch_s(way, kind, device):
    train = way["train"]
    options = {name: way[name] for name in ("norm_first", "activation", "bias")}
    config = StackConfig(16, 4, 1, 40, dropout=0.0, norm_eps=1e-3, **options)
    ours, reference = (module.train(train) for module in layers(config, device=device))
    masks = MASKS[kind](3, 4, 5, 5), MASKS[kind](3, 4, 5, 7)
    compare(ours, reference, (3, 5, 7, 4), *masks, recorded=train)


@NORMS
@pytest.mark.parametrize(("kind", "memory_kind"), list(zip(KINDS, KINDS[::-1], strict=True)))
def test_a_decoder_and_its_gradients_equal_pytorch_s(norm_first, kind, memory_kind, device):
    config = StackConfig(16, 2, 3, 24, dropout=0.0, norm_first=norm_first)
    ours, reference = stacks(config, device=device)
    masks = MASKS[kind](2, 2, 6, 6), MASKS[memory_kind](2, 2, 6, 9)
    compare(ours, reference, (2, 6, 9, 2), *masks)


@settings(max_examples=40)
@given(
    sizes=st.tuples(*(st.integers(1, 4) for _ in range(5))),
    n_layers=st.integers(1, 3),
    norm_first=st.booleans(),
    kinds=st.tuples(st.sampled_from(KINDS), st.sampled_from(KINDS)),
    recorded=st.booleans(),
    seed=st.integers(0, 2**16),
)
def test_any_shape_and_mask_equal_pytorch_s_to_twelve_digits(
    sizes, n_layers, norm_first, kinds, recorded, seed
):
    torch.manual_seed(seed)
    batch, length, memory_len, n_heads, pairs = sizes
    config = StackConfig(2 * pairs * n_heads, n_heads, n_layers, 7, 0.0, norm_first=norm_first)
    mask = MASKS[kinds[0]](batch, n_heads, length, length)
    memory_mask = MASKS[kinds[1]](batch, n_heads, length, memory_len)
    shape = batch, length, memory_len, n_heads
    ours, reference = stacks(config, torch.float64)
    compare(ours, reference, shape, mask, memory_mask, recorded)


@NORMS
@pytest.mark.parametrize("dtype", HALF, ids=str)
@pytest.mark.parametrize("kind", ["none", "left padding", "fully masked rows"])
def test_in_half_precision_it_is_as_exact_as_pytorch_s(norm_first, dtype, kind, device):
    config = StackConfig(64, 4, 2, 128, 0.0, norm_first=norm_first)
    ours, reference = stacks(config, dtype, device)
    x, memory = (torch.randn(2, n, 64, device=device, dtype=dtype) for n in (20, 30))
    masks = MASKS[kind](2, 4, 20, 20), MASKS[kind](2, 4, 20, 30)
    our_masks, their_masks = masks_of(reference, (2, 20, 30, 4), *masks)
    out, theirs = ours(x, memory, *our_masks), reference(x, memory, **their_masks)
    exact = reference.double()(x.double(), memory.double(), **their_masks)
    assert_as_exact_as(out, theirs, exact)
