"""LLaMA: ours against the reference library's, in what GPT-2 does not share."""

import copy
import json
from dataclasses import replace
from typing import Any

import pytest
import torch
from safetensors.torch import load_file
from torch import nn
from transformers import LlamaForCausalLM

from glassbox.generation import generate
from glassbox.models import Llama, LlamaConfig
from glassbox.positional import RotaryPositions, RotaryScaling, interleaved_to_half
from tests.references.language_models import (
    assert_equal,
    assert_files_go_both_ways,
    assert_gradients_equal,
    assert_loads_without_complaint,
    close,
    look_into_both,
    randomize,
    rounding_errors,
    some_texts,
)
from tests.references.llama import LINEAR, LLAMA3, SHAPES, configure, make_reference

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("rope", [LINEAR, LLAMA3], ids=["linear", "as in the third"])
def test_without_its_scaling_it_would_be_another_model(rope):
    reference = make_reference(rope_parameters=rope)
    model = Llama.from_pretrained(reference)
    model.positions.scaling = None
    ours, theirs = look_into_both(model, reference, *some_texts(97, 11))["logits"]
    assert (ours - theirs).abs().max() > 0.1


def in_double_precision(reference: LlamaForCausalLM) -> LlamaForCausalLM:
    """Compute norms and softmax in float64 too; the reference's own round to float32 in between."""
    reference = copy.deepcopy(reference).double()
    reference.set_attn_implementation("sdpa")
    for name, module in list(reference.named_modules()):
        if name.endswith("norm"):
            norm = nn.RMSNorm(module.weight.shape, module.variance_epsilon, dtype=torch.float64)
            norm.weight = module.weight
            reference.set_submodule(name, norm)
    return reference


def test_in_double_precision_logits_and_gradients_are_equal_to_ten_digits():
    reference = in_double_precision(make_reference(rope_parameters=LLAMA3))
    model = Llama.from_pretrained(reference)
    inputs = some_texts(97, 11, "right padding")
    assert_gradients_equal(model, reference, *inputs, tolerance=1e-10)
    with torch.no_grad():
        ids, real = inputs
        expected = reference(ids, attention_mask=real.long()).logits
        close(model(ids)[real], expected[real], 1e-10, "logits")


def test_in_bfloat16_ours_is_as_near_to_the_exact_result_as_the_reference(tmp_path):
    make_reference(rope_parameters=LLAMA3).bfloat16().save_pretrained(tmp_path)
    reference = LlamaForCausalLM.from_pretrained(tmp_path, attn_implementation="eager")
    model, inputs = Llama.from_pretrained(tmp_path), some_texts(97, 11, "right padding")
    assert {x.dtype for x in model.parameters()} == {torch.bfloat16}
    ours, theirs = rounding_errors(model, reference, in_double_precision(reference), *inputs)
    assert 0 < ours <= 1.1 * theirs


def test_two_layers_of_llama_3_2_1b_at_their_published_width_equal_the_reference():
    config = LlamaConfig.llama3_2_1b(n_layers=2, vocab_size=1000, bos_id=1, eos_id=2)
    reference = LlamaForCausalLM(configure(**config.to_reference()))
    randomize(reference, std=0.02)
    model = Llama.from_pretrained(reference)
    assert model.config == config
    assert_equal(model, reference, *some_texts(1000, 12, "left padding"))


def test_far_along_the_published_context_the_turns_are_the_reference_s():
    sizes: dict[str, Any] = {
        "d_model": 256,
        "n_heads": 4,
        "n_kv_heads": 2,
        "n_layers": 1,
        "d_ff": 16,
    }
    ids = {"vocab_size": 100, "bos_id": 1, "eos_id": 2}
    config = LlamaConfig.llama3_2_1b(**sizes, **ids)  # heads of the published width
    reference = randomize(LlamaForCausalLM(configure(**config.to_reference())), std=0.1)
    model, tokens = Llama.from_pretrained(reference), torch.randint(100, (1, 9))
    far = torch.tensor([[0, 1, 4095, 4096, 8191, 8192, 50_000, 131_070, 131_071]])
    all_of_one_text = torch.ones_like(tokens)
    with torch.no_grad():
        expected = reference(tokens, attention_mask=all_of_one_text, position_ids=far).logits
        close(model(tokens, positions=far), expected, 1e-5, "logits")


@pytest.mark.parametrize("shape", ["a tied output", "wide heads", "biases", "linear scaling"])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=str)
def test_files_go_both_ways(shape, dtype, tmp_path):
    assert_files_go_both_ways(Llama, make_reference(**SHAPES[shape]).to(dtype), tmp_path)


def test_texts_end_where_generation_config_json_says(tmp_path):
    reference = make_reference()
    prompt = torch.tensor([[5, 7, 9]])
    fifth = reference.generate(prompt, max_new_tokens=5, min_new_tokens=5, do_sample=False)[0, -1]
    # The file config.json says 2; the last is beyond the vocabulary, as defaults of others are.
    reference.generation_config.eos_token_id = [2, int(fifth), 50256]
    reference.generation_config.pad_token_id = 0
    expected = reference.generate(prompt, max_new_tokens=9, do_sample=False)
    reference.save_pretrained(tmp_path)
    for source in (reference, tmp_path):
        model = Llama.from_pretrained(source)
        assert (model.config.eos_id, model.config.pad_id) == ((2, fifth), 0)
        assert torch.equal(generate(model, prompt, max_new_tokens=9), expected)
    other = Llama(replace(model.config, eos_id=3))
    other.save_pretrained(tmp_path)  # over a file that says otherwise
    assert Llama.from_pretrained(tmp_path).config == other.config
    assert LlamaForCausalLM.from_pretrained(tmp_path).generation_config.eos_token_id == 3


@pytest.mark.parametrize("tied", [True, False], ids=["tied", "an output of its own"])
@pytest.mark.parametrize(
    "scaling", [None, RotaryScaling(2.0), RotaryScaling(8.0, 6, 0.5, 3.0)], ids=str
)
def test_the_reference_loads_what_we_save_without_complaint(tied, scaling, tmp_path):
    sizes: dict[str, Any] = {
        "d_model": 24,
        "n_heads": 6,
        "n_kv_heads": 3,
        "n_layers": 2,
        "d_ff": 40,
        "d_k": 8,
    }
    config = LlamaConfig(
        **sizes,
        vocab_size=50,
        max_len=9,
        tie_embeddings=tied,
        eos_id=(2, 3),
        pad_id=0,
        rotary_base=77.0,
        rotary_scaling=scaling,
    )
    assert_loads_without_complaint(randomize(Llama(config)), tmp_path)
    assert ("lm_head.weight" in load_file(tmp_path / "model.safetensors")) != tied
    assert Llama.from_pretrained(tmp_path).config == config


def test_a_tied_llama_without_a_head_gets_that_of_its_embedding():
    reference = make_reference(tie_word_embeddings=True)
    assert_equal(Llama.from_pretrained(reference.model), reference, *some_texts(97, 11))


def test_the_reference_computes_an_interleaved_model_from_permuted_weights(tmp_path):
    """Weights trained with pairs side by side, as in Meta's own files, and what we save of them."""
    sizes: dict[str, Any] = {"d_model": 32, "n_heads": 4, "n_kv_heads": 2, "n_layers": 2}
    config = LlamaConfig(**sizes, d_ff=48, vocab_size=97, bias=True)
    trained = randomize(Llama(config))
    trained.positions = RotaryPositions(8, interleaved=True)
    inputs = some_texts(97, 11)
    expected = trained(*inputs[:1])
    weights = dict(trained.state_dict())
    for name, x in weights.items():
        for part, n_heads in (("query", 4), ("key", 2)):
            if f"attention.{part}." in name:
                weights[name] = interleaved_to_half(x, dim=0, n_heads=n_heads)
    Llama.from_weights(config, weights).save_pretrained(tmp_path)
    reference = LlamaForCausalLM.from_pretrained(tmp_path, attn_implementation="eager")
    close(reference(inputs[0]).logits, expected, 1e-5, "logits")
    assert (Llama.from_weights(config, trained.state_dict())(inputs[0]) - expected).abs().max() > 1


@pytest.mark.parametrize("rope", [None, LINEAR, LLAMA3], ids=["default", "linear", "llama3"])
def test_configurations_of_earlier_releases_are_read_as_the_reference_reads_them(rope, tmp_path):
    """They keep the base beside the scaling, whose kind was once called type."""
    scaling = None if rope is None else {"type": rope["rope_type"], **rope}
    for name in ("rope_theta", "rope_type"):
        if scaling is not None:
            del scaling[name]
    reference = make_reference()
    reference.save_pretrained(tmp_path)
    config = json.loads((tmp_path / "config.json").read_text())
    for name in ("rope_parameters", "head_dim", "mlp_bias", "attention_bias"):
        del config[name]
    config |= {"rope_theta": 50.0, "rope_scaling": scaling}
    (tmp_path / "config.json").write_text(json.dumps(config))
    reference = LlamaForCausalLM.from_pretrained(tmp_path, attn_implementation="eager")
    assert_equal(Llama.from_pretrained(tmp_path), reference, *some_texts(97, 11))
