"""What modules run is the formula that chapters show: to twelve digits, and so are the gradients.

Modules call PyTorch's fused kernels, or passes that save memory; readers open the functions.
"""

from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn

from glassbox import MultiHeadAttention, causal_mask, scaled_dot_product_attention
from glassbox.blockwise import blockwise_attention
from glassbox.feed_forward import FeedForward, GatedFeedForward, gelu, gelu_tanh, silu
from glassbox.normalization import LayerNorm, RMSNorm, layer_norm, rms_norm
from glassbox.training import cross_entropy

LABELS = torch.tensor([3, 0, 11, 5, 5])
Formula = Callable[[nn.Module, Tensor], Tensor]


def multi_head(module: nn.Module, x: Tensor) -> Tensor:
    query, key, value = (
        module.get_submodule(name)(x).unflatten(-1, (4, 3)).transpose(1, 2)
        for name in ("query", "key", "value")
    )
    context, _ = scaled_dot_product_attention(query, key, value, causal_mask(x.size(1)))
    return module.get_submodule("output")(context.transpose(1, 2).flatten(2))


def feed_forward(bend: Callable[[Tensor], Tensor]) -> Formula:
    return lambda module, x: (
        bend(x @ module.get_parameter("expand.weight").mT + module.get_parameter("expand.bias"))
        @ module.get_parameter("contract.weight").mT
        + module.get_parameter("contract.bias")
    )


def gated(module: nn.Module, x: Tensor) -> Tensor:
    gate, expand, contract = (
        module.get_parameter(f"{name}.weight") for name in ("gate", "expand", "contract")
    )
    return (silu(x @ gate.mT) * (x @ expand.mT)) @ contract.mT


class Causal(MultiHeadAttention):
    def forward(self, x: Tensor) -> Tensor:  # type: ignore[override]
        return super().forward(x, causal=True)


class Blocks(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return blockwise_attention(x, x.sin(), x.cos(), causal=True, block_size=2)


class Smoothed(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return cross_entropy(x, LABELS.expand(x.shape[:-1]), smoothing=0.1).total


def smoothed(module: nn.Module, x: Tensor) -> Tensor:
    target = 0.9 * nn.functional.one_hot(LABELS, 12).double() + 0.1 / 12
    return -(target * x.log_softmax(-1)).sum()


CASES: dict[str, tuple[Callable[[], nn.Module], Formula]] = {
    "multi-head attention": (lambda: Causal(12, 4), multi_head),
    "attention in blocks": (
        Blocks,
        lambda _, x: scaled_dot_product_attention(x, x.sin(), x.cos(), causal_mask(5))[0],
    ),
    "layer norm": (
        lambda: LayerNorm(12),
        lambda module, x: layer_norm(
            x, module.get_parameter("weight"), module.get_parameter("bias"), 1e-5
        ),
    ),
    "norm without a mean": (
        lambda: RMSNorm(12),
        lambda module, x: rms_norm(x, module.get_parameter("weight"), 1e-6),
    ),
    "ReLU": (lambda: FeedForward(12, 20), feed_forward(lambda x: x.clamp(min=0))),
    "GELU": (lambda: FeedForward(12, 20, "gelu"), feed_forward(gelu)),
    "GELU by tanh": (lambda: FeedForward(12, 20, "gelu_tanh"), feed_forward(gelu_tanh)),
    "SiLU": (lambda: FeedForward(12, 20, "silu"), feed_forward(silu)),
    "SwiGLU": (lambda: GatedFeedForward(12, 20), gated),
    "smoothed cross-entropy": (Smoothed, smoothed),
}


@pytest.mark.parametrize(("make", "formula"), CASES.values(), ids=CASES)
def test_a_module_runs_its_formula(make: Callable[[], nn.Module], formula: Formula) -> None:
    module, x = make().double(), torch.randn(2, 5, 12, dtype=torch.float64, requires_grad=True)
    for parameter in module.parameters():
        nn.init.normal_(parameter)
    learned = [x, *module.parameters()]
    results = []
    for out in (module(x), formula(module, x)):
        direction = torch.arange(out.numel(), dtype=out.dtype).cos().view(out.shape)
        results.append([out, *torch.autograd.grad((out * direction).sum(), learned)])
    for ran, shown in zip(*results, strict=True):
        torch.testing.assert_close(ran, shown, atol=1e-11, rtol=1e-11)
