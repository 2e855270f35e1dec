"""Small Transformers of every kind, for what holds for all of them."""

from typing import Any

import torch
from torch import Tensor, nn

from glassbox.config import StackConfig
from glassbox.transformer import Transformer, TransformerConfig

SIZES: dict[str, Any] = {
    "d_model": 16,
    "n_heads": 4,
    "n_layers": 2,
    "d_ff": 24,
    "dropout": 0.0,
    "vocab_size": 19,
    "max_len": 40,
}
#: What each kind changes of the paper's wiring: together every option at least once.
KINDS: dict[str, dict[str, Any]] = {
    "the paper's": {},
    "pre-norm, learned": {
        "positions": "learned",
        "norm_first": True,
        "activation": "gelu",
        "tie_embeddings": False,
        "scale_embeddings": False,
        "output_bias": True,
    },
    "like T5": {
        "positions": "relative",
        "norm_first": True,
        "norm": "rms",
        "gated": True,
        "activation": "gelu_tanh",
        "bias": False,
        "d_k": 6,
        "scale": 1.0,
    },
    "like LLaMA": {
        "positions": "rotary",
        "norm_first": True,
        "norm": "rms",
        "gated": True,
        "activation": "silu",
        "bias": False,
        "n_kv_heads": 2,
    },
    "multi-query, ALiBi": {"positions": "alibi", "n_kv_heads": 1},
    "heads for each layer": {
        "concatenated": True,
        "endpoint": True,
        "first_position": 1,
        "n_heads": (4, 2),
        "n_kv_heads": 2,
    },
    "no positions": {"positions": "none", "norm": "rms", "gated": True},
    "two vocabularies, rotary": {
        "positions": "rotary",
        "target_vocab_size": 13,
        "n_decoder_layers": 3,
        "d_k": 8,
    },
}
#: Kinds that know distances alone: a text may be moved.
RELATIVE = (
    "like T5",
    "like LLaMA",
    "multi-query, ALiBi",
    "no positions",
    "two vocabularies, rotary",
)


def config_of(kind: str, **changes: Any) -> TransformerConfig:
    """Return a small configuration of this kind."""
    return TransformerConfig(**(SIZES | KINDS[kind] | changes))


def stack_of(kind: str, **changes: Any) -> StackConfig:
    """Return what a stack by itself takes of it."""
    return config_of(kind, **changes)


def randomize(model: nn.Module) -> None:
    """Draw all parameters: biases that are 0 and scales that are 1 would prove nothing."""
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            parameter.normal_(float("norm" in name and name.endswith("weight")), 0.25)


def make(kind: str, device: str = "cpu", **changes: Any) -> Transformer:
    """Return a small Transformer of this kind in eval mode."""
    model = Transformer(config_of(kind, **changes)).to(device)
    randomize(model)
    return model.eval()


def texts(
    model: Transformer, batch: int = 3, source_len: int = 7, target_len: int = 6
) -> tuple[Tensor, Tensor]:
    """Return source and target ids without padding."""
    device, config = model.output.weight.device, model.config
    source = torch.randint(1, config.vocab_size, (batch, source_len), device=device)
    target = torch.randint(1, config.written_vocab_size, (batch, target_len), device=device)
    return source, target


def assert_near(ours: Tensor, expected: Tensor, tolerance: float = 1e-5) -> None:
    """Compare relative to the largest number expected, where that is more than 1."""
    size = max(1.0, expected.abs().max().item()) if expected.numel() else 1.0
    torch.testing.assert_close(ours, expected, atol=tolerance * size, rtol=0)


def all_gradients(model: nn.Module, out: Tensor) -> dict[str, Tensor]:
    """Return the gradient of every parameter for a sum of `out` in fixed random proportions."""
    generator = torch.Generator().manual_seed(1)
    direction = torch.randn(out.shape, generator=generator).to(out)
    names, parameters = zip(*model.named_parameters(), strict=True)
    gradients = torch.autograd.grad(out, parameters, direction)
    return dict(zip(names, gradients, strict=True))
