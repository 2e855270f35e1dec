"""Models and their files: what is written, what is read, and what a Transformer's own hold."""

import copy
import json
import math
import os
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import numpy as np
import pytest
import torch
from huggingface_hub.errors import GatedRepoError
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import nn

from glassbox import weights
from glassbox.models import (
    GPT2,
    T5,
    Bert,
    BertConfig,
    BertForMaskedLM,
    BertForSequenceClassification,
    GPT2Config,
    Marian,
    MarianConfig,
    T5Config,
)
from glassbox.positional import (
    Positions,
    RelativePositionBias,
    RotaryPositions,
    SinusoidalPositions,
)
from glassbox.pretrained import Pretrained
from glassbox.transformer import Transformer, TransformerConfig
from tests.models.language_models import small_gpt2, small_llama

SIZES: dict[str, Any] = {"d_model": 16, "n_heads": 2, "n_layers": 2, "d_ff": 24, "vocab_size": 40}
KINDS: dict[str, dict[str, Any]] = {
    "the paper's": {},
    "sines before cosines": {"concatenated": True},
    "the waves of the paper's own code": {
        "concatenated": True,
        "endpoint": True,
        "first_position": 1,
    },
    "learned positions": {"positions": "learned", "max_len": 20},
    "relative positions": {"positions": "relative"},
    "rotary positions": {"positions": "rotary"},
    "ALiBi": {"positions": "alibi"},
    "no positions": {"positions": "none"},
    "pre-norm": {"norm_first": True},
    "root mean squares and a gate": {"norm": "rms", "gated": True, "activation": "silu"},
    "a second vocabulary": {"target_vocab_size": 30},
    "a projection of its own": {"tie_embeddings": False, "output_bias": True},
    "fewer layers that write": {"n_decoder_layers": 1},
    "layers that differ in their heads": {"n_heads": (2, 4)},
    "shared keys and values": {"n_kv_heads": 1, "bias": False},
}


def make(**sizes: Any) -> Transformer:
    model = Transformer(TransformerConfig(**SIZES | sizes))
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.normal_()
    return model.eval()


def run(model: Transformer) -> torch.Tensor:
    ids = torch.arange(3, 13).expand(2, -1)
    return model(ids, ids[:, :6])


@pytest.fixture
def saved(tmp_path):
    """A folder with a small Transformer in it."""
    make().save_pretrained(tmp_path / "model")
    return tmp_path / "model"


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
def test_a_transformer_of_any_kind_comes_back_as_it_was(kind, tmp_path):
    model = make(**kind)
    model.save_pretrained(tmp_path)
    loaded = Transformer.from_pretrained(tmp_path)
    assert loaded.config == model.config
    assert not loaded.training
    assert torch.equal(run(loaded), run(model))
    loaded.save_pretrained(tmp_path / "again")
    for file in ("config.json", "model.safetensors"):
        assert (tmp_path / "again" / file).read_bytes() == (tmp_path / file).read_bytes()


@pytest.mark.usefixtures("as_a_reader")
def test_sizes_that_are_numbers_of_numpy_are_python_s(tmp_path):
    sizes = {name: np.int64(size) for name, size in SIZES.items()} | {"dropout": np.float32(0.5)}
    for positions in ("relative", "alibi"):
        model = make(**sizes | {"n_heads": (np.int64(2),) * 2}, positions=positions)
        assert model.config == TransformerConfig(
            **SIZES | {"n_heads": (2, 2)}, dropout=0.5, positions=positions
        )
        model.save_pretrained(tmp_path)
        assert Transformer.from_pretrained(tmp_path).config == model.config


def test_a_transformer_s_files_have_this_package_s_names(saved):
    entries = json.loads((saved / "config.json").read_text())
    assert entries["model_type"] == "glassbox-transformer"
    assert (entries["d_model"], entries["positions"]) == (16, "sinusoidal")
    assert "encoder.layers.0.self_attention.query.weight" in load_file(saved / "model.safetensors")


@pytest.mark.parametrize(
    ("kind", "names"),
    [
        ({}, {"source_embedding.weight"}),
        ({"target_vocab_size": 30}, {"source_embedding.weight", "target_embedding.weight"}),
        ({"tie_embeddings": False}, {"source_embedding.weight", "output.weight"}),
    ],
)
def test_what_is_tied_is_written_once_and_tied_again_when_read(kind, names, tmp_path):
    make(**kind).save_pretrained(tmp_path)
    written = load_file(tmp_path / "model.safetensors")
    tables = ("source_embedding", "target_embedding", "output")
    assert {name for name in written if name.startswith(tables)} == names
    loaded = Transformer.from_pretrained(tmp_path)
    shared = loaded.target_embedding.weight is loaded.source_embedding.weight
    assert shared == ("target_vocab_size" not in kind)
    assert (loaded.output.weight is loaded.target_embedding.weight) == (
        "output.weight" not in names
    )


FROM_WEIGHTS: dict[str, Any] = {
    "this package's own": make,
    "GPT-2": small_gpt2,
    "LLaMA": small_llama,
    "tied LLaMA": lambda: small_llama(tie_embeddings=True),
    "T5": lambda: T5(T5Config(16, 2, 1, 24, vocab_size=40)),
    "Marian": lambda: Marian(MarianConfig(**SIZES, pad_id=1, bos_id=1)),
    "BERT": lambda: Bert(BertConfig(**SIZES)),
    "BERT with a head": lambda: BertForSequenceClassification(BertConfig(**SIZES)),
}


@pytest.mark.parametrize("build", FROM_WEIGHTS.values(), ids=FROM_WEIGHTS)
def test_one_call_makes_a_model_of_tensors_under_either_library_s_names(build):
    model = build().train()
    for given in (model.state_dict(), model.export()[1]):
        loaded = type(model).from_weights(model.config, given)
        assert not loaded.training
        assert loaded.state_dict().keys() == model.state_dict().keys()
        for name, x in loaded.state_dict().items():
            assert torch.equal(x, model.state_dict()[name]), name
            assert x.data_ptr() not in {y.data_ptr() for y in given.values()}, name


@dataclass(frozen=True)
class NamedSizes(GPT2Config):
    """A reader's own configuration: GPT-2's sizes, and a name for them."""

    name: str = ""


def test_a_configuration_with_entries_of_one_s_own_makes_the_same_model(tmp_path):
    model = small_gpt2()
    config = NamedSizes(**vars(model.config), name="mine")
    named = GPT2.from_weights(config, model.state_dict())
    ids = torch.arange(5)[None]
    assert named.config == config
    assert torch.equal(named(ids), model(ids))
    with pytest.raises(ValueError, match="name='mine': the reference library's model"):
        named.save_pretrained(tmp_path)  # its files have no place for the name


def test_a_tied_parameter_may_come_under_its_second_name():
    model, given = make(), dict(make().state_dict())
    table = given.pop("source_embedding.weight")
    del given["target_embedding.weight"]
    model.load_weights(given)
    assert torch.equal(model.source_embedding.weight, table)
    assert model.output.weight is model.source_embedding.weight


REPLACED: dict[str, Any] = {
    "interleaved turns": (small_llama, "positions", RotaryPositions(4, interleaved=True)),
    "other turns": (
        lambda: make(positions="rotary"),
        "target_positions",
        RotaryPositions(8, base=10_001.0),
    ),
    "cosines between sines": (
        lambda: Marian(MarianConfig(**SIZES, pad_id=1, bos_id=1)),
        "source_positions",
        SinusoidalPositions(16),
    ),
    "another largest distance": (
        lambda: T5(T5Config(16, 2, 1, 24, vocab_size=40)),
        "target_positions",
        RelativePositionBias(2, max_distance=64, bidirectional=False),
    ),
    "no positions": (small_gpt2, "positions", Positions()),
}


@pytest.mark.parametrize(("build", "name", "other"), REPLACED.values(), ids=REPLACED)
def test_a_model_whose_positions_were_replaced_is_not_saved_as_another(
    build, name, other, tmp_path
):
    model = build()
    own = getattr(model, name)
    setattr(model, name, other)
    with pytest.raises(ValueError, match="would load as another model") as caught:
        model.save_pretrained(tmp_path / "model")
    for part in (f"{name} is {other}", f"which means {own}", "interleaved_to_half"):
        assert part in str(caught.value)
    assert not (tmp_path / "model").exists()
    setattr(model, name, own)
    model.save_pretrained(tmp_path / "model")


def test_a_model_with_a_changed_part_is_not_saved_as_another(tmp_path):
    model = small_gpt2()
    layer: Any = model.decoder.layers[0]
    layer.self_attention.scale = 1.0
    with pytest.raises(ValueError, match=r"layers\.0\.self_attention\.scale is not what"):
        model.save_pretrained(tmp_path)
    layer.self_attention.scale = None
    layer.feed_forward.activation = torch.relu
    with pytest.raises(ValueError, match=r"layers\.0\.feed_forward\.activation is not what"):
        model.save_pretrained(tmp_path)
    assert not [*tmp_path.iterdir()]


def test_an_attribute_of_ones_own_is_not_in_the_way(tmp_path):
    model: Any = small_gpt2()
    model.note = model.decoder.layers[0].note = "mine"
    model.save_pretrained(tmp_path / "model")
    model.forward = print  # this hides a method
    with pytest.raises(ValueError, match=r"^forward is not what the configuration says"):
        model.save_pretrained(tmp_path / "other")


class WithScore(GPT2):
    """A reader's own: a GPT-2 with a head that no published one has."""

    def __init__(self, config: GPT2Config) -> None:
        super().__init__(config)
        self.score = nn.Linear(16, 3)


# What is done to a model before it is saved, and what the message must hold.
UNSAVED: dict[str, Any] = {
    "a layer too many": (
        lambda model: model.decoder.layers.append(copy.deepcopy(model.decoder.layers[0])),
        ["Unexpected: decoder.layers.2.self_attention.query.weight, ", "undo the change"],
    ),
    "a layer too few": (
        lambda model: setattr(model.decoder, "layers", model.decoder.layers[:1]),
        ["Missing: decoder.layers.1.self_attention.query.weight, ", "in this GPT2 do not fit"],
    ),
    "a part of one's own": (
        lambda model: setattr(model, "extra", nn.Linear(3, 3)),
        ["Unexpected: extra.weight, extra.bias", "save state_dict() yourself"],
    ),
    "a buffer": (
        lambda model: model.register_buffer("steps", torch.tensor(7)),
        ["Unexpected: steps. Only what"],
    ),
    "a head of a class of one's own": (
        lambda model: WithScore(model.config),
        ["no names for score.weight, score.bias in", "save the model's state_dict() yourself"],
    ),
}


@pytest.mark.parametrize(("change", "says"), UNSAVED.values(), ids=UNSAVED)
def test_what_the_files_have_no_place_for_is_not_lost(change, says, tmp_path):
    model = small_gpt2()
    changed = change(model)
    model = changed if isinstance(changed, GPT2) else model
    with pytest.raises(ValueError, match="state_dict") as caught:
        model.save_pretrained(tmp_path / "model")
    for part in says:
        assert part in str(caught.value)
    assert not (tmp_path / "model").exists()


def test_a_model_of_ours_is_copied(saved):
    model = Transformer.from_pretrained(saved)
    copied = Transformer.from_pretrained(model)
    assert torch.equal(run(copied), run(model))
    with torch.no_grad():
        copied.source_embedding.weight.zero_()
    assert model.source_embedding.weight.abs().max() > 0


@pytest.mark.parametrize("build", FROM_WEIGHTS.values(), ids=FROM_WEIGHTS)
def test_a_state_dict_gets_the_reference_s_names_though_it_names_tied_parameters_twice(build):
    model = build()
    found = model.to_reference(model.state_dict())
    expected = model.export()[1]
    assert found.keys() == expected.keys()
    assert all(torch.equal(found[name], x) for name, x in expected.items())


def test_loading_draws_no_random_numbers_and_takes_no_memory_twice(saved):
    torch.manual_seed(5)
    expected = torch.rand(3)
    torch.manual_seed(5)
    model = Transformer.from_pretrained(saved)
    assert torch.equal(torch.rand(3), expected)
    for name, parameter in model.named_parameters():
        assert parameter.is_contiguous(), name
        assert parameter.requires_grad, name
        assert parameter.device.type == "cpu", name
        assert parameter.untyped_storage().nbytes() == parameter.nbytes, name


def test_a_loaded_model_lives_on_when_its_file_changes(saved):
    model = Transformer.from_pretrained(saved)
    before = run(model)
    file = saved / "model.safetensors"
    with file.open("r+b") as stream:
        stream.seek(2000)
        stream.write(b"\xff" * (file.stat().st_size - 2000))
    assert torch.equal(run(model), before)
    model.save_pretrained(saved)  # over the file it came from
    assert torch.equal(run(Transformer.from_pretrained(saved)), before)


def test_inside_another_device_s_block_it_loads_on_the_cpu(saved):
    with torch.device("meta"):
        model = Transformer.from_pretrained(saved)
    assert {x.device.type for x in model.parameters()} == {"cpu"}


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float64])
def test_every_precision_is_kept_in_files(dtype, tmp_path):
    model = make().to(dtype)
    model.save_pretrained(tmp_path)
    assert json.loads((tmp_path / "config.json").read_text())["dtype"] == str(dtype)[6:]
    loaded = Transformer.from_pretrained(tmp_path)
    assert {x.dtype for x in loaded.parameters()} == {dtype}


def test_numbers_that_are_none_are_read_like_any_others(tmp_path):
    model = make()
    with torch.no_grad():
        model.source_embedding.weight[0] = math.nan
    model.save_pretrained(tmp_path)
    loaded = Transformer.from_pretrained(tmp_path)
    torch.testing.assert_close(loaded.state_dict(), model.state_dict(), equal_nan=True)
    loaded.load_weights(model.state_dict())  # tied, and equal to each other all the same


def split(folder: Path, n_files: int = 3) -> Path:
    """Divide a model's file as large models are divided."""
    whole = folder / "model.safetensors"
    tensors = load_file(whole)
    whole.unlink()
    for i in range(n_files):
        part = {name: x for k, (name, x) in enumerate(tensors.items()) if k % n_files == i}
        save_file(part, folder / f"model-{i + 1:05}-of-{n_files:05}.safetensors")
    return folder


def test_a_model_in_several_files_is_read_whole(saved):
    expected = run(Transformer.from_pretrained(saved))
    assert torch.equal(run(Transformer.from_pretrained(split(saved))), expected)


def test_the_reference_s_own_division_is_read(tmp_path):
    from transformers import T5Config as ReferenceConfig
    from transformers import T5ForConditionalGeneration

    sizes: dict[str, Any] = {"d_model": 16, "d_kv": 4, "d_ff": 8, "num_layers": 1, "num_heads": 2}
    reference = T5ForConditionalGeneration(ReferenceConfig(vocab_size=40, **sizes)).eval()
    reference.save_pretrained(tmp_path, max_shard_size="3KB")
    assert len(list(tmp_path.glob("model-*.safetensors"))) > 1
    ids = torch.randint(40, (2, 5))
    expected = reference(input_ids=ids, decoder_input_ids=ids).logits
    torch.testing.assert_close(T5.from_pretrained(tmp_path)(ids, ids), expected, atol=1e-5, rtol=0)


def test_what_is_written_over_a_divided_model_takes_its_place(saved):
    split(saved)
    other = make()
    other.save_pretrained(saved)
    assert torch.equal(run(Transformer.from_pretrained(saved)), run(other))


def test_a_write_that_fails_leaves_what_was_there(saved, monkeypatch):
    before = {file.name: file.read_bytes() for file in saved.iterdir()}

    def full(_tensors: Any, file: Path, **_options: Any) -> None:
        assert file.parent.parent == saved  # on the same disk, where a move is one step
        raise SafetensorError("no space left on device")

    monkeypatch.setattr(weights, "save_file", full)
    with pytest.raises(OSError, match=f"cannot be written to {saved}: no space left"):
        make().save_pretrained(saved)
    assert {file.name: file.read_bytes() for file in saved.iterdir()} == before


def test_folders_are_made_and_both_files_may_be_read_by_whoever_may_read_others(tmp_path):
    folder = tmp_path / "new" / "model"
    before = os.umask(0o022)
    try:
        make().save_pretrained(folder)
    finally:
        os.umask(before)
    assert sorted(file.name for file in folder.iterdir()) == ["config.json", "model.safetensors"]
    for file in folder.iterdir():
        assert stat.S_IMODE(file.stat().st_mode) == 0o644, file.name


def test_home_is_understood(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    make().save_pretrained("~/mine")
    assert (tmp_path / "mine" / "model.safetensors").is_file()


def test_a_tilde_behind_a_dot_is_a_name(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    make().save_pretrained("./~mine")
    assert (tmp_path / "~mine" / "model.safetensors").is_file()
    Transformer.from_pretrained("./~mine")


def test_a_parameter_with_two_names_is_found_without_being_told():
    class Tied(Pretrained):
        def __init__(self) -> None:
            super().__init__()
            self.first, self.second, self.other = (nn.Linear(3, 3) for _ in range(3))
            self.second.weight = self.first.weight

    assert Tied().tied_names() == {"second.weight": "first.weight"}


MODELS = pytest.mark.parametrize("make_model", [small_gpt2, make], ids=["GPT2", "ours"])


@MODELS
@pytest.mark.parametrize("assign", [True, False], ids=["assigned", "copied into an empty model"])
def test_tied_parameters_stay_tied_however_they_are_loaded(make_model, assign):
    model = make_model()
    tied, weights = model.tied_names(), {n: x.clone() for n, x in model.state_dict().items()}
    assert tied
    other = copy.deepcopy(model).to("meta")
    assert other.tied_names() == tied
    if not assign:
        other.to_empty(device="cpu")
    other.load_state_dict(weights, assign=assign)
    assert other.tied_names() == tied
    for name, x in other.state_dict().items():
        assert torch.equal(x, weights[name])


@MODELS
def test_equal_parameters_that_were_tied_are_saved_once(make_model, tmp_path):
    model = make_model()
    expected = model.export()[1]
    for name in model.tied_names():
        part, _, last = name.rpartition(".")
        own = nn.Parameter(model.get_parameter(name).detach().clone())
        setattr(model.get_submodule(part), last, own)
    assert not model.tied_names()
    model.save_pretrained(tmp_path)
    assert load_file(tmp_path / "model.safetensors").keys() == expected.keys()
    loaded = type(model).from_pretrained(tmp_path)
    assert loaded.tied_names()
    for name, x in loaded.export()[1].items():
        assert torch.equal(x, expected[name])


def damage(folder: Path, **entries: Any) -> Path:
    described = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(described | entries))
    return folder


def without_last_part(folder: Path) -> Path:
    (split(folder) / "model-00003-of-00003.safetensors").unlink()
    return folder


def with_part_of_another(folder: Path) -> Path:
    (split(folder) / "model-00001-of-00004.safetensors").write_bytes(b"")
    return folder


def cut_last_part(folder: Path) -> Path:
    file = split(folder) / "model-00003-of-00003.safetensors"
    file.write_bytes(file.read_bytes()[:-5])
    return folder


def with_tensor(folder: Path, name: str, tensor: torch.Tensor) -> Path:
    file = folder / "model.safetensors"
    save_file(load_file(file) | {name: tensor}, file)
    return folder


# What is done to a saved Transformer before it is read, the error, what its message must hold.
BAD_FILES: dict[str, Any] = {
    "another model's configuration": (
        lambda folder: damage(folder, model_type="t5"),
        ValueError,
        ["model_type='t5'", "'glassbox-transformer'"],
    ),
    "a field that is none": (
        lambda folder: damage(folder, n_heds=3),
        ValueError,
        ["['n_heds'] in config.json", "no such fields"],
    ),
    "a width in words": (
        lambda folder: damage(folder, d_ff="wide"),
        ValueError,
        ["the configuration of", "describes no Transformer", "d_ff is of type str, 'wide'"],
    ),
    "a switch in words": (
        lambda folder: damage(folder, scale_embeddings="no"),
        ValueError,
        ["describes no Transformer", "scale_embeddings is of type str, 'no'", "True or False"],
    ),
    "a width that does not divide": (
        lambda folder: damage(folder, n_heads=3),
        ValueError,
        ["d_model=16", "n_heads=3"],
    ),
    "a width that the weights have not": (
        lambda folder: damage(folder, d_ff=25),
        ValueError,
        ["expand.weight", "(24, 16)", "(25, 16)"],
    ),
    "more layers than there are weights for": (
        lambda folder: damage(folder, n_layers=3),
        ValueError,
        ["Missing", "encoder.layers.2.self_attention.query.weight"],
    ),
    "a tensor too many": (
        lambda folder: with_tensor(folder, "extra.weight", torch.ones(1)),
        ValueError,
        ["Unexpected", "extra.weight"],
    ),
    "a tensor of another shape": (
        lambda folder: with_tensor(folder, "source_embedding.weight", torch.ones(39, 16)),
        ValueError,
        ["source_embedding.weight", "(39, 16)", "(40, 16)"],
    ),
    "another projection than the embedding that it is tied to": (
        lambda folder: with_tensor(folder, "output.weight", torch.ones(40, 16)),
        ValueError,
        ["output.weight and source_embedding.weight differ", "one parameter for both"],
    ),
    "whole numbers": (
        lambda folder: with_tensor(folder, "encoder.norm.bias", torch.ones(16, dtype=torch.int8)),
        ValueError,
        ["encoder.norm.bias in", "is torch.int8", "torch.float32", "dequantised"],
    ),
    "a billion layers": (
        lambda folder: damage(folder, n_decoder_layers=10**9),
        ValueError,
        ["n_decoder_layers=1000000000", "tensors", "another model?"],
    ),
    "a vocabulary past all memory": (
        lambda folder: damage(folder, vocab_size=10**30),
        ValueError,
        [f"vocab_size={10**30}", "numbers", "another model?"],
    ),
    "positions past all memory": (
        lambda folder: damage(folder, positions="learned", max_len=10**30),
        ValueError,
        ["describes no Transformer"],
    ),
    "a part that is missing": (
        without_last_part,
        FileNotFoundError,
        ["2 of 3 files", "model-00001-of-00003.safetensors", "fetch the others"],
    ),
    "a part of another model": (
        with_part_of_another,
        ValueError,
        ["holds model-00001-of-00004.safetensors as well as all 3 files like", "move away"],
    ),
    "a part that is cut off": (
        cut_last_part,
        ValueError,
        ["model-00003-of-00003.safetensors", "truncated"],
    ),
}


@pytest.mark.usefixtures("as_a_reader")
@pytest.mark.parametrize(("attempt", "error", "says"), BAD_FILES.values(), ids=BAD_FILES)
def test_a_folder_that_is_damaged_is_refused(attempt, error, says, saved):
    folder = attempt(saved)
    with pytest.raises(error) as caught:
        Transformer.from_pretrained(folder)
    for part in says:
        assert part in str(caught.value)
    assert "\n" not in str(caught.value)


def a_file(tmp_path: Path) -> Path:
    (tmp_path / "file").write_text("")
    return tmp_path / "file"


def in_a_file(tmp_path: Path) -> None:
    os.chdir(a_file(tmp_path).parent)
    Transformer.from_pretrained("file")


def rename(prefix: str, use: Any) -> None:
    model = use.__self__
    use({prefix + name: x for name, x in model.state_dict().items()})


def with_an_output_apart() -> GPT2:
    model = small_gpt2()
    model.output.weight = nn.Parameter(model.output.weight.detach() + 1)
    return model


def from_weights(convert: Any) -> GPT2:
    model = small_gpt2()
    weights = {name: convert(x) for name, x in model.state_dict().items()}
    return GPT2.from_weights(model.config, weights)


BAD_CALLS: dict[str, Any] = {
    "arrays": (
        lambda _: make().load_weights({"encoder.norm.bias": np.ones(16)}),  # type: ignore[dict-item]
        TypeError,
        ["encoder.norm.bias is of type ndarray", "torch.as_tensor"],
    ),
    "arrays under the reference's names": (
        lambda _: small_gpt2().from_reference({"wte.weight": np.ones(16)}),  # type: ignore[dict-item]
        TypeError,
        ["wte.weight is of type ndarray", "torch.as_tensor"],
    ),
    "names of a wrapped model": (
        lambda _: rename("module.", small_llama().load_weights),
        ValueError,
        ["'module.embedding.weight' begins with 'module.'", "DataParallel", "removeprefix"],
    ),
    "names of a wrapped model of the reference": (
        lambda _: rename("_orig_mod.model.", small_llama().from_reference),
        ValueError,
        ["begins with '_orig_mod.'", "torch.compile", "name.removeprefix('_orig_mod.')"],
    ),
    "our names for the reference's": (
        lambda _: rename("", small_llama().from_reference),
        ValueError,
        ["'embedding.weight' is this package's own name", "from_weights(config, weights)"],
    ),
    "our names for the reference's in a head": (
        lambda _: rename("", BertForMaskedLM(BertConfig(**SIZES)).from_reference),
        ValueError,
        ["'bert.embeddings.token.weight' is this package's own name", "load_weights as they are"],
    ),
    "the reference's names for ours": (
        lambda _: small_gpt2().load_weights(small_gpt2().export()[1]),
        ValueError,
        [
            *("is the reference library's name", "load_weights(model.from_reference(weights))"),
            "GPT2.from_weights(config, weights)",
        ],
    ),
    "the sizes of another kind of model": (
        lambda _: Bert.from_weights(small_gpt2().config, small_gpt2().state_dict()),
        ValueError,
        ["the configuration of this dictionary describes no Bert", "type GPT2Config"],
    ),
    "another model's configuration": (
        lambda _: Marian(TransformerConfig.tiny(vocab_size=40)),  # type: ignore[arg-type]
        TypeError,
        ["config is of type TransformerConfig", "a MarianConfig for a Marian"],
    ),
    "the configuration of a model that is built on this one": (
        lambda _: Transformer(T5Config(vocab_size=40, d_model=8, n_heads=2, n_layers=1, d_ff=8)),
        TypeError,
        ["config is of type T5Config", "a TransformerConfig for a Transformer"],
    ),
    "no configuration": (
        lambda _: GPT2({"d_model": 8}),  # type: ignore[arg-type]
        TypeError,
        ["config is of type dict", "a GPT2Config for a GPT2"],
    ),
    "weights of eight bits": (
        lambda folder: make().save_pretrained(folder, torch.float8_e5m2),
        ValueError,
        ["dtype=torch.float8_e5m2", "16 bits or more"],
    ),
    "nothing": (
        lambda _: make().load_weights({}),
        ValueError,
        ["this dictionary", "Missing: source_embedding.weight, encoder.", " and 82 more"],
    ),
    "four names too many": (
        lambda _: make().load_weights(make().state_dict() | dict.fromkeys("abcd", torch.ones(1))),
        ValueError,
        ["Unexpected: a, b, c and 1 more"],
    ),
    "three names too many": (
        lambda _: make().load_weights(make().state_dict() | dict.fromkeys("abc", torch.ones(1))),
        ValueError,
        ["Unexpected: a, b, c"],
    ),
    "a number for a name": (
        lambda _: GPT2.from_pretrained(3),  # type: ignore[arg-type]
        TypeError,
        ["source is of type int, 3; expected a name on the Hugging Face hub, a folder"],
    ),
    "weights without numbers": (
        lambda _: from_weights(lambda x: x.to("meta")),
        ValueError,
        ["embedding.weight is a torch.strided tensor on meta", "the meta device holds no numbers"],
    ),
    "a model without numbers": (
        lambda tmp_path: small_gpt2().to("meta").save_pretrained(tmp_path),
        ValueError,
        ["embedding.weight is a torch.strided tensor on meta", "the meta device holds no numbers"],
    ),
    "an output that is no longer tied": (
        lambda tmp_path: with_an_output_apart().save_pretrained(tmp_path),
        ValueError,
        [
            "embedding.weight and output.weight differ, but the configuration has one parameter",
            "model.output.weight = model.embedding.weight",
        ],
    ),
    "sparse weights": (
        lambda _: from_weights(torch.Tensor.to_sparse),
        ValueError,
        ["embedding.weight is a torch.sparse_coo tensor on cpu; expected", "x.to_dense()"],
    ),
    "no name": (
        lambda _: Transformer.from_pretrained(),
        ValueError,
        ["which Transformer?", "hub", "folder"],
    ),
    "a file to read": (
        lambda tmp_path: Transformer.from_pretrained(a_file(tmp_path)),
        FileNotFoundError,
        ["no folder", "file"],
    ),
    "a file here, which is no name on the hub": (
        in_a_file,
        FileNotFoundError,
        ["no folder 'file'"],
    ),
    "a file to write to": (
        lambda tmp_path: make().save_pretrained(a_file(tmp_path)),
        FileExistsError,
        ["is a file", "expected a folder"],
    ),
    "a module without a configuration": (
        lambda _: Bert.from_pretrained(nn.Linear(2, 2)),
        ValueError,
        ["this Linear has no configuration"],
    ),
    "a model of ours of another kind": (
        lambda _: Bert.from_pretrained(T5(T5Config(16, 2, 1, 24, vocab_size=40))),
        ValueError,
        ["model_type='t5'", "'bert'"],
    ),
    "a model that the reference has not": (
        lambda tmp_path: Bert(BertConfig(**SIZES, norm_first=True)).save_pretrained(tmp_path),
        ValueError,
        ["norm_first=True", "norm_first=False"],
    ),
    "the packaged model as a translator": (
        lambda _: Marian.from_pretrained("minilm"),
        ValueError,
        ["model_type='bert'", "'marian'"],
    ),
}


@pytest.mark.usefixtures("as_a_reader")
@pytest.mark.parametrize(("attempt", "error", "says"), BAD_CALLS.values(), ids=BAD_CALLS)
def test_refused_with_both_values(attempt, error, says, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # and back, whatever the attempt does
    with pytest.raises(error) as caught:
        attempt(tmp_path)
    for part in says:
        assert part in str(caught.value)


def test_a_model_that_the_reference_has_not_leaves_no_folder(tmp_path):
    with pytest.raises(ValueError, match="bias=False"):
        Bert(BertConfig(**SIZES, bias=False)).save_pretrained(tmp_path / "model")
    assert not (tmp_path / "model").exists()


def test_a_model_that_must_be_asked_for_is_said_so(monkeypatch):
    def refuse(*_args: Any, **_options: Any) -> None:
        raise GatedRepoError("ask first", response=Mock())

    monkeypatch.setattr("huggingface_hub.snapshot_download", refuse)
    with pytest.raises(PermissionError, match=r"'some/model'.*licence.*hf auth login"):
        T5.from_pretrained("some/model")
