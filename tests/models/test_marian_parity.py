"""Marian: ours against the reference library's, on random weights of many shapes."""

from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file
from torch import Tensor
from transformers import MarianConfig as ReferenceConfig
from transformers import MarianMTModel

from glassbox.models import Marian, MarianConfig
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
    "encoder_layers": 3,
    "decoder_layers": 3,
    "encoder_attention_heads": 4,
    "decoder_attention_heads": 4,
    "encoder_ffn_dim": 40,
    "decoder_ffn_dim": 40,
    "max_position_embeddings": 250,
    "activation_function": "swish",
    "scale_embedding": True,
    "pad_token_id": 59,
    "decoder_start_token_id": 59,
    "eos_token_id": 0,
    "forced_eos_token_id": 0,
    "attn_implementation": "eager",
}
SHAPES: dict[str, dict[str, Any]] = {
    "all embeddings one, and scaled": {},
    "embeddings not scaled": {"scale_embedding": False},
    "relu": {"activation_function": "relu"},
    "gelu": {"activation_function": "gelu"},
    "one head": {"encoder_attention_heads": 1, "decoder_attention_heads": 1},
    "fewer layers that write": {"decoder_layers": 1},
}


def make_reference(**sizes: Any) -> Any:
    return randomize(MarianMTModel(ReferenceConfig(**SMALL | sizes)))


def texts_for(model: Marian, source_len: int, target_len: int) -> tuple[Tensor, Tensor]:
    """Return texts that never show the reference its padding, whose vector it does not train."""
    source, target = torch.randint(0, model.config.pad_id, (2, 2, source_len + target_len))
    return source[:, :source_len], target[:, :target_len]


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
def test_logits_layers_and_maps_of_any_shape_equal_the_reference(shape):
    reference = make_reference(**shape)
    model = Marian.from_pretrained(reference)
    assert not model.training
    pad = model.config.pad_id
    assert_equal(model, reference, *some_texts(pad + 1, pad))


@pytest.mark.parametrize("lengths", [(1, 1), (1, 9), (250, 120)])
def test_texts_of_any_length_equal_the_reference(lengths):
    reference = make_reference(encoder_layers=1, decoder_layers=1)
    model = Marian.from_pretrained(reference)
    assert_equal(model, reference, *texts_for(model, *lengths))


def test_gradients_of_all_parameters_equal_the_reference():
    reference = make_reference()
    model = Marian.from_pretrained(reference)
    assert_gradients_equal(model, reference, *texts_for(model, 12, 9))


def test_in_double_precision_they_are_equal_to_ten_digits():
    reference = make_reference().double()
    model = Marian.from_pretrained(reference)
    assert {x.dtype for x in model.parameters()} == {torch.float64}
    for stack in (reference.model.encoder, reference.model.decoder):  # drawn in double precision
        stack.embed_positions.weight.copy_(stack.embed_positions.create_weight())
    assert_equal(model, reference, *some_texts(60, 59), atol=1e-10)


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
def test_the_reference_loads_what_is_saved_without_complaint(shape, tmp_path):
    model = Marian.from_pretrained(make_reference(**shape))
    assert_loads_without_complaint(model, MarianMTModel, tmp_path)
    assert Marian.from_pretrained(tmp_path).config == model.config
    loaded = MarianMTModel.from_pretrained(tmp_path)
    assert loaded.generation_config.bad_words_ids == [[model.config.pad_id]]
    assert loaded.generation_config.renormalize_logits


def test_one_embedding_for_all_is_written_once(tmp_path):
    model = Marian.from_pretrained(make_reference())
    model.save_pretrained(tmp_path)
    tensors = load_file(tmp_path / "model.safetensors")
    assert [name for name, x in tensors.items() if x.shape == (60, 24)] == ["model.shared.weight"]
    assert model.output.weight is model.source_embedding.weight is model.target_embedding.weight


def test_files_that_spell_the_positions_out_are_read(tmp_path):
    reference = make_reference()
    reference.save_pretrained(tmp_path)
    file = tmp_path / "model.safetensors"
    tensors = load_file(file)
    for side in ("encoder", "decoder"):
        positions = reference.get_submodule(f"model.{side}.embed_positions").weight
        tensors[f"model.{side}.embed_positions.weight"] = positions.clone()
        tensors[f"model.{side}.embed_tokens.weight"] = tensors["model.shared.weight"].clone()
    save_file(tensors, file)
    assert_equal(Marian.from_pretrained(tmp_path), reference, *some_texts(60, 59))


def test_two_layers_of_the_opus_translators_equal_the_reference_at_their_width():
    sizes: dict[str, Any] = {"vocab_size": 58_101, "d_model": 512, "max_position_embeddings": 512}
    for side in ("encoder", "decoder"):
        sizes |= {f"{side}_layers": 6, f"{side}_attention_heads": 8, f"{side}_ffn_dim": 2048}
    sizes |= {"pad_token_id": 58_100, "decoder_start_token_id": 58_100}
    whole = ReferenceConfig(**SMALL | sizes)
    assert MarianConfig.from_reference(whole.to_dict()) == MarianConfig()
    with torch.device("meta"):
        assert sum(x.numel() for x in Marian(MarianConfig()).parameters()) == 73_944_309
    sizes |= {"vocab_size": 1001, "pad_token_id": 1000, "decoder_start_token_id": 1000}
    sizes |= {"encoder_layers": 2, "decoder_layers": 2}
    reference = MarianMTModel(ReferenceConfig(**SMALL | sizes)).eval()
    assert_equal(Marian.from_pretrained(reference), reference, *some_texts(990, 1000, (40, 20)))
