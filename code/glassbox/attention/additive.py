"""Additive attention: scores from a small network, as before the transformer (chapter 4)."""

from jaxtyping import Bool, Float
from torch import Tensor

from glassbox.attention.scaled_dot_product import masked_softmax
from glassbox.checks import check_additive_weights, check_attention_inputs


def additive_scores(
    query: Float[Tensor, "*batch q_len d_query"],
    key: Float[Tensor, "*batch k_len d_key"],
    query_weight: Float[Tensor, "d_hidden d_query"],
    key_weight: Float[Tensor, "d_hidden d_key"],
    score_weight: Float[Tensor, " d_hidden"],
) -> Float[Tensor, "*batch q_len k_len"]:
    r"""Score queries against keys with a small network: :math:`\tanh(q_i W + k_j U) \cdot v`.

    Queries and keys may differ in width. Every pair of positions has its own hidden layer, so the
    scores take ``d_hidden`` times as much memory as dot products.

    Parameters
    ----------
    query : Tensor
        ``(..., q_len, d_query)``; the decoder's states in the original.
    key : Tensor
        ``(..., k_len, d_key)``; the encoder's states in the original.
    query_weight, key_weight : Tensor
        :math:`W^\top`, ``(d_hidden, d_query)``, and :math:`U^\top`, ``(d_hidden, d_key)``.
    score_weight : Tensor
        :math:`v`, ``(d_hidden,)``.

    Returns
    -------
    Tensor
        ``(..., q_len, k_len)``: row *i* holds the scores of query *i*.

    Raises
    ------
    TypeError
        If one is not a tensor.
    ValueError
        If the weights do not fit the queries, the keys or each other. Whether queries and keys
        are of one batch, and of floating-point numbers, is left to PyTorch.

    Notes
    -----
    Bahdanau, Cho and Bengio (2015), appendix A.1.2. Chapter 4, equation ``eq-additive``.
    """
    check_additive_weights(query, key, query_weight, key_weight, score_weight)
    query, key = query @ query_weight.mT, key @ key_weight.mT
    # one hidden layer for every pair
    hidden = (query[..., :, None, :] + key[..., None, :, :]).tanh()
    return hidden @ score_weight


def additive_attention(
    query: Float[Tensor, "*batch q_len d_query"],
    key: Float[Tensor, "*batch k_len d_key"],
    value: Float[Tensor, "*batch k_len d_v"],
    query_weight: Float[Tensor, "d_hidden d_query"],
    key_weight: Float[Tensor, "d_hidden d_key"],
    score_weight: Float[Tensor, " d_hidden"],
    mask: Bool[Tensor, "..."] | None = None,
) -> tuple[Float[Tensor, "*batch q_len d_v"], Float[Tensor, "*batch q_len k_len"]]:
    r"""Average the values, weighted by the scores of a small network instead of dot products.

    Parameters
    ----------
    query, key, query_weight, key_weight, score_weight : Tensor
        As for :func:`additive_scores`.
    value : Tensor
        ``(..., k_len, d_v)``.
    mask : Tensor, optional
        Boolean, broadcastable to ``(..., q_len, k_len)``; ``True`` = may attend.

    Returns
    -------
    context, weights : Tensor
        ``(..., q_len, d_v)`` and ``(..., q_len, k_len)``, as in
        :func:`scaled_dot_product_attention`.

    Raises
    ------
    ValueError
        If the shapes, dtypes or devices do not fit together.
    TypeError
        If an input is not floating-point or the mask is not boolean.

    Notes
    -----
    Bahdanau, Cho and Bengio (2015), section 3.1. Chapter 4, equation ``eq-additive``.
    """
    check_attention_inputs(query, key, value, mask)
    scores = additive_scores(query, key, query_weight, key_weight, score_weight)
    weights = masked_softmax(scores, mask)
    return weights @ value, weights
