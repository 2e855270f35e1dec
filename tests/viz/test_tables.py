"""Tables hold what they are given, in a page and in a terminal."""

from pathlib import Path

import numpy as np
import pytest

import glassbox_site
from glassbox_book.viz import Table
from tests.conftest import Open


def test_in_a_terminal_columns_stand_under_one_another_and_numbers_flush_right():
    table = Table(["station", "numbers"], [("memory", 3584), ("logits", 36)])
    assert repr(table) == "station  numbers\nmemory     3,584\nlogits        36"


def test_in_a_page_it_is_a_table_of_markdown():
    table = Table(["station", "numbers"], [("memory", 3584)])
    assert table._repr_markdown_() == "| station | numbers |\n| :-- | --: |\n| memory | 3,584 |"


def test_numbers_of_numpy_are_numbers():
    table = Table(["station", "numbers"], [("memory", np.int64(3584)), ("share", np.float32(0.5))])
    assert repr(table) == "station  numbers\nmemory     3,584\nshare        0.5"


def test_a_column_with_a_word_is_not_one_of_numbers():
    assert Table(["n"], [(1,), ("many",)]).numeric == [False]
    assert Table(["n"], []).numeric == [False]


@pytest.mark.parametrize(
    ("entry", "shown"),
    [
        ("<s>", "&lt;s>"),
        ("a|b", r"a\|b"),
        ("a\nb", "a b"),
        ("*a*", r"\*a\*"),
        ("`a`", r"\`a\`"),
        ("$a$", r"\$a\$"),
        ("a\\b", r"a\\b"),
        ("_the __init__", r"\_the \_\_init\_\_"),
        ("[a](b)", r"[a\](b)"),
        ("&amp;", "&amp;amp;"),
        ("[CLS] ##s d_model", "[CLS] ##s d_model"),
    ],
)
def test_an_entry_is_shown_as_it_is_whatever_it_looks_like(entry, shown):
    assert Table(["token"], [(entry,)])._repr_markdown_().splitlines()[-1] == f"| {shown} |"


def test_a_row_that_does_not_fit_is_refused_with_both_numbers():
    with pytest.raises(ValueError, match="has 1 entries for 2 columns"):
        Table(["a", "b"], [(1,)])


def test_texts_that_are_numbers_stand_flush_right_and_stay_on_one_line():
    rows = [("a b", "0.50", "1.00 ± 0.25"), ("c", "−12.5", "10.0 ± 3.0")]
    table = Table(("name", "number", "spread"), rows)
    assert table.numeric == [False, True, True]
    written = table._repr_markdown_()
    assert "1.00\u00a0±\u00a00.25" in written
    assert "| a b |" in written


def test_tokens_are_shown_with_their_spaces() -> None:
    table = Table(["after Ġlove"], [["Ġmachine Ġlearning"], ["Ċ"]])
    assert repr(table).split() == ["after", "␣love", "␣machine", "␣learning", "Ċ"]


@pytest.mark.parametrize("entry", ["inf", "-inf", "1.2e-38", "3.4e+38", "−5e-01", "7e-01"])
def test_numbers_without_end_and_with_an_exponent_are_numbers(entry: str) -> None:
    assert Table(["n"], [(entry,), ("0.5",)]).numeric == [True]


@pytest.mark.parametrize("entry", ["", "e-38", "infant", "1e", "1.2e-38 bits"])
def test_what_only_looks_like_a_number_is_none(entry: str) -> None:
    assert Table(["n"], [(entry,)]).numeric == [False]


@pytest.mark.browser
def test_words_do_not_stand_one_below_the_other_on_a_telephone(revisit: Open) -> None:
    style = Path(glassbox_site.__file__).with_name("static") / "figures.css"
    row = "".join(f"<td><p>{entry}</p></td>" for entry in ["the paper's big model", *["1,000"] * 9])
    page = revisit(width=390).page
    page.set_content(
        f"<!DOCTYPE html><style>{style.read_text(encoding='utf-8')}</style>"
        f'<div class="bd-article"><table><tbody><tr>{row}</tr></tbody></table></div>'
    )
    widths = "all => all.map((e) => e.offsetWidth / parseFloat(getComputedStyle(e).fontSize))"
    words, *numbers = page.locator("td > p").evaluate_all(widths)
    assert words >= 6.9
    assert max(numbers) < 6.9
