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
    """
    ids = [torch.tensor(row, dtype=torch.int64) for row in rows]
    real = [torch.ones(len(row), dtype=torch.bool) for row in rows]
    token_ids = pad_sequence(ids, batch_first=True, padding_value=pad_id, padding_side=side)
    mask = pad_sequence(real, batch_first=True, padding_value=False, padding_side=side)
    return token_ids.to(device), mask[:, None, None, :].to(device)
