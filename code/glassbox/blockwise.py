"""Attention block by block: the same result, without holding all the weights at once."""

import math
from collections.abc import Iterator
from typing import Any

import torch
from jaxtyping import Bool, Float
from torch import Tensor
from torch.autograd.function import once_differentiable

from glassbox.checks import check_attention_inputs, check_same_width


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
    computed, and the backward pass computes the scores a second time.

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
    attention with it; Dao et al. (2022), algorithms 1 and 4, for both passes in blocks. Only first
    derivatives are supported, and inside a compiled model it runs uncompiled.
    """
    if block_size < 1:
        raise ValueError(f"block_size={block_size}: a block holds at least 1 position")
    key, value = _one_for_each_head(query, key), _one_for_each_head(query, value)
    check_attention_inputs(query, key, value, mask, scale=scale)
    check_same_width(query, key)
    if causal and key.size(-2) < query.size(-2):
        raise ValueError(
            f"causal with {query.size(-2)} queries and {key.size(-2)} keys: the queries are the "
            "last of the keys' positions, so there must be at least as many keys as queries"
        )
    mask = None if mask is None else torch.atleast_2d(mask)
    scale = 1 / math.sqrt(query.size(-1)) if scale is None else scale
    context: Tensor = _BlockwiseAttention.apply(query, key, value, mask, causal, scale, block_size)
    return context


class _Blocks:
    """Divide the matrix of scores into blocks and compute one at a time."""

    def __init__(
        self,
        query: Tensor,
        key: Tensor,
        mask: Tensor | None,
        causal: bool,
        scale: float,
        block_size: int,
    ) -> None:
        self.query, self.key, self.mask = query, key, mask
        self.causal, self.scale, self.block_size = causal, scale, block_size
        self.precision = torch.promote_types(query.dtype, torch.float32)
        self.offset = key.size(-2) - query.size(-2)  # the first query's position among the keys

    def rows(self) -> Iterator[slice]:
        """Yield the blocks of queries."""
        return self._cut(self.query.size(-2))

    def columns(self, rows: slice) -> Iterator[slice]:
        """Yield the blocks of keys that any of these queries may attend to."""
        k_len = self.key.size(-2)
        return self._cut(min(k_len, self.offset + rows.stop) if self.causal else k_len)

    def scores(self, rows: slice, columns: slice) -> Tensor:
        """Compute one block of scores, ``-inf`` where a query must not attend."""
        scores = self.part(self.query, rows) * self.scale @ self.part(self.key, columns).mT
        if self.mask is not None:
            q_len, k_len = self.mask.shape[-2:]
            seen = self.mask[
                ..., rows if q_len > 1 else slice(1), columns if k_len > 1 else slice(1)
            ]
            scores.masked_fill_(~seen, -math.inf)
        reach = self.offset + rows.start - columns.start  # how far right the first row may look
        if self.causal and reach < scores.size(-1) - 1:
            future = scores.new_ones(scores.shape[-2:], dtype=torch.bool).triu(reach + 1)
            scores.masked_fill_(future, -math.inf)
        return scores

    def part(self, x: Tensor, positions: slice) -> Tensor:
        """Return some positions of a tensor, in the precision of the sums."""
        return x[..., positions, :].to(self.precision)

    def _cut(self, length: int) -> Iterator[slice]:
        for start in range(0, length, self.block_size):
            yield slice(start, min(start + self.block_size, length))


class _BlockwiseAttention(torch.autograd.Function):
    """The two passes, which keep no attention weights in between."""

    @staticmethod
    def forward(
        ctx: Any,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        mask: Tensor | None,
        causal: bool,
        scale: float,
        block_size: int,
    ) -> Tensor:
        blocks = _Blocks(query, key, mask, causal, scale, block_size)
        out = query.new_empty(*query.shape[:-1], value.size(-1))
        log_sum = query.new_empty(*query.shape[:-1], 1, dtype=blocks.precision)
        for rows in blocks.rows():
            total = torch.zeros_like(log_sum[..., rows, :])
            context = torch.zeros_like(out[..., rows, :], dtype=blocks.precision)
            # The lowest number, not -inf: the difference of two of them is 0 instead of NaN.
            maximum = torch.full_like(total, torch.finfo(total.dtype).min)
            for columns in blocks.columns(rows):
                scores = blocks.scores(rows, columns)
                new_maximum = maximum.maximum(scores.amax(dim=-1, keepdim=True))
                weights = scores.sub_(new_maximum).exp_()  # in place
                correction = (maximum - new_maximum).exp()
                total = total * correction + weights.sum(dim=-1, keepdim=True)
                context = context * correction + weights @ blocks.part(value, columns)
                maximum = new_maximum
            total = total.masked_fill(total == 0, 1.0)  # nothing allowed: 0 / 1 instead of 0 / 0
            out[..., rows, :] = context / total
            log_sum[..., rows, :] = maximum + total.log()
        ctx.save_for_backward(query, key, value, mask, out, log_sum)
        ctx.options = causal, scale, block_size
        return out

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, out_grad: Tensor) -> tuple[Tensor | None, ...]:
        query, key, value, mask, out, log_sum = ctx.saved_tensors
        blocks = _Blocks(query, key, mask, *ctx.options)
        query_grad, key_grad, value_grad = (
            torch.zeros_like(x, dtype=blocks.precision) for x in (query, key, value)
        )
        for rows in blocks.rows():
            grad = blocks.part(out_grad, rows)
            # A score's gradient is its weight times (the weight's gradient minus this average).
            average = (grad * blocks.part(out, rows)).sum(dim=-1, keepdim=True)
            for columns in blocks.columns(rows):
                weights = blocks.scores(rows, columns).sub_(log_sum[..., rows, :]).exp_()
                weights_grad = grad @ blocks.part(value, columns).mT
                scores_grad = weights_grad.sub_(average).mul_(weights)
                value_grad[..., columns, :] += weights.mT @ grad
                query_grad[..., rows, :] += scores_grad @ blocks.part(key, columns) * blocks.scale
                key_grad[..., columns, :] += (
                    scores_grad.mT @ blocks.part(query, rows) * blocks.scale
                )
        grads = (x.to(query.dtype) for x in (query_grad, key_grad, value_grad))
        return *grads, None, None, None, None


def _one_for_each_head(query: Tensor, x: Tensor) -> Tensor:
    """Repeat each head of keys or values for the group of query heads that it serves."""
    if query.dim() < 4 or x.dim() != query.dim() or not x.size(-3):
        return x
    groups, left = divmod(query.size(-3), x.size(-3))
    return x if left or groups < 2 else x.repeat_interleave(groups, dim=-3)
