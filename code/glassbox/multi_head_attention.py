"""Several attentions side by side (chapter 5)."""

import math
from collections.abc import Callable
from contextvars import ContextVar

import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float
from torch import Tensor, nn

from glassbox.attention import scaled_dot_product_attention
from glassbox.cache import KeyValueCache
from glassbox.checks import (
    check_attention_inputs,
    check_bias,
    check_heads,
    check_mask,
    check_same_memory,
    check_scale,
    check_tensors,
)
from glassbox.masks import causal_mask
from glassbox.positional import Rotation, rotate

#: Whoever is looking now (see ``record``): every attention calls them with its tensors.
observers: ContextVar[tuple[Callable[..., None], ...]] = ContextVar("observers", default=())


def fused_attention(
    query: Float[Tensor, "batch heads q_len d_k"],
    key: Float[Tensor, "batch kv_heads k_len d_k"],
    value: Float[Tensor, "batch kv_heads k_len d_v"],
    mask: Bool[Tensor, "..."] | None = None,
    causal: bool = False,
    bias: Float[Tensor, "..."] | None = None,
    scale: float | None = None,
) -> Float[Tensor, "batch heads q_len d_v"]:
    """Compute the context of :func:`scaled_dot_product_attention` with PyTorch's fused kernel.

    Parameters
    ----------
    query, key, value : Tensor
        ``(batch, heads, q_len, d_k)``, ``(batch, kv_heads, k_len, d_k)`` and
        ``(batch, kv_heads, k_len, d_v)``; ``kv_heads`` divides ``heads``.
    mask : Tensor, optional
        Boolean, broadcastable to ``(batch, heads, q_len, k_len)``; ``True`` = may attend.
    causal : bool, optional
        Whether :func:`~glassbox.masks.causal_mask` holds as well.
    bias : Tensor, optional
        Added to the scores.
    scale : float, optional
        What scores are multiplied by in place of one over the root of ``d_k``.

    Returns
    -------
    Tensor
        ``(batch, heads, q_len, d_v)``.

    Notes
    -----
    Dao et al. (2022).
    """
    q_len, k_len = query.size(2), key.size(2)
    # The kernel counts positions from the first key: its own causality fits equal lengths alone.
    kernel_is_causal = causal and q_len == k_len and mask is None and bias is None
    if causal and not kernel_is_causal:
        mask = allowed_past(mask, q_len, k_len, query.device)
    if bias is not None:
        added = bias.to(query.dtype)
        mask = added if mask is None else added.masked_fill(~mask, -math.inf)
    if mask is not None:  # the kernel's fast paths want all four axes
        mask = mask[(None,) * (4 - mask.dim())]
    return F.scaled_dot_product_attention(
        query,
        key,
        value,
        attn_mask=mask,
        is_causal=kernel_is_causal,
        scale=scale,
        enable_gqa=query.size(1) != key.size(1),
    )


def allowed_past(
    mask: Tensor | None, q_len: int, k_len: int, device: torch.device
) -> Tensor | None:
    """Return ``mask`` and :func:`~glassbox.masks.causal_mask` in one, where there is a future.

    Parameters
    ----------
    mask : Tensor or None
        Boolean, broadcastable to ``(batch, n_heads, q_len, k_len)``; ``True`` = may attend.
    q_len, k_len : int
        Number of queries, which are the last positions, and of keys.
    device : torch.device
        Where to make the mask.

    Returns
    -------
    Tensor or None
        ``mask`` itself if there is one query, since the last position sees all others.

    Notes
    -----
    Vaswani et al. (2017), section 3.2.3. Chapter 4, equation ``eq-causal-mask``.
    """
    if q_len == 1:
        return mask  # the last position sees all others
    past = causal_mask(q_len, k_len, device=device)
    return past if mask is None else mask & past


class MultiHeadAttention(nn.Module):
    r"""Several attentions side by side, each with projections of its own.

    .. math:: \begin{aligned} \operatorname{MultiHead}(Q, K, V)
              &= \operatorname{Concat}(\text{head}_1, \ldots, \text{head}_h) W^O \\
              \text{head}_i &= \operatorname{Attention}(QW_i^Q, KW_i^K, VW_i^V) \end{aligned}

    The heads' projections are stacked into one matrix each for queries, keys and values, so
    that ``d_model`` is divided among the heads and their number does not change the number of
    parameters. With fewer heads of keys and values, groups of query heads share them:
    grouped-query attention, and with a single one multi-query attention.

    While somebody looks (:func:`glassbox.record.record`), the maps come from
    :func:`scaled_dot_product_attention`; otherwise from PyTorch's fused kernel, which computes
    the same without keeping them.

    Parameters
    ----------
    d_model : int
        Width of inputs and outputs.
    n_heads : int
        Number of heads; must divide ``d_model``. Each head is ``d_k = d_model // n_heads`` wide.
    n_kv_heads : int, optional
        Heads of keys and values; must divide ``n_heads``. As many as ``n_heads`` if left out.
    d_k : int, optional
        Width of a head, where it is not ``d_model // n_heads``.
    bias : bool, optional
        Whether the four projections add a bias. The paper's equation has none, BERT has.
    scale : float, optional
        What scores are multiplied by in place of :math:`1 / \sqrt{d_k}`.

    Raises
    ------
    ValueError
        If ``n_heads`` does not divide ``d_model``, ``n_kv_heads`` does not divide ``n_heads``, or
        a number is not more than 0.
    TypeError
        If a size is not a whole number.

    Notes
    -----
    Vaswani et al. (2017), section 3.2.2; Shazeer (2019) and Ainslie et al. (2023) on shared keys
    and values. Chapter 5.
    """

    def __init__(
        self,
        d_model: int,
        n_heads: int,
        *,
        n_kv_heads: int | None = None,
        d_k: int | None = None,
        bias: bool = True,
        scale: float | None = None,
    ) -> None:
        super().__init__()
        check_heads(d_model, n_heads, n_kv_heads, d_k)
        check_scale(scale)
        d_k = d_model // n_heads if d_k is None else d_k
        self.n_heads = n_heads
        self.n_kv_heads = n_heads if n_kv_heads is None else n_kv_heads
        self.scale = scale
        self.query = nn.Linear(d_model, n_heads * d_k, bias=bias)
        self.key = nn.Linear(d_model, self.n_kv_heads * d_k, bias=bias)
        self.value = nn.Linear(d_model, self.n_kv_heads * d_k, bias=bias)
        self.output = nn.Linear(n_heads * d_k, d_model, bias=bias)

    def forward(
        self,
        query: Float[Tensor, "batch q_len d_model"],
        key: Float[Tensor, "batch k_len d_model"] | None = None,
        value: Float[Tensor, "batch k_len d_model"] | None = None,
        mask: Bool[Tensor, "..."] | None = None,
        *,
        causal: bool = False,
        bias: Float[Tensor, "..."] | None = None,
        rotation: Rotation | None = None,
        cache: KeyValueCache | None = None,
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
            Two axes are taken for ``(q_len, k_len)``: where texts differ, give all four.
        causal : bool, optional
            Whether :func:`~glassbox.masks.causal_mask` holds as well: no query attends to what
            comes after it.
        bias : Tensor, optional
            Added to the scores, broadcastable to ``(batch, n_heads, q_len, k_len)``.
        rotation : Rotation, optional
            By what angles to turn queries and keys (rotary positions).
        cache : KeyValueCache, optional
            Keys and values of earlier steps. In self-attention this step's are added to them, and
            ``k_len`` counts them all. In cross-attention the first step fills the cache, and
            later steps take keys and values from there.

        Returns
        -------
        Tensor
            ``(batch, q_len, d_model)``.

        Raises
        ------
        ValueError
            If the shapes, dtypes or devices do not fit together, or the cache is full.
        TypeError
            If the inputs are not floating-point tensors or the mask is not boolean.
        """
        self._check_inputs(query, key, value)
        memory = key  # where keys come from, if not from the queries' own sequence
        key = query if key is None else key
        value = key if value is None else value

        query = self._split(self.query(query), self.n_heads)
        if memory is not None and cache is not None and cache.length:
            key, value = cache.key, cache.value  # the memory stays the same in all steps
            check_same_memory(memory, key)
        else:
            key = self._split(self.key(key), self.n_kv_heads)
            value = self._split(self.value(value), self.n_kv_heads)
            if rotation is not None:
                key = rotate(key, rotation)
            if cache is not None:
                key, value = cache.append(key, value)
        if rotation is not None:
            query = rotate(query, rotation)

        context = self._attend(query, key, value, mask, causal, bias)
        return self.output(context.transpose(1, 2).flatten(2))

    def _attend(
        self,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        mask: Tensor | None,
        causal: bool,
        bias: Tensor | None,
    ) -> Tensor:
        """Return the context, ``(batch, heads, q_len, d_k)``, and show it to whoever looks."""
        scores_shape = (*query.shape[:3], key.size(2))
        if mask is not None:
            check_mask(mask, scores_shape, query.device)
        if bias is not None:
            check_bias(bias, scores_shape, query.device)
        # Nobody looks into compiled code: a recorded model runs uncompiled.
        looking = () if torch.compiler.is_compiling() else observers.get()
        if not looking and not _formula_is_faster(query, key):
            return fused_attention(query, key, value, mask, causal, bias, self.scale)

        # One head of keys and values for each query head. (A copy: a cache moves its own about.)
        key, value = (x.repeat_interleave(self.n_heads // self.n_kv_heads, 1) for x in (key, value))
        if causal:
            mask = allowed_past(mask, query.size(2), key.size(2), query.device)
        context, weights = scaled_dot_product_attention(
            query, key, value, mask, bias=bias, scale=self.scale
        )
        seen = {"query": query, "key": key, "value": value, "weights": weights, "context": context}
        for look in looking:
            look(self, **seen, bias=bias, scale=self.scale, mask=mask)
        return context

    def _split(self, x: Tensor, n_heads: int) -> Tensor:
        return x.unflatten(-1, (n_heads, -1)).transpose(1, 2)  # (batch, heads, length, d_k)

    def _check_inputs(self, query: Tensor, key: Tensor | None, value: Tensor | None) -> None:
        weight = self.query.weight
        given = {"query": query, "key": key, "value": value}
        for name, tensor in given.items():
            if tensor is None:
                continue
            check_tensors(**{name: tensor})
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
            # Under autocast the projections convert what they are given.
            if (
                tensor.is_floating_point()
                and tensor.dtype != weight.dtype
                and not torch.is_autocast_enabled(weight.device.type)
            ):
                raise ValueError(
                    f"{name} is {tensor.dtype}, the weights of this attention are {weight.dtype}: "
                    f"convert it with .to({weight.dtype})"
                )
        key = query if key is None else key
        check_attention_inputs(query, key, key if value is None else value)


def _formula_is_faster(query: Tensor, key: Tensor) -> bool:
    # Trained in half precision on a CPU, the kernel takes up to six times as long as the formula
    # where texts are short.
    return (
        query.requires_grad
        and query.device.type == "cpu"
        and query.dtype in (torch.bfloat16, torch.float16)
        and query.size(2) * key.size(2) <= 128 * 128
    )
