"""Byte-pair encoding: its steps, its losslessness, and its speed."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import models

from glassbox.tokenization import (
    BPE,
    best_pair,
    bpe_merges,
    bpe_word,
    byte_alphabet,
    merge_pair,
    split_gpt2,
)
from tests.tokenization.conftest import CATEGORIES

LETTERS = st.text("abc", max_size=40)


def test_every_occurrence_is_merged_from_left_to_right():
    assert merge_pair("banana", ("a", "n"), "an") == ["b", "an", "an", "a"]
    assert merge_pair("aaaaa", ("a", "a"), "aa") == ["aa", "aa", "a"]
    assert merge_pair([1, 2, 1, 2, 3], (1, 2), 9) == [9, 9, 3]
    assert merge_pair("", ("a", "b"), "ab") == []


def test_the_pair_that_was_learned_first_goes_first():
    ranks = {("b", "c"): 0, ("a", "b"): 1, ("a", "bc"): 2}
    assert best_pair("abc", ranks) == ("b", "c")
    assert best_pair("cba", ranks) is None
    assert list(bpe_merges("abcab", ranks)) == [
        ["a", "b", "c", "a", "b"],
        ["a", "bc", "a", "b"],
        ["a", "bc", "ab"],
        ["abc", "ab"],
    ]


def test_the_queue_merges_at_once_what_ranks_before_its_part_as_the_reference_does():
    ranks = {("ab", "a"): 0, ("a", "b"): 1}
    reference = models.BPE({"a": 0, "b": 1, "ab": 2, "aba": 3}, list(ranks))
    assert bpe_word("abab", ranks) == [t.value for t in reference.tokenize("abab")] == ["aba", "b"]
    assert [*bpe_merges("abab", ranks)][-1] == ["ab", "ab"]


@given(words=st.lists(LETTERS, min_size=1), word=LETTERS)
def test_the_queue_merges_as_the_steps_do(words, word):
    tokenizer = BPE.train([" ".join(["abc", *words])], 300)
    *_, last = bpe_merges(word, tokenizer.ranks)
    assert bpe_word(word, tokenizer.ranks) == last


@pytest.mark.usefixtures("as_a_reader")
def test_the_queue_merges_as_the_steps_do_with_gpt2_s_merges(gpt2, sentences):
    words = {word for line in sentences[::10] for word in split_gpt2(line) if word.isascii()}
    assert len(words) > 3_000
    for word in words:
        shown = word.replace(" ", "Ġ")
        *_, last = bpe_merges(shown, gpt2.ours.ranks)
        assert bpe_word(shown, gpt2.ours.ranks) == last


def test_each_byte_has_a_character_that_prints():
    alphabet = byte_alphabet()
    assert sorted(alphabet) == list(range(256))
    assert len(set(alphabet.values())) == 256
    assert all(character.isprintable() and character != " " for character in alphabet.values())
    assert alphabet[ord(" ")] == "Ġ"
    assert alphabet[ord("\n")] == "Ċ"


@given(text=st.text(st.characters(**CATEGORIES)))
def test_any_text_comes_back_as_it_was(text, gpt2):
    assert "".join(split_gpt2(text)) == text
    assert gpt2.ours.decode(gpt2.ours.encode(text)) == text
    small = BPE.train(["a b"], 257)
    assert small.decode(small.encode(text)) == text


@pytest.mark.parametrize("token", ["<ふ>", "<é>", "Ġa", "|"])
def test_a_special_token_of_any_characters_comes_back(token):
    tokenizer = BPE.train(["a b"], 258, special_tokens=[token])
    assert tokenizer.tokenize(f"a{token}b") == ["a", token, "b"]
    assert tokenizer.decode(tokenizer.encode(f"a{token}b")) == f"a{token}b"
    assert tokenizer.decode(tokenizer.encode(f"a{token}b"), skip_special_tokens=True) == "ab"


def test_the_longest_special_token_is_found_first():
    tokenizer = BPE.train(["a b"], 260, special_tokens=["<a>", "<a><b>", "<b>"])
    assert tokenizer.tokenize("<a><b><a><a><b>") == ["<a><b>", "<a>", "<a><b>"]


def test_half_a_character_is_shown_as_a_replacement(gpt2):
    first = gpt2.ours.encode("é", add_special_tokens=False)
    assert gpt2.ours.decode(first) == "é"
    byte = gpt2.ours.token_id("Ã")
    assert gpt2.ours.decode([byte]) == "\ufffd"


def test_what_is_remembered_changes_nothing(gpt2, monkeypatch):
    from glassbox.tokenization import tokenizer as module

    monkeypatch.setattr(module, "REMEMBERED_WORDS", 3)
    fresh = BPE(gpt2.ours.vocabulary, gpt2.ours.merges)
    texts = ["the cat sat", "on the mat", "the cat", "sat on the mat"] * 2
    assert [fresh.encode(text) for text in texts] == [gpt2.ours.encode(text) for text in texts]
    assert 0 < len(fresh._remembered) <= 3
    fresh.encode("a" * 257)
    assert max(map(len, fresh._remembered)) < 257  # what is too long to come again is forgotten
    tokens = fresh.tokenize("the cat")
    tokens.append("changed")
    assert fresh.tokenize("the cat") == ["the", "Ġcat"]


@pytest.mark.usefixtures("as_a_reader")
def test_a_long_word_takes_no_longer_than_its_length_asks(gpt2):
    """Where n² steps would take minutes."""
    assert len(gpt2.ours.encode("abcdefghij" * 10_000)) > 10_000
