"""Texts of different lengths as one tensor."""

from collections.abc import Sequence

import torch
from jaxtyping import Bool, Int
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from glassbox.checks import check_kind, check_whole


def pad(
    rows: Sequence[Sequence[int]],
    pad_id: int,
    *,
    side: str = "right",
    device: torch.device | str | None = None,
) -> tuple[Int[Tensor, "batch length"], Bool[Tensor, "batch 1 1 length"]]:
    """Pad lists of ids to the length of the longest.

    Parameters
    ----------
    rows : sequence of sequence of int
        The ids of each text; at least one text.
    pad_id : int
        The id that pads short rows.
    side : str, optional
        ``"right"`` or ``"left"``.
    device : torch.device or str, optional
        Where to create the tensors.

    Returns
    -------
    token_ids : Tensor
        Integers, ``(batch, length)``.
    mask : Tensor
        Boolean, ``(batch, 1, 1, length)``: ``True`` at the ids of the rows, ``False`` at padding.

    Raises
    ------
    ValueError
        If there is no text, or no such side.
    TypeError
        If an id is not a whole number.
    """
    check_kind("side", side, ("right", "left"))
    check_whole("pad_id", pad_id)
    if not len(rows):
        raise ValueError("there is no text to pad: rows is empty")
    try:
        ids = [torch.as_tensor(row) for row in rows]
    except (RuntimeError, ValueError) as error:
        raise TypeError(f"a row holds what is no whole number: {error}") from error
    for number, row in enumerate(ids):
        if len(row) and (row.is_floating_point() or row.is_complex() or row.dtype == torch.bool):
            raise TypeError(f"row {number} is {row.dtype}; expected whole numbers, token ids")
    ids = [row.long() for row in ids]
    real = [torch.ones(len(row), dtype=torch.bool) for row in rows]
    token_ids = pad_sequence(ids, batch_first=True, padding_value=pad_id, padding_side=side)
    mask = pad_sequence(real, batch_first=True, padding_value=False, padding_side=side)
    return token_ids.to(device), mask[:, None, None, :].to(device)
