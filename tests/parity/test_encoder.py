"""Norm, layer and encoder against PyTorch's with the same weights."""

import re

import pytest
import torch
from torch import nn

from glassbox import causal_mask, padding_mask
from glassbox.config import StackConfig
from glassbox.layers import EncoderLayer
from glassbox.normalization import LayerNorm, layer_norm
from glassbox.transformer import Encoder

NAMES = {  # the reference's, ours; its input projection is stacked and handled apart
    r"self_attn\.out_proj": "self_attention.output",
    r"linear1": "feed_forward.expand",
    r"linear2": "feed_forward.contract",
    r"norm1": "attention_norm",
    r"norm2": "feed_forward_norm",
}


def translate(state: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    """Give the reference's weights our names."""
    ours = {}
    for name, tensor in state.items():
        if match := re.fullmatch(r"(.*)self_attn\.in_proj_(weight|bias)", name):
            for part, piece in zip(("query", "key", "value"), tensor.chunk(3), strict=True):
                ours[f"{match[1]}self_attention.{part}.{match[2]}"] = piece
            continue
        for theirs, our in NAMES.items():
            name = re.sub(theirs + r"\.(weight|bias)$", our + r".\1", name)
        ours[name] = tensor
    return ours


def randomize(module: nn.Module) -> None:
    for name, parameter in module.named_parameters():
        nn.init.normal_(parameter, mean=float("norm" in name and "weight" in name), std=0.2)


def masks(device):
    ids = torch.tensor([[5, 5, 5, 5, 5], [5, 5, 5, 0, 0]], device=device)
    return {
        "none": (None, {}),
        "causal": (causal_mask(5, device=device), {"src_mask": ~causal_mask(5, device=device)}),
        "padding": (padding_mask(ids, 0), {"src_key_padding_mask": ids == 0}),
    }


def compare(ours, reference, x, mask, arguments):
    """Forward pass and the gradients of the input and of all weights."""
    a, b = x.clone().requires_grad_(), x.clone().requires_grad_()
    out, expected = ours(a, mask), reference(b, **arguments)
    torch.testing.assert_close(out, expected, atol=1e-5, rtol=1e-5)
    direction = torch.randn_like(out)
    (out * direction).sum().backward()
    (expected * direction).sum().backward()
    torch.testing.assert_close(a.grad, b.grad, atol=1e-5, rtol=1e-4)
    theirs = translate({name: p.grad for name, p in reference.named_parameters()})
    for name, parameter in ours.named_parameters():
        torch.testing.assert_close(
            parameter.grad, theirs[name], atol=1e-4, rtol=1e-4, msg=f"{name}: {{}}".format
        )


@pytest.mark.parametrize("norm_first", [False, True], ids=["post-norm", "pre-norm"])
@pytest.mark.parametrize("activation", ["relu", "gelu"])
@pytest.mark.parametrize("kind", ["none", "causal", "padding"])
@pytest.mark.parametrize("train", [False, True], ids=["eval", "train"])
def test_a_layer_and_its_gradients_equal_pytorch_s(norm_first, activation, kind, train, device):
    reference = nn.TransformerEncoderLayer(
        16, 4, 40, 0.0, activation, 1e-3, batch_first=True, norm_first=norm_first, device=device
    )
    randomize(reference)
    config = StackConfig(16, 4, 1, 40, 0.0, activation, norm_first, norm_eps=1e-3)
    ours = EncoderLayer(config).to(device)
    ours.load_state_dict(translate(reference.state_dict()))
    mask, arguments = masks(device)[kind]
    compare(
        ours.train(train),
        reference.train(train),
        torch.randn(2, 5, 16, device=device),
        mask,
        arguments,
    )


@pytest.mark.parametrize("norm_first", [False, True], ids=["post-norm", "pre-norm"])
@pytest.mark.parametrize("kind", ["none", "causal"])
def test_an_encoder_and_its_gradients_equal_pytorch_s(norm_first, kind, device):
    # Its own final norm is an argument; a pre-norm stack needs one, a post-norm stack none.
    reference = nn.TransformerEncoder(
        nn.TransformerEncoderLayer(
            16, 2, 24, 0.0, batch_first=True, norm_first=norm_first, device=device
        ),
        num_layers=3,
        norm=nn.LayerNorm(16, device=device) if norm_first else None,
        enable_nested_tensor=False,
    )
    randomize(reference)
    config = StackConfig(16, 2, 3, 24, dropout=0.0, norm_first=norm_first)
    ours = Encoder(config).to(device)
    ours.load_state_dict(translate(reference.state_dict()))
    mask, arguments = masks(device)[kind]
    arguments = {name.removeprefix("src_"): value for name, value in arguments.items()}
    compare(ours, reference, torch.randn(2, 5, 16, device=device), mask, arguments)


@pytest.mark.parametrize("shape", [(8,), (3, 8), (2, 3, 8), (2, 1, 3, 8), (4, 1)])
@pytest.mark.parametrize("eps", [1e-12, 1e-5, 0.5])
def test_layer_norm_and_its_gradients_equal_pytorch_s(shape, eps, device):
    x = torch.randn(shape, device=device, dtype=torch.float64) * 3 + 1
    reference = nn.LayerNorm(shape[-1], eps, device=device, dtype=torch.float64)
    ours = LayerNorm(shape[-1], eps).to(device, torch.float64)
    for parameter in reference.parameters():
        nn.init.normal_(parameter)
    ours.load_state_dict(reference.state_dict())
    results = []
    for function in (reference, ours, lambda x: layer_norm(x, ours.weight, ours.bias, eps)):
        inputs = x.clone().requires_grad_()
        out = function(inputs)
        (gradient,) = torch.autograd.grad(out.square().sum(), inputs)
        results.append((out, gradient))
    for out, gradient in results[1:]:
        torch.testing.assert_close(out, results[0][0], atol=1e-12, rtol=1e-9)
        torch.testing.assert_close(gradient, results[0][1], atol=1e-9, rtol=1e-6)
