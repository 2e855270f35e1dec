"""Attention: each position gathers from the others what it asks for (chapters 3 to 5)."""

import math
from collections.abc import Callable
from contextvars import ContextVar

import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float
from torch import Tensor, nn

from glassbox.checks import (
    check_additive_weights,
    check_attention_inputs,
    check_heads,
    check_mask,
    check_same_width,
)

#: Whoever is looking now (see ``record``): every attention calls them with its tensors.
observers: ContextVar[tuple[Callable[..., None], ...]] = ContextVar("observers", default=())


def dot_product_scores(
    query: Float[Tensor, "*batch q_len d_k"], key: Float[Tensor, "*batch k_len d_k"]
) -> Float[Tensor, "*batch q_len k_len"]:
    r"""Score every query against every key: :math:`QK^\top / \sqrt{d_k}`.

    Parameters
    ----------
    query : Tensor
        ``(..., q_len, d_k)``.
    key : Tensor
        ``(..., k_len, d_k)``.

    Returns
    -------
    Tensor
        ``(..., q_len, k_len)``: row *i* holds the scores of query *i*.

    Raises
    ------
    ValueError
        If queries and keys are not equally wide.

    Notes
    -----
    Vaswani et al. (2017), section 3.2.1. Chapter 4, equation ``eq-scores``.
    """
    check_same_width(query, key)
    return query @ key.transpose(-2, -1) * (1 / math.sqrt(query.size(-1)))


def masked_softmax(
    scores: Float[Tensor, "*batch q_len k_len"], mask: Bool[Tensor, "..."] | None = None
) -> Float[Tensor, "*batch q_len k_len"]:
    r"""Turn each row of scores into weights: :math:`e^{s_{ij}} / \sum_l e^{s_{il}}`.

    The sum runs over the keys that the mask allows, the others get weight 0. A query that may
    attend to nothing gets zeros and passes no gradient back; the plain formula gives NaN there.
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
        ``(..., q_len, k_len)``, in the dtype of ``scores``; each row sums to 1, or to 0 where
        nothing is allowed.

    Notes
    -----
    Vaswani et al. (2017), equation 1. Chapter 4, equation ``eq-weights``.
    """
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
) -> tuple[Float[Tensor, "*batch q_len d_v"], Float[Tensor, "*batch q_len k_len"]]:
    r"""Average the values, weighted by how well each key fits the query.

    .. math:: \operatorname{Attention}(Q, K, V)
              = \operatorname{softmax}\left(\frac{QK^\top}{\sqrt{d_k}}\right)V

    Parameters
    ----------
    query : Tensor
        ``(..., q_len, d_k)``: what each position asks for.
    key : Tensor
        ``(..., k_len, d_k)``: what each position offers to be found by.
    value : Tensor
        ``(..., k_len, d_v)``: what each position hands over. Keys and values belong together in
        pairs; in self-attention all three come from the same sequence.
    mask : Tensor, optional
        Boolean, broadcastable to ``(..., q_len, k_len)``; ``True`` = may attend.

    Returns
    -------
    context : Tensor
        ``(..., q_len, d_v)``: one weighted average of values for each query.
    weights : Tensor
        ``(..., q_len, k_len)``: not negative, each row sums to 1 (to 0 if the mask leaves the
        query nothing to attend to).

    Raises
    ------
    ValueError
        If the shapes, dtypes or devices do not fit together.
    TypeError
        If an input is not floating-point or the mask is not boolean.

    Notes
    -----
    Vaswani et al. (2017), section 3.2.1, equation 1. Chapter 4, equation ``eq-attention``.
    """
    check_attention_inputs(query, key, value, mask)
    scores = dot_product_scores(query, key)
    weights = masked_softmax(scores, mask)
    return weights @ value, weights


def additive_scores(
    query: Float[Tensor, "*batch q_len d_query"],
    key: Float[Tensor, "*batch k_len d_key"],
    query_weight: Float[Tensor, "d_hidden d_query"],
    key_weight: Float[Tensor, "d_hidden d_key"],
    score_weight: Float[Tensor, " d_hidden"],
) -> Float[Tensor, "*batch q_len k_len"]:
    r"""Score every query against every key with a small network: :math:`v^\top \tanh(Wq_i + Uk_j)`.

    Queries and keys need not be equally wide here. The hidden layer exists once for every pair of
    positions, so memory is larger by a factor of ``d_hidden`` than with dot products.

    Parameters
    ----------
    query : Tensor
        ``(..., q_len, d_query)``; the decoder's states in the original.
    key : Tensor
        ``(..., k_len, d_key)``; the encoder's states in the original.
    query_weight, key_weight : Tensor
        :math:`W`, ``(d_hidden, d_query)``, and :math:`U`, ``(d_hidden, d_key)``.
    score_weight : Tensor
        :math:`v`, ``(d_hidden,)``.

    Returns
    -------
    Tensor
        ``(..., q_len, k_len)``: row *i* holds the scores of query *i*.

    Raises
    ------
    ValueError
        If the weights do not fit the queries, the keys or one another.

    Notes
    -----
    Bahdanau, Cho and Bengio (2015), appendix A.1.2. Chapter 4, equation ``eq-additive``.
    """
    check_additive_weights(query, key, query_weight, key_weight, score_weight)
    query, key = query @ query_weight.mT, key @ key_weight.mT
    hidden = (query[..., :, None, :] + key[..., None, :, :]).tanh()  # one for every pair
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
    r"""Attention with the scores of a small network in place of dot products.

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


class MultiHeadAttention(nn.Module):
    r"""Several attentions side by side, each with projections of its own.

    .. math:: \operatorname{MultiHead}(Q, K, V)
              = \operatorname{Concat}(\text{head}_1, \ldots, \text{head}_h) W^O,
              \quad \text{head}_i = \operatorname{Attention}(QW_i^Q, KW_i^K, VW_i^V)

    The heads' projections are stacked into one matrix each for queries, keys and values, so
    that ``d_model`` is divided among the heads and their number does not change the number of
    parameters.

    While somebody looks (:func:`glassbox.record.record`), the maps come from
    :func:`scaled_dot_product_attention`; otherwise from PyTorch's fused kernel, which computes
    the same without keeping them.

    Parameters
    ----------
    d_model : int
        Width of inputs and outputs.
    n_heads : int
        Number of heads; must divide ``d_model``. Each head is ``d_k = d_model // n_heads`` wide.
    bias : bool, optional
        Whether the four projections add a bias. The paper's equation has none, BERT has.

    Raises
    ------
    ValueError
        If ``n_heads`` does not divide ``d_model``.

    Notes
    -----
    Vaswani et al. (2017), section 3.2.2. Chapter 5.
    """

    def __init__(self, d_model: int, n_heads: int, *, bias: bool = True) -> None:
        super().__init__()
        check_heads(d_model, n_heads)
        self.n_heads = n_heads
        self.query = nn.Linear(d_model, d_model, bias=bias)
        self.key = nn.Linear(d_model, d_model, bias=bias)
        self.value = nn.Linear(d_model, d_model, bias=bias)
        self.output = nn.Linear(d_model, d_model, bias=bias)

    def forward(
        self,
        query: Float[Tensor, "batch q_len d_model"],
        key: Float[Tensor, "batch k_len d_model"] | None = None,
        value: Float[Tensor, "batch k_len d_model"] | None = None,
        mask: Bool[Tensor, "..."] | None = None,
    ) -> Float[Tensor, "batch q_len d_model"]:
        """Attend from ``query`` to ``key`` and ``value``; to itself if these are left out.

        Parameters
        ----------
        query : Tensor
            ``(batch, q_len, d_model)``.
        key : Tensor, optional
            ``(batch, k_len, d_model)``; ``query`` if left out (self-attention).
        value : Tensor, optional
            ``(batch, k_len, d_model)``; ``key`` if left out.
        mask : Tensor, optional
            Boolean, broadcastable to ``(batch, n_heads, q_len, k_len)``; ``True`` = may attend.

        Returns
        -------
        Tensor
            ``(batch, q_len, d_model)``.

        Raises
        ------
        ValueError
            If the shapes, dtypes or devices do not fit together.
        TypeError
            If the inputs are not floating-point or the mask is not boolean.
        """
        key = query if key is None else key
        value = key if value is None else value
        self._check_inputs(query, key, value, mask)
        query = self._split(self.query(query))
        key = self._split(self.key(key))
        value = self._split(self.value(value))

        # Nobody looks into compiled code: a recorded model runs uncompiled.
        looking = () if torch.compiler.is_compiling() else observers.get()
        if looking:
            context, weights = scaled_dot_product_attention(query, key, value, mask)
            for look in looking:
                look(self, query=query, key=key, value=value, weights=weights, context=context)
        else:
            mask = None if mask is None else torch.atleast_2d(mask)  # the kernel wants two axes
            context = F.scaled_dot_product_attention(query, key, value, attn_mask=mask)

        return self.output(context.transpose(1, 2).flatten(2))

    def _split(self, x: Tensor) -> Tensor:
        return x.unflatten(-1, (self.n_heads, -1)).transpose(1, 2)  # (batch, heads, length, d_k)

    def _check_inputs(self, query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None) -> None:
        weight = self.query.weight
        for name, tensor in {"query": query, "key": key, "value": value}.items():
            if tensor.dim() != 3 or tensor.size(-1) != weight.size(-1):
                raise ValueError(
                    f"{name} has shape {tuple(tensor.shape)}; expected (batch, length, "
                    f"{weight.size(-1)}): {weight.size(-1)} is the d_model of this attention"
                )
            if tensor.device != weight.device:
                raise ValueError(
                    f"{name} is on {tensor.device}, the weights of this attention are on "
                    f"{weight.device}: move it there with .to('{weight.device}')"
                )
        check_attention_inputs(query, key, value)
        if mask is not None:
            scores_shape = (query.size(0), self.n_heads, query.size(1), key.size(1))
            check_mask(mask, scores_shape, query.device)
