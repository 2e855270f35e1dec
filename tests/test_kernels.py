"""What runs is the formula that chapters show: a kernel gives its values and its gradients."""

from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

import pytest
import torch
from torch import Tensor, nn

import glassbox
from glassbox import MultiHeadAttention
from glassbox.around import Around
from glassbox.kernels import KERNELS, formula
from glassbox.layers import LayerNorm, dropout, gelu, gelu_tanh
from glassbox.linear import Linear
from glassbox.training import cross_entropy

SOME = torch.rand(2, 1, 5, 5, generator=torch.Generator().manual_seed(0)) < 0.6
SOME[0, 0, 2], SOME[1, 0, 0] = False, False  # queries with nothing to attend to
LABELS = torch.tensor([[3, 0, 11, 5, 5], [1, 2, 3, 4, 0]])

Call = Callable[[Tensor], Tensor]


def rows(x: Tensor, *shape: int) -> Tensor:
    """Weights for ``x``, the same each time."""
    numbers = torch.arange(torch.Size(shape).numel(), dtype=torch.float64)
    return (numbers * 0.7).cos().view(shape).to(x)


def attention(
    mask: Tensor | None = None, bias: Tensor | None = None, *, causal: bool = False, **options: Any
) -> Call:
    module = MultiHeadAttention(12, 4, **options)
    numbers = (module.n_heads, module.n_kv_heads, module.n_kv_heads)

    def call(x: Tensor) -> Tensor:
        parts = zip((x, x.sin(), x.cos()), numbers, strict=True)
        query, key, value = (
            t[..., : 3 * n].unflatten(-1, (n, 3)).transpose(1, 2) for t, n in parts
        )
        there = [None if t is None else t.to(x.device) for t in (mask, bias)]
        return module.attend(query, key, value, there[0], causal, Around(there[1]))

    return call


def loss(**options: Any) -> Call:
    return lambda x: cross_entropy(x, LABELS.to(x.device), **options).total


def learned(module: nn.Module) -> Call:
    """A module with other parameters than it is made with, in the dtype of what it is given."""

    def call(x: Tensor) -> Tensor:
        for parameter in module.parameters():
            parameter.data = rows(x, *parameter.shape)
        return module(x)

    return call


CASES: dict[str, list[Call]] = {
    "MultiHeadAttention.attend": [
        attention(),
        attention(SOME),
        attention(SOME, causal=True),
        attention(causal=True, scale=0.3),
        attention(SOME[0], rows(torch.ones(1), 4, 5, 5)),
        attention(SOME, causal=True, n_kv_heads=2),
    ],
    "LayerNorm.forward": [learned(LayerNorm(12))],
    "gelu": [gelu],
    "gelu_tanh": [gelu_tanh],
    "Linear.forward": [learned(Linear(12, 7)), learned(Linear(12, 9, bias=False))],
    "smoothed_sums": [
        loss(),
        loss(smoothing=0.1),
        loss(smoothing=0.1, ignore_id=5),
        loss(smoothing=0.2, ignore_id=0),
    ],
}


DTYPES = {torch.float64: 1e-11, torch.float32: 2e-5, torch.bfloat16: 4e-2, torch.float16: 5e-3}


@pytest.fixture
def used(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the kernels that have computed something."""
    names: list[str] = []

    def watched(name: str, kernel: Callable[..., Any]) -> Callable[..., Any]:
        def call(*inputs: Any, **options: Any) -> Any:
            output = kernel(*inputs, **options)
            if output is not NotImplemented:
                names.append(name)
            return output

        return call

    for name, kernel in list(KERNELS.items()):
        monkeypatch.setitem(KERNELS, name, watched(name, kernel))
    return names


def values(call: Call, x: Tensor) -> list[Tensor]:
    """What a call gives, and its gradient."""
    x = x.detach().requires_grad_()
    out = call(x)
    direction = torch.arange(out.numel(), dtype=out.dtype, device=x.device).cos().view(out.shape)
    return [out.detach(), *torch.autograd.grad((out * direction).sum(), x)]


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize(
    ("name", "call"), [(name, call) for name, calls in CASES.items() for call in calls]
)
def test_a_kernel_gives_the_values_and_gradients_of_its_formula(
    name: str, call: Call, dtype: torch.dtype, used: list[str], device: str
) -> None:
    x = torch.randn(2, 5, 12).to(device, dtype)
    ran = values(call, x)
    with glassbox.formulas():
        shown = values(call, x)
    # In half precision and on a CPU the kernel of attention leaves short texts to the formula.
    half = dtype in (torch.bfloat16, torch.float16) and name.startswith("Multi")
    assert used == ([] if half and device == "cpu" else [name])
    for fast, slow in zip(ran, shown, strict=True):
        assert fast.dtype == slow.dtype
        size = max(1.0, slow.abs().max().item())
        torch.testing.assert_close(fast, slow, atol=DTYPES[dtype] * size, rtol=0)


@pytest.mark.parametrize("run", [nullcontext, glassbox.formulas], ids=["kernel", "formula"])
@pytest.mark.parametrize("p", [0.1, 0.5, 0.9])
def test_dropout_leaves_out_its_share_and_makes_up_for_it(
    p: float, run: Callable[[], Any], device: str
) -> None:
    x = torch.rand(400, 500, device=device).add(0.5).requires_grad_()
    with run():
        out = dropout(x, p)
    kept = out != 0
    assert abs((~kept).float().mean().item() - p) < 0.006  # five standard deviations
    torch.testing.assert_close(out[kept], (x / (1 - p))[kept])
    (gradient,) = torch.autograd.grad(out.sum(), x)
    torch.testing.assert_close(gradient, kept / (1 - p))


def test_every_kernel_is_held_against_its_formula() -> None:
    assert sorted(KERNELS) == sorted([*CASES, "dropout"])


def test_every_formula_of_a_model_runs_where_formulas_are_asked_for(used: list[str]) -> None:
    model: nn.Module = glassbox.Transformer(glassbox.TransformerConfig.tiny(vocab_size=9))
    ids = torch.tensor([[3, 4, 5]])
    with glassbox.formulas():
        shown = model.eval()(ids, ids)
    assert used == []
    torch.testing.assert_close(model(ids, ids), shown, atol=1e-5, rtol=1e-5)
    assert {"MultiHeadAttention.attend", "LayerNorm.forward", "Linear.forward"} <= set(used)


def test_naming_one_formula_inside_a_block_brings_no_other_s_kernel_back(used: list[str]) -> None:
    with glassbox.formulas():
        with glassbox.formulas("gelu"):
            LayerNorm(4)(torch.ones(2, 4))
        assert used == []
    LayerNorm(4)(torch.ones(2, 4))
    assert used == ["LayerNorm.forward"]


def test_a_kernel_that_does_not_apply_leaves_the_work_to_the_formula() -> None:
    @formula
    def double(x: int) -> int:
        return 2 * x

    assert double(3) == 6
    name = double.__wrapped__.__qualname__  # type: ignore[attr-defined]
    KERNELS[name] = lambda x: x << 1 if x > 3 else NotImplemented
    try:
        assert [double(3), double(4)] == [6, 8]
    finally:
        del KERNELS[name]
