"""Multi-head attention against PyTorch's own module, with the same weights."""

from collections.abc import Iterator

import torch
from glassbox import MultiHeadAttention
from torch import Tensor, nn

from benchmarks.timing import Comparison, compare

SHAPES = ((8, 128, 512), (4, 512, 512))  # batch, length, d_model
N_HEADS = 8


def pair(d_model: int, device: str) -> tuple[MultiHeadAttention, nn.MultiheadAttention]:
    """Return both modules with the same weights."""
    theirs = nn.MultiheadAttention(d_model, N_HEADS, batch_first=True, device=device)
    ours = MultiHeadAttention(d_model, N_HEADS).to(device)
    with torch.no_grad():
        for part, weight, bias in zip(
            (ours.query, ours.key, ours.value),
            theirs.in_proj_weight.chunk(3),
            theirs.in_proj_bias.chunk(3),
            strict=True,
        ):
            part.weight.copy_(weight)
            part.bias.copy_(bias)
    ours.output.load_state_dict(theirs.out_proj.state_dict())
    return ours, theirs


def measure(device: str, seconds: float = 10.0) -> Iterator[Comparison]:
    """Time forward alone, and forward with backward."""
    for shape in SHAPES:
        ours, theirs = pair(shape[-1], device)
        x = torch.randn(shape, generator=torch.Generator().manual_seed(0)).to(device)

        def call_ours(x: Tensor, module: nn.Module = ours) -> Tensor:
            return module(x)

        def call_theirs(x: Tensor, module: nn.Module = theirs) -> Tensor:
            return module(x, x, x, need_weights=False)[0]

        torch.testing.assert_close(call_ours(x), call_theirs(x), atol=1e-5, rtol=1e-5)
        name = f"multi-head attention {shape}"
        theirs_is = "torch.nn.MultiheadAttention"

        ours.eval(), theirs.eval()
        with torch.inference_mode():
            yield compare(
                f"{name}, forward",
                theirs_is,
                lambda f=call_ours, x=x: f(x),
                lambda f=call_theirs, x=x: f(x),
                device=device,
                seconds=seconds,
            )

        ours.train(), theirs.train()
        x.requires_grad_()
        yield compare(
            f"{name}, forward and backward",
            theirs_is,
            lambda f=call_ours, x=x: f(x).sum().backward(),
            lambda f=call_theirs, x=x: f(x).sum().backward(),
            device=device,
            seconds=seconds,
        )
