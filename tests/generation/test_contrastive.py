"""Contrastive search against the paper's formula, without a cache and one candidate at a time."""

from typing import Any

import pytest
import torch
import torch.nn.functional as F

from glassbox.generation import contrastive_scores, contrastive_search, generate
from tests.generation.conftest import EOS
from tests.generation.stub import TableModel

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("as_a_reader")]  # thousands of calls


def by_the_formula(pair, row, n_tokens, k, alpha):
    """Su et al. (2022), equation 5, from the reference's model and its hidden states."""
    source, real = pair.ids[row : row + 1], pair.mask[row]
    source = source[:, real]
    if pair.sources:
        ids = source.new_full((1, 1), pair.theirs.config.decoder_start_token_id)
    else:
        ids = source

    def read(ids):
        inputs = (
            {"input_ids": source, "decoder_input_ids": ids} if pair.sources else {"input_ids": ids}
        )
        out = pair.theirs(**inputs, output_hidden_states=True)
        for never in pair.theirs.generation_config.bad_words_ids or ():
            out.logits[..., never] = -torch.inf
        states = out.decoder_hidden_states if pair.sources else out.hidden_states
        return states[-1][0], out.logits[0, -1]

    written = []
    for _ in range(n_tokens):
        past, logits = read(ids)
        probabilities = logits.softmax(dim=-1)
        best = -torch.inf, ids
        for token in probabilities.topk(k).indices:
            longer = torch.cat([ids, token.view(1, 1)], dim=1)
            hidden = read(longer)[0][-1]
            similarity = max(F.cosine_similarity(hidden, h, dim=0) for h in past)
            score = (1 - alpha) * probabilities[token] - alpha * similarity
            if score > best[0]:
                best = score, longer
        ids = best[1]
        written.append(int(ids[0, -1]))
    return written


@pytest.mark.parametrize(("k", "alpha"), [(4, 0.6), (3, 0.2)])
@torch.no_grad()
def test_the_tokens_are_those_of_the_formula(pair, k, alpha):
    options = {"max_new_tokens": 6, "eos_id": (), "k": k, "alpha": alpha}
    with_cache = contrastive_search(pair.ours, **pair.inputs(), **options)
    without = contrastive_search(pair.ours, **pair.inputs(), **options, use_cache=False)
    assert torch.equal(with_cache, without)
    for row in range(4):
        assert with_cache[row, -6:].tolist() == by_the_formula(pair, row, 6, k, alpha)


def test_without_a_penalty_it_is_greedy_decoding(pair):
    options: dict[str, Any] = {"max_new_tokens": 9, "eos_id": (EOS, 4, 29, 7)}
    ours = contrastive_search(pair.ours, **pair.inputs(), **options, alpha=0.0)
    assert torch.equal(ours, generate(pair.ours, **pair.inputs(), **options))


def test_it_does_not_repeat_what_greedy_decoding_repeats():
    model = TableModel(4)
    model.vectors.data = torch.eye(4)
    model.weight.data = torch.full((4, 4), 0.5).fill_diagonal_(1.0)  # each token likes itself
    prompt = torch.tensor([[2]])
    assert generate(model, prompt, max_new_tokens=3).tolist() == [[2, 2, 2, 2]]
    ours = contrastive_search(model, prompt, max_new_tokens=3, k=4)
    assert sorted(ours[0].tolist()) == [0, 1, 2, 3]


def test_padding_in_the_past_does_not_count():
    candidates, past = torch.randn(2, 3, 8), torch.randn(2, 5, 8)
    probabilities = torch.rand(2, 3)
    mask = torch.tensor([[False, False, True, True, True], [True] * 5])
    ours = contrastive_scores(probabilities, candidates, past, 0.5, mask)
    cut = contrastive_scores(probabilities[:1], candidates[:1], past[:1, 2:], 0.5)
    torch.testing.assert_close(ours[:1], cut)
    whole = contrastive_scores(probabilities, candidates, past, 0.5)
    torch.testing.assert_close(ours[1], whole[1])


def test_a_token_that_is_ruled_out_is_not_chosen_for_being_unlike_the_others():
    options: dict[str, Any] = {
        "max_new_tokens": 8,
        "min_new_tokens": 8,
        "eos_id": 0,
        "k": 6,
        "alpha": 1.0,
    }
    ours = contrastive_search(TableModel(6), torch.tensor([[1], [2], [3]]), **options)
    assert (ours != 0).all()
