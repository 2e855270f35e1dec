"""Masked language modelling hides the share it says, in three ways, and nothing else."""

import re
from typing import Any

import pytest
import torch

from glassbox.training.masking import IGNORE, mask_tokens, n_chosen

CLS, SEP, MASK, VOCAB = 2, 3, 4, 5000


def text(length):
    """A text of different words between [CLS] and [SEP]."""
    words = torch.arange(5, VOCAB)[torch.randperm(VOCAB - 5)[:length]]
    return torch.cat([torch.tensor([CLS]), words, torch.tensor([SEP])])


def hide(ids, **options):
    given: dict[str, Any] = {"mask_id": MASK, "vocab_size": VOCAB, "special_ids": {CLS, SEP}}
    return mask_tokens(ids, **given | options)


@pytest.mark.parametrize("rate", [0.01, 0.15, 0.5, 1.0])
@pytest.mark.parametrize("length", [1, 3, 40, 1000])
def test_a_share_of_the_words_is_to_be_predicted_and_at_least_one(length, rate):
    ids = text(length)
    inputs, labels = hide(ids, rate=rate)
    chosen = labels != IGNORE
    assert chosen.sum() == n_chosen(length, rate) == max(1, round(rate * length))
    assert torch.equal(labels[chosen], ids[chosen])
    assert torch.equal(inputs[~chosen], ids[~chosen])
    assert not chosen[0]
    assert not chosen[-1]


def test_four_fifths_are_hidden_a_tenth_is_random_and_a_tenth_stays():
    ids = text(4000)
    inputs, _labels = hide(ids, rate=1.0, generator=torch.Generator().manual_seed(0))
    inputs, ids = inputs[1:-1], ids[1:-1]
    hidden, same = (inputs == MASK).sum().item(), (inputs == ids).sum().item()
    # five standard deviations of a count of 4,000
    assert hidden == pytest.approx(3200, abs=5 * (4000 * 0.8 * 0.2) ** 0.5)
    assert same == pytest.approx(400, abs=5 * (4000 * 0.1 * 0.9) ** 0.5)
    others = inputs[(inputs != MASK) & (inputs != ids)]
    assert len(others.unique()) > 0.9 * len(others)  # any word, not one


def test_shares_may_be_all_or_nothing():
    ids = text(50)
    assert (hide(ids, rate=1.0, masked=1.0, random=0.0)[0][1:-1] == MASK).all()
    assert torch.equal(hide(ids, rate=1.0, masked=0.0, random=0.0)[0], ids)
    seen, _ = hide(ids, rate=1.0, masked=0.0, random=1.0)
    assert (seen != ids)[1:-1].float().mean() > 0.9
    assert (seen != MASK).all()


def test_every_word_is_chosen_sooner_or_later_and_as_often_as_any_other():
    ids, draw = text(10), torch.Generator().manual_seed(0)
    counts = sum((hide(ids, rate=0.3, generator=draw)[1] != IGNORE).long() for _ in range(2000))
    assert counts[1:-1].float().numpy() == pytest.approx(600, abs=5 * (2000 * 0.3 * 0.7) ** 0.5)


def test_a_generator_repeats_the_draw_and_the_text_is_left_alone():
    ids = text(30)
    before = ids.clone()
    first, again = (hide(ids, generator=torch.Generator().manual_seed(7)) for _ in range(2))
    assert torch.equal(first[0], again[0])
    assert torch.equal(first[1], again[1])
    assert torch.equal(ids, before)


@pytest.mark.parametrize(
    ("ids", "options", "error", "message"),
    [
        (
            text(3),
            {"rate": 0.0},
            ValueError,
            "rate=0.0: expected a number, more than 0 and at most 1",
        ),
        (
            text(3),
            {"rate": 1.5},
            ValueError,
            "rate=1.5: expected a number, more than 0 and at most 1",
        ),
        (
            text(3),
            {"masked": -0.1},
            ValueError,
            "masked=-0.1 and random=0.1 are shares of the same",
        ),
        (text(3), {"random": 1.1}, ValueError, "masked=0.8 and random=1.1 are shares of the same"),
        (text(3), {"random": 0.3}, ValueError, "masked=0.8 and random=0.3 are shares of the same"),
        (text(3), {"mask_id": VOCAB}, ValueError, "mask_id runs from 5000 to 5000"),
        (text(3), {"mask_id": 1.5}, TypeError, "mask_id is of type float, 1.5"),
        (text(3), {"vocab_size": 3}, ValueError, "mask_id runs from 4 to 4; the vocabulary has 0"),
        (torch.tensor([5, 6000]), {}, ValueError, "token_ids runs from 5 to 6000"),
        (torch.tensor([CLS, SEP]), {}, ValueError, "the text has 2 tokens, and none that may be"),
        (torch.zeros(0, dtype=torch.int64), {}, ValueError, "the text has 0 tokens, and none"),
        (torch.zeros(2, 3, dtype=torch.int64), {}, ValueError, "token_ids has shape (2, 3)"),
        (torch.zeros(3), {}, TypeError, "token_ids is torch.float32; expected"),
        ([1, 2], {}, TypeError, "token_ids is of type list; expected"),
    ],
)
def test_what_cannot_be_masked_is_refused(ids, options, error, message, as_a_reader):
    with pytest.raises(error, match=re.escape(message)):
        hide(ids, **options)
