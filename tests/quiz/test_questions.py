"""Questions are checked when they are read, and every chapter's are as they should be."""

import re
from importlib.resources import files

import pytest

from glassbox_book.quiz import load
from glassbox_book.quiz.questions import parse

CHAPTERS = [
    file.name[:-5] for file in files("glassbox_book.quiz").iterdir() if ".toml" in file.name
]
OPTIONS = """
[[question.option]]
text = "One."
why = "Not this."
[[question.option]]
text = "Two."
why = "This."
right = true
[[question.option]]
text = "Three."
why = "Nor this."
"""
GOOD = f'[[question]]\nid = "count"\ntext = "How many?"\n{OPTIONS}'


def test_a_question_is_read_as_it_stands():
    (question,) = parse(GOOD, "good.toml")
    assert (question.id, question.text) == ("count", "How many?")
    assert [option.text for option in question.option] == ["One.", "Two.", "Three."]
    assert [option.right for option in question.option] == [False, True, False]


BAD = {
    "not TOML": ("[[question", "bad.toml is not TOML: "),
    "empty": ("", "bad.toml has nothing; expected [[question]] only"),
    "other table": (f"[a]\n{GOOD}", "bad.toml has a, question; expected [[question]] only"),
    "not a list": ('question = "?"', "bad.toml has question; expected [[question]] only"),
    "not a table": ("question = [1]", "question 1 is 1; expected a table"),
    "no id": (GOOD.replace('id = "count"', ""), "question 1 has id = None; expected text"),
    "bad id": (GOOD.replace('"count"', '"a b"'), "question 1 has id = 'a b'; expected lower-case"),
    "same id": (GOOD * 2, "question 2 has the id 'count', which another has already"),
    "no text": (GOOD.replace('"How many?"', '""'), "question 1 has text = ''; expected text"),
    "number as text": (GOOD.replace('"Two."', "2"), "option 2 has text = 2; expected text"),
    "unknown key": (GOOD.replace("why", "because", 1), "question 1, option 1 has ['because']"),
    "no explanation": (GOOD.replace('why = "This."', ""), "option 2 has why = None; expected text"),
    "right as text": (GOOD.replace("true", '"yes"'), "has right = 'yes'; expected true or false"),
    "none right": (GOOD.replace("true", "false"), "question 1 has 0 right options; expected exac"),
    "two right": (GOOD.replace('"One."', '"One."\nright = true'), "question 1 has 2 right options"),
    "no options": (GOOD.split("[[question.o")[0], "has option = None; expected list of"),
    "two options": (GOOD.rpartition("[[")[0], "question 1 has 2 options; expected three to five"),
    "six options": (
        GOOD + OPTIONS.replace("right = true", ""),
        "question 1 has 6 options; expected three to five",
    ),
}


@pytest.mark.parametrize("kind", BAD)
def test_bad_questions_are_refused_with_the_reason(kind):
    source, reason = BAD[kind]
    with pytest.raises(ValueError, match=re.escape(reason)):
        parse(source, "bad.toml")


def test_unknown_chapter_lists_the_known():
    with pytest.raises(
        ValueError, match=r"no questions for 'nonsense'\. There are some for: .*scaled"
    ):
        load("nonsense")


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_a_chapter_has_three_to_six_questions(chapter):
    assert 3 <= len(load(chapter)) <= 6


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_right_options_cannot_be_guessed(chapter):
    """Neither by their place nor by their length."""
    options = [question.option for question in load(chapter)]
    places = [[option.right for option in row].index(True) for row in options]
    assert max(map(places.count, places)) <= len(places) / 2
    longest = [max(row, key=lambda option: len(option.text)).right for row in options]
    assert sum(longest) <= len(longest) / 2
