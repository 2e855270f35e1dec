"""Attention: each position gathers what it needs from the others (chapter 4)."""

import math

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from glassbox.checks import check_attention_inputs, check_same_width, check_scores


def dot_product_scores(
    query: Float[Tensor, "*batch q_len d_k"],
    key: Float[Tensor, "*batch k_len d_k"],
    scale: float | None = None,
) -> Float[Tensor, "*batch q_len k_len"]:
    r"""Score every query against every key: :math:`QK^\top / \sqrt{d_k}`.

    Parameters
    ----------
    query : Tensor
        ``(..., q_len, d_k)``.
    key : Tensor
        ``(..., k_len, d_k)``.
    scale : float, optional
        Factor that multiplies the scores. Defaults to :math:`1 / \sqrt{d_k}`.

    Returns
    -------
    Tensor
        ``(..., q_len, k_len)``: row *i* holds the scores of query *i*.

    Raises
    ------
    TypeError
        If one is not a tensor.
    ValueError
        If queries and keys differ in width; nothing else is checked.

    Notes
    -----
    Vaswani et al. (2017), section 3.2.1. Chapter 4, equation ``eq-scores``.
    """
    check_same_width(query, key)
    scale = 1 / math.sqrt(query.size(-1)) if scale is None else scale
    return query @ key.transpose(-2, -1) * scale


def masked_softmax(
    scores: Float[Tensor, "*batch q_len k_len"],
    mask: Bool[Tensor, "..."] | None = None,
) -> Float[Tensor, "*batch q_len k_len"]:
    r"""Turn each row of scores into weights: :math:`e^{s_{ij}} / \sum_l e^{s_{il}}`.

    The sum runs over the keys that the mask allows; the others get weight 0. A query with no
    allowed key gets all zeros and passes no gradient back, where the plain formula yields NaN.
    Half-precision scores are normalised in float32.

    Parameters
    ----------
    scores : Tensor
        ``(..., q_len, k_len)``.
    mask : Tensor, optional
        Boolean, broadcastable to ``scores``; ``True`` = may attend.

    Returns
    -------
    Tensor
        ``(..., q_len, k_len)``, in the dtype of ``scores``; each row of finite scores sums to 1, or
        to 0 where nothing is allowed.

    Raises
    ------
    TypeError
        If the scores are not a floating-point tensor or the mask is not boolean.
    ValueError
        If the mask does not broadcast to the scores, or is on another device.

    Notes
    -----
    Vaswani et al. (2017), equation 1. Chapter 4, equation ``eq-weights``.
    """
    check_scores(scores, mask)
    precision = torch.promote_types(scores.dtype, torch.float32)
    if mask is None:
        return scores.softmax(dim=-1, dtype=precision).to(scores.dtype)
    # A row of -inf alone would be 0/0: an empty row keeps its scores, not its weights.
    empty = ~mask.any(dim=-1, keepdim=True)
    scores = scores.masked_fill(~(mask | empty), -math.inf)
    weights = scores.softmax(dim=-1, dtype=precision).masked_fill(empty, 0.0)
    return weights.to(scores.dtype)


def scaled_dot_product_attention(
    query: Float[Tensor, "*batch q_len d_k"],
    key: Float[Tensor, "*batch k_len d_k"],
    value: Float[Tensor, "*batch k_len d_v"],
    mask: Bool[Tensor, "..."] | None = None,
    *,
    bias: Float[Tensor, "..."] | None = None,
    scale: float | None = None,
) -> tuple[Float[Tensor, "*batch q_len d_v"], Float[Tensor, "*batch q_len k_len"]]:
    r"""Average the values, weighted by how well each key fits the query.

    .. math:: \operatorname{Attention}(Q, K, V)
              = \operatorname{softmax}\left(\frac{QK^\top}{\sqrt{d_k}}\right)V

    Parameters
    ----------
    query : Tensor
        ``(..., q_len, d_k)``: what each position asks for.
    key : Tensor
        ``(..., k_len, d_k)``: what each position can be found by.
    value : Tensor
        ``(..., k_len, d_v)``: what each position contributes. Keys and values come in pairs; in
        self-attention queries, keys and values come from the same sequence.
    mask : Tensor, optional
        Boolean, broadcastable to ``(..., q_len, k_len)``; ``True`` = may attend.
    bias : Tensor, optional
        Added to the scores, broadcastable to ``(..., q_len, k_len)``: how some models encode
        positions (chapter 6). Hiding keys is the mask's job: a row of minus infinity gives NaN.
    scale : float, optional
        Factor that multiplies the scores, positive. Defaults to :math:`1 / \sqrt{d_k}`.

    Returns
    -------
    context : Tensor
        ``(..., q_len, d_v)``: one weighted average of values for each query.
    weights : Tensor
        ``(..., q_len, k_len)``: non-negative; each row sums to 1 (as long as its scores are
        finite), or to 0 if the mask leaves the query nothing to attend to.

    Raises
    ------
    ValueError
        If the shapes, dtypes or devices do not fit together, or the scale is not positive.
    TypeError
        If an input is not a floating-point tensor or the mask is not boolean.

    Notes
    -----
    Vaswani et al. (2017), section 3.2.1, equation 1. Chapter 4, equation ``eq-attention``.

    For the weights alone, call :func:`masked_softmax` on :func:`dot_product_scores`.
    """
    check_attention_inputs(query, key, value, mask, bias, scale)
    scores = dot_product_scores(query, key, scale)
    if bias is not None:
        scores = scores + bias.to(scores.dtype)
    weights = masked_softmax(scores, mask)
    return weights @ value, weights
