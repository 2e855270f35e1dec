"""What chapter 2 says of its text."""

import pytest

from glassbox.data import company

TWINS = [("coffee", "tea"), ("dog", "cat"), ("bus", "train")]


def test_there_are_36_sentences_of_small_letters() -> None:
    assert len(company()) == 36
    assert all(word.isalpha() and word.islower() for line in company() for word in line.split())


@pytest.mark.parametrize(("first", "second"), TWINS)
def test_twins_never_meet_and_share_neighbours(first: str, second: str) -> None:
    lines = [set(line.split()) for line in company()]
    assert not any({first, second} <= line for line in lines)
    beside = [set().union(*(line for line in lines if word in line)) for word in (first, second)]
    assert len(beside[0] & beside[1] - {first, second}) >= 4
