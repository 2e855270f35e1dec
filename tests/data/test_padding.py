"""Texts of different lengths become one tensor, and a mask says which ids were in them."""

import pytest
import torch

from glassbox.data.padding import pad


@pytest.mark.parametrize("side", ["right", "left"])
def test_short_rows_are_filled_up_at_the_side_that_is_named(side):
    token_ids, mask = pad([[5, 0], [7], [1, 2, 3]], 0, side=side)
    filled = {"right": [[5, 0, 0], [7, 0, 0], [1, 2, 3]], "left": [[0, 5, 0], [0, 0, 7], [1, 2, 3]]}
    real = {"right": [[1, 1, 0], [1, 0, 0], [1, 1, 1]], "left": [[0, 1, 1], [0, 0, 1], [1, 1, 1]]}
    assert token_ids.tolist() == filled[side]
    assert token_ids.dtype == torch.int64
    assert mask.shape == (3, 1, 1, 3)
    assert mask[:, 0, 0].int().tolist() == real[side]  # a padding id inside a row is no padding


def test_a_row_may_be_empty():
    token_ids, mask = pad([[], [4]], 9)
    assert token_ids.tolist() == [[9], [4]]
    assert mask.flatten().tolist() == [False, True]


@pytest.mark.parametrize(
    ("rows", "pad_id", "side", "error", "message"),
    [
        ([], 0, "right", ValueError, "there is no text to pad"),
        ([[1], [1.7, 2.2]], 0, "right", TypeError, "row 1 is torch.float32; expected whole"),
        ([[True]], 0, "right", TypeError, "row 0 is torch.bool; expected whole"),
        ([[1j]], 0, "right", TypeError, "row 0 is torch.complex64; expected whole"),
        ([["a"]], 0, "right", TypeError, "no whole number: .*str"),
        ([[None]], 0, "right", TypeError, "no whole number: .*None"),
        ([[1]], 0.5, "right", TypeError, "pad_id is of type float, 0.5"),
        ([[1]], 0, "up", ValueError, "side='up' is not known"),
    ],
)
@pytest.mark.usefixtures("as_a_reader")
def test_what_is_no_ids_is_refused(rows, pad_id, side, error, message):
    with pytest.raises(error, match=message):
        pad(rows, pad_id, side=side)
