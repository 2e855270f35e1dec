"""A model of characters writes what the model says, and comes back from its folder as it was."""

from pathlib import Path
from typing import Any

import pytest
import torch

from glassbox.files import read_json, write_json
from glassbox.generation import generate
from glassbox.models import GPT2, GPT2Config, Llama, LlamaConfig
from glassbox.models.character_model import CharacterModel

SIZES: dict[str, Any] = {
    "d_model": 16,
    "n_heads": 2,
    "n_layers": 1,
    "d_ff": 32,
    "vocab_size": 5,
    "max_len": 8,
}


def models() -> list[CharacterModel]:
    torch.manual_seed(0)
    kinds = (GPT2(GPT2Config(**SIZES)), Llama(LlamaConfig(**SIZES, bos_id=None, eos_id=None)))
    return [CharacterModel(model.eval(), "ab\n 'e"[:5]) for model in kinds]


@pytest.mark.parametrize("number", [0, 1])
def test_text_goes_there_and_back(number: int) -> None:
    model = models()[number]
    assert model.decode(model.encode("ab ba\n")) == "ab ba\n"
    assert model.encode("").shape == (0,)


@pytest.mark.parametrize(
    ("ids", "error", "message"),
    [
        ([1, -1], ValueError, r"ids\[1\] is -1; this vocabulary has 5 tokens, 0 to 4"),
        (torch.tensor([5]), ValueError, r"ids\[0\] is 5; this vocabulary has 5 tokens"),
        (torch.ones(2, 3, dtype=torch.int64), ValueError, r"shape \(2, 3\); expected one axis"),
        ([1.5], TypeError, r"ids\[0\] is of type float, 1.5; expected a whole number"),
    ],
)
@pytest.mark.usefixtures("as_a_reader")
def test_ids_of_no_character_are_refused(ids: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        models()[0].decode(ids)


@pytest.mark.parametrize("option", ["eos_id", "pad_id", "max_new_tokens", "n_best", "stop_strings"])
def test_an_option_that_nothing_would_come_of_is_refused(option: str) -> None:
    with pytest.raises(ValueError, match=f"{option}: write gives one text of its length"):
        models()[0].write("a", 3, **{option: 1})


def test_it_writes_where_the_model_is(device: str) -> None:
    model = models()[0]
    expected = model.write("a", 12)
    model.model.to(device)
    assert model.write("a", 12) == expected


@pytest.mark.parametrize("number", [0, 1])
def test_what_fits_into_the_context_is_written_as_by_generate(number: int) -> None:
    model = models()[number]
    (ids,) = generate(model.model, model.encode("ab")[None], max_new_tokens=6)
    assert model.write("ab", 6) == model.decode(ids)


@pytest.mark.parametrize("length", [0, 1, 7, 30])
@pytest.mark.parametrize("beginning", ["a", "ab ba b", "ab ba ab", "ab ba ab ba ab ba"])
def test_more_than_fits_is_written_too(beginning: str, length: int) -> None:
    for model in models():
        written = model.write(beginning, length)
        assert len(written) == len(beginning) + length
        assert written.startswith(beginning)


@pytest.mark.parametrize("max_len", [1, 2, 3])
def test_a_context_may_be_short(max_len: int) -> None:
    model = CharacterModel(GPT2(GPT2Config(**SIZES | {"max_len": max_len})).eval(), "abcde")
    assert len(model.write("ab", 7)) == 9


def test_beyond_the_context_the_last_half_of_it_is_seen() -> None:
    model = models()[0]
    written = model.write("a", 9)
    (ids,) = generate(model.model, model.encode(written[4:8])[None], max_new_tokens=2)
    assert written[4:10] == model.decode(ids)


def test_a_seed_draws_the_same_text_again() -> None:
    model = models()[0]
    texts = [
        model.write("a", 40, sample=True, generator=torch.Generator().manual_seed(seed))
        for seed in (1, 1, 2)
    ]
    assert texts[0] == texts[1] != texts[2]


@pytest.mark.parametrize("dtype", [None, torch.bfloat16])
@pytest.mark.parametrize("number", [0, 1])
def test_a_folder_keeps_everything(number: int, dtype: torch.dtype | None, tmp_path: Path) -> None:
    model = models()[number]
    model.save_pretrained(tmp_path, dtype=dtype)
    read = CharacterModel.from_pretrained(tmp_path)
    assert read.characters == model.characters
    for name, tensor in read.model.state_dict().items():
        kept = model.model.state_dict()[name]
        assert torch.equal(tensor, kept if dtype is None else kept.to(dtype).float())


def test_a_folder_of_the_user_s_gets_all_of_it_or_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    model = models()[0]
    model.save_pretrained("~/new")
    assert CharacterModel.from_pretrained(tmp_path / "new").characters == model.characters
    model.characters = "abcd\ud800"  # half a character, which no file can hold
    with pytest.raises(UnicodeEncodeError):
        model.save_pretrained("~/other")
    assert not [*(tmp_path / "other").iterdir()]


def test_a_character_that_is_not_known_is_named() -> None:
    with pytest.raises(ValueError, match="the text has 'z', which is not among the 5 characters"):
        models()[0].encode("abz")


@pytest.mark.usefixtures("as_a_reader")
@pytest.mark.parametrize("text", [5, ["a", "b"]])
def test_what_is_no_text_is_refused(text: Any) -> None:
    for read in (models()[0].encode, lambda text: models()[0].write(text, 1)):
        with pytest.raises(TypeError, match=r"text is of type .*; expected a string"):
            read(text)


def test_an_empty_beginning_is_refused() -> None:
    with pytest.raises(ValueError, match="beginning is empty"):
        models()[0].write("", 3)
    with pytest.raises(ValueError, match="length=-3: expected an int, at least 0"):
        models()[0].write("a", -3)


@pytest.mark.parametrize("characters", ["abcd", "abcdef", "abcda"])
def test_characters_of_another_model_are_refused(characters: str) -> None:
    with pytest.raises(ValueError, match=rf"{len(characters)} characters, .* of 5 tokens"):
        CharacterModel(models()[0].model, characters)


@pytest.mark.usefixtures("as_a_reader")
def test_a_list_of_characters_which_no_folder_would_give_back_is_refused() -> None:
    characters: Any = [*"abcde"]
    with pytest.raises(ValueError, match=r"characters=\['a', .*; expected one string"):
        CharacterModel(models()[0].model, characters)


@pytest.mark.usefixtures("as_a_reader")
@pytest.mark.parametrize(
    ("entries", "message"),
    [
        ({}, "there is no 'characters'"),
        ({"characters": ["a"]}, r"characters=\['a'\]; expected one string"),
        ({"characters": "abc"}, "3 characters, 3 different ones, for a model of 5 tokens"),
    ],
)
def test_a_damaged_folder_is_refused(entries: dict, message: str, tmp_path: Path) -> None:
    models()[0].save_pretrained(tmp_path)
    write_json(tmp_path / "language_model.json", entries)
    with pytest.raises(ValueError, match=message):
        CharacterModel.from_pretrained(tmp_path)


@pytest.mark.parametrize("kind", ["bert", ["llama"]])
def test_another_kind_of_model_is_refused(kind: Any, tmp_path: Path) -> None:
    models()[0].save_pretrained(tmp_path)
    config = read_json(tmp_path / "config.json")
    write_json(tmp_path / "config.json", config | {"model_type": kind})
    with pytest.raises(ValueError, match=r"there is no .*(bert|llama).*\['gpt2', 'llama'\]"):
        CharacterModel.from_pretrained(tmp_path)


def test_a_missing_folder_is_named(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="nowhere"):
        CharacterModel.from_pretrained(tmp_path / "nowhere")


def test_the_package_s_own_is_found_by_its_name():
    found = CharacterModel.from_pretrained("shakespeare")
    assert found.characters == CharacterModel.from_pretrained().characters
    assert len(found.characters) == 65
    with pytest.raises(FileNotFoundError, match=r"no model 'moliere'.*carries: shakespeare"):
        CharacterModel.from_pretrained("moliere")
