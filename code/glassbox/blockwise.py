"""Attention block by block: the same result, without holding all the weights at once."""

import math
from collections.abc import Iterator
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor
from torch.autograd.function import once_differentiable

from glassbox.checks import check_at_least, check_attention_inputs, check_same_width


@torch.compiler.disable  # a compiled graph would hold all blocks and might keep them
def blockwise_attention(
    query: Float[Tensor, "*batch q_len d_k"],
    key: Float[Tensor, "*batch k_len d_k"],
    value: Float[Tensor, "*batch k_len d_v"],
    *,
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
    computed, and the backward pass computes the scores a second time.

    Parameters
    ----------
    query : Tensor
        ``(..., q_len, d_k)``.
    key, value : Tensor
        ``(..., k_len, d_k)`` and ``(..., k_len, d_v)``.
    block_size : int, optional
        Number of queries, and of keys, in a block.

    Returns
    -------
    Tensor
        ``(..., q_len, d_v)``, in the dtype of the inputs. Half-precision inputs are summed in
        float32.

    Raises
    ------
    ValueError
        If the shapes, dtypes or devices do not fit together, or ``block_size`` is less than 1.
    TypeError
        If an input is not a floating-point tensor.

    Notes
    -----
    Milakov and Gimelshein (2018), algorithm 3, for the online softmax; Rabe and Staats (2021) for
    attention with it; Dao et al. (2022), algorithms 1 and 4, for both passes in blocks. Only first
    derivatives are supported, and inside a compiled model it runs uncompiled.
    """
    check_at_least("block_size", block_size, 1)
    check_attention_inputs(query, key, value)
    check_same_width(query, key)
    context: Tensor = _BlockwiseAttention.apply(query, key, value, block_size)
    return context


class _BlockwiseAttention(torch.autograd.Function):
    """Both passes. A block of queries meets one block of keys and values after another."""

    @staticmethod
    def forward(ctx: Any, query: Tensor, key: Tensor, value: Tensor, block_size: int) -> Tensor:
        precision = torch.promote_types(query.dtype, torch.float32)
        scale = 1 / math.sqrt(query.size(-1))
        out = query.new_empty(*query.shape[:-1], value.size(-1))
        log_sum = query.new_empty(*query.shape[:-1], 1, dtype=precision)
        for queries, outputs, log_sums in _blocks(block_size, query, out, log_sum):
            queries = queries.to(precision) * scale
            maximum = torch.full_like(log_sums, -math.inf)
            total = torch.zeros_like(log_sums)
            context = torch.zeros_like(outputs, dtype=precision)
            for keys, values in _blocks(block_size, key, value):
                scores = queries @ keys.to(precision).mT
                new_maximum = maximum.maximum(scores.amax(dim=-1, keepdim=True))
                weights = scores.sub_(new_maximum).exp_()  # in place
                correction = (maximum - new_maximum).exp()
                total = total * correction + weights.sum(dim=-1, keepdim=True)
                context = context * correction + weights @ values.to(precision)
                maximum = new_maximum
            outputs.copy_(context / total)
            log_sums.copy_(maximum + total.log())
        ctx.save_for_backward(query, key, value, out, log_sum)
        ctx.scale, ctx.block_size = scale, block_size
        return out

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, out_grad: Tensor) -> tuple[Tensor | None, ...]:
        query, key, value, out, log_sum = ctx.saved_tensors
        precision, size = log_sum.dtype, ctx.block_size
        grads = [torch.zeros_like(x, dtype=precision) for x in (query, key, value)]
        query_grad, key_grad, value_grad = grads
        by_query = _blocks(size, query, out, log_sum, out_grad, query_grad)
        for queries, outputs, log_sums, grad, queries_grad in by_query:
            queries, grad = queries.to(precision) * ctx.scale, grad.to(precision)
            # A score's gradient is its weight times (the weight's gradient minus this average).
            average = (grad * outputs).sum(dim=-1, keepdim=True)
            for keys, values, keys_grad, values_grad in _blocks(
                size, key, value, key_grad, value_grad
            ):
                keys, values = keys.to(precision), values.to(precision)
                weights = (queries @ keys.mT).sub_(log_sums).exp_()
                scores_grad = (grad @ values.mT).sub_(average).mul_(weights)
                values_grad += weights.mT @ grad
                queries_grad += scores_grad @ keys * ctx.scale
                keys_grad += scores_grad.mT @ queries
        return *(x.to(query.dtype) for x in grads), None


def _blocks(size: int, *tensors: Tensor) -> Iterator[tuple[Tensor, ...]]:
    """Cut tensors of one length into blocks of ``size`` positions, without copying."""
    return zip(*(x.split(size, dim=-2) for x in tensors), strict=True)
