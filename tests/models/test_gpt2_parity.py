"""GPT-2: ours against the reference library's, on random weights of many shapes and one real."""

import copy
import json
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file
from transformers import GPT2Config as ReferenceConfig
from transformers import GPT2LMHeadModel, GPT2Model

from glassbox import layers
from glassbox.models import GPT2, GPT2Config
from tests.references.language_models import (
    PADDINGS,
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

SMALL: dict[str, Any] = {
    "n_embd": 32,
    "n_head": 4,
    "n_layer": 3,
    "n_positions": 20,
    "vocab_size": 97,
    "bos_token_id": 3,
    "eos_token_id": 5,
    "attn_pdrop": 0.0,
}
SHAPES: dict[str, dict[str, Any]] = {
    "four heads": {},
    "one head in one layer": {"n_head": 1, "n_layer": 1},
    "heads of width one": {"n_embd": 6, "n_head": 6},
    "narrow feed-forward": {"n_inner": 5},
    "exact GELU": {"activation_function": "gelu"},
    "ReLU": {"activation_function": "relu"},
    "large epsilon": {"layer_norm_epsilon": 1e-2},
    "an output of its own": {"tie_word_embeddings": False},
}


def configure(**sizes: Any) -> ReferenceConfig:
    sizes["attn_implementation"] = "eager"  # the fused kernels keep no maps
    return ReferenceConfig(**sizes)


def make_reference(**sizes: Any) -> GPT2LMHeadModel:
    return randomize(GPT2LMHeadModel(configure(**SMALL | sizes)))


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
def test_logits_layers_and_maps_of_any_shape_equal_the_reference(shape):
    reference = make_reference(**shape)
    model = GPT2.from_pretrained(reference)
    assert not model.training
    assert_equal(model, reference, *some_texts(97, 11, "left padding"))


@pytest.mark.parametrize("padding", PADDINGS)
def test_whatever_is_padded_they_are_equal(padding):
    reference = make_reference()
    assert_equal(GPT2.from_pretrained(reference), reference, *some_texts(97, 11, padding))


@pytest.mark.parametrize("length", [1, 20], ids=["one token", "all positions"])
def test_texts_of_every_allowed_length_equal_the_reference(length):
    reference = make_reference()
    assert_equal(GPT2.from_pretrained(reference), reference, *some_texts(97, length))


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
def test_the_gradient_of_every_parameter_equals_the_reference_s(shape):
    reference = make_reference(**shape)
    inputs = some_texts(97, 11, "left padding")
    assert_gradients_equal(GPT2.from_pretrained(reference), reference, *inputs)


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


def test_what_was_loaded_from_a_folder_in_pieces_equals_the_reference(tmp_path):
    reference = make_reference()
    reference.save_pretrained(tmp_path, max_shard_size="20KB")
    assert len(list(tmp_path.glob("model-*.safetensors"))) > 2
    assert_equal(GPT2.from_pretrained(tmp_path), reference, *some_texts(97, 11))


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
