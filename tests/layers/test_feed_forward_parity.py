"""Activations and feed-forward networks against PyTorch's."""

from collections.abc import Callable
from functools import partial

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor, nn
from transformers.models.llama.configuration_llama import LlamaConfig
from transformers.models.llama.modeling_llama import LlamaMLP
from transformers.models.t5.configuration_t5 import T5Config
from transformers.models.t5.modeling_t5 import T5DenseGatedActDense

from glassbox.layers import ACTIVATIONS, FeedForward, GatedFeedForward, gelu, gelu_tanh, silu
from tests.references.pytorch_modules import (
    HALF,
    assert_as_exact_as,
    assert_same,
    gradients,
    randomize,
)

Function = Callable[[Tensor], Tensor]
FUNCTIONS: dict[str, tuple[Function, Function]] = {
    "gelu": (gelu, F.gelu),
    "gelu_tanh": (gelu_tanh, partial(F.gelu, approximate="tanh")),
    "silu": (silu, F.silu),
}


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
def test_activations_and_their_derivatives_equal_pytorch_s(name, dtype, device):
    ours, theirs = FUNCTIONS[name]
    numbers = [torch.linspace(-30, 30, 2001), torch.tensor([0.0, 1e-30, -1e-30, 1e4, -1e4])]
    x = torch.cat(numbers).to(device, dtype).requires_grad_()
    for function in (ours, ACTIVATIONS[name]):
        assert_same(function(x), theirs(x))
        assert_same(gradients(function(x), [x])[0], gradients(theirs(x), [x])[0])


@pytest.mark.parametrize("name", FUNCTIONS)
@given(x=st.floats(-1e4, 1e4))
def test_activations_of_any_number_equal_pytorch_s_to_twelve_digits(name, x):
    ours, theirs = FUNCTIONS[name]
    number = torch.tensor(x, dtype=torch.float64)
    assert_same(ours(number), theirs(number))


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("dtype", HALF, ids=str)
def test_in_half_precision_what_the_layers_use_is_as_exact_as_pytorch_s(name, dtype, device):
    x = (torch.randn(5000, device=device) * 4).to(dtype)
    ours, theirs = FUNCTIONS[name]
    exact = theirs(x.double())
    assert_as_exact_as(ACTIVATIONS[name](x), theirs(x), exact, factor=1.01)
    # The formula rounds after each of its operations, the kernel once.
    assert_as_exact_as(ours(x), theirs(x), exact, factor=4)


@pytest.mark.parametrize("activation", ACTIVATIONS)
@pytest.mark.parametrize("bias", [True, False], ids=["bias", "no bias"])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
def test_a_network_and_its_gradients_equal_two_linear_maps_of_pytorch_s(
    activation, bias, dtype, device
):
    bends = {"relu": nn.ReLU(), "silu": nn.SiLU(), "gelu": nn.GELU()}
    bend = bends.get(activation, nn.GELU(approximate="tanh"))
    reference = nn.Sequential(nn.Linear(8, 20, bias=bias), bend, nn.Linear(20, 8, bias=bias))
    randomize(reference)
    ours = FeedForward(8, 20, activation, bias=bias)
    ours.load_state_dict(dict(zip(ours.state_dict(), reference.state_dict().values(), strict=True)))
    compare(ours.to(device, dtype), reference.to(device, dtype), dtype, device)


def compare(ours, reference, dtype, device, names=None):
    x = torch.randn(2, 5, 8, device=device, dtype=dtype, requires_grad=True)
    out, expected = ours(x), reference(x)
    assert_same(out, expected)
    names = names or list(dict(ours.named_parameters()))
    order = [ours.get_parameter(name) for name in names]
    given, wanted = gradients(out, [x, *order]), gradients(expected, [x, *reference.parameters()])
    for name, a, b in zip(["x", *names], given, wanted, strict=True):
        assert_same(a, b, f"gradient of {name}")


@pytest.mark.parametrize("bias", [True, False], ids=["bias", "no bias"])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
def test_swiglu_and_its_gradients_equal_llama_s(bias, dtype, device):
    config = LlamaConfig(
        hidden_size=8, intermediate_size=20, num_attention_heads=1, hidden_act="silu", mlp_bias=bias
    )
    reference = LlamaMLP(config)
    randomize(reference)
    names = {"gate_proj": "gate", "up_proj": "expand", "down_proj": "contract"}
    translated = {
        f"{names[name.split('.')[0]]}.{name.split('.')[1]}": tensor
        for name, tensor in reference.state_dict().items()
    }
    ours = GatedFeedForward(8, 20, bias=bias)
    ours.load_state_dict(translated)
    compare(ours.to(device, dtype), reference.to(device, dtype), dtype, device, list(translated))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
def test_geglu_and_its_gradients_equal_t5_s(dtype, device):
    config = T5Config(d_model=8, d_ff=20, dropout_rate=0.0, feed_forward_proj="gated-gelu")
    reference = T5DenseGatedActDense(config)
    randomize(reference)
    names = {"wi_0": "gate", "wi_1": "expand", "wo": "contract"}
    translated = {
        f"{names[name.split('.')[0]]}.weight": tensor
        for name, tensor in reference.state_dict().items()
    }
    ours = GatedFeedForward(8, 20, "gelu_tanh")
    ours.load_state_dict(translated)
    compare(ours.to(device, dtype), reference.to(device, dtype), dtype, device, list(translated))
