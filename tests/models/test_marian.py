"""The properties of our Marian, and what it refuses."""

from typing import Any

import pytest
import torch
from transformers import MarianConfig as ReferenceConfig
from transformers import MarianModel, MarianMTModel

from glassbox.generation import beam_search, generate
from glassbox.models import T5, Marian, MarianConfig, T5Config
from glassbox.positional import sinusoidal_encoding
from glassbox.transformer import Transformer, TransformerConfig
from tests.models.encoder_decoders import (
    VOCAB,
    EncoderDecoderProperties,
    assert_compiled_and_exported_it_gives_the_same,
)

SIZES: dict[str, Any] = {
    "d_model": 16,
    "n_heads": 2,
    "n_layers": 2,
    "d_ff": 24,
    "vocab_size": VOCAB,
    "pad_id": 0,
    "bos_id": 0,
    "eos_id": 1,
}
REFERENCE: dict[str, Any] = {
    "model_type": "marian",
    "vocab_size": 40,
    "d_model": 16,
    "encoder_layers": 2,
    "decoder_layers": 3,
    "encoder_attention_heads": 4,
    "decoder_attention_heads": 4,
    "encoder_ffn_dim": 24,
    "decoder_ffn_dim": 24,
    "dropout": 0.2,
    "activation_function": "relu",
    "max_position_embeddings": 77,
    "scale_embedding": False,
    "share_encoder_decoder_embeddings": True,
    "tie_word_embeddings": True,
    "pad_token_id": 3,
    "decoder_start_token_id": 4,
    "eos_token_id": 5,
}


class TestMarian(EncoderDecoderProperties):
    @staticmethod
    def make(**sizes: Any) -> Marian:
        return Marian(MarianConfig(**SIZES | {"n_decoder_layers": 1} | sizes))


def test_the_defaults_are_opus_mt_en_de_s():
    config = MarianConfig()
    assert (config.d_model, config.n_heads, config.n_layers, config.d_ff) == (512, 8, 6, 2048)
    assert (config.vocab_size, config.activation, config.norm_first) == (58_101, "silu", False)
    assert (config.pad_id, config.bos_id, config.eos_id) == (58_100, 58_100, 0)
    assert config.tie_embeddings
    assert config.scale_embeddings
    with torch.device("meta"):
        assert sum(x.numel() for x in Marian().parameters()) == 73_944_309


@pytest.mark.parametrize("size", [8_000, 50])
def test_tiny_has_its_padding_last(size):
    config = MarianConfig.tiny(vocab_size=size)
    assert (config.pad_id, config.bos_id, config.eos_id) == (size - 1, size - 1, 0)
    assert (config.d_model, config.concatenated) == (128, True)
    assert MarianConfig.tiny().vocab_size == 8_000


def test_every_entry_of_the_reference_s_configuration_has_its_place():
    config = MarianConfig.from_reference(REFERENCE)
    assert config == MarianConfig(
        d_model=16,
        n_heads=4,
        n_layers=2,
        n_decoder_layers=3,
        d_ff=24,
        dropout=0.2,
        activation="relu",
        vocab_size=40,
        max_len=77,
        scale_embeddings=False,
        pad_id=3,
        bos_id=4,
        eos_id=5,
    )
    written = config.to_reference()
    assert {name: written[name] for name in REFERENCE} == REFERENCE


@pytest.mark.parametrize("options", [{"eos_id": ()}, {"min_new_tokens": 8}], ids=str)
@pytest.mark.parametrize("n_beams", [1, 2])
def test_beams_that_n_grams_leave_no_token_are_refused(n_beams, options):
    model = TestMarian.make(vocab_size=6, pad_id=5, bos_id=5, eos_id=0).eval()
    options |= {"source_ids": torch.tensor([[1, 2, 0]]), "max_new_tokens": 8, "no_repeat_ngram": 1}
    assert not beam_search(model, n_beams=2, **options).scores.isnan().any()
    with pytest.raises(ValueError, match="no_repeat_ngram=1 rules out every token"):
        generate(model, n_beams=n_beams, **options)


def test_positions_are_all_sines_then_all_cosines_on_both_sides():
    model, ids = TestMarian.make().eval(), torch.randint(1, VOCAB, (1, 6))
    expected = sinusoidal_encoding(torch.arange(6), 16, concatenated=True)
    for positions in (model.source_positions, model.target_positions):
        x = model.source_embedding(ids)
        torch.testing.assert_close(positions.embed(x, torch.arange(6)) - x, expected[None])


def test_embeddings_are_scaled_by_the_root_of_the_width():
    for scaled, factor in ((True, 4.0), (False, 1.0)):
        model = TestMarian.make(scale_embeddings=scaled)
        row = model.source_embedding(torch.tensor([[7]]))[0, 0]
        torch.testing.assert_close(row, model.source_embedding.weight[7] * factor)


@pytest.mark.usefixtures("compiler")
def test_compiled_and_exported_it_gives_the_same():
    assert_compiled_and_exported_it_gives_the_same(TestMarian.make())


def reference(kind=MarianMTModel, **sizes):
    small: dict[str, Any] = {"vocab_size": 40, "d_model": 16, "max_position_embeddings": 9}
    for side in ("encoder", "decoder"):
        small |= {f"{side}_layers": 1, f"{side}_attention_heads": 2, f"{side}_ffn_dim": 8}
    small |= {"pad_token_id": 39, "decoder_start_token_id": 39, "eos_token_id": 0}
    return kind(ReferenceConfig(**small | sizes))


def with_learned_positions():
    model = reference()
    model.model.decoder.embed_positions.weight += 0.1
    return Marian.from_pretrained(model)


def transformer(**sizes):
    return Transformer(TransformerConfig(16, 2, 1, 24, vocab_size=40, **sizes))


BAD_SIZES: dict[str, Any] = {
    "pre-norm": ({"norm_first": True}, ["norm_first=True", "norm_first=False"]),
    "sines and cosines in turn": ({"concatenated": False}, ["concatenated=False"]),
    "waves with both ends": ({"endpoint": True}, ["endpoint=True", "endpoint=False"]),
    "positions from 1 on": ({"first_position": 1}, ["first_position=1", "first_position=0"]),
    "learned positions": ({"positions": "learned"}, ["positions='learned'", "'sinusoidal'"]),
    "another epsilon": ({"norm_eps": 1e-6}, ["norm_eps=1e-06", "norm_eps=1e-05"]),
    "root mean squares": ({"norm": "rms"}, ["norm='rms'", "norm='layer'"]),
    "a gate": ({"gated": True}, ["gated=True", "gated=False"]),
    "no biases": ({"bias": False}, ["bias=False", "bias=True"]),
    "a second vocabulary": ({"target_vocab_size": 30}, ["target_vocab_size=30"]),
    "a projection of its own": ({"tie_embeddings": False}, ["tie_embeddings=False"]),
    "no bias on the logits": ({"output_bias": False}, ["output_bias=False"]),
    "heads of another width": ({"d_k": 5}, ["d_k=5", "d_k=None"]),
    "layers that differ in their heads": ({"n_heads": (2, 4)}, ["n_heads=(2, 4)", "one number"]),
}
BAD_ENTRIES: dict[str, Any] = {
    "another model": ({"model_type": "bart"}, ["model_type='bart'", "'marian'"]),
    "stacks that differ in their heads": (
        {"decoder_attention_heads": 2},
        ["encoder_attention_heads=4 and decoder_attention_heads=2", "one value"],
    ),
    "stacks that differ in their width inside": (
        {"decoder_ffn_dim": 8},
        ["encoder_ffn_dim=24 and decoder_ffn_dim=8", "one value"],
    ),
    "pre-norm": ({"normalize_before": True}, ["normalize_before=True", "False"]),
    "normalised embeddings": ({"normalize_embedding": True}, ["normalize_embedding=True"]),
    "another activation": ({"activation_function": "mish"}, ["'mish'", "'gelu'"]),
    "no beginning": ({"decoder_start_token_id": None}, ["decoder_start_token_id=None", "int"]),
    "padding that is no word": ({"pad_token_id": 40}, ["pad_id=40", "0 to 39"]),
    "a vocabulary for each language": (
        {"share_encoder_decoder_embeddings": False},
        ["share_encoder_decoder_embeddings=False", "reads True"],
    ),
    "a projection of its own": ({"tie_word_embeddings": False}, ["tie_word_embeddings=False"]),
}
CASES: dict[str, Any] = {
    "no name": (Marian.from_pretrained, ["which Marian?", "hub", "folder"]),
    "a model without logits": (
        lambda: Marian.from_pretrained(reference(MarianModel)),
        ["this MarianModel", "output.bias"],
    ),
    "positions that were learned": (
        with_learned_positions,
        ["decoder.embed_positions.weight differs from the sinusoids by 0.1"],
    ),
    "a Transformer in its own layout": (
        lambda: Marian.from_pretrained(transformer()),
        ["model_type='glassbox-transformer'", "'marian'"],
    ),
    "a T5": (
        lambda: Marian.from_pretrained(T5(T5Config(16, 2, 1, 24, vocab_size=40))),
        ["model_type='t5'", "'marian'"],
    ),
    "a Marian for a Transformer": (
        lambda: Transformer.from_pretrained(TestMarian.make()),
        ["model_type='marian'", "'glassbox-transformer'"],
    ),
}
CASES |= {
    f"unknown to the reference: {name}": (
        lambda sizes=sizes: MarianConfig(**SIZES | sizes).to_reference(),
        says,
    )
    for name, (sizes, says) in BAD_SIZES.items()
}
CASES |= {
    f"config.json: {name}": (
        lambda entries=entries: MarianConfig.from_reference(REFERENCE | entries),
        says,
    )
    for name, (entries, says) in BAD_ENTRIES.items()
}


@pytest.mark.usefixtures("as_a_reader")
@pytest.mark.parametrize(("attempt", "says"), CASES.values(), ids=CASES)
def test_refused_with_both_values(attempt, says):
    with pytest.raises(ValueError) as caught:  # noqa: PT011, the words are compared below
        attempt()
    for part in says:
        assert part in str(caught.value)


@pytest.mark.parametrize(
    "missing", ["d_model", "encoder_layers", "decoder_ffn_dim", "pad_token_id"]
)
def test_a_configuration_with_an_entry_missing_is_refused_by_name(missing):
    entries = {name: value for name, value in REFERENCE.items() if name != missing}
    entries |= {"encoder_ffn_dim": 24}
    if missing == "decoder_ffn_dim":  # then it is the encoder's
        assert MarianConfig.from_reference(entries).d_ff == 24
        return
    with pytest.raises(ValueError, match=f"config.json has no '{missing}', which this class needs"):
        MarianConfig.from_reference(entries)
