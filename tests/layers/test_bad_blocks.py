"""What cannot be cut into blocks is refused, with both values."""

import pytest
import torch

from glassbox.blockwise import blockwise_attention


def attend(query=(2, 5, 8), key=(2, 7, 8), value=(2, 7, 8), mask=None, **options):
    tensors = [t if isinstance(t, torch.Tensor) else torch.zeros(t) for t in (query, key, value)]
    return blockwise_attention(tensors[0], tensors[1], tensors[2], mask, **options)


# What is tried: (the attempt, the error, what its message must hold).
CASES = {
    "empty blocks": (
        lambda: attend(block_size=0),
        ValueError,
        ["block_size=0", "at least 1"],
    ),
    "blocks of negative size": (lambda: attend(block_size=-4), ValueError, ["block_size=-4"]),
    "fewer keys than queries where the past is all": (
        lambda: attend(query=(2, 9, 8), causal=True),
        ValueError,
        ["q_len=9", "k_len=7", "at least as many keys as queries"],
    ),
    "a query narrower than the keys": (
        lambda: attend(query=(2, 5, 4)),
        ValueError,
        ["query of width 4", "key of width 8"],
    ),
    "keys without values": (lambda: attend(value=(2, 6, 8)), ValueError, ["7 keys", "6 values"]),
    "another number of texts": (
        lambda: attend(query=(4, 5, 8)),
        ValueError,
        ["(4, 5, 8)", "(2, 7, 8)", "axes before the last two differ"],
    ),
    "heads that are not shared evenly": (
        lambda: attend((2, 6, 5, 8), (2, 4, 7, 8), (2, 4, 7, 8)),
        ValueError,
        ["(2, 6, 5, 8)", "(2, 4, 7, 8)", "axes before the last two differ"],
    ),
    "more heads of keys than of queries": (
        lambda: attend((2, 2, 5, 8), (2, 4, 7, 8), (2, 4, 7, 8)),
        ValueError,
        ["(2, 2, 5, 8)", "(2, 4, 7, 8)"],
    ),
    "shared heads of other texts": (
        lambda: attend((2, 6, 5, 8), (3, 2, 7, 8), (3, 2, 7, 8)),
        ValueError,
        ["(2, 6, 5, 8)", "(3, 6, 7, 8)"],
    ),
    "no heads of keys": (
        lambda: attend((2, 6, 5, 8), (2, 0, 7, 8), (2, 0, 7, 8)),
        ValueError,
        ["(2, 6, 5, 8)", "(2, 0, 7, 8)"],
    ),
    "no queries": (lambda: attend(query=(2, 0, 8)), ValueError, ["(2, 0, 8)", "an axis is empty"]),
    "a single vector": (lambda: attend(query=(8,)), ValueError, ["(8,)", "a length and a width"]),
    "single and double precision": (
        lambda: attend(key=torch.zeros(2, 7, 8, dtype=torch.float64)),
        ValueError,
        ["torch.float32, torch.float64"],
    ),
    "whole numbers": (
        lambda: attend(*(torch.zeros(2, 5, 8, dtype=torch.int64) for _ in range(3))),
        TypeError,
        ["torch.int64", "floating-point"],
    ),
    "queries elsewhere": (
        lambda: attend(query=torch.zeros(2, 5, 8, device="meta")),
        ValueError,
        ["meta, cpu, cpu"],
    ),
    "a mask of ones and zeros": (
        lambda: attend(mask=torch.ones(5, 7)),
        TypeError,
        ["torch.float32", "torch.bool"],
    ),
    "a mask with its axes swapped": (
        lambda: attend(mask=torch.ones(7, 5).bool()),
        ValueError,
        ["(7, 5)", "(2, 5, 7)"],
    ),
    "a mask of one block": (
        lambda: attend(mask=torch.ones(2, 2).bool(), block_size=2),
        ValueError,
        ["(2, 2)", "(2, 5, 7)"],
    ),
}


@pytest.mark.usefixtures("as_a_reader")
@pytest.mark.parametrize(("attempt", "error", "says"), CASES.values(), ids=CASES)
def test_refused_with_both_values(attempt, error, says):
    with pytest.raises(error) as caught:
        attempt()
    for part in says:
        assert part in str(caught.value)


@pytest.mark.usefixtures("as_a_reader")
def test_the_smallest_that_fits_is_not_refused():
    assert attend((1, 1), (1, 1), (1, 1), torch.tensor(True), block_size=1).shape == (1, 1)
    assert attend((0, 5, 8), (0, 7, 8), (0, 7, 8), causal=True).shape == (0, 5, 8)  # no texts
    assert attend((2, 4, 1, 8), (2, 1, 1, 8), (2, 1, 1, 8)).shape == (2, 4, 1, 8)
