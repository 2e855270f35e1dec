"""Whole components are dealt, so that no sentence is in two splits, whatever the pairs are."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from glassbox.data.components import components, deal, words

COMPARED = {
    "case": ("GO", "go"),
    "a final full stop": ("go.", "go"),
    "a final mark behind a space": ("Va\u00a0!", "va"),
    "several marks": ("Quoi ?!…", "quoi"),
    "quotation marks": ("«\u202fVa\u202f»", '"Va"'),
    "commas": ("Go on, Tom.", "Go on Tom"),
    "letters with accents": ("Été", "été"),
}


@pytest.mark.parametrize(("one", "other"), COMPARED.values(), ids=COMPARED)
def test_case_and_punctuation_make_no_other_sentence(one, other):
    assert words(one) == words(other) != ""


@pytest.mark.parametrize(
    ("one", "other"),
    [
        *(("cote", "côté"), ("it's", "its"), ("go on", "goon"), ("2", "3")),
        *(("कि", "के"), ("ไม่", "ไม้"), ("😀", "🌀"), ("❤️", "☀️"), ("!", "?")),
    ],
)
def test_letters_marks_and_spaces_do_and_what_has_no_word(one, other):
    assert words(one) != words(other)


# Few different sentences, so that many pairs meet, in spellings that count as one sentence.
SENTENCES = st.builds(
    lambda word, spelled, mark: spelled(word) + mark,
    st.sampled_from([f"{a} {b}" for a in "abcdef" for b in "vwxyz"]),
    st.sampled_from([str, str.upper, str.title]),
    st.sampled_from(["", ".", " !", "…"]),
)
PAIRS = st.lists(st.tuples(SENTENCES, SENTENCES), max_size=40)
SIZES = st.builds(lambda a, b: {"test": a, "valid": b}, st.integers(0, 12), st.integers(0, 12))


def sentences(pairs):
    return {words(sentence) for pair in pairs for sentence in pair}


@given(PAIRS)
def test_the_components_are_those_of_the_reference(pairs):
    """The power of a graph's matrix says which of its nodes can be reached from which."""
    numbers = {sentence: number for number, sentence in enumerate(sorted(sentences(pairs)))}
    graph = np.eye(len(numbers))
    for source, target in pairs:
        graph[numbers[words(source)], numbers[words(target)]] = 1
        graph[numbers[words(target)], numbers[words(source)]] = 1
    reached = np.linalg.matrix_power(graph, len(numbers)) > 0
    expected = {frozenset(np.flatnonzero(row).tolist()) for row in reached}
    found = list(components(pairs))
    assert {frozenset(map(numbers.get, sentences(component))) for component in found} == expected
    assert len(found) == len(expected)
    assert sorted(pair for component in found for pair in component) == sorted({*pairs})


@given(PAIRS | st.lists(st.tuples(st.text(max_size=3), st.text(max_size=3))), SIZES)
def test_no_sentence_is_in_two_splits_and_each_pair_in_one(pairs, sizes):
    splits = deal(pairs, sizes, rest="train")
    assert [*splits] == ["test", "valid", "train"]
    for one, other in combinations(splits.values(), 2):
        assert not sentences(one) & sentences(other)
    assert sorted(pair for split in splits.values() for pair in split) == sorted({*pairs})


@given(PAIRS, SIZES)
def test_a_split_has_no_more_pairs_than_it_may_and_no_room_for_a_component_that_came_later(
    pairs, sizes
):
    splits = deal(pairs, sizes, rest="train")
    later = {"test": splits["valid"] + splits["train"], "valid": splits["train"]}
    for name, size in sizes.items():
        room = size - len(splits[name])
        assert room >= 0
        assert all(len(component) > room for component in components(later[name]))


@given(PAIRS, SIZES, st.randoms(use_true_random=False))
def test_the_order_of_the_pairs_is_of_no_importance(pairs, sizes, random):
    shuffled = random.sample(pairs, len(pairs))
    assert deal(shuffled, sizes, rest="train") == deal(pairs, sizes, rest="train")


def test_a_component_without_end_is_learned_from():
    chain = [(f"en {i}", f"fr {i + step}") for i in range(1_000) for step in (0, 1)]
    singles = [(f"yes {i}", f"oui {i}") for i in range(30)]
    splits = deal(chain + singles, {"test": 10, "valid": 10}, rest="train")
    assert {name: len(split) for name, split in splits.items()} == {
        "test": 10,
        "valid": 10,
        "train": 2_010,
    }
    assert {*chain} <= {*splits["train"]}


def test_a_sentence_that_is_the_same_in_both_languages_is_one():
    assert len([*components([("Stop.", "Arrête !"), ("Halt!", "Stop !")])]) == 1


def test_every_component_is_as_likely_as_another_to_be_dealt_first():
    """Large and small, early and late ones alike."""
    pairs = [(f"en {i}", f"fr {i} {j}") for i in range(4_000) for j in range(1 + i % 2)]
    test = deal(pairs, {"test": 1_500}, rest="train")["test"]
    numbers = [int(english.removeprefix("en ")) for english, _ in test]
    assert sum(number % 2 for number in numbers) / 1_500 == pytest.approx(2 / 3, abs=0.04)
    assert sum(numbers) / 1_500 == pytest.approx(2_000, abs=100)


def test_the_deal_is_the_published_one():
    """A digest made another way would deal other splits, and earlier scores would compare badly."""
    pairs = [("Go.", "Va !"), ("Go.", "Marche."), ("Run!", "Cours !"), ("Wow!", "Ça alors !")]
    assert deal(pairs, {"test": 1, "valid": 1}, rest="train") == {
        "test": [("Wow!", "Ça alors !")],
        "valid": [("Run!", "Cours !")],
        "train": [("Go.", "Marche."), ("Go.", "Va !")],
    }
