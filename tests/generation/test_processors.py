"""Which tokens are left to be drawn: the reference library's processors, and what each promises."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from transformers.generation import logits_process as reference

from glassbox.generation import min_p, temperature, top_k, top_p, typical

#: Few values, so that there are ties.
GRID = (-math.inf, -3.0, -1.0, 0.0, 0.5, 0.5, 2.0)


@st.composite
def logits(draw):
    """Rows of ties, of anything, and of minus infinity; at least one number in each."""
    batch, vocab = draw(st.integers(1, 3)), draw(st.integers(1, 12))
    numbers = st.sampled_from(GRID) | st.floats(-9, 9, width=32)
    rows = st.lists(numbers, min_size=vocab, max_size=vocab)
    rows = rows.filter(lambda row: max(row) > -math.inf)
    return torch.tensor(draw(st.lists(rows, min_size=batch, max_size=batch)))


def same(ours, theirs, x):
    before = x.clone()
    result = ours(x)
    assert torch.equal(result, theirs(None, x))
    assert torch.equal(x, before), "the input was modified"


@given(logits(), st.floats(0.05, 20))
def test_temperature_equals_the_reference(x, value):
    same(lambda x: temperature(x, value), reference.TemperatureLogitsWarper(value), x)


@given(logits(), st.integers(1, 15))
def test_top_k_equals_the_reference(x, k):
    same(lambda x: top_k(x, k), reference.TopKLogitsWarper(k), x)


@given(logits(), st.sampled_from([0.01, 0.25, 0.5, 0.75, 1.0]) | st.floats(0.001, 1))
def test_top_p_equals_the_reference(x, p):
    same(lambda x: top_p(x, p), reference.TopPLogitsWarper(p), x)


@given(logits(), st.sampled_from([0.1, 0.5, 1.0]) | st.floats(0.001, 1))
def test_min_p_equals_the_reference(x, ratio):
    same(lambda x: min_p(x, ratio), reference.MinPLogitsWarper(ratio), x)


@given(logits(), st.sampled_from([0.2, 0.5, 0.9]) | st.floats(0.001, 0.999))
def test_typical_equals_the_reference(x, mass):
    same(lambda x: typical(x, mass), reference.TypicalLogitsWarper(mass), x)


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        (lambda x: temperature(x, 0.7), reference.TemperatureLogitsWarper(0.7)),
        (lambda x: top_k(x, 50), reference.TopKLogitsWarper(50)),
        (lambda x: top_p(x, 0.9), reference.TopPLogitsWarper(0.9)),
        (lambda x: min_p(x, 0.05), reference.MinPLogitsWarper(0.05)),
        (lambda x: typical(x, 0.9), reference.TypicalLogitsWarper(0.9)),
    ],
    ids=["temperature", "top_k", "top_p", "min_p", "typical"],
)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16])
def test_a_whole_vocabulary_equals_the_reference(ours, theirs, dtype, device):
    x = (3 * torch.randn(4, 50257, device=device)).to(dtype)
    same(ours, theirs, x)
    assert ours(x).dtype == dtype


def kept(x):
    return (x > -math.inf).nonzero()[:, 1].tolist()


def log(*probabilities):
    return torch.tensor([probabilities]).log()


def test_top_p_keeps_the_token_that_crosses_p():
    x = log(0.5, 0.3, 0.15, 0.05)
    assert kept(top_p(x, 0.4)) == [0]
    assert kept(top_p(x, 0.6)) == [0, 1]
    assert kept(top_p(x, 0.9)) == [0, 1, 2]
    assert kept(top_p(x, 1e-9)) == [0]
    assert kept(top_p(x, 1.0)) == [0, 1, 2, 3]


def test_top_k_keeps_what_ties_with_the_last():
    x = log(0.3, 0.2, 0.2, 0.2, 0.1)
    assert kept(top_k(x, 1)) == [0]
    assert kept(top_k(x, 2)) == [0, 1, 2, 3]
    assert kept(top_k(x, 99)) == [0, 1, 2, 3, 4]


def test_min_p_is_relative_to_the_most_probable():
    assert kept(min_p(log(0.6, 0.31, 0.09), 0.5)) == [0, 1]
    assert kept(min_p(log(0.4, 0.21, 0.21, 0.18), 0.5)) == [0, 1, 2]
    assert kept(min_p(log(0.6, 0.3, 0.1), 1.0)) == [0]


def test_typical_may_leave_out_the_most_probable():
    # One token of 0.4 and sixty of 0.01: the entropy is near the surprise of the sixty.
    assert 0 not in kept(typical(log(0.4, *[0.01] * 60), 0.5))


@pytest.mark.usefixtures("as_a_reader")
@pytest.mark.parametrize(
    "cut",
    [
        lambda x: temperature(x, 0.7),
        lambda x: top_k(x, 3),
        lambda x: top_p(x, 0.6),
        lambda x: min_p(x, 0.3),
        lambda x: typical(x, 0.6),
    ],
    ids=["temperature", "top_k", "top_p", "min_p", "typical"],
)
def test_the_logits_of_one_text_need_no_batch_axis(cut):
    x = torch.randn(9)
    assert torch.equal(cut(x), cut(x[None])[0])


@given(logits(), st.floats(0.1, 1))
def test_what_is_kept_is_kept_as_it_was(x, share):
    for out in (top_p(x, share), min_p(x, share), typical(x, share), top_k(x, 2)):
        left = out > -math.inf
        assert left.any(dim=-1).all()
        assert torch.equal(out[left], x[left])


def test_temperature_comes_before_top_p_for_a_reason():
    x = log(0.5, 0.3, 0.15, 0.05)
    assert len(kept(top_p(temperature(x, 3.0), 0.75))) == 3
    assert len(kept(temperature(top_p(x, 0.75), 3.0))) == 2
