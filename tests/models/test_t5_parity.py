"""T5: ours against the reference library's, on random weights of many shapes and one real."""

import json
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file
from torch import nn
from transformers import T5Config as ReferenceConfig
from transformers import T5ForConditionalGeneration, T5Model
from transformers.models.t5.modeling_t5 import T5LayerNorm

from glassbox.models import T5, T5Config
from tests.references.encoder_decoders import (
    assert_equal,
    assert_gradients_equal,
    assert_loads_without_complaint,
    randomize,
    some_texts,
)

pytestmark = pytest.mark.slow

SMALL: dict[str, Any] = {
    "vocab_size": 60,
    "d_model": 24,
    "d_kv": 6,
    "d_ff": 40,
    "num_layers": 3,
    "num_heads": 4,
    "decoder_start_token_id": 0,
    "attn_implementation": "eager",
}
LATER = {"feed_forward_proj": "gated-gelu", "tie_word_embeddings": False}
SHAPES: dict[str, dict[str, Any]] = {
    "relu, tied and scaled": {},
    "a gate, and a projection of its own": LATER,
    "tied, but not scaled": {"scale_decoder_outputs": False},
    "scaled, but not tied": {"scale_decoder_outputs": True, "tie_word_embeddings": False},
    "one head in one layer": {"num_heads": 1, "num_layers": 1},
    "heads of width one": {"d_kv": 1},
    "heads that are wider together than the model": {"d_kv": 11, "num_heads": 5},
    "more layers that write": {"num_layers": 1, "num_decoder_layers": 3},
    "few buckets": {"relative_attention_num_buckets": 8, "relative_attention_max_distance": 6},
    "a gate of silu": {"feed_forward_proj": "gated-silu"},
    "exact GELU without a gate": {"feed_forward_proj": "gelu"},
    "large epsilon": {"layer_norm_epsilon": 1e-2},
    "padding is 7": {"pad_token_id": 7, "decoder_start_token_id": 7},
}


def make_reference(**sizes: Any) -> T5ForConditionalGeneration:
    reference = T5ForConditionalGeneration(ReferenceConfig(**SMALL | sizes))
    if sizes.get("tie_word_embeddings") is False:  # the reference ties in any case
        reference.lm_head.weight = nn.Parameter(reference.lm_head.weight.clone())
    return randomize(reference)


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
def test_logits_layers_and_maps_of_any_shape_equal_the_reference(shape):
    reference = make_reference(**shape)
    model = T5.from_pretrained(reference)
    assert not model.training
    assert_equal(model, reference, *some_texts(60, model.config.pad_id))


@pytest.mark.parametrize("lengths", [(1, 1), (1, 9), (200, 150)])
def test_texts_of_any_length_equal_the_reference(lengths):
    reference = make_reference(num_layers=1)
    texts = [torch.randint(1, 60, (2, length)) for length in lengths]
    assert_equal(T5.from_pretrained(reference), reference, texts[0], texts[1])


@pytest.mark.parametrize("later", [{}, LATER], ids=["1.0", "1.1"])
def test_gradients_of_all_parameters_equal_the_reference(later):
    reference = make_reference(**later)
    texts = [torch.randint(1, 60, (2, length)) for length in (12, 9)]
    assert_gradients_equal(T5.from_pretrained(reference), reference, texts[0], texts[1])


def norm_in_the_inputs_precision(self: Any, x: torch.Tensor) -> torch.Tensor:
    return self.weight * x * torch.rsqrt(x.square().mean(-1, keepdim=True) + self.variance_epsilon)


@pytest.mark.parametrize("later", [{}, LATER], ids=["1.0", "1.1"])
def test_in_double_precision_they_are_equal_to_ten_digits(later, monkeypatch):
    # The reference takes the variance in single precision, whatever it is given.
    monkeypatch.setattr(T5LayerNorm, "forward", norm_in_the_inputs_precision)
    reference = make_reference(**later).double()
    model = T5.from_pretrained(reference)
    assert {x.dtype for x in model.parameters()} == {torch.float64}
    assert_equal(model, reference, *some_texts(60, 0), atol=1e-10)


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
def test_the_reference_loads_what_is_saved_without_complaint(shape, tmp_path):
    model = T5.from_pretrained(make_reference(**shape))
    assert_loads_without_complaint(model, T5ForConditionalGeneration, tmp_path)
    assert T5.from_pretrained(tmp_path).config == model.config


@pytest.mark.parametrize("later", [{}, LATER], ids=["1.0", "1.1"])
def test_what_the_reference_saves_comes_back_tensor_for_tensor(later, tmp_path):
    make_reference(**later).save_pretrained(tmp_path / "theirs")
    T5.from_pretrained(tmp_path / "theirs").save_pretrained(tmp_path / "ours")
    theirs, ours = (load_file(tmp_path / side / "model.safetensors") for side in ("theirs", "ours"))
    assert theirs.keys() == ours.keys()
    assert all(torch.equal(theirs[name], ours[name]) for name in theirs)


def test_files_of_the_first_release_are_read(tmp_path):
    """With a table that nothing reads, the embedding under three names, and few entries."""
    reference = make_reference()
    reference.save_pretrained(tmp_path)
    file = tmp_path / "model.safetensors"
    tensors, unread = load_file(file), "decoder.block.0.layer.1.EncDecAttention"
    for name in ("encoder", "decoder"):
        tensors[f"{name}.embed_tokens.weight"] = tensors["shared.weight"].clone()
    tensors[f"{unread}.relative_attention_bias.weight"] = torch.randn(32, 4)
    save_file(tensors, file)
    entries = json.loads((tmp_path / "config.json").read_text())
    for name in ("num_decoder_layers", "scale_decoder_outputs", "tie_word_embeddings"):
        del entries[name]
    del entries["relative_attention_max_distance"]
    (tmp_path / "config.json").write_text(json.dumps(entries))
    assert_equal(T5.from_pretrained(tmp_path), reference, *some_texts(60, 0))


def test_the_end_may_be_a_list_of_one_token():
    reference = T5ForConditionalGeneration(ReferenceConfig(**SMALL))
    reference.generation_config.eos_token_id = [5]  # config.json says 1
    assert T5.from_pretrained(reference).config.eos_id == 5


def test_files_of_the_later_models_say_that_the_projection_is_not_tied(tmp_path):
    reference = make_reference(**LATER)
    reference.save_pretrained(tmp_path)
    entries = json.loads((tmp_path / "config.json").read_text())
    assert entries["tie_word_embeddings"]  # which is not so; published files have it right
    del entries["scale_decoder_outputs"]
    entries["tie_word_embeddings"] = False
    (tmp_path / "config.json").write_text(json.dumps(entries))
    model = T5.from_pretrained(tmp_path)
    assert (model.config.tie_embeddings, model.config.scale_output) == (False, False)
    assert_equal(model, reference, *some_texts(60, 0))


def test_a_model_without_the_projection_has_it_tied():
    reference = randomize(T5Model(ReferenceConfig(**SMALL)))
    model, (source, target) = T5.from_pretrained(reference), some_texts(60, 0)
    expected = reference(input_ids=source, decoder_input_ids=target)
    every_token = torch.ones(len(source), 1, 1, source.size(1), dtype=torch.bool)
    hidden = model.hidden(target, memory=model.encode(source, every_token))
    torch.testing.assert_close(hidden, expected.last_hidden_state, atol=1e-5, rtol=0)
    assert model.output.weight is model.source_embedding.weight


def test_two_layers_of_t5_small_at_their_published_width_equal_the_reference():
    published = T5Config.published("small")
    assert T5Config.from_reference(ReferenceConfig().to_dict()) == published
    with torch.device("meta"):
        assert sum(x.numel() for x in T5(published).parameters()) == 60_506_624
    sizes: dict[str, Any] = {"num_layers": 2, "vocab_size": 1000, "attn_implementation": "eager"}
    reference = T5ForConditionalGeneration(ReferenceConfig(**sizes)).eval()
    model = T5.from_pretrained(reference)
    assert model.config.d_model == published.d_model
    assert_equal(model, reference, *some_texts(1000, 0, (40, 20)))


def test_it_begins_training_as_the_reference_does():
    torch.manual_seed(1)
    for later in ({}, LATER):
        sizes: dict[str, Any] = {"d_model": 96, "d_kv": 16, "d_ff": 200, "vocab_size": 500}
        reference = T5ForConditionalGeneration(ReferenceConfig(**SMALL | sizes | later))
        model = T5(T5Config.from_reference(reference.config.to_dict()))
        ours = model.to_reference(dict(model.named_parameters()))
        for name, theirs in reference.named_parameters():
            tolerance = 3 / theirs.numel() ** 0.5  # of the standard deviation of so many numbers
            ratio = ours[name].std() / theirs.std() if "norm" not in name else ours[name].mean()
            assert abs(ratio.item() - 1) < tolerance, name
