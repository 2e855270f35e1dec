"""Masked language modelling: hide tokens of a text, and predict them from the rest (chapter 11)."""

from collections.abc import Collection

import torch
from jaxtyping import Int
from torch import Tensor

from glassbox.checks import INTEGERS, check_dtype, check_number, check_whole, wrong_shape

#: The label of a position that is not predicted.
IGNORE = -100


def n_chosen(n_tokens: int, rate: float) -> int:
    """Return how many of a text's tokens are to be predicted: a share, but at least one.

    Parameters
    ----------
    n_tokens : int
        The tokens that may be chosen.
    rate : float
        The share.

    Returns
    -------
    int
        The number.

    Notes
    -----
    As in the published code of Devlin et al. (2019), which also counts [CLS] and [SEP] as tokens.
    """
    return max(1, round(rate * n_tokens))


def mask_tokens(
    token_ids: Int[Tensor, " length"],
    *,
    mask_id: int,
    vocab_size: int,
    special_ids: Collection[int] = (),
    rate: float = 0.15,
    masked: float = 0.8,
    random: float = 0.1,
    generator: torch.Generator | None = None,
) -> tuple[Int[Tensor, " length"], Int[Tensor, " length"]]:
    """Choose tokens of a text to be predicted, and hide most of them.

    Of the chosen tokens, a share ``masked`` becomes ``[MASK]``, a share ``random`` becomes any
    token of the vocabulary, and the others stay. The model cannot tell the last two from tokens
    that were not chosen, so it has to prepare a prediction everywhere.

    Parameters
    ----------
    token_ids : Tensor
        Integers, ``(length,)``: one text, on the CPU, where the draws are made.
    mask_id : int
        The id of ``[MASK]``.
    vocab_size : int
        Number of tokens from which a random one is drawn.
    special_ids : collection of int, optional
        Ids that are never chosen, such as those of ``[CLS]``, ``[SEP]`` and padding.
    rate : float, optional
        The share of tokens to be predicted, above 0 and at most 1; see :func:`n_chosen`.
    masked, random : float, optional
        Probabilities, at least 0 and together at most 1.
    generator : torch.Generator, optional
        Determines the draws.

    Returns
    -------
    inputs : Tensor
        Integers, ``(length,)``: what the model sees.
    labels : Tensor
        Integers, ``(length,)``: the tokens to be predicted, and :data:`IGNORE` elsewhere.

    Raises
    ------
    ValueError
        If a share is out of its range, an id is not in the vocabulary, ``token_ids`` have more or
        fewer axes than one, or the text has no token that may be chosen.
    TypeError
        If ``token_ids`` are not a tensor of integers.

    Notes
    -----
    Devlin et al. (2019), section 3.1, task 1, and appendix A.1.

    Examples
    --------
    >>> ids = torch.tensor([2, 17, 30, 51, 3])
    >>> draw = torch.Generator().manual_seed(1)
    >>> mask_tokens(ids, mask_id=4, vocab_size=60, special_ids={2, 3}, generator=draw)
    (tensor([ 2, 17,  4, 51,  3]), tensor([-100, -100,   30, -100, -100]))
    """
    check_masking(rate, masked, random)
    _check_text(token_ids, mask_id, vocab_size)
    special = torch.isin(token_ids, torch.tensor([*special_ids], dtype=token_ids.dtype))
    (allowed,) = torch.where(~special)
    if not len(allowed):
        raise ValueError(
            f"the text has {len(token_ids)} tokens, and none that may be masked: leave out texts "
            "of special tokens alone"
        )
    order = torch.randperm(len(allowed), generator=generator)
    chosen = allowed[order[: n_chosen(len(allowed), rate)]]
    labels = torch.full_like(token_ids, IGNORE)
    labels[chosen] = token_ids[chosen]

    fate = torch.rand(len(chosen), generator=generator)
    others = torch.randint(vocab_size, (len(chosen),), generator=generator, dtype=token_ids.dtype)
    seen = torch.where(fate < masked + random, others, token_ids[chosen])
    inputs = token_ids.clone()
    inputs[chosen] = seen.masked_fill(fate < masked, mask_id)
    return inputs, labels


def check_masking(rate: float, masked: float, random: float) -> None:
    """Reject invalid shares.

    Raises
    ------
    ValueError
        If ``rate`` is not above 0 and at most 1, or ``masked`` and ``random`` are negative or add
        up to more than 1.
    """
    check_number("rate", rate, "more than 0 and at most 1", ", such as 0.15")
    if not (masked >= 0 and random >= 0 and masked + random <= 1 + 1e-9):
        raise ValueError(
            f"masked={masked} and random={random} are shares of the same tokens: from 0 to 1, and "
            "together at most 1, such as 0.8 and 0.1"
        )


def _check_text(token_ids: Tensor, mask_id: int, vocab_size: int) -> None:
    check_dtype("token_ids", token_ids, INTEGERS, "a tensor of integers, torch.int64")
    if token_ids.dim() != 1:
        expected = "(length,), one text: mask the texts of a batch before they are padded"
        raise wrong_shape("token_ids", token_ids, expected)
    check_whole("mask_id", mask_id)
    for name, ids in (("mask_id", [mask_id]), ("token_ids", token_ids.tolist())):
        if ids and not 0 <= min(ids) <= max(ids) < vocab_size:
            raise ValueError(
                f"{name} runs from {min(ids)} to {max(ids)}; the vocabulary has 0 to "
                f"{vocab_size - 1}"
            )
