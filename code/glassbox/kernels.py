"""Kernels, the fast versions of formulas: how one is chosen, and a list of all (chapter 12).

A formula is a function whose body is an equation of the book; all code calls the formula. A kernel
computes the same result in less time or memory. It is registered under the formula's name, in
:data:`KERNELS`, and runs by default. If it does not apply, it returns ``NotImplemented``, and the
formula itself runs; so it does inside ``with formulas():``.
"""

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import partial, wraps
from types import NotImplementedType
from typing import Any, TypeVar, cast

import torch
import torch.nn.functional as F
from jaxtyping import Bool
from torch import Tensor
from torch._C._functorch import is_functorch_wrapped_tensor as is_wrapped
from torch.autograd import Function

from glassbox.checks import check_bias, check_first_derivative, check_kind, check_mask
from glassbox.masks import allowed_past

Formula = TypeVar("Formula", bound=Callable[..., Any])
Answer = Tensor | NotImplementedType  # where a kernel does not apply

#: From this many vectors on, or numbers in all of them, PyTorch itself is fast.
MANY, LONG = 9, 4_096
#: Matrices with fewer numbers are read faster than they are split.
LARGE = 60_000
#: The formulas that currently run without their kernels.
_shown: ContextVar[frozenset[str]] = ContextVar("shown", default=frozenset())
#: The current observers (see ``record``): the attention formula calls each with its tensors.
observers: ContextVar[tuple[Callable[..., None], ...]] = ContextVar("observers", default=())


@contextmanager
def formulas(*names: str) -> Iterator[None]:
    """Run formulas without their kernels inside a ``with`` block, for a debugger to step into.

    Parameters
    ----------
    *names : str
        Names of formulas, from :data:`KERNELS`; all of them if none is given.

    Yields
    ------
    None
        None of their kernels runs in this thread meanwhile. Compiled code keeps its kernels. With
        activation checkpointing on a CPU, run the backward pass inside the block too. Second
        derivatives (``create_graph=True``) of attention and of the loss need the formulas.

    Raises
    ------
    ValueError
        If no formula of that name has a kernel.

    Examples
    --------
    >>> with glassbox.formulas():
    ...     logits = model(source_ids, target_ids)
    """
    for name in names:
        check_kind("name", name, tuple(KERNELS))
    token = _shown.set(_shown.get() | frozenset(names or KERNELS))
    try:
        yield
    finally:
        _shown.reset(token)


def formula(function: Formula) -> Formula:
    """Decorate a formula to run its kernel instead, if it has one and the kernel applies.

    Parameters
    ----------
    function : callable
        The formula; its kernel is registered under its qualified name.

    Returns
    -------
    callable
        The function that tries the kernel first.
    """
    name = function.__qualname__

    @wraps(function)
    def run(*inputs: Any, **options: Any) -> Any:
        if name in KERNELS and (torch.compiler.is_compiling() or name not in _shown.get()):
            output = KERNELS[name](*inputs, **options)
            if output is not NotImplemented:
                return output
        return function(*inputs, **options)

    return cast(Formula, run)


def _attend(
    attention: Any, query: Tensor, key: Tensor, value: Tensor, mask: Any, causal: bool, around: Any
) -> Answer:
    # PyTorch's kernel stores no weights (Dao et al., 2022), and vmap would call it for each row.
    half = query.requires_grad and _short_and_half(query, key)
    if not torch.compiler.is_compiling() and (observers.get() or half or is_wrapped(query)):
        return NotImplemented
    # is_causal counts from the first key: lengths must be equal. all() is a bool for symbols, too.
    alone = all((causal, query.size(2) == key.size(2), mask is None, around.bias is None))
    if not alone and (causal or mask is not None or around.bias is not None):
        mask = _added(query, key, mask, causal, around.bias)
    grouped = bool(query.size(1) != key.size(1))
    return F.scaled_dot_product_attention(
        query, key, value, mask, is_causal=alone, scale=attention.scale, enable_gqa=grouped
    )


def _added(
    query: Tensor, key: Tensor, mask: Tensor | None, causal: bool, bias: Tensor | None
) -> Tensor | None:
    """Combine mask, causality and bias into one tensor of four axes."""
    scores_shape = (*query.shape[:3], key.size(2))
    if mask is not None:
        check_mask(mask, scores_shape, query.device)
    if causal:
        mask = allowed_past(mask, query.size(2), key.size(2), query.device)
    if bias is not None:
        check_bias(bias, scores_shape, query.device)
        bias = bias.to(query.dtype)
        mask = bias if mask is None else bias.masked_fill(~mask, -math.inf)
    # The kernel's fast paths want all four axes.
    return None if mask is None else mask[(None,) * (4 - mask.dim())]


def _short_and_half(query: Tensor, key: Tensor) -> bool:
    # On short texts, training in half precision on a CPU takes several times as long with the
    # kernel as with the formula.
    return (
        not torch.compiler.is_compiling()
        and query.device.type == "cpu"
        and query.dtype in (torch.bfloat16, torch.float16)
        and query.size(2) * key.size(2) <= 128 * 128
    )


def _layer_norm(norm: Any, x: Tensor) -> Answer:
    # Under autocast it converts its inputs. The formula raises the errors.
    fit = x.dtype == norm.weight.dtype or torch.is_autocast_enabled(norm.weight.device.type)
    if not fit or x.shape[-1:] != norm.weight.shape or norm.bias.dtype != norm.weight.dtype:
        return NotImplemented
    return F.layer_norm(x, norm.weight.shape, norm.weight, norm.bias, norm.eps)


def _dropout(x: Tensor, p: float) -> Answer:
    # On a CPU the formula takes as long.
    if not 0 <= p <= 1 or (x.device.type == "cpu" and not torch.compiler.is_compiling()):
        return NotImplemented
    return F.dropout(x, p)


def _few_rows(linear: Any, x: Tensor) -> Tensor:
    # PyTorch multiplies few vectors slowly, but fast from the left by pieces of the matrix.
    weight, bias = linear.weight, linear.bias
    off = torch.compiler.is_compiling() or torch.is_grad_enabled() or weight.numel() < LARGE
    off = off or x.device.type != "cpu" or x.itemsize < 4 or torch.is_autocast_enabled("cpu")
    if off or x.numel() >= min(MANY * x.size(-1), LONG):
        return F.linear(x, weight, bias)
    pieces = min(max(2, torch.get_num_threads()), len(weight))
    even = len(weight) // pieces * pieces  # fewer rows than pieces are left over
    columns = x.reshape(-1, x.size(-1)).mT.expand(pieces, -1, -1)
    products = torch.bmm(weight[:even].view(pieces, -1, weight.size(1)), columns)
    out = products.flatten(0, 1).mT.contiguous().view(*x.shape[:-1], even)
    out = out if even == len(weight) else torch.cat([out, F.linear(x, weight[even:])], dim=-1)
    return out if bias is None else out + bias


class _CrossEntropy(Function):
    """The loss and its gradient; the target is ``share`` everywhere plus ``peak`` at the labels.

    The time goes into fetching memory, so the code works in place, in one matrix the size of the
    logits; differentiating the formula takes several.
    """

    @staticmethod
    def forward(
        ctx: Any,
        logits: Tensor,
        labels: Tensor,
        counted: Bool[Tensor, "*positions"],
        peak: float,
        share: float,
    ) -> tuple[Tensor, Tensor]:
        at_label = labels[..., None]
        wide = torch.promote_types(logits.dtype, torch.float32)
        # Only differences of logits matter; with the largest subtracted, no exponential overflows.
        shifted = logits - logits.amax(dim=-1, keepdim=True).to(wide)
        expected = z_label = shifted.gather(-1, at_label)
        if share:
            expected = peak * z_label + share * shifted.sum(dim=-1, keepdim=True)
        weights = shifted.exp_()  # in place; divided by their sum, these are the softmax
        normalizer = weights.sum(dim=-1, keepdim=True)
        total, nll = (
            (normalizer.log() - z)[..., 0].masked_fill(~counted, 0).sum()
            for z in (expected, z_label)
        )
        ctx.save_for_backward(weights, normalizer, at_label, counted)
        ctx.target, ctx.dtype = (peak, share), logits.dtype
        ctx.mark_non_differentiable(nll)
        return total, nll

    @staticmethod
    def backward(ctx: Any, of_total: Tensor, of_nll: Tensor) -> tuple[Tensor | None, ...]:
        check_first_derivative("this kernel", "compute the loss within glassbox.formulas()")
        weights, normalizer, at_label, counted = ctx.saved_tensors
        peak, share = ctx.target
        scale = of_total * counted[..., None]
        # In place again, so PyTorch refuses a second backward pass through the same loss.
        gradient = weights.mul_(scale / normalizer)
        if share:
            gradient -= share * scale
        gradient.scatter_add_(-1, at_label, -peak * scale)
        return gradient.to(ctx.dtype), None, None, None, None


def _cross_entropy(logits: Tensor, labels: Tensor, *inputs: Any) -> Any:
    if not torch.compiler.is_compiling() and (is_wrapped(logits) or is_wrapped(labels)):
        return NotImplemented  # torch.func refuses this kind of Function
    return _CrossEntropy.apply(logits, labels, *inputs)


#: The kernels, by the qualified names of their formulas.
KERNELS: dict[str, Callable[..., Any]] = {
    "MultiHeadAttention.attend": _attend,
    "LayerNorm.forward": _layer_norm,
    "Linear.forward": _few_rows,
    "gelu": F.gelu,
    "gelu_tanh": partial(F.gelu, approximate="tanh"),
    "dropout": _dropout,
    "smoothed_sums": _cross_entropy,
}
