"""The properties of our T5, what it begins with, and what it refuses."""

from typing import Any

import pytest
import torch
from torch import nn
from transformers import T5Config as ReferenceConfig
from transformers import T5EncoderModel, T5ForSequenceClassification

from glassbox import record
from glassbox.models import T5, Bert, BertConfig, Marian, MarianConfig, T5Config
from tests.models.encoder_decoders import (
    VOCAB,
    EncoderDecoderProperties,
    assert_compiled_and_exported_it_gives_the_same,
)

SIZES: dict[str, Any] = {
    "d_model": 16,
    "n_heads": 2,
    "d_k": 6,
    "n_layers": 2,
    "d_ff": 24,
    "vocab_size": VOCAB,
}
GATED: dict[str, Any] = {
    "gated": True,
    "activation": "gelu_tanh",
    "tie_embeddings": False,
    "scale_output": False,
}
REFERENCE: dict[str, Any] = {
    "model_type": "t5",
    "vocab_size": 40,
    "d_model": 16,
    "d_kv": 6,
    "d_ff": 24,
    "num_layers": 2,
    "num_decoder_layers": 3,
    "num_heads": 2,
    "relative_attention_num_buckets": 16,
    "relative_attention_max_distance": 50,
    "dropout_rate": 0.2,
    "layer_norm_epsilon": 1e-3,
    "feed_forward_proj": "gated-gelu",
    "tie_word_embeddings": False,
    "pad_token_id": 3,
    "decoder_start_token_id": 4,
    "eos_token_id": 5,
}


class TestT5(EncoderDecoderProperties):
    @staticmethod
    def make(**sizes: Any) -> T5:
        return T5(T5Config(**SIZES | {"n_decoder_layers": 3} | sizes))


class TestGatedT5(EncoderDecoderProperties):
    @staticmethod
    def make(**sizes: Any) -> T5:
        return T5(T5Config(**SIZES | GATED | sizes))


@pytest.mark.parametrize(
    ("name", "n_parameters"),
    [
        ("small", 60_506_624),
        ("base", 222_903_552),
        ("large", 737_668_096),
        ("small 1.1", 76_961_152),
        ("base 1.1", 247_577_856),
        ("large 1.1", 783_150_080),
    ],
)
def test_published_models_have_their_number_of_parameters(name, n_parameters):
    with torch.device("meta"):
        model = T5(T5Config.published(name))
    assert sum(x.numel() for x in model.parameters()) == n_parameters


def test_the_defaults_are_t5_small_s():
    config = T5Config()
    assert config == T5Config.published("small")
    assert (config.d_model, config.n_heads, config.d_k, config.d_ff) == (512, 8, 64, 2048)
    assert (config.n_layers, config.vocab_size, config.activation) == (6, 32_128, "relu")
    assert (config.pad_id, config.bos_id, config.eos_id) == (0, 0, 1)
    assert (config.norm, config.norm_eps, config.bias, config.scale) == ("rms", 1e-6, False, 1.0)
    assert (config.n_buckets, config.max_distance, config.dropout) == (32, 128, 0.1)


def test_the_later_small_model_has_its_published_configuration():
    published: dict[str, Any] = {
        "vocab_size": 32_128,
        "d_model": 512,
        "d_kv": 64,
        "d_ff": 1024,
        "num_heads": 6,
    }
    published |= {"num_layers": 8, "num_decoder_layers": 8, "dropout_rate": 0.1}
    published |= {"relative_attention_num_buckets": 32, "relative_attention_max_distance": 128}
    published |= {"layer_norm_epsilon": 1e-6, "pad_token_id": 0, "decoder_start_token_id": 0}
    published |= {"eos_token_id": 1}
    assert T5Config.from_reference(REFERENCE | published) == T5Config.published("small 1.1")


def test_its_base_is_t5_base_and_not_the_paper_s():
    assert T5Config.base(dropout=0.0) == T5Config.published("base", dropout=0.0)
    assert T5Config.base().d_model == 768


def test_every_entry_of_the_reference_s_configuration_has_its_place():
    config = T5Config.from_reference(REFERENCE)
    assert config == T5Config(
        **SIZES,
        **GATED,
        n_decoder_layers=3,
        dropout=0.2,
        norm_eps=1e-3,
        n_buckets=16,
        max_distance=50,
        pad_id=3,
        bos_id=4,
        eos_id=5,
    )
    written = config.to_reference()
    assert {name: written[name] for name in REFERENCE} == REFERENCE


@pytest.mark.parametrize(
    ("left_out", "field", "expected"),
    [
        ("num_decoder_layers", "n_decoder_layers", None),
        ("relative_attention_max_distance", "max_distance", 128),
        ("decoder_start_token_id", "bos_id", 3),
        ("pad_token_id", "pad_id", 0),
        ("tie_word_embeddings", "tie_embeddings", True),
        ("tie_word_embeddings", "scale_output", True),
    ],
)
def test_what_older_files_leave_out_has_the_reference_s_default(left_out, field, expected):
    entries = {name: value for name, value in REFERENCE.items() if name != left_out}
    assert getattr(T5Config.from_reference(entries), field) == expected


def test_no_parameter_adds_a_bias_and_no_score_is_scaled():
    model = TestT5.make().eval()
    assert not [name for name, _ in model.named_parameters() if name.endswith("bias")]
    with record(model) as tape:
        model(torch.ones(1, 5, dtype=torch.int64), torch.ones(1, 4, dtype=torch.int64))
    look = tape["decoder.layers.1.cross_attention"]
    torch.testing.assert_close(look.scores, look.query @ look.key.mT)


def test_one_table_of_distances_serves_all_layers_of_a_stack_and_no_cross_attention():
    model, ids = TestT5.make().eval(), torch.ones(1, 9, dtype=torch.int64)
    with record(model) as tape:
        model(ids, ids)
    for name, bidirectional in (("encoder", True), ("decoder", False)):
        first, second = (tape[f"{name}.layers.{i}.self_attention"].bias for i in range(2))
        assert first is not None
        assert second is not None
        assert torch.equal(first, second)
        # What comes after a position is as good as at it to a stack that cannot see it.
        assert (first[:, 0, 1] != first[:, 0, 8]).all() == bidirectional
    assert all(look.bias is None for key, look in tape.items() if "cross" in key)


def test_only_a_tied_projection_is_scaled():
    hidden = torch.randn(1, 2, 16)
    for model, factor in ((TestT5.make(), 16**-0.5), (TestGatedT5.make(), 1.0)):
        expected = nn.functional.linear(hidden, model.output.weight) * factor
        torch.testing.assert_close(model.logits(hidden), expected)


def test_scores_are_of_size_one_before_any_training():
    model = T5(T5Config.published("small", n_layers=1, vocab_size=100)).eval()
    ids = torch.randint(1, 100, (4, 50))
    with record(model) as tape:
        model.encode(ids)
    look = tape["encoder.layers.0.self_attention"]
    assert 0.8 < (look.query @ look.key.mT).std() < 1.2


@pytest.mark.usefixtures("compiler")
def test_compiled_and_exported_it_gives_the_same():
    assert_compiled_and_exported_it_gives_the_same(TestT5.make())


def call(source=None, target=None, **arguments):
    model = TestT5.make().eval()
    source = torch.ones(2, 5, dtype=torch.int64) if source is None else source
    return model(source, torch.ones(2, 4, dtype=torch.int64) if target is None else target)


def decode(memory, ids=None, **arguments):
    ids = torch.ones(2, 4, dtype=torch.int64) if ids is None else ids
    return TestT5.make().eval().decode(ids, memory, **arguments)


def other_cache():
    model, memory = TestT5.make().eval(), torch.ones(2, 5, 16)
    cache = model.new_cache(4)
    model.decode(torch.ones(2, 2, dtype=torch.int64), memory, cache=cache)
    return model.decode(torch.ones(2, 2, dtype=torch.int64), torch.ones(2, 6, 16), cache=cache)


def long_text():
    model = TestT5.make().eval()
    return model.decode(
        torch.ones(2, 5, dtype=torch.int64), torch.ones(2, 5, 16), cache=model.new_cache(4)
    )


def t5_encoder(kind=T5EncoderModel):
    return T5.from_pretrained(
        kind(ReferenceConfig(vocab_size=40, d_model=16, d_kv=4, d_ff=8, num_layers=1, num_heads=2))
    )


def differing_stacks():
    model = TestT5.make()
    _, weights = model.export()
    other = weights["shared.weight"] + 1
    return model.from_reference(weights | {"decoder.embed_tokens.weight": other})


BAD_CALLS = {
    "a source word past the vocabulary": (
        lambda: call(torch.full((2, 5), 40)),
        ValueError,
        ["source_ids runs from 40 to 40", "0 to 39"],
    ),
    "a negative target word": (
        lambda: call(target=torch.full((2, 4), -1)),
        ValueError,
        ["target_ids runs from -1 to -1", "0 to 39"],
    ),
    "no source": (
        lambda: call(torch.ones(2, 0, dtype=torch.int64)),
        ValueError,
        ["source_ids has shape (2, 0)", "at least one token"],
    ),
    "no texts": (
        lambda: call(torch.ones(0, 5, dtype=torch.int64)),
        ValueError,
        ["source_ids has shape (0, 5)", "at least one token"],
    ),
    "no target": (
        lambda: call(target=torch.ones(2, 0, dtype=torch.int64)),
        ValueError,
        ["target_ids has shape (2, 0)"],
    ),
    "a target for other sources": (
        lambda: call(target=torch.ones(3, 4, dtype=torch.int64)),
        ValueError,
        ["(3, 4, 16)", "(2, 5, 16)"],
    ),
    "ids that are no integers": (
        lambda: call(torch.ones(2, 5)),
        TypeError,
        ["source_ids is torch.float32", "torch.int64"],
    ),
    "a memory of another width": (
        lambda: decode(torch.ones(2, 5, 12)),
        ValueError,
        ["(2, 5, 12)", "(batch, length, 16)"],
    ),
    "a memory in double precision": (
        lambda: decode(torch.ones(2, 5, 16, dtype=torch.float64)),
        ValueError,
        ["torch.float32", "torch.float64"],
    ),
    "a cache of another memory": (
        other_cache,
        ValueError,
        ["(2, 6, 16)", "2 texts with 5 positions"],
    ),
    "more words than the cache has room for": (long_text, ValueError, ["5", "max_len=4"]),
    "a mask of ones and zeros": (
        lambda: decode(torch.ones(2, 5, 16), memory_mask=torch.ones(2, 1, 1, 5)),
        TypeError,
        ["torch.float32", "torch.bool"],
    ),
    "a mask of the target for the source": (
        lambda: decode(torch.ones(2, 5, 16), memory_mask=torch.ones(2, 1, 1, 4).bool()),
        ValueError,
        ["(2, 1, 1, 4)", "(2, 2, 4, 5)"],
    ),
}
BAD_SIZES: dict[str, Any] = {
    "too few buckets": ({"n_buckets": 2}, ["n_buckets=2", "at least 4"]),
    "an odd number of buckets": ({"n_buckets": 7}, ["n_buckets=7", "multiple of 2"]),
    "a distance within the near buckets": ({"max_distance": 8}, ["max_distance=8", "n_buckets=32"]),
    "other positions": ({"positions": "rotary"}, ["positions='rotary'", "['relative']"]),
    "no layers that write": ({"n_decoder_layers": 0}, ["n_decoder_layers=0", "at least 1"]),
    "padding that is no word": ({"pad_id": 40}, ["pad_id=40", "0 to 39"]),
    "layers that differ in their heads": ({"n_heads": (2, 4)}, ["relative", "n_heads=(2, 4)"]),
}
UNKNOWN_TO_THE_REFERENCE: dict[str, Any] = {
    "layer norms": ({"norm": "layer"}, ["norm='layer'", "norm='rms'"]),
    "post-norm": ({"norm_first": False}, ["norm_first=False", "norm_first=True"]),
    "biases": ({"bias": True}, ["bias=True", "bias=False"]),
    "scaled scores": ({"scale": None}, ["scale=None", "scale=1.0"]),
    "scaled embeddings": ({"scale_embeddings": True}, ["scale_embeddings=True"]),
    "shared keys and values": ({"n_kv_heads": 1}, ["n_kv_heads=1", "n_kv_heads=None"]),
    "a second vocabulary": ({"target_vocab_size": 30}, ["target_vocab_size=30"]),
    "a bias on the logits": ({"output_bias": True}, ["output_bias=True"]),
    "a gate of the exact GELU": (
        {"gated": True, "activation": "gelu"},
        ["activation='gelu'", "gated=True", "gelu_tanh"],
    ),
}
BAD_ENTRIES: dict[str, Any] = {
    "another model": ({"model_type": "mt5"}, ["model_type='mt5'", "'t5'"]),
    "an encoder alone": ({"is_encoder_decoder": False}, ["is_encoder_decoder=False", "True"]),
    "another activation": ({"feed_forward_proj": "gated-mish"}, ["'mish'", "'gelu'"]),
    "a width in words": ({"d_model": "wide"}, ["d_model='wide'", "int"]),
    "half a layer": ({"num_layers": 0.5}, ["num_layers=0.5", "int"]),
    "several ends": ({"eos_token_id": [1, 2]}, ["eos_token_id=[1, 2]", "int"]),
}
BAD_SOURCES = {
    "no name": (T5.from_pretrained, ValueError, ["which T5?", "hub", "folder", "transformers"]),
    "an encoder of the reference": (t5_encoder, ValueError, ["is_encoder_decoder=False", "True"]),
    "a classifier of the reference": (
        lambda: t5_encoder(T5ForSequenceClassification),
        ValueError,
        ["no weight called 'transformer.shared.weight'", "another model's weights"],
    ),
    "a BERT": (
        lambda: T5.from_pretrained(Bert(BertConfig(16, 2, 1, 16, vocab_size=40))),
        ValueError,
        ["model_type='bert'", "'t5'"],
    ),
    "a Marian": (
        lambda: T5.from_pretrained(
            Marian(MarianConfig(16, 2, 1, 16, vocab_size=40, pad_id=0, bos_id=0))
        ),
        ValueError,
        ["model_type='marian'", "'t5'"],
    ),
    "a module": (
        lambda: T5.from_pretrained(nn.Linear(2, 2)),
        ValueError,
        ["this Linear has no configuration", "transformers"],
    ),
    "stacks whose embeddings differ": (
        differing_stacks,
        ValueError,
        ["shared.weight", "decoder.embed_tokens.weight", "one parameter for both"],
    ),
    "a name that no T5 has": (
        lambda: T5Config.published("huge"),
        ValueError,
        ["name='huge'", "'small 1.1'"],
    ),
}
CASES: dict[str, Any] = BAD_CALLS | BAD_SOURCES
CASES |= {
    f"size: {name}": (lambda sizes=sizes: T5Config(**SIZES | sizes), ValueError, says)
    for name, (sizes, says) in BAD_SIZES.items()
}
CASES |= {
    f"unknown to the reference: {name}": (
        lambda sizes=sizes: T5Config(**SIZES | sizes).to_reference(),
        ValueError,
        says,
    )
    for name, (sizes, says) in UNKNOWN_TO_THE_REFERENCE.items()
}
CASES |= {
    f"config.json: {name}": (
        lambda entries=entries: T5Config.from_reference(REFERENCE | entries),
        ValueError,
        says,
    )
    for name, (entries, says) in BAD_ENTRIES.items()
}


@pytest.mark.usefixtures("as_a_reader")
@pytest.mark.parametrize(("attempt", "error", "says"), CASES.values(), ids=CASES)
def test_refused_with_both_values(attempt, error, says):
    with pytest.raises(error) as caught:
        attempt()
    for part in says:
        assert part in str(caught.value)


@pytest.mark.parametrize(
    "missing", ["d_model", "d_kv", "d_ff", "num_layers", "feed_forward_proj", "eos_token_id"]
)
def test_a_configuration_with_an_entry_missing_is_refused_by_name(missing):
    entries = {name: value for name, value in REFERENCE.items() if name != missing}
    with pytest.raises(ValueError, match=f"config.json has no '{missing}', which this class needs"):
        T5Config.from_reference(entries)


def test_a_projection_that_is_missing_is_missed(tmp_path):
    entries, weights = TestGatedT5.make().export()
    del weights["lm_head.weight"]
    config = T5.configure(entries, weights)
    with pytest.raises(ValueError, match=r"(?s)these files.*output\.weight"):
        T5(config).load_weights(T5(config).from_reference(weights), "these files")
