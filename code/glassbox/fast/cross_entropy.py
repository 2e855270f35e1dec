"""The loss of chapter 9 and its gradient in one matrix."""

from typing import Any

import torch
from jaxtyping import Bool
from torch import Tensor
from torch.autograd import Function
from torch.autograd.function import once_differentiable

from glassbox.kernels import kernel


@kernel("smoothed_sums")
def _one_matrix(
    logits: Tensor,
    labels: Tensor,
    counted: Tensor,
    peak: float,
    share: float,
    spared: int | None = None,
) -> tuple[Tensor, Tensor]:
    """Allocate one matrix the size of the logits; differentiating the formula takes several."""
    return _CrossEntropy.apply(logits, labels, counted, peak, share, spared)


class _CrossEntropy(Function):
    """The loss and its gradient; the target is ``share`` everywhere plus ``peak`` at the labels.

    The time goes into fetching memory, so the code works in place.
    """

    @staticmethod
    def forward(
        ctx: Any,
        logits: Tensor,
        labels: Tensor,
        counted: Bool[Tensor, "*positions"],
        peak: float,
        share: float,
        spared: int | None,
    ) -> tuple[Tensor, Tensor]:
        at_label = labels[..., None]
        wide = torch.promote_types(logits.dtype, torch.float32)
        # Only differences of logits matter; with the largest subtracted, no exponential overflows.
        shifted = logits - logits.amax(dim=-1, keepdim=True).to(wide)
        expected = z_label = shifted.gather(-1, at_label)
        if share:
            others = shifted.sum(dim=-1, keepdim=True)
            if spared is not None:
                others = others - shifted[..., spared, None]
            expected = peak * z_label + share * others
        weights = shifted.exp_()  # in place; divided by their sum, these are the softmax
        normalizer = weights.sum(dim=-1, keepdim=True)
        total, nll = (
            (normalizer.log() - z)[..., 0].masked_fill(~counted, 0).sum()
            for z in (expected, z_label)
        )
        ctx.save_for_backward(weights, normalizer, at_label, counted)
        ctx.target, ctx.dtype = (peak, share, spared), logits.dtype
        ctx.mark_non_differentiable(nll)
        return total, nll

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, of_total: Tensor, of_nll: Tensor) -> tuple[Tensor | None, ...]:
        weights, normalizer, at_label, counted = ctx.saved_tensors
        peak, share, spared = ctx.target
        scale = of_total * counted[..., None]
        # In place again, so PyTorch refuses a second backward pass through the same loss.
        gradient = weights.mul_(scale / normalizer)
        if share:
            gradient -= share * scale
            if spared is not None:
                gradient[..., spared, None] += share * scale
        gradient.scatter_add_(-1, at_label, -peak * scale)
        return gradient.to(ctx.dtype), None, None, None, None, None
