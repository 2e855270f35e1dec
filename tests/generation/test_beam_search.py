"""Beam search: its single steps, and the whole against trying out every text there is."""

import itertools
import math
from typing import Any

import pytest
import torch

from glassbox.generation import (
    Beams,
    Candidates,
    beam_search,
    best_candidates,
    generate,
    keep_ended,
    keep_running,
)
from tests.generation.stub import TableModel

INFINITY = math.inf


def test_the_best_candidates_of_all_beams_together_are_found():
    scores = torch.tensor([[-1.0, -2.0], [0.0, -INFINITY]])
    log_probs = torch.tensor([[[-3.0, -0.5, -9.0], [-1.0, -0.2, -0.1]]]).repeat(2, 1, 1)
    best = best_candidates(scores, log_probs, 3)
    torch.testing.assert_close(best.scores, torch.tensor([[-1.5, -2.1, -2.2], [-0.5, -3.0, -9.0]]))
    assert best.beams.tolist() == [[0, 1, 1], [0, 0, 0]]
    assert best.tokens.tolist() == [[1, 2, 1], [1, 0, 2]]


def test_there_are_no_more_candidates_than_continuations():
    best = best_candidates(torch.zeros(1, 2), torch.randn(1, 2, 3), 100)
    assert best.scores.shape == (1, 6)
    assert {*zip(best.beams[0].tolist(), best.tokens[0].tolist(), strict=True)} == {
        *itertools.product(range(2), range(3))
    }


def test_the_best_that_do_not_end_go_on_in_their_order():
    candidates = Candidates(
        torch.tensor([[-1.0, -2.0, -3.0, -4.0]]),
        torch.tensor([[0, 1, 1, 0]]),
        torch.tensor([[5, 6, 7, 8]]),
    )
    ends = torch.tensor([[True, False, True, False]])
    running = keep_running(candidates, ends, 2)
    assert running.scores.tolist() == [[-2.0, -4.0]]
    assert running.beams.tolist() == [[1, 0]]
    assert running.tokens.tolist() == [[6, 8]]


def test_the_best_of_old_and_new_ends_are_kept_and_filled_up():
    ended = Beams(
        torch.tensor([[[1, 2], [1, 3]]]), torch.tensor([[-1.0, -INFINITY]]), torch.tensor([[1, 0]])
    )
    new = Beams(
        torch.tensor([[[1, 4, 5], [1, 6, 7]]]),
        torch.tensor([[-0.5, -INFINITY]]),
        torch.tensor([[2, 2]]),
    )
    kept = keep_ended(ended, new, fill_id=9)
    assert kept.token_ids.tolist() == [[[1, 4, 5], [1, 2, 9]]]
    assert kept.scores.tolist() == [[-0.5, -1.0]]
    assert kept.lengths.tolist() == [[2, 1]]


def every_text(model, first, n_tokens, eos_id, length_penalty):
    """Score all texts of up to ``n_tokens`` new tokens."""
    table, texts = model.log_table(), {}
    for length in range(1, n_tokens + 1):
        for text in itertools.product(range(model.config.vocab_size), repeat=length):
            if eos_id in text[:-1] or (length < n_tokens and text[-1] != eos_id):
                continue
            score = sum(table[a, b].item() for a, b in itertools.pairwise((first, *text)))
            texts[text] = score / length**length_penalty
    return texts


@pytest.mark.parametrize("length_penalty", [0.0, 1.0, 3.0, -1.0])
@pytest.mark.parametrize("seed", range(3))
def test_with_enough_beams_the_most_probable_texts_are_found(seed, length_penalty, device):
    torch.manual_seed(seed)
    model = TableModel(4, sharpness=0.7).to(device)
    beams = beam_search(
        model,
        torch.tensor([[2], [3]], device=device),
        max_new_tokens=4,
        eos_id=0,
        n_beams=4**4,
        n_best=10,
        length_penalty=length_penalty,
        early_stopping="never",
    )
    for row, first in enumerate((2, 3)):
        texts = every_text(model, first, 4, 0, length_penalty)
        found = [
            tuple(ids[1 : 1 + length].tolist())  # behind it, eos_id fills up
            for ids, length in zip(beams.token_ids[row], beams.lengths[row], strict=True)
        ]
        assert len({*found}) == 10
        scores = beams.scores[row].tolist()
        assert [texts[text] for text in found] == pytest.approx(scores, abs=1e-5)
        assert sorted(texts.values(), reverse=True)[:10] == pytest.approx(scores, abs=1e-5)


def test_greedy_decoding_is_not_the_most_probable_text_and_beams_find_a_better_one():
    model = TableModel(3)
    table = torch.tensor([[0.0, 0.55, 0.45], [0.4, 0.3, 0.3], [0.0, 0.05, 0.95]]).log()
    model.vectors.data, model.weight.data = torch.eye(3), table.T.clamp(min=-99)
    prompt = torch.tensor([[0]])
    options: dict[str, Any] = {"max_new_tokens": 2, "eos_id": (), "length_penalty": 0.0}
    beams = beam_search(model, prompt, n_beams=2, **options)
    assert generate(model, prompt, max_new_tokens=2).tolist() == [[0, 1, 0]]  # 0.55 · 0.4
    assert beams.token_ids.tolist() == [[[0, 2, 2]]]  # 0.45 · 0.95
    assert beams.scores.exp().item() == pytest.approx(0.45 * 0.95)


def test_one_beam_is_greedy_decoding(device):
    model = TableModel(9).to(device)
    prompt = torch.tensor([[1, 2], [3, 4], [5, 6]], device=device)
    options: dict[str, Any] = {"max_new_tokens": 9, "eos_id": 0}
    beams = beam_search(model, prompt, **options)
    assert torch.equal(beams.token_ids[:, 0], generate(model, prompt, **options))


def test_scores_are_the_log_probabilities_of_what_was_written(device):
    model = TableModel(9).to(device)
    prompt = torch.tensor([[1, 2], [3, 4]], device=device)
    beams = beam_search(
        model, prompt, max_new_tokens=6, n_beams=5, n_best=5, eos_id=0, length_penalty=0.5
    )
    table = model.log_table()
    for ids, score, length in zip(
        beams.token_ids.flatten(0, 1), beams.scores.flatten(), beams.lengths.flatten(), strict=True
    ):
        text = ids[1 : 2 + length]
        torch.testing.assert_close(score, table[text[:-1], text[1:]].sum() / length**0.5)
    assert (beams.scores.diff(dim=1) <= 0).all()


def test_a_row_s_beams_do_not_depend_on_the_other_rows(device):
    model = TableModel(9, sharpness=2.0).to(device)
    prompt = torch.tensor([[1], [2], [3], [4]], device=device)
    options: dict[str, Any] = {
        "max_new_tokens": 9,
        "n_beams": 3,
        "n_best": 3,
        "eos_id": (0, 5),
        "pad_id": 8,
    }
    together = beam_search(model, prompt, **options)
    for row in range(4):
        alone = beam_search(model, prompt[row : row + 1], **options)
        torch.testing.assert_close(alone.scores[0], together.scores[row])
        width = alone.token_ids.size(-1)
        assert torch.equal(alone.token_ids[0], together.token_ids[row, :, :width])


def test_fewer_texts_than_beams_leave_scores_of_minus_infinity():
    beams = beam_search(TableModel(3), torch.tensor([[1]]), max_new_tokens=1, n_beams=5, n_best=5)
    assert beams.scores.isinf().tolist() == [[False, False, False, True, True]]


@pytest.mark.parametrize(
    ("probabilities", "early_stopping", "passes"),
    [
        # After two steps two texts have ended, and the longer ones only get worse, ...
        ([0.5, 0.3, 0.2], True, 2),
        ([0.5, 0.3, 0.2], False, 2),
        # ... but ten times 0.3 as an average may be better, as long as
        # t log 0.3 / 10 > log(0.3 · 0.5) / 2, which is up to t = 7.
        ([0.5, 0.3, 0.2], "never", 8),
        # Here to go on with 0.7 is always better than what has ended.
        ([0.2, 0.7, 0.1], True, 2),
        ([0.2, 0.7, 0.1], False, 10),
        ([0.2, 0.7, 0.1], "never", 10),
    ],
)
def test_the_search_ends_when_it_may(probabilities, early_stopping, passes):
    model = TableModel(3, d_model=1)
    model.vectors.data.fill_(1.0)
    model.weight.data[:, 0] = torch.tensor(probabilities).log()
    options: dict[str, Any] = {
        "max_new_tokens": 10,
        "n_beams": 2,
        "eos_id": 0,
        "early_stopping": early_stopping,
    }
    beam_search(model, torch.tensor([[1]]), **options)
    assert model.passes == passes


def test_the_search_ends_when_nothing_is_left_to_follow():
    model = TableModel(3)
    beams = beam_search(model, torch.tensor([[1]]), n_beams=5, n_best=5, eos_id=(0, 1, 2))
    assert model.passes == 1
    assert beams.lengths[0, :3].tolist() == [1, 1, 1]
    assert beams.scores.isinf().tolist() == [[False, False, False, True, True]]
