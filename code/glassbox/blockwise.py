"""Attention block by block: the same result, without all the weights at once (chapter 12)."""

import math
from collections.abc import Iterator
from itertools import count, repeat
from typing import Any

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from glassbox.checks import (
    check_at_least,
    check_attention_inputs,
    check_causal,
    check_first_derivative,
    check_same_width,
    check_tensors,
)


@torch.compiler.disable  # a compiled graph would hold all blocks and might keep them
def blockwise_attention(
    query: Float[Tensor, "*batch q_len d_k"],
    key: Float[Tensor, "*kv_batch k_len d_k"],
    value: Float[Tensor, "*kv_batch k_len d_v"],
    mask: Bool[Tensor, "..."] | None = None,
    *,
    causal: bool = False,
    scale: float | None = None,
    block_size: int = 512,
) -> Float[Tensor, "*batch q_len d_v"]:
    r"""Compute the context of :func:`scaled_dot_product_attention` from blocks of the scores.

    A softmax needs the sum over the whole row before it can weight the first value. The *online*
    softmax keeps a running maximum :math:`m`, a running sum :math:`l` and a running context
    :math:`c` instead, and corrects them with each block :math:`S` of scores:

    .. math:: \begin{aligned} m' &= \max(m, \max_j S_j) \\
              l' &= e^{m - m'} l + \sum_j e^{S_j - m'} \\
              c' &= e^{m - m'} c + \sum_j e^{S_j - m'} v_j \end{aligned}

    After the last block, :math:`c / l` is the context. The backward pass recomputes the blocks
    from the inputs and one number for each query, :math:`m + \ln l`. Memory therefore grows with
    the length of the texts, not with its square. Every product of the plain formula is still
    computed, except in blocks that ``causal`` hides entirely, and the backward pass computes the
    scores a second time.

    Parameters
    ----------
    query : Tensor
        ``(..., q_len, d_k)``.
    key, value : Tensor
        ``(..., k_len, d_k)`` and ``(..., k_len, d_v)``. With axes ``(batch, heads, length, width)``
        they may have fewer heads than the queries: each then serves a group of neighbouring query
        heads.
    mask : Tensor, optional
        Boolean, broadcastable to ``(..., q_len, k_len)``; ``True`` = may attend. It is sliced but
        never expanded, so a mask of keys alone stays small.
    causal : bool, optional
        Also restrict each query to keys up to its own position, as ``causal_mask(q_len, k_len)``
        does: the queries are at the last of the keys' positions. Blocks entirely in the future
        are skipped.
    scale : float, optional
        Factor that multiplies the scores. Defaults to one over the square root of ``d_k``.
    block_size : int, optional
        Number of queries, and of keys, in a block.

    Returns
    -------
    Tensor
        ``(..., q_len, d_v)``, in the dtype of the inputs; zeros where a query may attend to
        nothing. Half-precision inputs are summed in float32.

    Raises
    ------
    ValueError
        If the shapes, dtypes or devices do not fit together, ``scale`` is not positive,
        ``block_size`` is less than 1, or ``causal`` is set with fewer keys than queries.
    TypeError
        If an input is not floating-point or the mask is not boolean.

    Notes
    -----
    Milakov and Gimelshein (2018), algorithm 3, for the online softmax; Rabe and Staats (2021) for
    attention with it; Dao et al. (2022), algorithms 1 and 4, for both passes in blocks. Chapter 12,
    equation ``eq-online-softmax``.

    Only first derivatives are supported. For second ones, and within ``torch.func``, use
    :func:`scaled_dot_product_attention`. Inside a compiled model it runs uncompiled.
    """
    check_at_least("block_size", block_size, 1)
    check_tensors(query=query, key=key, value=value)
    key, value = _one_for_each_head(query, key), _one_for_each_head(query, value)
    check_attention_inputs(query, key, value, mask, scale=scale)
    check_same_width(query, key)
    q_len, k_len = query.size(-2), key.size(-2)
    if causal:
        check_causal(q_len, k_len)
        mask = query.new_ones((), dtype=torch.bool) if mask is None else mask
    if mask is not None:
        mask = torch.atleast_2d(mask)
        mask = mask.expand(*mask.shape[:-2], q_len, k_len)  # a view, as small as before
    last = k_len - q_len if causal else k_len
    scale = 1 / math.sqrt(query.size(-1)) if scale is None else scale
    with torch.autocast(query.device.type, enabled=False):  # sums in float32, in both passes
        out: Tensor = _BlockwiseAttention.apply(query, key, value, mask, last, scale, block_size)
    return out


class _BlockwiseAttention(torch.autograd.Function):
    """Both passes. A block of queries meets one block of keys and values after another.

    The first query may attend to no key after the one at position ``last``, the second to one more.
    """

    @staticmethod
    def forward(
        ctx: Any,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        mask: Tensor | None,
        last: int,
        scale: float,
        block_size: int,
    ) -> Tensor:
        precision = torch.promote_types(query.dtype, torch.float32)
        out = query.new_empty(*query.shape[:-1], value.size(-1))
        log_sum = query.new_empty(*query.shape[:-1], 1, dtype=precision)
        by_query = _blocks(block_size, query, mask, out, log_sum)
        for reach, (queries, rows, outputs, log_sums) in zip(count(last, block_size), by_query):
            queries = queries.to(precision) * scale
            # The lowest number, not -inf: the difference of two of them is 0 instead of NaN.
            maximum = torch.full_like(log_sums, torch.finfo(precision).min)
            total = torch.zeros_like(log_sums)
            context = torch.zeros_like(outputs, dtype=precision)
            for unseen, keys, values in _seen_blocks(block_size, rows, reach, key, value):
                scores = _scores(queries, keys.to(precision), unseen)
                new_maximum = maximum.maximum(scores.amax(dim=-1, keepdim=True))
                weights = scores.sub_(new_maximum).exp_()  # in place
                correction = (maximum - new_maximum).exp()
                total = total * correction + weights.sum(dim=-1, keepdim=True)
                context = context * correction + weights @ values.to(precision)
                maximum = new_maximum
            total = total.masked_fill(total == 0, 1.0)  # nothing allowed: 0 / 1 instead of 0 / 0
            outputs.copy_(context / total)
            log_sums.copy_(maximum + total.log())
        ctx.save_for_backward(query, key, value, mask, out, log_sum)
        ctx.options = last, scale, block_size
        return out

    @staticmethod
    def backward(ctx: Any, out_grad: Tensor) -> tuple[Tensor | None, ...]:
        check_first_derivative("blockwise_attention", "use scaled_dot_product_attention")
        query, key, value, mask, out, log_sum = ctx.saved_tensors
        last, scale, size = ctx.options
        precision = log_sum.dtype
        grads = [torch.zeros_like(x, dtype=precision) for x in (query, key, value)]
        query_grad, *memory_grads = grads
        by_query = _blocks(size, query, mask, out, log_sum, out_grad, query_grad)
        with torch.autocast(query.device.type, enabled=False):
            for reach, (queries, rows, outputs, log_sums, grad, queries_grad) in zip(
                count(last, size), by_query
            ):
                queries, grad = queries.to(precision), grad.to(precision)
                # A score's gradient is its weight times (the weight's gradient minus this average).
                average = (grad * outputs).sum(dim=-1, keepdim=True)
                for unseen, keys, values, keys_grad, values_grad in _seen_blocks(
                    size, rows, reach, key, value, *memory_grads
                ):
                    keys, values = keys.to(precision), values.to(precision)
                    weights = _scores(queries * scale, keys, unseen).sub_(log_sums).exp_()
                    scores_grad = (grad @ values.mT).sub_(average).mul_(weights)
                    values_grad += weights.mT @ grad
                    queries_grad += scores_grad @ keys * scale
                    keys_grad += scores_grad.mT @ queries * scale
        return *(x.to(query.dtype) for x in grads), None, None, None, None


def _scores(queries: Tensor, keys: Tensor, unseen: Tensor | None) -> Tensor:
    scores = queries @ keys.mT
    return scores if unseen is None else scores.masked_fill_(unseen, -math.inf)


def _blocks(size: int, *tensors: Tensor | None) -> Iterator[tuple[Any, ...]]:
    """Cut tensors of one length into blocks of ``size`` positions, without copying."""
    parts = (repeat(None) if x is None else x.split(size, dim=-2) for x in tensors)
    return zip(*parts, strict=False)


def _seen_blocks(
    size: int, rows: Tensor | None, reach: int, *tensors: Tensor
) -> Iterator[tuple[Any, ...]]:
    """Cut keys and what belongs to them, after where a query must not attend to them.

    Blocks of keys in the future of all these queries are left out.
    """
    mask = None if rows is None else rows.mT
    for diagonal, (allowed, *block) in zip(count(reach, -size), _blocks(size, mask, *tensors)):
        if allowed is None:
            yield None, *block
        elif diagonal > -allowed.size(-1):
            yield ~allowed.mT.tril(diagonal), *block


def _one_for_each_head(query: Tensor, x: Tensor) -> Tensor:
    """Repeat each head of keys or values for the group of query heads that it serves."""
    if query.dim() < 4 or x.dim() != query.dim() or not x.size(-3):
        return x
    groups, left = divmod(query.size(-3), x.size(-3))
    return x if left or groups < 2 else x.repeat_interleave(groups, dim=-3)
