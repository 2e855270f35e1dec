"""Models from their folders: a translator, or a language model of characters, or an error."""

import json
import re
import shutil
from typing import Any

import pytest
import torch

from glassbox.evaluation import load_model
from glassbox.models import GPT2, BertConfig, BertForMaskedLM, GPT2Config, Llama, LlamaConfig
from glassbox.models.character_model import CharacterModel
from glassbox.models.fill_mask import FillMask
from glassbox.tokenization import WordPiece
from glassbox.translation import Translator
from tests.translation import toy

CHARACTERS = "\n abé"
SIZES: dict[str, Any] = {
    "d_model": 8,
    "n_heads": 2,
    "n_layers": 1,
    "max_len": 6,
    "vocab_size": len(CHARACTERS),
}


def save(folder, model=None, entries=None):
    """Write a language model as training does."""
    (model or Llama(LlamaConfig(**SIZES, d_ff=16))).save_pretrained(folder)
    entries = {"characters": CHARACTERS} if entries is None else entries
    (folder / "language_model.json").write_text(json.dumps(entries), encoding="utf-8")
    return folder


def load(folder):
    """Load what has to be a language model."""
    loaded = load_model(folder)
    assert isinstance(loaded, CharacterModel)
    return loaded


@pytest.mark.parametrize(
    "model", [Llama(LlamaConfig(**SIZES, d_ff=16)), GPT2(GPT2Config(**SIZES, d_ff=32))]
)
def test_a_language_model_comes_back_with_its_characters(model, tmp_path):
    loaded = load(save(tmp_path, model.to(torch.bfloat16)))
    assert type(loaded.model) is type(model)
    assert loaded.characters == CHARACTERS
    assert not loaded.model.training
    for name, parameter in loaded.model.named_parameters():
        assert parameter.dtype == torch.float32
        assert torch.equal(parameter, model.get_parameter(name).float())


def test_a_character_has_the_number_of_its_place(tmp_path):
    loaded = load(save(tmp_path))
    assert loaded.encode("é\n ab").tolist() == [4, 0, 1, 2, 3]
    assert loaded.encode("").tolist() == []


def test_a_character_that_the_model_does_not_know_is_named(tmp_path):
    with pytest.raises(ValueError, match="the text has 'z', which is not among the 5 characters"):
        load(save(tmp_path)).encode("abz")


def test_a_translator_comes_back(tmp_path):
    toy.blank().save_pretrained(tmp_path)
    loaded = load_model(str(tmp_path))
    assert isinstance(loaded, Translator)
    assert loaded.translate("I see a dog.", "fr") == toy.blank().translate("I see a dog.", "fr")


def test_a_bert_comes_back(tmp_path):
    tokenizer = WordPiece.train(["the cat sat on the mat"], 30)
    sizes: dict[str, Any] = {"d_model": 8, "n_heads": 2, "n_layers": 1, "d_ff": 16, "max_len": 6}
    model = BertForMaskedLM(BertConfig(vocab_size=len(tokenizer), **sizes)).eval()
    FillMask(model, tokenizer).save_pretrained(tmp_path)
    loaded = load_model(tmp_path)
    assert isinstance(loaded, FillMask)
    assert loaded("the [MASK]") == FillMask(model, tokenizer)("the [MASK]")


def test_a_folder_here_is_not_taken_for_what_is_carried(tmp_path, monkeypatch):
    (tmp_path / "pretrained_weights").mkdir()
    monkeypatch.setattr("glassbox.weights.PACKAGED", tmp_path / "pretrained_weights")
    save(tmp_path)
    monkeypatch.chdir(tmp_path)
    assert load(".").characters == CHARACTERS


@pytest.mark.parametrize("name", ["no-such-model", "", "~/no such folder"])
def test_a_name_that_means_nothing_is_refused(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(FileNotFoundError, match=re.escape(f"no model {name!r}")):
        load_model(name)


def test_an_empty_folder_is_refused(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"no translator\.json or language_model"):
        load_model(tmp_path)


@pytest.mark.parametrize(
    ("entries", "says"),
    [
        ({}, "there is no 'characters'"),
        ({"characters": "abc"}, "3 characters, 3 different ones, for a model of 5 tokens"),
        ({"characters": "aabcd"}, "5 characters, 4 different ones, for a model of 5 tokens"),
        ({"characters": ""}, "0 characters"),
        ([], "expected a JSON object"),
    ],
)
def test_characters_that_do_not_fit_are_refused(entries, says, tmp_path):
    with pytest.raises(ValueError, match=says):
        load_model(save(tmp_path, entries=entries))


@pytest.mark.usefixtures("as_a_reader")
@pytest.mark.parametrize("characters", [None, 5, ["a", "b"], {"a": 0}])
def test_characters_that_are_no_text_are_refused(characters, tmp_path):
    with pytest.raises(ValueError, match="expected one string"):
        load_model(save(tmp_path, entries={"characters": characters}))


def test_another_kind_of_model_is_refused(tmp_path):
    config = json.loads((save(tmp_path) / "config.json").read_text())
    (tmp_path / "config.json").write_text(json.dumps(config | {"model_type": "mamba"}))
    with pytest.raises(ValueError, match=r"there is no 'mamba'; .* one of \['gpt2', 'llama'\]"):
        load_model(tmp_path)


@pytest.mark.parametrize("file", ["config.json", "model.safetensors"])
def test_a_missing_file_is_named(file, tmp_path):
    (save(tmp_path) / file).unlink()
    with pytest.raises(FileNotFoundError, match=re.escape(str(tmp_path))):
        load_model(tmp_path)


def test_a_file_that_is_cut_off_is_named(tmp_path):
    file = save(tmp_path) / "language_model.json"
    file.write_bytes(file.read_bytes()[:10])
    with pytest.raises(ValueError, match=r"language_model\.json is not JSON, or truncated"):
        load_model(tmp_path)


def test_what_the_package_carries_is_found_by_name(tmp_path, monkeypatch):
    carried = tmp_path / "tiny"
    carried.mkdir()
    save(carried)
    monkeypatch.setattr("glassbox.weights.PACKAGED", tmp_path)
    assert load("tiny").characters == CHARACTERS
    shutil.rmtree(carried)
    with pytest.raises(FileNotFoundError, match="that this package carries: none"):
        load_model("tiny")
