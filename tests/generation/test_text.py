"""Text as it is written: whole characters, and strings that end it."""

from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import AutoTokenizer, StopStringCriteria

from glassbox.generation import generate, has_stop_string, stream, text_pieces
from glassbox.tokenization import SentencePieceBPE
from tests.generation.stub import TableModel


class Bytes:
    """A tokenizer whose tokens are bytes."""

    def encode(self, text: str) -> list[int]:
        return list(text.encode())

    def decode(self, ids: list[int]) -> str:
        return bytes(ids).decode(errors="replace")


@given(st.text())
def test_no_piece_cuts_a_character_and_together_they_are_the_text(text):
    pieces = list(text_pieces(Bytes().encode(text), Bytes()))
    assert "".join(pieces) == text
    assert all(pieces)
    if "\ufffd" not in text:
        assert not any("\ufffd" in piece for piece in pieces)


@given(st.binary())
def test_bytes_that_are_no_text_come_out_as_the_tokenizer_has_them(noise):
    assert "".join(text_pieces(noise, Bytes())) == Bytes().decode(list(noise))


@given(st.text(st.characters(codec="utf-8", exclude_characters="\ufffd"), min_size=1))
def test_a_character_is_given_with_its_last_byte(text):
    """Nothing waits longer than it must: after n characters' bytes there are n characters."""
    pieces = text_pieces(Bytes().encode(text), Bytes())
    for character in text:
        assert next(pieces) == character


def test_no_character_is_cut_where_each_of_its_bytes_has_a_replacement():
    tokenizer = SentencePieceBPE.train(["a b"], 300)
    ids = tokenizer.encode("a €5 👩 b")
    assert tokenizer.decode(ids[:5]).endswith("\ufffd\ufffd")
    assert "|".join(text_pieces(ids, tokenizer)) == "<s>| a| |€|5| |👩| b"


def test_pieces_of_a_trained_tokenizer_join_to_its_text():
    text = "naïve café, 東京タワー, 👩‍👩‍👧 and a flag 🇺🇳; the end."
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    tokenizer.train_from_iterator(
        [text], trainers.BpeTrainer(vocab_size=280, initial_alphabet=alphabet)
    )
    ids = tokenizer.encode(text).ids
    pieces = list(text_pieces(ids, tokenizer))
    assert "".join(pieces) == text
    assert len(pieces) < len(ids)  # some characters are more than one token
    assert not any("\ufffd" in piece for piece in pieces)


def test_tokens_without_text_are_skipped_and_tensors_are_read():
    tokens = [torch.tensor([104]), torch.tensor([0]), torch.tensor([105])]
    assert list(text_pieces(tokens, Bytes(), skip=(0,))) == ["h", "i"]


def test_stop_strings_are_found_in_every_row_across_tokens():
    ids = torch.tensor([Bytes().encode(text) for text in ("the end.", "the enx.", "end the.")])
    assert has_stop_string(ids, Bytes(), ["end"]).tolist() == [True, False, True]
    assert has_stop_string(ids, Bytes(), ["x", "he e"]).tolist() == [True, True, False]


def test_a_stop_string_may_begin_with_the_space_before_the_first_new_word(tmp_path):
    tokenizer = SentencePieceBPE.train(["the end of the world", "hello world how are you"], 330)
    tokenizer.save(tmp_path)
    reference = AutoTokenizer.from_pretrained(tmp_path)
    prompt = tokenizer.encode("hello")
    ids = torch.tensor([[*prompt, tokenizer.token_id(word)] for word in ("▁end", "▁the")])
    for stop_strings in ([" end"], ["end"], [" the", "x"], ["o end"]):
        theirs = StopStringCriteria(reference, stop_strings)(ids, torch.empty(0))
        ours = has_stop_string(ids, tokenizer, stop_strings)
        assert torch.equal(ours, theirs)
        theirs &= torch.tensor("o end" not in stop_strings)  # begins in the prompt
        assert torch.equal(has_stop_string(ids, tokenizer, stop_strings, len(prompt)), theirs)


def test_half_a_character_at_the_end_of_the_prompt_counts_as_new():
    ids = torch.tensor([Bytes().encode("aé")])
    for stop_string, found in (("é", True), ("a", False)):
        assert has_stop_string(ids, Bytes(), [stop_string], prompt_len=2).tolist() == [found]


def cycle(text, device="cpu"):
    """A model that writes these characters, one after another, for ever."""
    model = TableModel(256, d_model=256, max_len=None)
    model.vectors.data = torch.eye(256)
    model.weight.data = torch.zeros(256, 256)
    for a, b in zip(text, text[1:] + text[0], strict=True):
        model.weight.data[ord(b), ord(a)] = 9.0
    return model.to(device)


def test_each_row_ends_with_its_stop_string_and_is_filled_up(device):
    model = cycle("abcdefgh", device)
    prompt = torch.tensor([[ord("a")], [ord("e")], [ord("d")]], device=device)
    ours = generate(
        model,
        prompt,
        max_new_tokens=8,
        pad_id=0,
        tokenizer=Bytes(),
        stop_strings=["cd", "gh"],
    )
    texts = ["".join(map(chr, row)) for row in ours.tolist()]
    assert texts == ["abcd\0", "efgh\0", "defgh"]


def test_a_row_ends_with_its_stop_string_or_its_last_token_whatever_comes_first():
    model = cycle("abcdefgh")
    prompt = torch.tensor([[ord("a")], [ord("e")], [ord("g")]])
    ends: dict[str, Any] = {"tokenizer": Bytes(), "stop_strings": ["cd"], "eos_id": ord("f")}
    ours = generate(model, prompt, max_new_tokens=8, pad_id=ord("."), **ends)
    assert ["".join(map(chr, row)) for row in ours.tolist()] == ["abcd..", "ef....", "ghabcd"]


def test_a_stop_string_in_the_prompt_does_not_end_the_text():
    model = cycle("abcd")
    prompt = torch.tensor([[ord("a"), ord("b")]])
    options: dict[str, Any] = {"tokenizer": Bytes(), "stop_strings": ["ab"], "max_new_tokens": 20}
    ours = generate(model, prompt, **options)
    assert "".join(map(chr, ours[0].tolist())) == "abcdab"


def test_text_streams_out_of_a_model():
    model = cycle("abcd")
    tokens = stream(model, torch.tensor([[ord("a")]]), max_new_tokens=5)
    assert list(text_pieces(tokens, Bytes())) == ["b", "c", "d", "a", "b"]


def test_several_texts_are_not_one_text():
    tokens = stream(TableModel(5), torch.tensor([[1], [2]]), max_new_tokens=5)
    with pytest.raises(ValueError, match="2 tokens; expected 1"):
        next(text_pieces(tokens, Bytes()))
