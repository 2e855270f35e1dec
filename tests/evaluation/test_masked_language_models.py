"""Hidden tokens are guessed, and the guesses are counted as they should be."""

import math
from typing import Any

import pytest
import torch

from glassbox.evaluation import Neighbours, evaluate_masked, masked_language_models
from glassbox.training.masking import IGNORE, mask_tokens

CLS, SEP, MASK = 2, 3, 4
VOCAB = 12
GIVEN: dict[str, Any] = {"mask_id": MASK, "vocab_size": VOCAB, "special_ids": {CLS, SEP, MASK}}


def text(*words):
    return torch.tensor([CLS, *words, SEP])


def test_the_figures_are_the_mean_over_all_hidden_tokens():
    texts = [text(5, 6, 7, 8, 9, 10), text(7), text(*range(5, 12)), text(*range(6, 12))]
    probabilities = torch.linspace(1, 3, VOCAB)
    probabilities /= probabilities.sum()
    seen = []

    def predict(ids, at):
        seen.append((ids, at))
        return probabilities.log().expand(int(at.sum()), -1)

    scores = evaluate_masked(predict, texts, **GIVEN, rate=0.5)
    assert [ids.shape for ids, _ in seen] == [(1, 3), (2, 8), (1, 9)]  # alike in length at a time
    at = torch.cat([at.flatten() for _, at in seen])
    hidden = torch.cat([texts[i] for i in (1, 0, 3, 2)])[at]
    assert all((ids[at] == MASK).all() for ids, at in seen)
    assert scores.n_tokens == len(hidden) == 1 + 3 + 3 + 4
    assert scores.loss == pytest.approx(-probabilities.log()[hidden].mean().item())
    assert scores.accuracy == pytest.approx((hidden == VOCAB - 1).float().mean().item())
    assert evaluate_masked(predict, texts, **GIVEN, rate=0.5) == scores


def asked(texts, **options):
    """What is asked of a model that is measured, and the scores of one that knows nothing."""
    given = []

    def predict(ids, at):
        given.append((ids, at))
        return torch.zeros(int(at.sum()), VOCAB)

    return given, evaluate_masked(predict, texts, **GIVEN, **options)


def test_the_same_tokens_can_be_left_to_be_seen():
    ids = text(*range(5, 12))
    [(hidden, at)], _ = asked([ids])
    [(seen, same)], _ = asked([ids], masked=0.0)
    assert (hidden[at] == MASK).all()
    assert torch.equal(seen[0], ids)
    assert torch.equal(at, same)


def test_many_texts_are_measured_in_parts_and_none_is_lost():
    given, scores = asked([text(5, 6)] * 150)
    assert sum(len(ids) for ids, _ in given) == scores.n_tokens == 150
    assert max(len(ids) for ids, _ in given) < 150
    few, same = asked([text(5, 6)] * 150, batch_size=7)
    assert [len(ids) for ids, _ in few] == [7] * 21 + [3]
    assert same == pytest.approx(scores)


def test_logits_need_not_be_normalised():
    logits = torch.randn(VOCAB)

    def loss(x):
        return evaluate_masked(
            lambda _, at: x.expand(int(at.sum()), -1), [text(5, 6)], **GIVEN
        ).loss

    assert loss(logits) == pytest.approx(loss(logits + 3))


def test_no_text_is_refused():
    with pytest.raises(ValueError, match="texts is empty: expected the token ids of one text"):
        evaluate_masked(lambda *_: torch.zeros(1, VOCAB), [], **GIVEN)
    with pytest.raises(ValueError, match="batch_size=0: expected an int, at least 1"):
        asked([text(5, 6)], batch_size=0)


def guess(neighbours, *ids):
    """The probabilities at the hidden tokens of a text."""
    row = torch.tensor(ids)
    return neighbours.predict(row, row == MASK).exp()


def weigh(monkeypatch, pairs, triples):
    """Let the less specific guess be worth this many observations."""
    monkeypatch.setattr(masked_language_models, "PAIRS", pairs)
    monkeypatch.setattr(masked_language_models, "TRIPLES", triples)


def test_a_token_is_guessed_from_its_neighbours(monkeypatch):
    weigh(monkeypatch, pairs=1.0, triples=1.0)
    texts = [text(5, 6, 7)] * 9 + [text(8, 9, 10)] * 9
    found = guess(Neighbours(texts, VOCAB, MASK), CLS, 5, MASK, 7, SEP)
    assert found.sum(-1).tolist() == pytest.approx([1.0])
    assert found.argmax(-1).item() == 6
    assert found[0, 6] > 0.9


def test_the_guess_is_the_formula(monkeypatch):
    weigh(monkeypatch, pairs=2.0, triples=3.0)
    texts = [text(5, 6, 7), text(5, 8), text(9, 6, 10)]
    ours = Neighbours(texts, VOCAB, MASK)
    count = torch.ones(VOCAB, dtype=torch.float64)
    for ids in texts:
        for token in ids[1:-1].tolist():
            count[token] += 1
    p = count / count.sum()
    left, right, both = (torch.zeros(VOCAB, dtype=torch.float64) for _ in range(3))
    left[[6, 8]] = 1.0  # after 5
    right[6] = 1.0  # before 7
    both[6] = 1.0
    one, other = (2 * p + left) / 4, (2 * p + right) / 3
    expected = one * other / p
    expected = (3 * expected / expected.sum() + both) / 4
    torch.testing.assert_close(guess(ours, CLS, 5, MASK, 7, SEP)[0], expected)


def test_several_texts_are_guessed_one_after_the_other():
    ours = Neighbours([text(5, 6, 7), text(8, 9, 10)], VOCAB, MASK)
    rows = torch.stack([text(5, MASK, 7), text(8, MASK, MASK)])
    expected = torch.cat([ours.predict(row, row == MASK) for row in rows])
    assert torch.equal(ours.predict(rows, rows == MASK), expected)


def test_guessing_counts_nothing():
    ours = Neighbours([text(5, 6, 7)], VOCAB, MASK)
    before = [len(table) for table in (ours.after, ours.before, ours.between)]
    guess(ours, CLS, 8, MASK, 9, SEP)  # never seen
    assert [len(table) for table in (ours.after, ours.before, ours.between)] == before == [3] * 3


def test_hidden_neighbours_do_not_count():
    ours = Neighbours([text(5, 6, 7)] * 3, VOCAB, MASK)
    first, second = guess(ours, CLS, 5, MASK, MASK, SEP)
    torch.testing.assert_close(guess(ours, 11, MASK, MASK, MASK, SEP)[1], ours.frequency)
    assert first.argmax() == 6
    assert second.argmax() == 7


def test_frequencies_are_of_words_and_no_token_is_impossible():
    ours = Neighbours([text(5, 5, 6)], VOCAB, MASK)
    assert ours.frequency[5] == 3 / (VOCAB + 3)
    assert ours.frequency[CLS] == 1 / (VOCAB + 3)
    assert math.isfinite(ours.predict(text(7, MASK, 8), text(7, MASK, 8) == MASK).min().item())


def test_what_is_hidden_is_what_masking_hides():
    ids = text(*range(5, 12))
    _, labels = mask_tokens(ids, **GIVEN, rate=0.3)
    assert (labels != IGNORE).sum() == evaluate_masked(
        lambda _, at: torch.zeros(int(at.sum()), VOCAB), [ids], **GIVEN, rate=0.3
    ).n_tokens
