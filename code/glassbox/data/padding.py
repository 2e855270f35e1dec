"""Texts of different lengths as one tensor."""

from collections.abc import Sequence

import torch
from jaxtyping import Bool, Int
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence


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
        If there is no text.
    TypeError
        If an id is not a whole number.
    """
    if not len(rows):
        raise ValueError("there is no text to pad: rows is empty")
    ids = [torch.as_tensor(row) for row in rows]
    for number, row in enumerate(ids):
        if row.is_floating_point() and len(row):
            raise TypeError(f"row {number} is {row.dtype}; expected whole numbers, token ids")
    ids = [row.long() for row in ids]
    real = [torch.ones(len(row), dtype=torch.bool) for row in rows]
    token_ids = pad_sequence(ids, batch_first=True, padding_value=pad_id, padding_side=side)
    mask = pad_sequence(real, batch_first=True, padding_value=False, padding_side=side)
    return token_ids.to(device), mask[:, None, None, :].to(device)
