"""LLaMA's sizes, its first numbers, and what it reads of another library's files."""

import json
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file

from glassbox import record
from glassbox.models import Llama, LlamaConfig
from glassbox.positional import RotaryScaling
from tests.models.language_models import small_gpt2, small_llama, some_ids

LLAMA3 = {
    "rope_theta": 70.0,
    "rope_type": "llama3",
    "factor": 4.0,
    "low_freq_factor": 0.5,
    "high_freq_factor": 3.0,
    "original_max_position_embeddings": 8,
}
REFERENCE = {
    "model_type": "llama",
    "vocab_size": 50,
    "max_position_embeddings": 12,
    "hidden_size": 16,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "head_dim": 6,
    "intermediate_size": 24,
    "hidden_act": "gelu",
    "rms_norm_eps": 1e-3,
    "attention_bias": True,
    "mlp_bias": True,
    "tie_word_embeddings": True,
    "rope_parameters": LLAMA3,
    "bos_token_id": 3,
    "eos_token_id": [4, 5],
    "pad_token_id": 0,
}
OURS = LlamaConfig(
    vocab_size=50,
    max_len=12,
    d_model=16,
    n_layers=2,
    n_heads=4,
    n_kv_heads=2,
    d_k=6,
    d_ff=24,
    activation="gelu",
    norm_eps=1e-3,
    bias=True,
    tie_embeddings=True,
    rotary_base=70.0,
    rotary_scaling=RotaryScaling(4.0, 8, 0.5, 3.0),
    bos_id=3,
    eos_id=(4, 5),
    pad_id=0,
)
NEEDED = (
    *("vocab_size", "max_position_embeddings", "hidden_size", "num_hidden_layers"),
    *("num_attention_heads", "intermediate_size", "hidden_act", "rms_norm_eps"),
)


@pytest.mark.parametrize(
    ("preset", "parameters", "vocab_size", "max_len", "n_kv_heads", "base", "tied"),
    [
        (LlamaConfig.llama_7b, 6_738_415_616, 32_000, 2048, None, 1e4, False),
        (LlamaConfig.llama2_7b, 6_738_415_616, 32_000, 4096, None, 1e4, False),
        (LlamaConfig.llama2_70b, 68_976_648_192, 32_000, 4096, 8, 1e4, False),
        (LlamaConfig.llama3_8b, 8_030_261_248, 128_256, 8192, 8, 5e5, False),
        (LlamaConfig.llama3_2_1b, 1_235_814_400, 128_256, 131_072, 8, 5e5, True),
    ],
)
def test_the_presets_have_the_published_sizes(
    preset, parameters, vocab_size, max_len, n_kv_heads, base, tied
):
    with torch.device("meta"):
        model = Llama(preset())
    config = model.config
    assert sum(x.numel() for x in model.parameters()) == parameters
    assert (config.vocab_size, config.max_len, config.n_kv_heads) == (
        vocab_size,
        max_len,
        n_kv_heads,
    )
    assert (config.rotary_base, config.tie_embeddings) == (base, tied)
    assert config.norm_eps == (1e-6 if preset == LlamaConfig.llama_7b else 1e-5)
    assert (config.dropout, config.bias, config.activation) == (0.0, False, "silu")
    ends = (128_000, 128_001) if vocab_size == 128_256 else (1, 2)
    assert (config.bos_id, config.eos_id) == ends
    assert preset(n_layers=3).n_layers == 3


@pytest.mark.usefixtures("as_a_reader")
@pytest.mark.parametrize("factor", [np.float32(1.5), np.int64(2), Fraction(3, 2)], ids=repr)
def test_a_scaling_by_any_kind_of_number_is_saved(factor, tmp_path):
    model = small_llama(rotary_scaling=RotaryScaling(factor))
    model.save_pretrained(tmp_path)
    assert Llama.from_pretrained(tmp_path).config == replace(model.config, dropout=0.0)


def test_llama_3_2_turns_more_slowly_than_the_length_it_was_first_trained_on():
    scaling = LlamaConfig.llama3_2_1b().rotary_scaling
    assert scaling == RotaryScaling(factor=32.0, original_len=8192, low=1.0, high=4.0)


def test_every_entry_of_the_reference_s_configuration_has_its_place():
    assert LlamaConfig.from_reference(REFERENCE) == OURS


def test_what_the_first_release_leaves_out_is_usual():
    config = LlamaConfig.from_reference({name: REFERENCE[name] for name in NEEDED})
    assert (config.n_kv_heads, config.d_k, config.bias) == (None, None, False)
    assert (config.tie_embeddings, config.rotary_base, config.rotary_scaling) == (False, 1e4, None)
    assert (config.bos_id, config.eos_id, config.pad_id) == (1, 2, None)


@pytest.mark.parametrize(
    ("entries", "base", "scaling"),
    [
        ({"rope_parameters": {"rope_theta": 9, "rope_type": "default"}}, 9.0, None),
        ({"rope_parameters": {"rope_theta": 9.0}}, 9.0, None),
        ({"rope_theta": 9, "rope_scaling": None}, 9.0, None),
        ({"rope_theta": 9.0, "rope_scaling": {"type": "linear", "factor": 2}}, 9.0, (2.0,)),
        (
            {"rope_theta": 9.0, "rope_scaling": {"rope_type": "linear", "factor": 2.0}},
            9.0,
            (2.0,),
        ),
        (
            {"rope_parameters": LLAMA3, "rope_scaling": None, "rope_theta": 9.0},
            70.0,
            (4.0, 8, 0.5, 3.0),
        ),
        (
            {"rope_scaling": {"type": "x", **LLAMA3} | {"original_max_position_embeddings": 6}},
            70.0,
            (4.0, 6, 0.5, 3.0),
        ),
    ],
    ids=lambda value: json.dumps(value)[:60],
)
def test_turns_are_read_from_entries_of_today_and_of_before(entries, base, scaling):
    others = {name: value for name, value in REFERENCE.items() if name != "rope_parameters"}
    config = LlamaConfig.from_reference(others | entries)
    assert config.rotary_base == base
    assert config.rotary_scaling == (None if scaling is None else RotaryScaling(*scaling))
    assert Llama(config).positions.base == base
    assert Llama(config).positions.scaling == config.rotary_scaling


def test_sizes_that_only_repeat_others_are_left_out_so_that_equal_models_are_equal():
    config = LlamaConfig.from_reference(REFERENCE | {"head_dim": 4, "num_key_value_heads": 4})
    assert (config.d_k, config.n_kv_heads) == (None, None)
    entries = config.to_reference()
    assert (entries["head_dim"], entries["num_key_value_heads"]) == (4, 4)


@pytest.mark.parametrize(
    ("theirs", "ours"), [("num_attention_heads", "n_heads"), ("hidden_size", "d_model")]
)
def test_the_reference_s_word_for_a_size_is_answered_with_ours(theirs, ours):
    with pytest.raises(TypeError, match=f"{theirs} is the reference library's name.*{ours}"):
        LlamaConfig(**dict[str, Any]({theirs: 8}))


def test_before_training_all_weights_are_equally_small():
    torch.manual_seed(0)
    sizes: dict[str, Any] = {
        "d_model": 128,
        "n_heads": 4,
        "n_layers": 3,
        "d_ff": 256,
        "vocab_size": 500,
    }
    model = Llama(LlamaConfig(**sizes, bias=True))
    for name, parameter in model.named_parameters():
        if parameter.dim() == 2:
            assert abs(parameter.std().item() / 0.02 - 1) < 0.03, name
            assert abs(parameter.mean().item()) < 0.001, name
        else:
            assert (parameter == (1 if name.endswith("norm.weight") else 0)).all(), name


def test_moving_a_whole_text_along_changes_nothing():
    model, ids = small_llama(), some_ids(2, 6)
    moved = torch.arange(6).expand(2, -1) + torch.tensor([[5], [1000]])
    torch.testing.assert_close(model(ids, positions=moved), model(ids), atol=1e-4, rtol=0)


def test_groups_of_query_heads_share_their_keys():
    model = small_llama(n_heads=8, n_kv_heads=2)
    with record(model) as tape:
        model(some_ids(2, 5))
    for look in tape.values():
        assert look.key.shape == look.query.shape == (2, 8, 5, 2)
        first, second = look.key[:, :4], look.key[:, 4:]
        assert torch.equal(first, first[:, :1].expand_as(first))
        assert torch.equal(second, second[:, :1].expand_as(second))
        assert not torch.isclose(first, second).all()


def test_a_cache_keeps_the_shared_keys_once():
    model = small_llama(n_heads=8, n_kv_heads=2)
    cache = model.new_cache(9)
    model(some_ids(3, 5), cache=cache)
    for layer in cache.layers:
        assert layer.self_attention.key.shape == layer.self_attention.value.shape == (3, 2, 5, 2)


def test_a_bias_is_added_everywhere_or_nowhere():
    def biases(**sizes):
        return [name for name, _ in small_llama(**sizes).named_parameters() if "bias" in name]

    assert biases() == []
    assert len(biases(bias=True)) == 2 * (4 + 3)


@pytest.mark.parametrize("prefix", ["", "model."])
@pytest.mark.parametrize(
    ("reference", "ours"),
    [
        ("embed_tokens.weight", "embedding.weight"),
        ("layers.1.self_attn.k_proj.weight", "decoder.layers.1.self_attention.key.weight"),
        ("layers.0.self_attn.o_proj.bias", "decoder.layers.0.self_attention.output.bias"),
        ("layers.0.mlp.gate_proj.weight", "decoder.layers.0.feed_forward.gate.weight"),
        ("layers.0.mlp.up_proj.weight", "decoder.layers.0.feed_forward.expand.weight"),
        ("layers.0.mlp.down_proj.weight", "decoder.layers.0.feed_forward.contract.weight"),
        ("layers.0.input_layernorm.weight", "decoder.layers.0.attention_norm.weight"),
        ("layers.0.post_attention_layernorm.weight", "decoder.layers.0.feed_forward_norm.weight"),
        ("norm.weight", "decoder.norm.weight"),
        ("layers.3.self_attn.rotary_emb.inv_freq", None),
    ],
)
def test_names_are_translated(prefix, reference, ours):
    named = small_llama(bias=True).from_reference({prefix + reference: torch.ones(1)})
    assert [*named] == ([] if ours is None else [ours])


def test_the_projection_stands_outside_the_model():
    model = small_llama(tie_embeddings=False)
    theirs = model.to_reference(dict(model.named_parameters()))
    assert {"lm_head.weight", "model.embed_tokens.weight", "model.norm.weight"} < theirs.keys()


def test_a_model_of_ours_is_copied_and_a_saved_one_is_the_same(tmp_path):
    model, ids = small_llama(dropout=0.0, rotary_scaling=RotaryScaling(2.0)), some_ids(2, 6)
    model.save_pretrained(tmp_path)
    for source in (model, tmp_path, str(tmp_path)):
        loaded = Llama.from_pretrained(source)
        assert (loaded.config, loaded.training) == (model.config, False)
        assert torch.equal(loaded(ids), model(ids))
        assert loaded.embedding.weight.data_ptr() != model.embedding.weight.data_ptr()


def load(tmp_path, change_weights=None, **entries):
    """Read a small LLaMA whose files were changed."""
    small_llama().save_pretrained(tmp_path)
    config = json.loads((tmp_path / "config.json").read_text())
    (tmp_path / "config.json").write_text(json.dumps(config | entries))
    weights = load_file(tmp_path / "model.safetensors")
    if change_weights is not None:
        change_weights(weights)
    save_file(weights, tmp_path / "model.safetensors")
    return Llama.from_pretrained(tmp_path)


def a_gpt2(folder):
    small_gpt2().save_pretrained(folder)
    return Llama.from_pretrained(folder)


BAD_FILES: dict[str, Any] = {
    "no name": (
        lambda _: Llama.from_pretrained(),
        ["which Llama?", "name on the Hugging Face hub", "folder"],
    ),
    "a GPT-2": (a_gpt2, ["model_type='gpt2'", "'llama'"]),
    "a weight that no LLaMA has": (
        lambda folder: load(
            folder,
            lambda weights: weights.update(
                {"model.layers.0.self_attn.q_norm.weight": torch.ones(4)}
            ),
        ),
        ["no weight called 'layers.0.self_attn.q_norm.weight'", "another model's weights"],
    ),
    "biases that config.json does not announce": (
        lambda folder: load(
            folder,
            lambda weights: weights.update({"model.layers.0.mlp.up_proj.bias": torch.ones(24)}),
        ),
        ["no weight called 'layers.0.mlp.up_proj.bias'", "with these sizes"],
    ),
    "a body without its output": (
        lambda folder: load(folder, lambda weights: weights.pop("lm_head.weight")),
        ["do not fit its configuration", "output.weight"],
    ),
    "an output tied to another embedding": (
        lambda folder: load(folder, tie_word_embeddings=True),
        ["output.weight and embedding.weight differ"],
    ),
    "keys for other groups": (
        lambda folder: load(folder, num_key_value_heads=4),
        ["do not fit its configuration", "self_attention.key.weight", "(8, 16)", "(16, 16)"],
    ),
    "an odd width of heads": (lambda folder: load(folder, head_dim=3), ["d_k=3", "even"]),
}


@pytest.mark.usefixtures("as_a_reader")
@pytest.mark.parametrize(("attempt", "says"), BAD_FILES.values(), ids=BAD_FILES)
def test_files_that_hold_no_llama_are_refused(attempt, says, tmp_path):
    with pytest.raises(ValueError) as caught:  # noqa: PT011 what it says is compared below
        attempt(tmp_path)
    for part in says:
        assert part in str(caught.value)


BAD_SIZES: dict[str, Any] = {
    "no vocabulary": ({"vocab_size": 0}, ["vocab_size=0", "at least 1"]),
    "no positions": ({"max_len": 0}, ["max_len=0", "at least 1"]),
    "an end that is no word": ({"eos_id": (3, 50)}, ["eos_id=(3, 50)", "0 to 49"]),
    "an endless base": (
        {"rotary_base": float("inf")},
        ["rotary_base=inf", "more than 1 and finite"],
    ),
    "a base of 1": ({"rotary_base": 1.0}, ["rotary_base=1.0", "more than 1"]),
    "groups that do not divide": ({"n_kv_heads": 3}, ["n_kv_heads=3", "n_heads=4"]),
}
BAD_ENTRIES: dict[str, Any] = {
    "another model": ({"model_type": "mistral"}, ["model_type='mistral'", "'llama'"]),
    "another activation": ({"hidden_act": "mish"}, ["'mish'", "'silu'"]),
    "biases in the attention alone": (
        {"mlp_bias": False},
        ["attention_bias=True", "mlp_bias=False", "one value for both"],
    ),
    "biases in the feed-forward alone": (
        {"attention_bias": False},
        ["attention_bias=False", "mlp_bias=True"],
    ),
    "scaling by need": (
        {"rope_parameters": {"rope_type": "dynamic", "factor": 2.0}},
        ["rope_type='dynamic'", "['default', 'linear', 'llama3']"],
    ),
    "scaling of before": (
        {"rope_parameters": None, "rope_scaling": {"type": "yarn", "factor": 2.0}},
        ["rope_type='yarn'", "'linear'"],
    ),
    "turns of a part": (
        {"rope_parameters": {"rope_theta": 1e4, "partial_rotary_factor": 0.5}},
        ["partial_rotary_factor=0.5", "1.0"],
    ),
    "turns of a part, as of before": ({"partial_rotary_factor": 0.5}, ["factor=0.5", "1.0"]),
    "scaling without a factor": (
        {"rope_parameters": {"rope_type": "linear"}},
        ["config.json has no 'factor'"],
    ),
    "scaling without its bounds": (
        {"rope_parameters": {"rope_type": "llama3", "factor": 2.0}},
        ["config.json has no 'low_freq_factor'"],
    ),
    "a base that is text": ({"rope_parameters": {"rope_theta": "1e4"}}, ["rope_theta='1e4'"]),
    "scaling that is a word": ({"rope_scaling": "linear"}, ["rope_scaling='linear'"]),
    "heads that do not divide": (
        {"num_attention_heads": 3, "head_dim": None},
        ["d_model=16", "n_heads=3"],
    ),
    "no heads": ({"num_attention_heads": 0}, ["n_heads=0", "at least 1"]),
    "groups that do not divide the heads": (
        {"num_key_value_heads": 3},
        ["n_kv_heads=3", "n_heads=4"],
    ),
    "a width that is text": ({"head_dim": "6"}, ["head_dim='6'", "int"]),
    "half a head": ({"num_attention_heads": 4.5}, ["num_attention_heads=4.5", "int"]),
}
UNKNOWN_TO_THE_REFERENCE: dict[str, Any] = {
    "post-norm": ({"norm_first": False}, ["norm_first=False", "norm_first=True"]),
    "LayerNorm": ({"norm": "layer"}, ["norm='layer'", "norm='rms'"]),
    "no gate": ({"gated": False}, ["gated=False", "gated=True"]),
    "another scale": ({"scale": 0.5}, ["scale=0.5", "scale=None"]),
    "layers of different heads": ({"n_heads": (2, 4)}, ["n_heads=(2, 4)", "one number"]),
    "heads beside the width": ({"n_heads": 3, "d_k": 4}, ["d_model=16", "n_heads=3", "d_k=4"]),
}
SMALL: dict[str, Any] = {"d_model": 16, "n_heads": 4, "n_layers": 2, "d_ff": 24, "vocab_size": 50}
CASES: dict[str, Any] = {
    f"size: {name}": (lambda sizes=sizes: LlamaConfig(**SMALL | sizes), says)
    for name, (sizes, says) in BAD_SIZES.items()
}
CASES |= {
    f"config.json: {name}": (
        lambda entries=entries: LlamaConfig.from_reference(REFERENCE | entries),
        says,
    )
    for name, (entries, says) in BAD_ENTRIES.items()
}
CASES |= {
    f"saved: {name}": (lambda sizes=sizes: LlamaConfig(**SMALL | sizes).to_reference(), says)
    for name, (sizes, says) in UNKNOWN_TO_THE_REFERENCE.items()
}
CASES |= {
    "heads of different widths": (
        lambda: Llama(LlamaConfig(**SMALL | {"n_heads": (2, 4)})),
        ["n_heads=(2, 4)", "d_model=16", "d_k"],
    ),
    "heads of an odd width": (
        lambda: Llama(LlamaConfig(**SMALL | {"d_k": 5})),
        ["d_k=5", "even"],
    ),
}


@pytest.mark.usefixtures("as_a_reader")
@pytest.mark.parametrize(("attempt", "says"), CASES.values(), ids=CASES)
def test_refused_with_both_values(attempt, says):
    with pytest.raises(ValueError) as caught:  # noqa: PT011 what it says is compared below
        attempt()
    for part in says:
        assert part in str(caught.value)


@pytest.mark.parametrize("missing", NEEDED)
def test_a_configuration_with_an_entry_missing_is_refused_by_name(missing):
    entries = {name: value for name, value in REFERENCE.items() if name != missing}
    with pytest.raises(ValueError, match=f"config.json has no '{missing}', which this class needs"):
        LlamaConfig.from_reference(entries)


def test_layers_may_differ_in_their_heads_if_these_are_equally_wide():
    model, ids = small_llama(n_heads=(2, 4), n_kv_heads=2, d_k=4), some_ids(2, 6)
    with record(model) as tape:
        model(ids)
    assert [look.weights.size(1) for look in tape.values()] == [2, 4]
    cache = model.new_cache(6)
    stepwise = torch.cat([model(ids[:, i : i + 1], cache=cache) for i in range(6)], dim=1)
    torch.testing.assert_close(stepwise, model(ids), atol=1e-5, rtol=0)


def test_the_smallest_model_is_allowed():
    smallest = LlamaConfig(2, 1, 1, 1, vocab_size=3, max_len=1)
    assert Llama(smallest)(torch.zeros(1, 1, dtype=torch.int32)).shape == (1, 1, 3)
