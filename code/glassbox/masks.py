"""Masks: which queries may attend to which keys (chapter 4).

The polarity is the same throughout this package: a mask is boolean, and ``True`` means *may
attend*. Its axes are, or broadcast to, those of the scores, ``(batch, heads, q_len, k_len)``.
Masks combine with ``&``: a query may attend to a key only if every mask allows it.
"""

import torch
from jaxtyping import Bool, Int
from torch import Tensor

from glassbox.checks import check_causal, check_tensors, check_whole, wrong_shape


def causal_mask(
    q_len: int, k_len: int | None = None, *, device: torch.device | str | None = None
) -> Bool[Tensor, "q_len k_len"]:
    """Let each position attend to itself and to earlier ones.

    With fewer queries than keys the queries are the *last* positions, as in decoding with a
    cache: query ``i`` has position ``k_len - q_len + i``. (PyTorch's ``is_causal=True`` puts
    them first instead.)

    Parameters
    ----------
    q_len : int
        Number of queries, at least 1.
    k_len : int, optional
        Number of keys, at least ``q_len``. Defaults to ``q_len``.
    device : torch.device or str, optional
        Device of the mask.

    Returns
    -------
    Tensor
        Boolean, ``(q_len, k_len)``; ``True`` at ``[i, j]`` where ``j <= k_len - q_len + i``.

    Raises
    ------
    TypeError
        If a length is not an integer.
    ValueError
        If ``q_len < 1`` or ``k_len < q_len``.

    Notes
    -----
    Vaswani et al. (2017), section 3.2.3. Chapter 4, equation ``eq-causal-mask``.
    """
    k_len = q_len if k_len is None else k_len
    check_whole("q_len", q_len)
    check_whole("k_len", k_len)
    if q_len < 1:
        raise ValueError(f"q_len={q_len}: a causal mask needs at least one query")
    check_causal(q_len, k_len)
    return torch.ones(q_len, k_len, dtype=torch.bool, device=device).tril(k_len - q_len)


def allowed_past(
    mask: Tensor | None, q_len: int, k_len: int, device: torch.device
) -> Tensor | None:
    """Return ``mask`` combined with :func:`causal_mask`, if there is a future to hide.

    Parameters
    ----------
    mask : Tensor or None
        Boolean, broadcastable to ``(batch, n_heads, q_len, k_len)``; ``True`` = may attend.
    q_len, k_len : int
        Number of queries, which are the last positions, and of keys.
    device : torch.device
        Device of the mask.

    Returns
    -------
    Tensor or None
        ``mask`` itself if there is one query, because the last position sees all others.

    Notes
    -----
    Vaswani et al. (2017), section 3.2.3. Chapter 4, equation ``eq-causal-mask``.
    """
    if q_len == 1:
        return mask
    past = causal_mask(q_len, k_len, device=device)
    return past if mask is None else mask & past


def padding_mask(
    token_ids: Int[Tensor, "batch k_len"], pad_id: int
) -> Bool[Tensor, "batch 1 1 k_len"]:
    """Let every query attend to real tokens only, never to padding.

    Parameters
    ----------
    token_ids : Tensor
        Integers, ``(batch, k_len)``: the sequence that provides the *keys*. In cross-attention
        that is the source.
    pad_id : int
        The id that pads short sequences.

    Returns
    -------
    Tensor
        Boolean, ``(batch, 1, 1, k_len)``: broadcasts over heads and queries.

    Raises
    ------
    TypeError
        If ``token_ids`` is not a tensor or ``pad_id`` is not an integer.
    ValueError
        If ``token_ids`` does not have two axes.

    Notes
    -----
    Chapter 4, section *Masks*.
    """
    check_tensors(token_ids=token_ids)
    check_whole("pad_id", pad_id)
    if token_ids.dim() != 2:
        expected = "(batch, k_len). For a single sequence add the batch axis: token_ids[None]"
        raise wrong_shape("token_ids", token_ids, expected)
    return (token_ids != pad_id)[:, None, None, :]
