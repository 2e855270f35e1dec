"""Norms against PyTorch's with the same weights, function and module."""

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

from glassbox.layers import LayerNorm, RMSNorm, layer_norm, rms_norm
from tests.references.pytorch_modules import HALF, assert_as_exact_as, assert_same, gradients

KINDS = pytest.mark.parametrize("kind", ["layer", "rms"])


def norms(kind, width, eps, dtype=torch.float64, device="cpu"):
    """Return the reference, our module with the same parameters, and our function of them."""
    theirs, mine = {"layer": (nn.LayerNorm, LayerNorm), "rms": (nn.RMSNorm, RMSNorm)}[kind]
    reference = theirs(width, eps)
    for parameter in reference.parameters():
        nn.init.normal_(parameter)
    reference.to(device, dtype)
    ours = mine(width, eps).to(device, dtype)
    ours.load_state_dict(reference.state_dict())

    def function(x):
        if isinstance(ours, LayerNorm):
            return layer_norm(x, ours.weight, ours.get_parameter("bias"), eps)
        return rms_norm(x, ours.get_parameter("weight"), eps)

    return reference, ours, function


def compare(kind, x, eps):
    reference, ours, function = norms(kind, x.size(-1), eps, x.dtype, x.device)
    results = []
    for norm, owner in ((reference, reference), (ours, ours), (function, ours)):
        inputs = x.clone().requires_grad_()
        out = norm(inputs)
        results.append([out, *gradients(out, (inputs, *owner.parameters()))])
    expected, *rest = results
    for result in rest:
        for a, b in zip(result, expected, strict=True):
            assert_same(a, b)


@KINDS
@pytest.mark.parametrize("shape", [(8,), (3, 8), (2, 3, 8), (2, 1, 3, 8), (5, 512), (4, 1)])
@pytest.mark.parametrize("eps", [1e-12, 1e-5, 0.5])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
def test_outputs_and_gradients_equal_pytorch_s(kind, shape, eps, dtype, device):
    # A single number has no variance: without an epsilon its gradient is rounding alone.
    eps = 0.5 if shape[-1] == 1 else eps
    compare(kind, torch.randn(shape, device=device, dtype=dtype) * 3 + 1, eps)


@KINDS
@given(
    shape=st.lists(st.integers(1, 5), max_size=3),
    width=st.integers(2, 40),
    spread=st.sampled_from([0.01, 1.0, 100.0]),
    shift=st.sampled_from([0.0, 5.0]),
    seed=st.integers(0, 2**16),
)
def test_any_shape_equals_pytorch_s_to_twelve_digits(kind, shape, width, spread, shift, seed):
    torch.manual_seed(seed)
    x = torch.randn(*shape, width, dtype=torch.float64) * spread + shift
    compare(kind, x, 1e-3)


@KINDS
@pytest.mark.parametrize("dtype", HALF, ids=str)
@pytest.mark.parametrize("spread", [0.01, 1.0, 500.0])  # squares of the last overflow float16
def test_in_half_precision_they_are_as_exact_as_pytorch_s(kind, dtype, spread, device):
    x = (torch.randn(20, 300, device=device) * spread).to(dtype)
    reference, ours, function = norms(kind, 300, 1e-5, dtype, device)
    theirs = reference(x)
    exact = reference.double()(x.double())
    assert_as_exact_as(ours(x), theirs, exact, factor=1.01)
    assert_as_exact_as(function(x), theirs, exact, factor=1.01)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
def test_the_default_epsilon_of_layer_norm_is_pytorch_s(dtype):
    x = torch.randn(4, 16, dtype=dtype) * 1e-3
    assert_same(LayerNorm(16).to(dtype)(x), F.layer_norm(x, (16,)))
    assert LayerNorm(16).eps == nn.LayerNorm(16).eps
