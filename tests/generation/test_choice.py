"""One step: every option in its order, then a token."""

import math
from typing import Any

import pytest
import torch
from transformers import GenerationConfig as ReferenceConfig
from transformers import GPT2Config, GPT2LMHeadModel

from glassbox.generation import GenerationConfig, greedy, process, sample


@pytest.fixture(scope="module")
def reference():
    return GPT2LMHeadModel(GPT2Config(n_layer=1, n_head=1, n_embd=4, vocab_size=40))


#: Our options under the reference library's names.
NAMES = {
    "no_repeat_ngram": "no_repeat_ngram_size",
    "sample": "do_sample",
    "eos_id": "eos_token_id",
}
OPTIONS: dict[str, dict[str, Any]] = {
    "nothing": {},
    "penalties": {"repetition_penalty": 1.7, "no_repeat_ngram": 2},
    "a minimum": {"min_new_tokens": 9, "eos_id": (3, 17)},
    "a minimum that is reached": {"min_new_tokens": 4, "eos_id": 3},
    "temperature and top-p": {"sample": True, "temperature": 2.5, "top_p": 0.6},
    "top-k and top-p": {"sample": True, "top_k": 9, "top_p": 0.7},
    "min-p and typical": {"sample": True, "min_p": 0.2, "typical_p": 0.6},
    "top-p and typical": {"sample": True, "top_p": 0.7, "typical_p": 0.4},
    "all at once": {
        "repetition_penalty": 1.4,
        "no_repeat_ngram": 2,
        "min_new_tokens": 9,
        "eos_id": 3,
        "sample": True,
        "temperature": 1.8,
        "top_k": 25,
        "top_p": 0.9,
        "min_p": 0.05,
        "typical_p": 0.8,
    },
}


@pytest.mark.parametrize("name", OPTIONS)
def test_the_options_are_applied_in_the_reference_s_order(name, reference, device):
    options = OPTIONS[name]
    logits = 3 * torch.randn(8, 40, device=device)
    ids = torch.randint(40, (8, 9), device=device)
    config = ReferenceConfig(
        **{"top_k": 0} | {NAMES.get(option, option): value for option, value in options.items()}
    )
    reference._prepare_special_tokens(config, device=device)
    theirs = reference._get_logits_processor(config, input_ids_seq_length=5, device=device)
    ours = process(logits, GenerationConfig(**options), ids, prompt_len=5)
    assert torch.equal(ours, theirs(ids, logits))
    assert torch.equal(ours, logits) == (name in ("nothing", "a minimum that is reached"))


def test_the_prompt_counts_for_repetition_and_not_for_frequency_and_presence():
    logits, ids = torch.ones(1, 4), torch.tensor([[0, 1, 2, 2]])
    config = GenerationConfig(repetition_penalty=2.0)
    assert process(logits, config, ids, 2).tolist() == [[0.5, 0.5, 0.5, 1.0]]
    config = GenerationConfig(frequency_penalty=0.25)
    assert process(logits, config, ids, 2).tolist() == [[1.0, 1.0, 0.5, 1.0]]
    config = GenerationConfig(presence_penalty=0.25)
    assert process(logits, config, ids, 2).tolist() == [[1.0, 1.0, 0.75, 1.0]]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"no_repeat_ngram": 2}, [2, 1]),
        ({"no_repeat_ngram": 1}, [2, 0]),
        ({"repetition_penalty": 2.0}, [2, 0]),
    ],
)
def test_padding_counts_for_nothing_even_where_it_is_a_word_as_well(options, words):
    logits, config = torch.randn(1, 4), GenerationConfig(**options)
    padded, mask = torch.tensor([[1, 1, 1, *words]]), torch.arange(5)[None] >= 3
    expected = process(logits, config, padded[:, 3:], 2)
    assert torch.equal(process(logits, config, padded, 5, mask), expected)
    assert not torch.equal(process(logits, config, padded, 5), expected)


def test_half_precision_is_widened_before_anything_is_done_to_it():
    logits = torch.randn(2, 9, dtype=torch.bfloat16)
    ids = torch.tensor([[1], [2]])
    assert process(logits, GenerationConfig(), ids, 1).dtype == torch.float32
    assert process(logits.double(), GenerationConfig(), ids, 1).dtype == torch.float64


def test_greedy_takes_the_most_probable_and_of_equals_the_first():
    logits = torch.tensor([[0.0, 2.0, 1.0], [3.0, -math.inf, 3.0]])
    assert greedy(logits).tolist() == [1, 0]


def test_sampling_draws_each_token_as_often_as_its_probability_says(device):
    """Chi-square: over the 99.9th percentile of 5 degrees of freedom is refused."""
    probabilities = torch.tensor([0.4, 0.25, 0.15, 0.1, 0.06, 0.04, 0.0], device=device)
    n = 20_000
    generator = torch.Generator(device).manual_seed(0)
    drawn = sample(probabilities.log().expand(n, -1), generator)
    counts, expected = drawn.bincount(minlength=7), n * probabilities
    assert counts[6] == 0
    assert ((counts - expected) ** 2 / expected)[:6].sum() < 20.5


def test_the_same_generator_gives_the_same_tokens_and_the_global_one_is_left_alone(device):
    logits = torch.randn(50, 100, device=device)
    before = torch.random.get_rng_state()
    first = sample(logits, torch.Generator(device).manual_seed(1))
    again = sample(logits, torch.Generator(device).manual_seed(1))
    other = sample(logits, torch.Generator(device).manual_seed(2))
    assert torch.equal(first, again)
    assert not torch.equal(first, other)
    assert torch.equal(before, torch.random.get_rng_state())
