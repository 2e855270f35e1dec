"""GPT-2: ours against the reference library's, in what LLaMA does not share."""

import copy
import json
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file
from transformers import GPT2LMHeadModel, GPT2Model

from glassbox import layers
from glassbox.models import GPT2, GPT2Config
from tests.references.gpt2 import configure, make_reference
from tests.references.language_models import (
    assert_equal,
    assert_files_go_both_ways,
    assert_gradients_equal,
    assert_loads_without_complaint,
    close,
    randomize,
    read,
    rounding_errors,
    some_texts,
)

pytestmark = pytest.mark.slow


def test_in_training_dropout_stands_where_the_reference_has_it(monkeypatch):
    # Ours draws other numbers on a CPU. It is where they are drawn that counts here.
    monkeypatch.setattr(layers, "dropout", torch.nn.functional.dropout)
    reference = make_reference(resid_pdrop=0.3, embd_pdrop=0.2).train()
    model, (ids, real) = GPT2.from_pretrained(reference).train(), some_texts(97, 11)
    logits = []
    for run in (lambda: read(model, ids, real), lambda: reference(ids).logits):
        torch.manual_seed(1)  # both ask for the same random numbers, in the same order
        logits.append(run())
    close(logits[0], logits[1], 1e-5, "logits")
    assert (logits[0] - model.eval()(ids)).abs().max() > 0.1


def test_in_double_precision_they_are_equal_to_ten_digits():
    reference = make_reference().double()
    model, inputs = GPT2.from_pretrained(reference), some_texts(97, 11, "left padding")
    assert_equal(model, reference, *inputs, atol=1e-10)
    assert_gradients_equal(model, reference, *inputs, tolerance=1e-10)


def test_in_bfloat16_ours_is_as_near_to_the_exact_result_as_the_reference(tmp_path):
    make_reference().bfloat16().save_pretrained(tmp_path)
    reference = GPT2LMHeadModel.from_pretrained(tmp_path, attn_implementation="eager")
    model, inputs = GPT2.from_pretrained(tmp_path), some_texts(97, 11, "left padding")
    assert {x.dtype for x in model.parameters()} == {torch.bfloat16}
    ours, theirs = rounding_errors(model, reference, copy.deepcopy(reference).double(), *inputs)
    assert 0 < ours <= 1.1 * theirs


def test_two_layers_of_gpt2_small_at_their_published_width_equal_the_reference():
    assert GPT2Config.from_reference(configure().to_dict()) == GPT2Config.small()
    config = configure(n_layer=2, vocab_size=1000, bos_token_id=0, eos_token_id=0)
    reference = randomize(GPT2LMHeadModel(config), std=0.02)
    model = GPT2.from_pretrained(reference)
    assert model.config.d_model == GPT2Config.small().d_model
    inputs = some_texts(config.vocab_size, 12, "left padding")
    assert_equal(model, reference, *inputs)
    assert_gradients_equal(model, reference, *inputs)


@pytest.mark.parametrize("tied", [True, False], ids=["tied", "an output of its own"])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=str)
def test_files_go_both_ways(tied, dtype, tmp_path):
    reference = make_reference(tie_word_embeddings=tied).to(dtype)
    assert_files_go_both_ways(GPT2, reference, tmp_path)


@pytest.mark.parametrize("tied", [True, False], ids=["tied", "an output of its own"])
def test_the_reference_loads_what_we_save_without_complaint(tied, tmp_path):
    sizes: dict[str, Any] = {
        "d_model": 24,
        "n_heads": 3,
        "n_layers": 2,
        "d_ff": 40,
        "vocab_size": 50,
    }
    model = GPT2(GPT2Config(**sizes, max_len=9, tie_embeddings=tied, bos_id=1, eos_id=(2, 3)))
    assert_loads_without_complaint(randomize(model), tmp_path)
    assert ("lm_head.weight" in load_file(tmp_path / "model.safetensors")) != tied


@pytest.mark.parametrize("saved", ["object", "folder"])
def test_a_gpt2_without_a_head_gets_that_of_its_embedding(saved, tmp_path):
    reference = make_reference()
    inside: GPT2Model = reference.transformer
    inside.save_pretrained(tmp_path)
    model = GPT2.from_pretrained(inside if saved == "object" else tmp_path)
    assert_equal(model, reference, *some_texts(97, 11))


def test_the_files_of_the_first_release_are_read(tmp_path):
    """They have no prefix, keep the causal masks, and leave out what is usual."""
    reference = make_reference()
    weights = {
        name.removeprefix("transformer."): x.contiguous()
        for name, x in reference.state_dict().items()
        if name != "lm_head.weight"
    }
    for i in range(3):
        weights[f"h.{i}.attn.bias"] = torch.ones(1, 1, 20, 20).tril()
        weights[f"h.{i}.attn.masked_bias"] = torch.tensor(-1e4)
    save_file(weights, tmp_path / "model.safetensors")
    kept = ["model_type", "vocab_size", "n_positions", "n_embd", "n_layer", "n_head"]
    kept += ["resid_pdrop", "embd_pdrop", "layer_norm_epsilon", "activation_function"]
    config = {name: reference.config.to_dict()[name] for name in kept}
    (tmp_path / "config.json").write_text(json.dumps(config | {"n_ctx": 20}))
    assert_equal(GPT2.from_pretrained(tmp_path), reference, *some_texts(97, 11))
