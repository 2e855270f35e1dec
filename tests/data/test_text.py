"""One spelling of spaces and apostrophes; the plays split where the published runs split them."""

import sys
from unicodedata import category, is_normalized

import pytest
from hypothesis import given
from hypothesis import strategies as st

from glassbox.data import plain_spaces, play, split_text, tiny_shakespeare

WRITTEN = {
    "a no-break space": ("«\u00a0Va\u00a0!\u00a0»", "« Va ! »"),
    "a narrow no-break space": ("Cours\u202f!", "Cours !"),
    "a thin space": ("10\u2009000", "10 000"),
    "an apostrophe that curls": ("J\u2019aime", "J'aime"),
    "a soft hyphen": ("anti\u00adconstitutionnel", "anticonstitutionnel"),
    "a zero-width space": ("un\u200b deux", "un deux"),
    "a byte-order mark": ("\ufeffVa", "Va"),
    "a word joiner": ("1\u2060%", "1%"),
    "an accent of its own": ("e\u0301te\u0301", "été"),
    "an accent behind a soft hyphen": ("e\u00ad\u0301", "é"),
    "a quotation mark that is no apostrophe": ("\u2018Va", "\u2018Va"),
    "an emoji made of two": ("👩\u200d🚀", "👩\u200d🚀"),
    "spaces and lines of a keyboard": (" a  b\tc\n\nd ", " a  b\tc\n\nd "),
    "a ligature": ("cœur", "cœur"),
    "nothing": ("", ""),
}


@pytest.mark.parametrize(("written", "plain"), WRITTEN.values(), ids=WRITTEN)
def test_a_text_is_written_with_the_keyboard_s_space_and_apostrophe(written, plain):
    assert plain_spaces(written) == plain


def test_every_space_of_unicode_is_known():
    spaces = [chr(code) for code in range(sys.maxunicode + 1) if category(chr(code)) == "Zs"]
    assert len(spaces) >= 17
    assert plain_spaces("".join(spaces)) == " " * len(spaces)


SPELLED = st.text() | st.text("aeé\u0301\u0327 \u00a0\u2009\u202f\u2019'\u00ad\u200b\u2060\ufeff")


@given(SPELLED)
def test_what_is_plain_is_composed_and_stays_as_it_is(text):
    plain = plain_spaces(text)
    assert is_normalized("NFC", plain)
    assert plain_spaces(plain) == plain
    assert not {*plain} & {*"\u00a0\u2009\u202f\u2019\u00ad\u200b\u2060\ufeff"}


def test_the_plays_are_split_at_nine_tenths_of_their_characters(data):
    text = data("tinyshakespeare/input.txt").read_bytes().decode()
    train, valid = tiny_shakespeare("train"), tiny_shakespeare("valid")
    assert (len(train), len(valid)) == (1_003_854, 111_540)
    assert train + valid == text
    assert train.startswith("First Citizen:\nBefore we proceed")
    assert valid.endswith("Whiles thou art waking.\n")
    assert valid.startswith(play())


@pytest.mark.usefixtures("as_a_reader")
@pytest.mark.parametrize("split", ["test", "validation", "", None])
def test_an_unknown_split_names_the_known_ones(split):
    with pytest.raises(ValueError, match=f"Tiny Shakespeare has no split {split!r}") as caught:
        tiny_shakespeare(split)
    assert str(caught.value).endswith("it has: 'train', 'valid'")


@pytest.mark.usefixtures("as_a_reader")
def test_a_text_is_split_at_nine_tenths_whatever_its_line_endings(tmp_path):
    """And a byte-order mark, which some editors put first, is no character of it."""
    (tmp_path / "text.txt").write_bytes("\ufeffTo be,\r\nor not to be".encode())
    expected = {"train": "To be,\nor not to ", "valid": "be"}
    assert split_text(tmp_path / "text.txt") == split_text(str(tmp_path / "text.txt")) == expected


def test_what_is_not_utf_8_is_named_with_its_line(put):
    path = put("tinyshakespeare/input.txt", "ROMEO:\nAy me!\nC’est moi\n".encode("cp1252"))
    with pytest.raises(ValueError, match=r"line 3: expected UTF-8, got b'\\x92'") as caught:
        tiny_shakespeare("train")
    assert str(path) in str(caught.value)
