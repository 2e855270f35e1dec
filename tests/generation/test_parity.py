"""The same tokens as the reference library's `generate`."""

import pytest
import torch

from glassbox.generation import beam_search, generate
from tests.generation.conftest import EOS, PAD


@pytest.mark.parametrize("eos_id", [EOS, (EOS, 4, 29)], ids=["one end", "three ends"])
@pytest.mark.parametrize("use_cache", [True, False], ids=["cache", "no cache"])
def test_greedy_decoding(pair, use_cache, eos_id):
    theirs = pair.reference(max_new_tokens=20, do_sample=False, eos_token_id=eos_id)
    options = {"max_new_tokens": 20, "use_cache": use_cache, "eos_id": eos_id, "pad_id": PAD}
    ours = generate(pair.ours, **pair.inputs(), **options)
    assert torch.equal(ours, theirs)


@pytest.mark.parametrize("early_stopping", [False, True, "never"])
@pytest.mark.parametrize("length_penalty", [1.0, 0.0, 2.5, -1.0])
@pytest.mark.parametrize("eos_id", [EOS, (EOS, 4, 29, 7)], ids=["one end", "four ends"])
def test_beam_search(pair, length_penalty, early_stopping, eos_id):
    theirs = pair.reference(
        max_new_tokens=16,
        num_beams=4,
        num_return_sequences=3,
        length_penalty=length_penalty,
        early_stopping=early_stopping,
        do_sample=False,
        eos_token_id=eos_id,
        return_dict_in_generate=True,
        output_scores=True,
    )
    ours = beam_search(
        pair.ours,
        **pair.inputs(),
        max_new_tokens=16,
        n_beams=4,
        n_best=3,
        length_penalty=length_penalty,
        early_stopping=early_stopping,
        eos_id=eos_id,
        pad_id=PAD,
    )
    assert torch.equal(ours.token_ids.flatten(0, 1), theirs.sequences)
    torch.testing.assert_close(ours.scores.flatten(), theirs.sequences_scores)
