"""GPT-2's sizes, its first numbers, and what it reads of another library's files."""

import json
import math
from typing import Any

import pytest
import torch
from torch import nn

from glassbox.models import GPT2, Bert, GPT2Config
from tests.models.language_models import small_gpt2, some_ids

REFERENCE = {
    "model_type": "gpt2",
    "vocab_size": 50,
    "n_positions": 12,
    "n_embd": 16,
    "n_layer": 2,
    "n_head": 4,
    "n_inner": 24,
    "activation_function": "relu",
    "resid_pdrop": 0.2,
    "embd_pdrop": 0.3,
    "attn_pdrop": 0.4,
    "layer_norm_epsilon": 1e-3,
    "tie_word_embeddings": False,
    "bos_token_id": 3,
    "eos_token_id": [4, 5],
    "pad_token_id": 0,
}
OURS = GPT2Config(
    vocab_size=50,
    max_len=12,
    d_model=16,
    n_layers=2,
    n_heads=4,
    d_ff=24,
    activation="relu",
    dropout=0.2,
    embedding_dropout=0.3,
    norm_eps=1e-3,
    tie_embeddings=False,
    bos_id=3,
    eos_id=(4, 5),
    pad_id=0,
)


@pytest.mark.parametrize(
    ("preset", "n_layers", "d_model", "d_k", "parameters"),
    [
        (GPT2Config.small, 12, 768, 64, 124_439_808),
        (GPT2Config.medium, 24, 1024, 64, 354_823_168),
        (GPT2Config.large, 36, 1280, 64, 774_030_080),
        (GPT2Config.xl, 48, 1600, 64, 1_557_611_200),
    ],
)
def test_the_presets_have_the_published_sizes(preset, n_layers, d_model, d_k, parameters):
    with torch.device("meta"):
        model = GPT2(preset())
    assert (model.config.n_layers, model.config.d_model) == (n_layers, d_model)
    assert d_model // model.config.heads(0) == d_k
    assert (model.config.vocab_size, model.config.max_len) == (50_257, 1024)
    assert (model.config.dropout, model.config.embedding_dropout) == (0.1, 0.1)
    assert (model.config.activation, model.config.norm_eps) == ("gelu_tanh", 1e-5)
    assert sum(x.numel() for x in model.parameters()) == parameters
    assert (model.config.bos_id, model.config.eos_id) == (50_256, 50_256)
    assert preset(n_layers=3, dropout=0.0).n_layers == 3


def test_every_entry_of_the_reference_s_configuration_has_its_place():
    assert GPT2Config.from_reference(REFERENCE) == OURS


def test_the_feed_forward_network_is_four_times_as_wide_unless_told_otherwise():
    assert GPT2Config(d_model=48, n_heads=3).d_ff == 192
    assert GPT2Config(d_model=48, n_heads=3, d_ff=50).d_ff == 50
    assert GPT2Config.xl().d_ff == 6400


def test_what_the_first_release_leaves_out_is_usual():
    usual = ("n_inner", "tie_word_embeddings", "bos_token_id", "eos_token_id", "pad_token_id")
    entries = {name: value for name, value in REFERENCE.items() if name not in usual}
    config = GPT2Config.from_reference(entries)
    assert (config.d_ff, config.tie_embeddings) == (64, True)
    assert (config.bos_id, config.eos_id, config.pad_id) == (None, None, None)


def test_ids_that_a_smaller_vocabulary_does_not_have_are_none():
    config = GPT2Config.from_reference(REFERENCE | {"eos_token_id": 50_256, "pad_token_id": -1})
    assert (config.bos_id, config.eos_id, config.pad_id) == (3, None, None)


def test_before_training_what_writes_into_the_stream_is_smaller_with_depth():
    torch.manual_seed(0)
    model = GPT2(GPT2Config(d_model=128, n_heads=4, n_layers=8, d_ff=512, vocab_size=500))
    for name, parameter in model.named_parameters():
        if parameter.dim() == 2:
            writes = name.endswith(("attention.output.weight", "feed_forward.contract.weight"))
            expected = 0.02 / math.sqrt(2 * 8) if writes else 0.02
            assert abs(parameter.std().item() / expected - 1) < 0.03, name
            assert abs(parameter.mean().item()) < expected / 20, name
        else:
            is_norm = name.endswith("norm.weight")
            assert (parameter == (1 if is_norm else 0)).all(), name


def test_embeddings_and_layers_each_have_their_own_dropout():
    model = small_gpt2(embedding_dropout=0.6, dropout=0.25).train()
    seen: dict[str, torch.Tensor] = {}
    model.dropout.register_forward_hook(lambda *args: seen.update(embedding=args[2]))
    model(some_ids(4, 12))
    assert 0.5 < (seen["embedding"] == 0).float().mean() < 0.7
    layers: Any = model.decoder.layers
    assert {layer.dropout.p for layer in layers} == {0.25}


def test_the_embedding_is_the_sum_of_word_and_position():
    model, ids = small_gpt2(), some_ids(2, 5)
    seen: dict[str, torch.Tensor] = {}
    model.dropout.register_forward_hook(lambda *args: seen.update(embedding=args[2]))
    positions = torch.tensor([[7, 8, 9, 10, 11], [0, 0, 1, 2, 3]])
    model(ids, positions=positions)
    words, places = model.embedding.weight, model.get_parameter("positions.table.weight")
    torch.testing.assert_close(seen["embedding"], words[ids] + places[positions])


@pytest.mark.parametrize("prefix", ["", "transformer."])
def test_names_are_translated_and_matrices_parted_and_turned(prefix):
    model, x = small_gpt2(), torch.arange(16 * 48.0).view(16, 48)
    parts = model.from_reference({f"{prefix}h.1.attn.c_attn.weight": x})
    for i, part in enumerate(("query", "key", "value")):
        ours = parts.pop(f"decoder.layers.1.self_attention.{part}.weight")
        assert torch.equal(ours, x[:, 16 * i : 16 * (i + 1)].T)
    assert not parts
    wide = torch.arange(16 * 24.0).view(16, 24)
    named = model.from_reference({f"{prefix}h.0.mlp.c_fc.weight": wide})
    assert torch.equal(named["decoder.layers.0.feed_forward.expand.weight"], wide.T)
    named = model.from_reference({f"{prefix}h.0.ln_1.bias": x[0], f"{prefix}ln_f.weight": x[1]})
    assert torch.equal(named["decoder.layers.0.attention_norm.bias"], x[0])
    assert torch.equal(named["decoder.norm.weight"], x[1])
    assert model.from_reference({f"{prefix}h.1.attn.bias": x, "h.0.attn.masked_bias": x}) == {}


def test_matrices_are_stacked_and_turned_when_they_are_written():
    model = small_gpt2(tie_embeddings=False)
    theirs = model.to_reference(dict(model.named_parameters()))
    assert theirs["transformer.h.1.attn.c_attn.weight"].shape == (16, 48)
    assert theirs["transformer.h.1.attn.c_attn.bias"].shape == (48,)
    assert theirs["transformer.h.0.mlp.c_proj.weight"].shape == (24, 16)
    assert theirs["transformer.wpe.weight"].shape == (12, 16)
    assert "lm_head.weight" in theirs


def test_a_model_of_ours_is_copied_and_a_saved_one_is_the_same(tmp_path):
    model, ids = small_gpt2(), some_ids(2, 6)
    model.save_pretrained(tmp_path)
    for source in (model, tmp_path, str(tmp_path)):
        loaded = GPT2.from_pretrained(source)
        assert (loaded.config, loaded.training) == (model.config, False)
        assert torch.equal(loaded(ids), model(ids))
        assert loaded.embedding.weight.data_ptr() != model.embedding.weight.data_ptr()


def load(tmp_path, change_weights=None, **entries):
    """Read a small GPT-2 whose files were changed."""
    from safetensors.torch import load_file, save_file

    small_gpt2().save_pretrained(tmp_path)
    config = json.loads((tmp_path / "config.json").read_text())
    (tmp_path / "config.json").write_text(json.dumps(config | entries))
    weights = load_file(tmp_path / "model.safetensors")
    if change_weights is not None:
        change_weights(weights)
    save_file(weights, tmp_path / "model.safetensors")
    return GPT2.from_pretrained(tmp_path)


def a_bert(folder):
    from glassbox.models import BertConfig

    Bert(BertConfig(8, 2, 1, 8, vocab_size=9, max_len=4)).save_pretrained(folder)
    return GPT2.from_pretrained(folder)


def add(name, *shape):
    return lambda weights: weights.update({name: torch.zeros(*shape)})


def turn(weights):
    for name in [name for name in weights if "c_attn.weight" in name]:
        weights[name] = weights[name].T.contiguous()


BAD_FILES: dict[str, Any] = {
    "no name": (
        lambda _: GPT2.from_pretrained(),
        ["which GPT2?", "name on the Hugging Face hub", "folder"],
    ),
    "a module without configuration": (
        lambda _: GPT2.from_pretrained(nn.Linear(2, 2)),
        ["this Linear has no configuration", "model of transformers"],
    ),
    "a BERT": (a_bert, ["model_type='bert'", "'gpt2'"]),
    "a weight that no GPT-2 has": (
        lambda folder: load(folder, add("transformer.h.0.attn.q_proj.weight", 2, 2)),
        ["no weight called 'h.0.attn.q_proj.weight'", "another model's weights"],
    ),
    "a head for classes": (
        lambda folder: load(folder, add("score.weight", 2, 16)),
        ["no weight called 'score.weight'"],
    ),
    "a missing weight": (
        lambda folder: load(folder, lambda weights: weights.pop("transformer.ln_f.bias")),
        ["do not fit its configuration", "decoder.norm.bias"],
    ),
    "no embedding": (
        lambda folder: load(folder, lambda weights: weights.pop("transformer.wte.weight")),
        ["do not fit its configuration", "embedding.weight"],
    ),
    "weights of another width": (
        lambda folder: load(folder, n_embd=32),
        ["transformer.h.0.", "has shape (16, ", "expected (32, ", "(inputs, outputs)"],
    ),
    "an untied output without its weights": (
        lambda folder: load(folder, tie_word_embeddings=False),
        ["do not fit its configuration", "output.weight"],
    ),
    "an output tied to another embedding": (
        lambda folder: load(folder, add("lm_head.weight", 50, 16)),
        ["output.weight and embedding.weight differ"],
    ),
    "queries, keys and values that do not part": (
        lambda folder: load(folder, add("transformer.h.1.attn.c_attn.weight", 16, 50)),
        ["h.1.attn.c_attn.weight has shape (16, 50)", "expected (16, 48), (inputs, outputs)"],
    ),
    "matrices of linear layers, which are the other way round": (
        lambda folder: load(folder, turn),
        ["c_attn.weight has shape (48, 16)", "expected (16, 48), (inputs, outputs)", "weight.T"],
    ),
    "a billion layers": (
        lambda folder: load(folder, n_layer=10**9),
        ["n_layers=1000000000", "holds only 28 tensors", "another model?"],
    ),
    "a vocabulary past all memory": (
        lambda folder: load(folder, vocab_size=10**30),
        [f"vocab_size={10**30}", "numbers", "another model?"],
    ),
    "positions past all memory": (
        lambda folder: load(folder, n_positions=10**30),
        ["describes no GPT2"],
    ),
    "an end that is text": (
        lambda folder: load(folder, eos_token_id="</s>"),
        ["describes no GPT2", "eos_id is of type str, '</s>'"],
    ),
    "one end of two that is text": (
        lambda folder: load(folder, eos_token_id=[4, "</s>"]),
        ["describes no GPT2", "eos_id is of type str, '</s>'"],
    ),
}


@pytest.mark.usefixtures("as_a_reader")
@pytest.mark.parametrize(("attempt", "says"), BAD_FILES.values(), ids=BAD_FILES)
def test_files_that_hold_no_gpt2_are_refused(attempt, says, tmp_path):
    with pytest.raises(ValueError) as caught:  # noqa: PT011 what it says is compared below
        attempt(tmp_path)
    for part in says:
        assert part in str(caught.value)
    assert "\n" not in str(caught.value)


BAD_SIZES: dict[str, Any] = {
    "no vocabulary": ({"vocab_size": 0}, ["vocab_size=0", "at least 1"]),
    "no positions": ({"max_len": -5}, ["max_len=-5", "at least 1"]),
    "an end that is no word": ({"eos_id": 50}, ["eos_id=50", "vocabulary of 50", "0 to 49"]),
    "one end of two": ({"eos_id": (3, 70)}, ["eos_id=(3, 70)", "0 to 49"]),
    "a negative beginning": ({"bos_id": -1}, ["bos_id=-1", "0 to 49"]),
    "padding that is no word": ({"pad_id": 99}, ["pad_id=99", "0 to 49"]),
    "all embeddings dropped": ({"embedding_dropout": 1.0}, ["embedding_dropout=1.0", "less than"]),
    "heads": ({"n_heads": 5}, ["d_model=16", "n_heads=5"]),
}
BAD_ENTRIES: dict[str, Any] = {
    "another model": ({"model_type": "llama"}, ["model_type='llama'", "'gpt2'"]),
    "cross-attention": ({"add_cross_attention": True}, ["add_cross_attention=True", "False"]),
    "unscaled scores": ({"scale_attn_weights": False}, ["scale_attn_weights=False", "True"]),
    "scores scaled by depth": (
        {"scale_attn_by_inverse_layer_idx": True},
        ["scale_attn_by_inverse_layer_idx=True", "False"],
    ),
    "reordered": ({"reorder_and_upcast_attn": True}, ["reorder_and_upcast_attn=True", "False"]),
    "another activation": ({"activation_function": "mish"}, ["'mish'", "'gelu_new'"]),
    "heads that do not divide": ({"n_head": 3}, ["d_model=16", "n_heads=3"]),
    "no heads": ({"n_head": 0}, ["n_heads=0", "at least 1"]),
    "a width that is text": ({"n_embd": "16"}, ["n_embd='16'", "int"]),
    "half a layer": ({"n_layer": 1.5}, ["n_layer=1.5", "int"]),
    "nothing": ({"n_positions": None}, ["n_positions=None", "int"]),
    "a feed-forward width that is true": ({"n_inner": True}, ["n_inner=True", "int"]),
    "dropout of everything": ({"resid_pdrop": 1}, ["dropout=1.0", "less than 1"]),
}
UNKNOWN_TO_THE_REFERENCE: dict[str, Any] = {
    "post-norm": ({"norm_first": False}, ["norm_first=False", "norm_first=True"]),
    "RMSNorm": ({"norm": "rms"}, ["norm='rms'", "norm='layer'"]),
    "a gate": ({"gated": True}, ["gated=True", "gated=False"]),
    "no biases": ({"bias": False}, ["bias=False", "bias=True"]),
    "shared keys": ({"n_kv_heads": 2}, ["n_kv_heads=2", "n_kv_heads=None"]),
    "a width of its own": ({"d_k": 7}, ["d_k=7", "d_k=None"]),
    "another scale": ({"scale": 0.5}, ["scale=0.5", "scale=None"]),
    "layers of different heads": ({"n_heads": (2, 4)}, ["n_heads=(2, 4)", "one number"]),
}
SMALL: dict[str, Any] = {
    "d_model": 16,
    "n_heads": 4,
    "n_layers": 2,
    "vocab_size": 50,
    "bos_id": 1,
    "eos_id": 2,
}
CASES: dict[str, Any] = {
    f"size: {name}": (lambda sizes=sizes: GPT2Config(**SMALL | sizes), says)
    for name, (sizes, says) in BAD_SIZES.items()
}
CASES |= {
    f"config.json: {name}": (
        lambda entries=entries: GPT2Config.from_reference(REFERENCE | entries),
        says,
    )
    for name, (entries, says) in BAD_ENTRIES.items()
}
CASES |= {
    f"saved: {name}": (lambda sizes=sizes: GPT2Config(**SMALL | sizes).to_reference(), says)
    for name, (sizes, says) in UNKNOWN_TO_THE_REFERENCE.items()
}


@pytest.mark.usefixtures("as_a_reader")
@pytest.mark.parametrize(("attempt", "says"), CASES.values(), ids=CASES)
def test_refused_with_both_values(attempt, says):
    with pytest.raises(ValueError) as caught:  # noqa: PT011 what it says is compared below
        attempt()
    for part in says:
        assert part in str(caught.value)


NEEDED = REFERENCE.keys() - {
    *("model_type", "n_inner", "attn_pdrop", "tie_word_embeddings"),
    *("bos_token_id", "eos_token_id", "pad_token_id"),
}


@pytest.mark.parametrize("missing", sorted(NEEDED))
def test_a_configuration_with_an_entry_missing_is_refused_by_name(missing):
    entries = {name: value for name, value in REFERENCE.items() if name != missing}
    with pytest.raises(ValueError, match=f"config.json has no '{missing}', which this class needs"):
        GPT2Config.from_reference(entries)


def test_the_smallest_model_and_the_last_position_are_allowed():
    smallest = GPT2Config(1, 1, 1, 1, vocab_size=1, max_len=1)
    assert GPT2(smallest)(torch.zeros(1, 1, dtype=torch.int32)).shape == (1, 1, 1)
    model = small_gpt2()
    assert model(some_ids(1, 1), positions=torch.tensor([[11]])).isfinite().all()
    with pytest.raises(ValueError, match="from 12 to 12"):
        model(some_ids(1, 1), positions=torch.tensor([[12]]))


def test_gpt2_refuses_1025_tokens():
    with torch.device("meta"), pytest.raises(ValueError, match=r"1025 tokens.*1024 only"):
        GPT2(GPT2Config())(torch.zeros(1, 1025, dtype=torch.int64))
