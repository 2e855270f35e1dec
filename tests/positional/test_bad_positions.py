"""Positions that do not fit are refused, with what was given and what was expected."""

import pytest
import torch

from glassbox.positional import (
    AlibiPositions,
    LearnedPositions,
    Positions,
    RelativePositionBias,
    RotaryPositions,
    RotaryScaling,
    SinusoidalPositions,
    alibi_bias,
    alibi_slopes,
    half_to_interleaved,
    interleaved_to_half,
    relative_buckets,
    rotary_frequencies,
    rotary_rotation,
    rotate,
    sinusoidal_encoding,
)

RANGE = torch.arange(5)


def embed(scheme=None, x=(2, 5, 8), positions=RANGE):
    scheme = SinusoidalPositions(8) if scheme is None else scheme
    return scheme.embed(torch.zeros(x), positions)


def turn(x=(2, 3, 5, 8), positions=RANGE, d_k=8):
    return rotate(torch.zeros(x), RotaryPositions(d_k).rotation(positions))


# What is tried: (the attempt, the error, what its message must hold).
SIZES = {
    "sinusoids of odd width": (
        lambda: SinusoidalPositions(7),
        ValueError,
        ["d_model=7", "even", "a sine and a cosine"],
    ),
    "sinusoids of a width that is a fraction": (
        lambda: SinusoidalPositions(8.0),  # type: ignore[arg-type]
        TypeError,
        ["d_model is of type float, 8.0", "a whole number"],
    ),
    "an encoding of odd width": (
        lambda: sinusoidal_encoding(RANGE, 9),
        ValueError,
        ["d_model=9", "even"],
    ),
    "an encoding of no width": (
        lambda: sinusoidal_encoding(RANGE, 0),
        ValueError,
        ["d_model=0", "at least 2"],
    ),
    "sinusoids of no width": (
        lambda: SinusoidalPositions(0),
        ValueError,
        ["d_model=0", "at least 2"],
    ),
    "sinusoids of negative width": (lambda: SinusoidalPositions(-4), ValueError, ["d_model=-4"]),
    "waves of one length": (
        lambda: SinusoidalPositions(8, base=1.0),
        ValueError,
        ["base=1.0", "more than 1"],
    ),
    "an encoding without a base": (
        lambda: sinusoidal_encoding(RANGE, 8, base=float("nan")),
        ValueError,
        ["base=nan", "more than 1"],
    ),
    "heads of odd width": (
        lambda: RotaryPositions(5),
        ValueError,
        ["d_k=5", "even", "turned in pairs"],
    ),
    "frequencies for an odd width": (lambda: rotary_frequencies(3), ValueError, ["d_k=3", "even"]),
    "heads of no width": (lambda: RotaryPositions(0), ValueError, ["d_k=0", "at least 2"]),
    "turns that do not slow down": (
        lambda: RotaryPositions(8, base=0.5),
        ValueError,
        ["base=0.5", "more than 1"],
    ),
    "frequencies of base 0": (lambda: rotary_frequencies(8, base=0), ValueError, ["base=0"]),
    "a scaling to shorter texts": (
        lambda: RotaryScaling(0.5),
        ValueError,
        ["factor=0.5", "at least 1"],
    ),
    "a scaling to endless texts": (
        lambda: RotaryScaling(float("inf")),
        ValueError,
        ["factor=inf", "finite"],
    ),
    "a scaling in letters": (
        lambda: RotaryScaling("8"),  # type: ignore[arg-type]
        TypeError,
        ["factor='8'", "a number"],
    ),
    "a truth value for a scaling": (
        lambda: RotaryScaling(True),
        TypeError,
        ["factor=True", "a number"],
    ),
    "a scaling from half a position": (
        lambda: RotaryScaling(2.0, original_len=2.5),  # type: ignore[arg-type]
        ValueError,
        ["original_len=2.5", "an int"],
    ),
    "a scaling from no text": (
        lambda: RotaryScaling(2.0, original_len=0),
        ValueError,
        ["original_len=0", "at least 1"],
    ),
    "a scaling with its numbers swapped": (
        lambda: RotaryScaling(2.0, original_len=9, low=4.0, high=1.0),
        ValueError,
        ["low=4.0", "high=1.0", "low < high"],
    ),
    "a table of no positions": (
        lambda: LearnedPositions(0, 8),
        ValueError,
        ["max_len=0", "at least 1"],
    ),
    "a table of no width": (
        lambda: LearnedPositions(8, 0),
        ValueError,
        ["d_model=0", "at least 1"],
    ),
    "a bias for no heads": (
        lambda: RelativePositionBias(0),
        ValueError,
        ["n_heads=0", "at least 1"],
    ),
    "an odd number of buckets for two directions": (
        lambda: RelativePositionBias(4, n_buckets=33),
        ValueError,
        ["n_buckets=33", "multiple of 2"],
    ),
    "two buckets for two directions": (
        lambda: relative_buckets(RANGE, n_buckets=2),
        ValueError,
        ["n_buckets=2", "at least 4"],
    ),
    "one bucket": (
        lambda: RelativePositionBias(4, n_buckets=1, bidirectional=False),
        ValueError,
        ["n_buckets=1", "at least 2"],
    ),
    "a largest distance that has a bucket of its own": (
        lambda: RelativePositionBias(4, max_distance=8),
        ValueError,
        ["max_distance=8", "more than 8", "n_buckets=32"],
    ),
    "no distance": (
        lambda: relative_buckets(RANGE, max_distance=0, bidirectional=False),
        ValueError,
        ["max_distance=0", "more than 16"],
    ),
    "slopes of no heads": (lambda: alibi_slopes(0), ValueError, ["n_heads=0", "at least 1"]),
    "ALiBi of negative heads": (lambda: AlibiPositions(-8), ValueError, ["n_heads=-8"]),
    "an odd axis to permute": (
        lambda: interleaved_to_half(torch.zeros(4, 7), dim=1, n_heads=1),
        ValueError,
        ["axis 1", "(4, 7)", "7 must be a multiple of 2"],
    ),
    "a weight without its axis and heads": (
        lambda: interleaved_to_half(torch.zeros(8, 8)),  # type: ignore[call-arg]
        TypeError,
        ["'dim' and 'n_heads'"],
    ),
    "heads of half a pair": (
        lambda: half_to_interleaved(torch.zeros(12, 5), dim=0, n_heads=4),
        ValueError,
        ["axis 0", "(12, 5)", "n_heads=4", "12 must be a multiple of 8"],
    ),
    "an axis that is not there": (
        lambda: interleaved_to_half(torch.zeros(12, 5), dim=2, n_heads=1),
        IndexError,
        ["out of range"],
    ),
    "no heads to permute": (
        lambda: interleaved_to_half(torch.zeros(12), dim=0, n_heads=0),
        ValueError,
        ["n_heads=0"],
    ),
}
POSITIONS = {
    "positions that are no integers": (
        lambda: embed(positions=torch.arange(5.0)),
        TypeError,
        ["torch.float32", "integers", "torch.arange(length)"],
    ),
    "a list of positions": (
        lambda: embed(positions=[0, 1]),
        TypeError,
        ["of type list", "integers"],
    ),
    "waves at a list": (
        lambda: sinusoidal_encoding([0, 1], 8),  # type: ignore[arg-type]
        TypeError,
        ["positions is of type list", "expected a tensor"],
    ),
    "a rotation by a width": (
        lambda: rotary_rotation(RANGE, 8),  # type: ignore[arg-type]
        TypeError,
        ["frequencies is of type int", "expected a tensor"],
    ),
    "buckets of a list": (
        lambda: relative_buckets([1]),  # type: ignore[arg-type]
        TypeError,
        ["relative is of type list", "expected a tensor"],
    ),
    "buckets of fractions": (
        lambda: relative_buckets(torch.rand(3)),
        TypeError,
        ["relative is torch.float32", "integers"],
    ),
    "a bias of positions that cannot be negative": (
        lambda: alibi_bias(RANGE.to(torch.uint8), RANGE, torch.ones(1)),
        TypeError,
        ["q_positions is torch.uint8", "integers"],
    ),
    "a length": (lambda: turn(positions=5), TypeError, ["is of type int", "torch.arange"]),
    "turns at no integers": (
        lambda: RotaryPositions(8).rotation(torch.arange(5.0)),
        TypeError,
        ["torch.float32"],
    ),
    "queries at no integers": (
        lambda: AlibiPositions(4).bias(torch.arange(5) > 2, RANGE),
        TypeError,
        ["q_positions is torch.bool"],
    ),
    "keys at no integers": (
        lambda: RelativePositionBias(4).bias(RANGE, torch.arange(5.0)),
        TypeError,
        ["k_positions is torch.float32"],
    ),
    "one position without an axis": (
        lambda: RotaryPositions(8).rotation(torch.tensor(3)),
        ValueError,
        ["()", "(length,) or (batch, length)"],
    ),
    "positions of heads": (
        lambda: RotaryPositions(8).rotation(torch.zeros(2, 3, 5, dtype=torch.int64)),
        ValueError,
        ["(2, 3, 5)", "(length,) or (batch, length)"],
    ),
    "one position for five tokens": (
        lambda: embed(positions=torch.tensor([3])),
        ValueError,
        ["(2, 5, 8)", "(1,)", "(length,) or (batch, length)"],
    ),
    "positions of more texts": (
        lambda: embed(positions=torch.zeros(3, 5, dtype=torch.int64)),
        ValueError,
        ["(2, 5, 8)", "(3, 5)"],
    ),
    "embeddings without the batch axis": (lambda: embed(x=(5, 8)), ValueError, ["(5, 8)", "(5,)"]),
    "embeddings of width 1": (
        lambda: embed(x=(2, 5, 1)),
        ValueError,
        ["(2, 5, 1)", "(batch, length, 8)"],
    ),
    "embeddings wider than the table": (
        lambda: embed(LearnedPositions(9, 8), x=(2, 5, 16)),
        ValueError,
        ["(2, 5, 16)", "(batch, length, 8)"],
    ),
    "positions nobody asks for, but wrong ones": (
        lambda: embed(Positions(), positions=torch.arange(4)),
        ValueError,
        ["(2, 5, 8)", "(4,)"],
    ),
    "positions elsewhere": (
        lambda: embed(positions=torch.arange(5, device="meta")),
        ValueError,
        ["on meta", "on cpu", ".to('cpu')"],
    ),
    "keys elsewhere": (
        lambda: AlibiPositions(4).bias(RANGE, torch.arange(5, device="meta")),
        ValueError,
        ["on cpu", "on meta"],
    ),
    "queries and keys of different batches": (
        lambda: AlibiPositions(4).bias(RANGE.expand(2, 5), RANGE.expand(3, 5)),
        ValueError,
        ["(2, 5)", "(3, 5)", "same batch"],
    ),
    "a position behind the table": (
        lambda: embed(LearnedPositions(5, 8), positions=torch.arange(1, 6)),
        ValueError,
        ["1 to 5", "has 5, 0 to 4", "shorten the text"],
    ),
    "a position before the table": (
        lambda: embed(LearnedPositions(5, 8), positions=torch.arange(-1, 4)),
        ValueError,
        ["-1 to 3", "0 to 4"],
    ),
    "queries of another width": (
        lambda: turn(x=(2, 3, 5, 6)),
        ValueError,
        ["(2, 3, 5, 6)", "(5, 8)", "(..., length, d_k)"],
    ),
    "queries of width 1": (lambda: turn(x=(2, 3, 5, 1)), ValueError, ["(2, 3, 5, 1)", "(5, 8)"]),
    "one turn for five queries": (
        lambda: turn(positions=torch.tensor([7])),
        ValueError,
        ["(2, 3, 5, 8)", "(1, 8)", "for each position"],
    ),
    "a turn for texts of another batch": (
        lambda: turn(positions=RANGE.expand(4, 5)),
        ValueError,
        ["(2, 3, 5, 8)", "(4, 1, 5, 8)", "one for each text"],
    ),
    "turns for more texts than there are": (
        lambda: turn(x=(1, 3, 5, 8), positions=RANGE.expand(4, 5)),
        ValueError,
        ["(1, 3, 5, 8)", "(4, 1, 5, 8)"],
    ),
}
CASES = SIZES | POSITIONS


@pytest.mark.usefixtures("as_a_reader")
@pytest.mark.parametrize(("attempt", "error", "says"), CASES.values(), ids=CASES)
def test_refused_with_both_values(attempt, error, says):
    with pytest.raises(error) as caught:
        attempt()
    for part in says:
        assert part in str(caught.value)


@pytest.mark.usefixtures("as_a_reader")
def test_the_smallest_that_fits_is_not_refused():
    one = torch.zeros(1, dtype=torch.int64)
    assert embed(SinusoidalPositions(2), (1, 1, 2), one).shape == (1, 1, 2)
    assert embed(LearnedPositions(1, 1), (1, 1, 1), one).shape == (1, 1, 1)
    assert embed(LearnedPositions(5, 8), (0, 5, 8), torch.zeros(0, 5).long()).shape == (0, 5, 8)
    assert turn((1, 1, 1, 2), one, 2).shape == (1, 1, 1, 2)
    assert rotary_frequencies(2, scaling=RotaryScaling(1.0, 1, low=0.1)).shape == (1,)
    assert AlibiPositions(1).bias(one, one).tolist() == [[[0.0]]]
    assert RelativePositionBias(1, 2, 2, bidirectional=False).bias(one, one).shape == (1, 1, 1)
    assert interleaved_to_half(torch.arange(2), dim=0, n_heads=1).tolist() == [0, 1]
