import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from glassbox_book.viz.tokens import visible, visible_all
from tests.viz.conftest import HOSTILE


@pytest.mark.parametrize(("token", "shown"), HOSTILE.items(), ids=ascii)
def test_a_token_is_shown_as_text(token: str, shown: str) -> None:
    assert visible(token) == shown


@pytest.mark.parametrize("token", ["▁the", "##ing", "the</w>", "[CLS]", "é", "日本", "$x$"])
def test_what_a_tokenizer_wrote_is_left_as_it_is(token: str) -> None:
    assert visible(token) == token


@pytest.mark.parametrize(
    ("token", "shown"),
    [("Ġlove", "␣love"), ("ĠĠ", "␣␣"), ("after Ġlove", "after ␣love"), ("aĠb", "aĠb")],
)
def test_the_space_before_a_word_is_shown_as_one_unless_bytes_are_meant(token, shown) -> None:
    assert visible(token) == shown
    assert visible(token, raw=True) == token


@given(st.text(st.characters(categories=None)))
def test_what_is_shown_can_be_seen_and_keeps_its_order(token: str) -> None:
    shown = visible(token)
    assert shown
    assert shown == shown.strip()
    for character in shown:
        assert unicodedata.category(character) not in ("Cc", "Cs", "Zl", "Zp")
        assert unicodedata.bidirectional(character) not in {
            *("LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI")
        }


def test_a_string_instead_of_tokens_is_refused(as_a_reader: None) -> None:
    with pytest.raises(TypeError, match=r"single string 'time flies'.*convert_ids_to_tokens"):
        visible_all("time flies")


def test_a_token_that_is_no_string_is_refused(as_a_reader: None) -> None:
    with pytest.raises(TypeError, match=r"position 1 is 2051 of type int"):
        visible_all(["[CLS]", 2051])  # type: ignore[list-item]
