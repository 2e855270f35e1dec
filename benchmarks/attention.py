"""Multi-head attention against PyTorch's own module, with the same weights."""

from collections.abc import Callable, Iterator
from functools import partial

import torch
from torch import Tensor, nn

from benchmarks.timing import Comparison, compare
from glassbox import MultiHeadAttention

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


def attend(module: nn.MultiheadAttention, x: Tensor) -> Tensor:
    """Return self-attention by PyTorch's module, without its maps."""
    return module(x, x, x, need_weights=False)[0]


def train(module: Callable[[Tensor], Tensor], x: Tensor) -> None:
    """Run one forward and one backward pass."""
    module(x).sum().backward()


def measure(device: str, seconds: float = 10.0) -> Iterator[Comparison]:
    """Time forward alone, and forward with backward."""
    for shape in SHAPES:
        ours, reference = pair(shape[-1], device)
        theirs = partial(attend, reference)
        x = torch.randn(shape, generator=torch.Generator().manual_seed(0)).to(device)
        torch.testing.assert_close(ours(x), theirs(x), atol=1e-5, rtol=1e-5)
        timed = partial(
            compare, against="torch.nn.MultiheadAttention", device=device, seconds=seconds
        )
        work = f"multi-head attention {shape}, forward"

        ours.eval(), reference.eval()
        with torch.inference_mode():
            yield timed(work, ours=partial(ours, x), theirs=partial(theirs, x))

        ours.train(), reference.train()
        x.requires_grad_()
        work += " and backward"
        yield timed(work, ours=partial(train, ours, x), theirs=partial(train, theirs, x))
