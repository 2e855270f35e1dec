"""Entities are counted whole, as the shared tasks count them."""

import re

import pytest

from glassbox.data.entities import Entity, entities
from glassbox.evaluation import score_entities


@pytest.mark.parametrize(
    ("tags", "expected"),
    [
        ("", set()),
        ("O O", set()),
        ("B-x", {(0, 1, "x")}),
        ("B-x I-x O B-y", {(0, 2, "x"), (3, 4, "y")}),
        ("B-x B-x", {(0, 1, "x"), (1, 2, "x")}),
        ("B-x I-y I-y", {(0, 1, "x"), (1, 3, "y")}),
        ("O I-x I-x B-x O I-y", {(1, 3, "x"), (3, 4, "x"), (5, 6, "y")}),
        ("B-creative-work I-creative-work", {(0, 2, "creative-work")}),
    ],
)
def test_entities_are_read_from_tags(tags, expected):
    assert entities(tags.split()) == {Entity(*entity) for entity in expected}


def test_an_entity_counts_if_both_ends_and_the_kind_are_right():
    expected = [["B-x", "I-x", "O", "B-y"], ["B-x", "O"], ["O", "O"]]
    predicted = [["B-x", "I-x", "O", "B-x"], ["B-x", "I-x"], ["B-y", "O"]]
    found = score_entities(predicted, expected)
    assert found == pytest.approx((1 / 4, 1 / 3, 2 / 7))
    assert score_entities(expected, expected) == (1.0, 1.0, 1.0)
    assert score_entities([["B-x"]], [["B-x"]]) == (1.0, 1.0, 1.0)


def test_without_entities_everything_is_zero():
    assert score_entities([["O"]], [["O"]]) == (0.0, 0.0, 0.0)
    assert score_entities([["O"]], [["B-x"]]) == (0.0, 0.0, 0.0)


@pytest.mark.parametrize(
    ("predicted", "message"),
    [
        ([["O"]], "tags of 1 sentences, expected those of 2"),
        ([["O"], ["O"]], "sentence 1 has 1 tags; expected 2, one for each word"),
        ([["O"], ["O", "person"]], "tag 1 is 'person'; expected 'O', or B- or I- and a kind"),
        ([["O"], ["O", "B-"]], "tag 1 is 'B-'; expected"),
        ([["O"], ["O", "O-x"]], "tag 1 is 'O-x'; expected"),
    ],
)
def test_tags_that_do_not_fit_are_refused(predicted, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        score_entities(predicted, [["O"], ["O", "B-x"]])
