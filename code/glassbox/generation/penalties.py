"""Penalties on the next token's logits, given the tokens before it (chapter 10).

Each function but :func:`suppress` takes logits, ``(batch, vocab)``, and the past, ``token_ids``,
``(batch, length)``, and returns logits. Where the past includes the prompt, a ``mask``,
``(batch, length)``, excludes padding: only the tokens where it is ``True`` count.
"""

import math
from collections.abc import Sequence

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from glassbox.checks import check_at_least, check_number
from glassbox.generation.checks import check_past


def repetition_penalty(
    logits: Float[Tensor, "batch vocab"],
    token_ids: Int[Tensor, "batch length"],
    penalty: float,
    mask: Bool[Tensor, "batch length"] | None = None,
) -> Float[Tensor, "batch vocab"]:
    """Divide the logits of tokens that occurred by ``penalty``; multiply them where negative.

    The number of occurrences makes no difference. Because the zero point of logits is arbitrary, so
    is the size of this penalty: it is customary, not principled.

    Parameters
    ----------
    logits : Tensor
        ``(batch, vocab)``.
    token_ids : Tensor
        Integers, ``(batch, length)``: the text so far, the prompt included.
    penalty : float
        More than 0; above 1 makes repetition less likely, below 1 more likely.
    mask : Tensor, optional
        Boolean, ``(batch, length)``: the tokens that count; all if left out.

    Returns
    -------
    Tensor
        ``(batch, vocab)``.

    Raises
    ------
    ValueError
        If the penalty is not positive, or the shapes do not fit.
    TypeError
        If logits or ids are not tensors.
    RuntimeError
        If an id is not in the vocabulary.

    Notes
    -----
    Keskar et al. (2019), section 4.1. Chapter 10, equation ``eq-repetition-penalty``.
    """
    check_number("repetition_penalty", penalty, "more than 0 and finite", "; 1 changes nothing")
    occurred = _count(logits, token_ids, mask) > 0
    penalised = torch.where(logits < 0, logits * penalty, logits / penalty)
    return torch.where(occurred, penalised, logits)


def frequency_penalty(
    logits: Float[Tensor, "batch vocab"], token_ids: Int[Tensor, "batch length"], penalty: float
) -> Float[Tensor, "batch vocab"]:
    r"""Subtract ``penalty`` from a token's logit for each of its occurrences.

    Parameters
    ----------
    logits : Tensor
        ``(batch, vocab)``.
    token_ids : Tensor
        Integers, ``(batch, length)``: the tokens generated so far, without the prompt.
    penalty : float
        At least 0. Each occurrence divides the token's odds by :math:`e^\text{penalty}`.

    Returns
    -------
    Tensor
        ``(batch, vocab)``.

    Raises
    ------
    ValueError
        If the penalty is negative, or the shapes do not fit.
    TypeError
        If logits or ids are not tensors.
    RuntimeError
        If an id is not in the vocabulary.

    Notes
    -----
    Offered by several services under this name; no paper proposes it. Chapter 10.
    """
    check_number("frequency_penalty", penalty, "at least 0 and finite")
    return logits - penalty * _count(logits, token_ids).to(logits.dtype)


def presence_penalty(
    logits: Float[Tensor, "batch vocab"], token_ids: Int[Tensor, "batch length"], penalty: float
) -> Float[Tensor, "batch vocab"]:
    """Subtract ``penalty`` once from the logit of every token that has occurred.

    Parameters
    ----------
    logits, token_ids, penalty
        As for :func:`frequency_penalty`.

    Returns
    -------
    Tensor
        ``(batch, vocab)``.

    Raises
    ------
    ValueError
        If the penalty is negative, or the shapes do not fit.
    TypeError
        If logits or ids are not tensors.
    RuntimeError
        If an id is not in the vocabulary.

    Notes
    -----
    Offered by several services under this name; no paper proposes it. Chapter 10.
    """
    check_number("presence_penalty", penalty, "at least 0 and finite")
    return logits - penalty * (_count(logits, token_ids) > 0).to(logits.dtype)


def no_repeat_ngram(
    logits: Float[Tensor, "batch vocab"],
    token_ids: Int[Tensor, "batch length"],
    n: int,
    mask: Bool[Tensor, "batch length"] | None = None,
) -> Float[Tensor, "batch vocab"]:
    """Rule out every token that would complete an n-gram that the text already contains.

    Parameters
    ----------
    logits : Tensor
        ``(batch, vocab)``.
    token_ids : Tensor
        Integers, ``(batch, length)``: the text so far, the prompt included.
    n : int
        At least 1; 1 forbids every token that occurred.
    mask : Tensor, optional
        Boolean, ``(batch, length)``: an n-gram counts if all its tokens do; all if left out.

    Returns
    -------
    Tensor
        ``(batch, vocab)``.

    Raises
    ------
    ValueError
        If ``n`` is not an int of at least 1, or the shapes do not fit.
    TypeError
        If logits or ids are not tensors.
    RuntimeError
        If an id is not in the vocabulary.

    Notes
    -----
    Paulus, Xiong and Socher (2018), section 2.5, for trigrams. Chapter 10.
    """
    check_at_least("no_repeat_ngram", n, 1, ". To allow all, leave it out")
    check_past(logits, token_ids, mask)
    length = token_ids.size(1)
    if length < n:
        return logits
    ngrams = token_ids.unfold(1, n, 1)  # (batch, length - n + 1, n): all there are
    begun = token_ids[:, None, length - n + 1 :]  # (batch, 1, n - 1): the one being written
    again = (ngrams[..., :-1] == begun).all(dim=-1)
    if mask is not None:
        again = again & mask.unfold(1, n, 1).all(dim=-1)
    return logits.masked_fill(_count(logits, ngrams[..., -1], again) > 0, -math.inf)


def suppress(
    logits: Float[Tensor, "batch vocab"], token_ids: Sequence[int]
) -> Float[Tensor, "batch vocab"]:
    """Rule out the given tokens, such as the end token before the minimum length.

    Parameters
    ----------
    logits : Tensor
        ``(batch, vocab)``.
    token_ids : sequence of int
        The tokens that may not come next.

    Returns
    -------
    Tensor
        ``(batch, vocab)``.

    Raises
    ------
    ValueError
        If an id is not in the vocabulary.

    Notes
    -----
    Chapter 10.
    """
    for token in token_ids:
        if not 0 <= token < logits.size(-1):
            raise ValueError(
                f"token {token} is not in a vocabulary of {logits.size(-1)}: "
                f"choose among 0 to {logits.size(-1) - 1}"
            )
    ids = torch.as_tensor(token_ids, dtype=torch.int64, device=logits.device)
    return logits.index_fill(-1, ids, -math.inf)


def _count(logits: Tensor, token_ids: Tensor, mask: Tensor | None = None) -> Tensor:
    """Count how often each token of the vocabulary occurs in each text: ``(batch, vocab)``."""
    check_past(logits, token_ids, mask)
    counted = torch.ones_like(token_ids) if mask is None else mask
    counts = torch.zeros_like(logits, dtype=torch.int64)
    return counts.scatter_add_(1, token_ids.long(), counted.long())
