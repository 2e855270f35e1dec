"""Attention: each position gathers from the others what it asks for (chapters 3 to 5)."""

import math
from collections.abc import Callable
from contextvars import ContextVar

import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float
from torch import Tensor, nn

from glassbox.masks import check_mask

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
    exact = scores.float() if scores.dtype in (torch.float16, torch.bfloat16) else scores
    if mask is None:
        return exact.softmax(dim=-1).to(scores.dtype)
    empty = ~mask.any(dim=-1, keepdim=True)
    # A row of -inf alone is 0/0. Empty rows keep their scores, and lose their weights afterwards.
    exact = exact.masked_fill(~(mask | empty), -math.inf)
    return exact.softmax(dim=-1).masked_fill(empty, 0.0).to(scores.dtype)


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


def additive_attention(
    query: Float[Tensor, "*batch q_len d_query"],
    key: Float[Tensor, "*batch k_len d_key"],
    value: Float[Tensor, "*batch k_len d_v"],
    query_weight: Float[Tensor, "d_hidden d_query"],
    key_weight: Float[Tensor, "d_hidden d_key"],
    score_weight: Float[Tensor, " d_hidden"],
    mask: Bool[Tensor, "..."] | None = None,
) -> tuple[Float[Tensor, "*batch q_len d_v"], Float[Tensor, "*batch q_len k_len"]]:
    r"""Attention with a small network in place of the dot product.

    .. math:: s_{ij} = v^\top \tanh(W q_i + U k_j)

    Queries and keys need not be equally wide here. The hidden layer exists once for every pair of
    positions, so memory is larger by a factor of ``d_hidden`` than with dot products.

    Parameters
    ----------
    query : Tensor
        ``(..., q_len, d_query)``; the decoder's states in the original.
    key : Tensor
        ``(..., k_len, d_key)``; the encoder's states in the original.
    value : Tensor
        ``(..., k_len, d_v)``.
    query_weight, key_weight : Tensor
        :math:`W`, ``(d_hidden, d_query)``, and :math:`U`, ``(d_hidden, d_key)``.
    score_weight : Tensor
        :math:`v`, ``(d_hidden,)``.
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
    Bahdanau, Cho and Bengio (2015), appendix A.1.2. Chapter 4, equation ``eq-additive``.
    """
    check_attention_inputs(query, key, value, mask)
    if score_weight.dim() != 1:
        raise ValueError(
            f"score_weight has shape {tuple(score_weight.shape)}; expected one axis, (d_hidden,)"
        )
    for name, tensor, weight in (("query", query, query_weight), ("key", key, key_weight)):
        if weight.shape != (score_weight.numel(), tensor.size(-1)):
            raise ValueError(
                f"{name}_weight has shape {tuple(weight.shape)}; expected "
                f"({score_weight.numel()}, {tensor.size(-1)}): as many rows as score_weight has "
                f"entries, as many columns as the {name} is wide"
            )
    query, key = query @ query_weight.mT, key @ key_weight.mT  # (..., length, d_hidden)
    hidden = (query[..., :, None, :] + key[..., None, :, :]).tanh()  # every pair of positions
    weights = masked_softmax(hidden @ score_weight, mask)
    return weights @ value, weights


def check_same_width(query: Tensor, key: Tensor) -> None:
    """Refuse queries and keys that have no dot product.

    Raises
    ------
    ValueError
        If their last axes differ, naming both.
    """
    if query.size(-1) != key.size(-1):
        raise ValueError(
            f"a query of width {query.size(-1)} has no dot product with a key of width "
            f"{key.size(-1)}: project both to one width d_k first"
        )


def check_attention_inputs(
    query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None
) -> None:
    """Refuse queries, keys, values and masks that do not belong together.

    Raises
    ------
    ValueError
        If shapes, dtypes or devices do not fit, naming both.
    TypeError
        If the inputs are not floating-point or the mask is not boolean.
    """
    shapes = (
        f"query {tuple(query.shape)}, key {tuple(key.shape)}, value {tuple(value.shape)}; expected "
        "(..., q_len, d_k), (..., k_len, d_k), (..., k_len, d_v)"
    )
    if min(query.dim(), key.dim(), value.dim()) < 2:
        raise ValueError(f"each input needs a length and a width: {shapes}")
    if key.size(-2) != value.size(-2):
        raise ValueError(
            f"keys and values come in pairs, but there are {key.size(-2)} keys and "
            f"{value.size(-2)} values: {shapes}"
        )
    if not query.shape[:-2] == key.shape[:-2] == value.shape[:-2]:
        raise ValueError(f"the axes before the last two differ: {shapes}")
    if 0 in (*query.shape[-2:], *key.shape[-2:], *value.shape[-2:]):
        raise ValueError(f"nothing to attend with: an axis is empty: {shapes}")
    for what in ("dtype", "device"):
        kinds = [getattr(tensor, what) for tensor in (query, key, value)]
        if len(set(kinds)) > 1:
            raise ValueError(
                f"query, key and value differ in {what}: {', '.join(map(str, kinds))}. "
                f"Bring them together with .to({kinds[0]!r})"
            )
    if not query.is_floating_point():
        raise TypeError(
            f"query, key and value are {query.dtype}; expected floating-point numbers, such as "
            "torch.float32: turn them into these with .float()"
        )
    if mask is not None:
        check_mask(mask, (*query.shape[:-1], key.size(-2)), query.device)


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


def check_heads(d_model: int, n_heads: int) -> None:
    """Refuse a width that cannot be shared out evenly among the heads.

    Raises
    ------
    ValueError
        If ``n_heads`` is less than 1 or does not divide ``d_model``.
    """
    if n_heads < 1 or d_model < 1:
        raise ValueError(f"d_model={d_model} and n_heads={n_heads}: both must be at least 1")
    if d_model % n_heads:
        raise ValueError(
            f"d_model={d_model} does not divide into n_heads={n_heads} heads: "
            f"choose n_heads among the divisors of {d_model}"
        )
