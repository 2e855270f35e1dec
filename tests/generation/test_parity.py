"""The same tokens as the reference library's `generate`, on padded batches of random models."""

from typing import Any

import pytest
import torch

from glassbox.generation import GenerationConfig, RunningBatch, beam_search, generate
from tests.generation.conftest import EOS, PAD

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("as_a_reader")]  # thousands of calls

ENDS = (EOS, 4, 29, 7)  # some of them come soon
MOST = tuple(range(30))  # nearly every way to go on is an end
#: Our options, and the reference library's names for them.
PROCESSORS = {
    "repetition penalty": ({"repetition_penalty": 1.6}, {"repetition_penalty": 1.6}),
    "no bigram twice": ({"no_repeat_ngram": 2}, {"no_repeat_ngram_size": 2}),
    "a minimum length": ({"min_new_tokens": 9}, {"min_new_tokens": 9}),
    "all of them": (
        {"repetition_penalty": 0.8, "no_repeat_ngram": 3, "min_new_tokens": 5},
        {"repetition_penalty": 0.8, "no_repeat_ngram_size": 3, "min_new_tokens": 5},
    ),
}
SAMPLERS = {
    "temperature": {"temperature": 1.7},
    "top-k": {"top_k": 5},
    "top-p": {"top_p": 0.7},
    "min-p": {"min_p": 0.1},
    "typical": {"typical_p": 0.6},
    "all of them": {"temperature": 1.3, "top_k": 20, "top_p": 0.9, "min_p": 0.01, "typical_p": 0.9},
}


@pytest.mark.parametrize("eos_id", [EOS, ENDS], ids=["one end", "four ends"])
@pytest.mark.parametrize("use_cache", [True, False], ids=["cache", "no cache"])
def test_greedy_decoding_gives_the_reference_s_tokens(pair, use_cache, eos_id):
    theirs = pair.reference(max_new_tokens=20, do_sample=False, eos_token_id=eos_id)
    options = {"max_new_tokens": 20, "use_cache": use_cache, "eos_id": eos_id, "pad_id": PAD}
    assert torch.equal(generate(pair.ours, **pair.inputs(), **options), theirs)


@pytest.mark.parametrize("n_beams", [1, 3], ids=["greedy", "beams"])
@pytest.mark.parametrize(("ours", "theirs"), PROCESSORS.values(), ids=PROCESSORS)
def test_with_each_processor_the_tokens_are_the_reference_s(pair, ours, theirs, n_beams):
    common = {"max_new_tokens": 14}
    expected = pair.reference(
        **common, **theirs, num_beams=n_beams, do_sample=False, eos_token_id=ENDS
    )
    options = common | ours | {"n_beams": n_beams, "eos_id": ENDS}
    assert torch.equal(generate(pair.ours, **pair.inputs(), **options), expected)


def test_padding_that_ends_a_text_leaves_the_scores_the_reference_s(pair):
    theirs = pair.reference(
        max_new_tokens=8,
        num_beams=3,
        no_repeat_ngram_size=2,
        do_sample=False,
        eos_token_id=(EOS, PAD),
        return_dict_in_generate=True,
        output_scores=True,
    )
    options: Any = {"n_beams": 3, "no_repeat_ngram": 2, "eos_id": (EOS, PAD)}
    ours = beam_search(pair.ours, **pair.inputs(), max_new_tokens=8, **options)
    torch.testing.assert_close(ours.scores[:, 0], theirs.sequences_scores)


@pytest.mark.parametrize("options", SAMPLERS.values(), ids=SAMPLERS)
def test_samples_are_drawn_from_the_reference_s_distributions(pair, options):
    """Follow the reference's sample, and compare what each of its tokens was drawn from."""
    theirs = pair.reference(
        max_new_tokens=6,
        do_sample=True,
        **{"top_k": 0} | options,
        return_dict_in_generate=True,
        output_scores=True,
    )
    config = GenerationConfig(max_new_tokens=6, sample=True, **options)
    inputs = {"prompt_ids": None} | pair.inputs()
    with torch.inference_mode():
        batch = RunningBatch(pair.ours, config=config, **inputs)
        going_on = torch.ones(4, dtype=torch.bool, device=pair.device)
        for scores in theirs.scores:
            ours = batch.process(batch.read())
            torch.testing.assert_close(
                ours[going_on].softmax(dim=-1), scores[going_on].softmax(dim=-1)
            )
            assert torch.equal(ours[going_on].isinf(), scores[going_on].isinf())
            tokens = theirs.sequences[:, batch.length, None]
            going_on &= tokens[:, 0] != EOS
            batch.append(tokens)


@pytest.mark.parametrize(
    ("length_penalty", "early_stopping", "eos_id"),
    [
        (1.0, False, EOS),
        (1.0, False, ENDS),
        (1.0, True, ENDS),
        (1.0, "never", ENDS),
        (0.0, False, ENDS),
        (2.5, True, ENDS),
        (2.5, "never", ENDS),
        (-1.0, False, ENDS),
        (2.5, "never", MOST),
    ],
)
def test_beam_search_gives_the_reference_s_tokens_and_scores(
    pair, length_penalty, early_stopping, eos_id
):
    theirs = pair.reference(
        max_new_tokens=12,
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
        max_new_tokens=12,
        n_beams=4,
        n_best=3,
        length_penalty=length_penalty,
        early_stopping=early_stopping,
        eos_id=eos_id,
    )
    assert torch.equal(ours.token_ids.flatten(0, 1), theirs.sequences)
    torch.testing.assert_close(ours.scores.flatten(), theirs.sequences_scores)


def test_an_unpadded_batch_needs_no_mask(unpadded):
    theirs = unpadded.reference(max_new_tokens=8, do_sample=False)
    inputs = {name: x for name, x in unpadded.inputs().items() if "mask" not in name}
    assert torch.equal(generate(unpadded.ours, **inputs, max_new_tokens=8), theirs)
    theirs = unpadded.reference(max_new_tokens=8, num_beams=3, do_sample=False)
    assert torch.equal(generate(unpadded.ours, **inputs, max_new_tokens=8, n_beams=3), theirs)
