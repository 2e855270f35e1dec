"""What has been said counts: the reference library's processors, and plain counting."""

import math
from collections import Counter
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from transformers.generation import logits_process as reference

from glassbox.generation import (
    frequency_penalty,
    no_repeat_ngram,
    presence_penalty,
    repetition_penalty,
    suppress,
)

VOCAB = 5


@st.composite
def pasts(draw):
    """Logits with minus infinities among them, and tokens that repeat."""
    batch, length = draw(st.integers(1, 3)), draw(st.integers(1, 12))
    numbers = st.sampled_from([-math.inf, -2.0, 0.0, 1.0]) | st.floats(-9, 9, width=32)
    rows = st.lists(numbers, min_size=VOCAB, max_size=VOCAB)
    ids = st.lists(st.integers(0, VOCAB - 1), min_size=length, max_size=length)
    return (
        torch.tensor(draw(st.lists(rows, min_size=batch, max_size=batch))),
        torch.tensor(draw(st.lists(ids, min_size=batch, max_size=batch))),
    )


@given(pasts(), st.floats(0.3, 3))
def test_repetition_penalty_equals_the_reference(past, penalty):
    logits, ids = past
    theirs = reference.RepetitionPenaltyLogitsProcessor(penalty)(ids, logits)
    assert torch.equal(repetition_penalty(logits, ids, penalty), theirs)


@given(pasts(), st.floats(0.3, 3), st.data())
def test_repetition_penalty_passes_over_padding_as_the_reference_does(past, penalty, data):
    logits, ids = past
    n_padding = torch.tensor([data.draw(st.integers(0, ids.size(1) - 1)) for _ in ids])
    mask = torch.arange(ids.size(1)) >= n_padding[:, None]
    theirs = reference.RepetitionPenaltyLogitsProcessor(penalty, prompt_ignore_length=n_padding)
    assert torch.equal(repetition_penalty(logits, ids, penalty, mask), theirs(ids, logits))


@given(pasts(), st.integers(1, 5))
def test_no_repeat_ngram_equals_the_reference(past, n):
    logits, ids = past
    theirs = reference.NoRepeatNGramLogitsProcessor(n)(ids, logits)
    assert torch.equal(no_repeat_ngram(logits, ids, n), theirs)


@given(pasts(), st.integers(1, 4), st.integers(1, 4))
def test_no_repeat_ngram_sees_the_same_through_any_padding(past, n, more):
    logits, ids = past
    padded = torch.cat([ids[:, :1].expand(-1, more), ids], dim=1)  # of a token that counts inside
    mask = torch.arange(padded.size(1)).expand(padded.shape) >= more
    expected = no_repeat_ngram(logits, ids, n)
    assert torch.equal(no_repeat_ngram(logits, padded, n, mask), expected)


@given(pasts(), st.floats(0, 2), st.floats(0, 2))
def test_frequency_and_presence_penalty_equal_plain_counting(past, frequency, presence):
    logits, ids = past
    expected = logits.clone()
    for row, tokens in enumerate(ids.tolist()):
        for token, count in Counter(tokens).items():
            expected[row, token] -= frequency * count
            expected[row, token] -= presence
    ours = presence_penalty(frequency_penalty(logits, ids, frequency), ids, presence)
    torch.testing.assert_close(ours, expected)


@given(pasts())
def test_what_is_masked_does_not_count(past):
    logits, ids = past
    nothing = torch.zeros_like(ids, dtype=torch.bool)
    assert torch.equal(repetition_penalty(logits, ids, 1.5, nothing), logits)


@given(pasts(), st.lists(st.integers(0, VOCAB - 1), min_size=1, max_size=3))
def test_suppress_equals_the_reference(past, tokens):
    logits, ids = past
    theirs = reference.SuppressTokensLogitsProcessor(tokens)(ids, logits)
    assert torch.equal(suppress(logits, tokens), theirs)
    theirs = reference.MinNewTokensLengthLogitsProcessor(0, ids.size(1) + 1, tokens)(ids, logits)
    assert torch.equal(suppress(logits, tokens), theirs)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16])
def test_a_whole_vocabulary_keeps_its_dtype_and_its_input(dtype, device):
    logits = torch.randn(3, 50257, device=device).to(dtype)
    ids = torch.randint(50257, (3, 40), device=device)
    before, ids_before = logits.clone(), ids.clone()
    for changed in (
        repetition_penalty(logits, ids, 1.3),
        frequency_penalty(logits, ids, 0.5),
        presence_penalty(logits, ids, 0.5),
        no_repeat_ngram(logits, ids, 1),
        suppress(logits, [3, 50256]),
    ):
        assert changed.dtype == dtype
        assert changed.device == logits.device
        assert not torch.equal(changed, logits)
        assert torch.equal(logits, before)
        assert torch.equal(ids, ids_before)


@pytest.mark.usefixtures("as_a_reader")
def test_the_ids_to_suppress_may_be_a_tensor():
    logits, ids = torch.randn(2, 5), [1, 4]
    given: Any = torch.tensor(ids)
    assert torch.equal(suppress(logits, given), suppress(logits, ids))


def test_nothing_said_and_nothing_to_suppress_change_nothing():
    logits, none = torch.randn(2, 5), torch.zeros(2, 0, dtype=torch.int64)
    assert torch.equal(repetition_penalty(logits, none, 2.0), logits)
    assert torch.equal(frequency_penalty(logits, none, 2.0), logits)
    assert torch.equal(presence_penalty(logits, none, 2.0), logits)
    assert torch.equal(no_repeat_ngram(logits, none, 1), logits)
    assert torch.equal(suppress(logits, []), logits)
