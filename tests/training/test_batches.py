"""Every example once an epoch, none too many in a batch, and always the same for a seed."""

import math
import random
from collections import Counter
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from glassbox.training import stream
from glassbox.training.batches import LengthBatches, RandomBlocks

LENGTHS = random.Random(0).choices(range(1, 31), k=500)
lengths = st.lists(st.integers(1, 20), min_size=1, max_size=60)
sizes = st.integers(20, 70)
seeds = st.integers(0, 2**32 - 1)


def flat(steps: list[list[list[int]]]) -> list[int]:
    return [example for step in steps for batch in step for example in batch]


@given(lengths, sizes, st.integers(1, 4), seeds, st.integers(0, 9))
def test_every_example_comes_once_in_an_epoch(
    lengths: list[int], tokens: int, accumulate: int, seed: int, epoch: int
) -> None:
    steps = LengthBatches(lengths, tokens, accumulate, seed).epoch(epoch)
    assert sorted(flat(steps)) == list(range(len(lengths)))


@given(lengths, sizes, st.integers(1, 4), seeds)
def test_no_batch_has_more_tokens_than_allowed_padding_counted(
    lengths: list[int], tokens: int, accumulate: int, seed: int
) -> None:
    for step in LengthBatches(lengths, tokens, accumulate, seed).epoch(0):
        for batch in step:
            assert batch
            assert len(batch) * max(lengths[i] for i in batch) <= tokens


@given(lengths, sizes, st.integers(1, 4), seeds)
def test_a_step_has_as_many_batches_as_it_should_and_the_last_no_more(
    lengths: list[int], tokens: int, accumulate: int, seed: int
) -> None:
    *steps, last = LengthBatches(lengths, tokens, accumulate, seed).epoch(0)
    assert all(len(step) == accumulate for step in steps)
    assert 1 <= len(last) <= accumulate


@given(lengths, sizes, seeds, st.integers(0, 9))
def test_accumulating_changes_no_batch_and_no_order(
    lengths: list[int], tokens: int, seed: int, epoch: int
) -> None:
    ones = LengthBatches(lengths, tokens, 1, seed).epoch(epoch)
    threes = LengthBatches(lengths, tokens, 3, seed).epoch(epoch)
    assert [batch for step in threes for batch in step] == [batch for (batch,) in ones]


@pytest.mark.parametrize(
    "make",
    [
        lambda seed: LengthBatches(LENGTHS, 100, 2, seed),
        lambda seed: RandomBlocks(1000, 8, 4, 20, 2, seed),
    ],
    ids=["LengthBatches", "RandomBlocks"],
)
def test_the_order_is_a_function_of_seed_and_epoch(make: Callable[[int], Any]) -> None:
    batches = make(1)
    first, second = batches.epoch(0), batches.epoch(1)
    assert batches.epoch(0) == first  # whatever was asked for in between
    assert make(1).epoch(1) == second
    assert first != second != make(2).epoch(1) != make(2).epoch(0) != first


def test_the_order_does_not_depend_on_the_version_of_the_book() -> None:
    """Runs that go on with a later version, and cards that name a seed, rest on this."""
    assert LengthBatches([3, 1, 2, 3, 3, 1], 6, 2, seed=1).epoch(0) == ORDER
    assert RandomBlocks(100, 8, 2, 2, 1, seed=1).epoch(0) == BLOCKS


ORDER = [[[5, 1, 2], [0, 4]], [[3]]]
BLOCKS = [[[25, 22]], [[36, 77]]]


def test_the_order_does_not_touch_the_common_random_numbers() -> None:
    state = torch.get_rng_state()
    LengthBatches(LENGTHS, 100).epoch(0)
    RandomBlocks(1000, 8, 4, 20).epoch(0)
    assert torch.equal(state, torch.get_rng_state())


def test_texts_of_like_lengths_stand_together() -> None:
    batches = [batch for (batch,) in LengthBatches(LENGTHS, 100).epoch(0)]
    filled = sum(len(batch) * max(LENGTHS[i] for i in batch) for batch in batches)
    assert sum(LENGTHS) / filled > 0.97  # less than 3 % padding
    for batch in batches:
        assert max(LENGTHS[i] for i in batch) - min(LENGTHS[i] for i in batch) <= 2


def test_batches_are_as_full_as_they_may_be() -> None:
    """The next longer example would not have fitted in, for all but the one that ends the list."""
    batches = [batch for (batch,) in LengthBatches(LENGTHS, 100).epoch(0)]
    batches.sort(key=lambda batch: (sum(LENGTHS[i] for i in batch) / len(batch), -len(batch)))
    for batch, longer in pairwise(batches):
        assert (len(batch) + 1) * min(LENGTHS[i] for i in longer) > 100


def test_lengths_come_in_any_order_in_an_epoch() -> None:
    """Not the short ones first: their mean in the first half is that of the second."""
    batches = [batch for (batch,) in LengthBatches(LENGTHS, 100).epoch(0)]
    longest = [max(LENGTHS[i] for i in batch) for batch in batches]
    half = len(longest) // 2
    assert sum(longest[:half]) / half == pytest.approx(sum(longest[half:]) / half, rel=0.2)
    assert longest != sorted(longest)


def test_examples_of_one_length_meet_others_in_every_epoch() -> None:
    batches = LengthBatches([5] * 40, 20)
    together = [
        {frozenset(batch) for step in batches.epoch(number) for batch in step}
        for number in range(5)
    ]
    assert len(set().union(*together)) > 45  # of 50; in a fixed order it would be 10


def test_blocks_begin_everywhere_from_the_first_token_to_the_last_with_a_label() -> None:
    starts = Counter(flat(RandomBlocks(12, 8, 16, 50).epoch(0)))
    assert sorted(starts) == [0, 1, 2, 3]  # 3 + 8 is the last token, the label of the one before
    expected = 16 * 50 / 4
    assert all(abs(count - expected) < 5 * math.sqrt(expected) for count in starts.values())


@given(st.integers(1, 9), st.integers(1, 9), st.integers(1, 9), st.integers(1, 4), seeds)
def test_blocks_are_as_many_as_asked_for(
    block_len: int, batch_size: int, steps: int, accumulate: int, seed: int
) -> None:
    epoch = RandomBlocks(10, block_len, batch_size, steps, accumulate, seed).epoch(0)
    assert len(epoch) == steps
    assert {len(step) for step in epoch} == {accumulate}
    assert {len(batch) for step in epoch for batch in step} == {batch_size}


@pytest.mark.parametrize("kind", [np.array, torch.tensor, tuple])
@pytest.mark.usefixtures("as_a_reader")
def test_lengths_may_be_an_array(kind: Any) -> None:
    assert LengthBatches(kind([3, 1, 2, 3, 3, 1]), 6, 2, seed=1).epoch(0) == ORDER


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"lengths": []}, "no example"),
        ({"lengths": [3, 0, 2]}, "example 1 has no token"),
        ({"lengths": [3, 9, 2], "tokens": 8}, "example 1 has 9 tokens.*tokens=8"),
        ({"lengths": [3], "tokens": 0}, "tokens=0.*at least 1"),
        ({"lengths": [3], "accumulate": 0}, "accumulate=0.*at least 1"),
    ],
)
@pytest.mark.usefixtures("as_a_reader")
def test_lengths_that_make_no_batches_are_refused(given: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        LengthBatches(**({"tokens": 8} | given))


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"text_len": 8}, "8 tokens.*block_len=8"),
        ({"block_len": 0}, "block_len=0.*at least 1"),
        ({"batch_size": 0}, "batch_size=0.*at least 1"),
        ({"steps": -1}, "steps=-1.*at least 1"),
        ({"accumulate": 0}, "accumulate=0.*at least 1"),
    ],
)
@pytest.mark.usefixtures("as_a_reader")
def test_blocks_that_cannot_be_drawn_are_refused(given: dict[str, Any], message: str) -> None:
    sizes = {"text_len": 9, "block_len": 8, "batch_size": 2, "steps": 2}
    with pytest.raises(ValueError, match=message):
        RandomBlocks(**(sizes | given))


# Seeds of random streams.


def test_neighbouring_seeds_and_steps_have_streams_of_their_own() -> None:
    """Also those that a sum would confuse, and numbers in another order."""
    small = range(40)
    pairs = {stream(a, b) for a in small for b in small}
    assert len(pairs) == 40 * 40
    assert len({stream(a) for a in range(10_000)}) == 10_000


@given(st.lists(seeds, min_size=1, max_size=5))
def test_a_stream_is_a_seed_that_a_generator_takes(numbers: list[int]) -> None:
    assert 0 <= stream(*numbers) < 2**63
    assert stream(*numbers) == stream(*numbers)


def test_each_bit_of_a_stream_depends_on_each_number() -> None:
    """A change by one flips about half of the bits, whichever number it is."""
    draw = random.Random(0)
    flips: list[Counter[int]] = [Counter() for _ in range(4)]
    for _ in range(400):
        numbers = [draw.randrange(2**32 - 1) for _ in range(4)]
        for place in range(4):
            other = numbers.copy()
            other[place] += 1
            changed = stream(*numbers) ^ stream(*other)
            flips[place].update(bit for bit in range(63) if changed >> bit & 1)
    for counts in flips:
        assert all(120 < counts[bit] < 280 for bit in range(63))  # 200, give or take 8 deviations


@pytest.mark.usefixtures("as_a_reader")
def test_a_seed_is_any_whole_number_and_no_fraction() -> None:
    numbers: Any = np.int64(3), np.uint32(2**32 - 1)
    assert stream(*numbers) == stream(3, 2**32 - 1)
    half: Any = 0.5
    with pytest.raises(TypeError, match="'float' object cannot be interpreted as an integer"):
        stream(half)


@pytest.mark.parametrize("number", [-1, 2**32])
@pytest.mark.usefixtures("as_a_reader")
def test_a_number_that_is_no_seed_is_refused(number: int) -> None:
    with pytest.raises(ValueError, match=f"{number} is not a seed: expected 0 to 4294967295"):
        stream(0, number)


def test_splitmix_is_splitmix() -> None:
    """The first outputs for the state 1234567, as published with the reference in C."""
    from glassbox.training.batches import _scramble

    state, golden = 1234567, 0x9E3779B97F4A7C15
    outputs = [_scramble((state + n * golden) % 2**64) for n in range(5)]
    assert outputs == [
        6457827717110365317,
        3203168211198807973,
        9817491932198370423,
        4593380528125082431,
        16408922859458223821,
    ]
