"""Every sentence with its label or its tags, as published."""

import re
from collections import Counter

import pytest

from glassbox.data import sst2, wnut17
from glassbox.data.sentences import ENTITIES, TAGS

REVIEWS = {"train": (3_610, 3_310), "valid": (444, 428), "test": (909, 912)}


@pytest.mark.parametrize(("split", "labels"), REVIEWS.items())
def test_the_splits_of_sst2_have_their_published_sizes(data, split, labels):
    data("classification_sst2/train.tsv")
    reviews = sst2(split)
    assert Counter(review.label for review in reviews) == {1: labels[0], 0: labels[1]}
    assert f"{len(reviews):,}" in str(sst2.__doc__)


def test_praise_is_one_and_blame_is_zero(data):
    data("classification_sst2/train.tsv")
    first = "a stirring , funny and finally transporting re imagining of beauty and the beast"
    assert sst2("train")[0].text.startswith(first)
    assert sst2("train")[0].label == 1
    assert sst2("valid")[0] == ("one long string of cliches", 0)


def test_two_sentences_of_sst2_to_test_with_are_also_learned_from_as_its_docstring_says(data):
    data("classification_sst2/train.tsv")
    train, valid, test = ({review.text for review in sst2(split)} for split in REVIEWS)
    assert train & test == {"no", "what 's next ?"}
    assert train & valid == valid & test == set()
    assert all(f"``{text}``" in str(sst2.__doc__) for text in train & test)


TAGGED = {
    "train": (3_394, 62_730, {"person": 660, "location": 548, "group": 264}),
    "valid": (1_009, 15_733, {"person": 470, "location": 74, "group": 39}),
    "test": (1_287, 23_394, {"person": 429, "location": 150, "group": 165}),
}


@pytest.mark.parametrize(
    ("split", "size", "words", "entities"), [(k, *v) for k, v in TAGGED.items()]
)
def test_the_splits_of_wnut17_have_their_published_words_and_entities(
    data, split, size, words, entities
):
    data("ner_wnut17/wnut17train.conll")
    sentences = wnut17(split)
    assert len(sentences) == size
    assert f"{size:,}" in str(wnut17.__doc__)
    assert sum(len(sentence.words) for sentence in sentences) == words
    assert all(len(sentence.words) == len(sentence.tags) for sentence in sentences)
    begun = Counter(tag[2:] for sentence in sentences for tag in sentence.tags if tag[0] == "B")
    assert entities.items() <= begun.items()
    assert {*begun} == {*ENTITIES}


@pytest.mark.parametrize("split", TAGGED)
def test_what_is_inside_an_entity_follows_a_word_of_the_same_one(data, split):
    data("ner_wnut17/wnut17train.conll")
    for _, tags in wnut17(split):
        for before, tag in zip(("O", *tags), tags, strict=False):
            assert not tag.startswith("I-") or before[2:] == tag[2:]


def test_a_sentence_of_wnut17_ends_at_a_line_without_a_word(put):
    put("ner_wnut17/emerging.dev.conll", b"\nTo\tO\nParis\tB-location\n\t\n \n\nGo\tO\n")
    assert wnut17("valid") == [(("To", "Paris"), ("O", "B-location")), (("Go",), ("O",))]


MALFORMED = {
    "a review without a label": (sst2, "a film", 2, "a sentence, a tab and 0 or 1, got 'a film'"),
    "a label that is neither": (
        sst2,
        "a film\t2",
        2,
        r"a sentence, a tab and 0 or 1, got 'a film\t2'",
    ),
    "a label without a review": (sst2, "\t1", 2, r"a sentence, a tab and 0 or 1, got '\t1'"),
    "a review with two labels": (
        sst2,
        "a\t1\t1",
        2,
        r"a sentence, a tab and 0 or 1, got 'a\t1\t1'",
    ),
    "a word without a tag": (wnut17, "Paris", 2, f"a word, a tab and one of {', '.join(TAGS)}"),
    "an unknown kind": (wnut17, "Paris\tB-city", 2, "got 'Paris\\tB-city'"),
    "a tag without a word": (wnut17, "\tO", 2, "got '\\tO'"),
}
FIRST = {sst2: "good\t1", wnut17: "To\tO"}
FILE = {sst2: "classification_sst2/dev.tsv", wnut17: "ner_wnut17/emerging.dev.conll"}


@pytest.mark.parametrize(("read", "line", "number", "says"), MALFORMED.values(), ids=MALFORMED)
def test_a_line_that_cannot_be_read_is_named(put, read, line, number, says):
    path = put(FILE[read], f"{FIRST[read]}\n{line}\n{FIRST[read]}\n".encode())
    with pytest.raises(ValueError, match=re.escape(f"{path}, line {number}: expected")) as caught:
        read("valid")
    assert says in str(caught.value)


@pytest.mark.usefixtures("as_a_reader")
@pytest.mark.parametrize("split", ["dev", "", None])
@pytest.mark.parametrize(
    ("read", "known"),
    [
        (sst2, "SST-2 has no split {}; it has: 'train', 'valid', 'test'"),
        (wnut17, "WNUT 2017 has no split {}; it has: 'train', 'valid', 'test'"),
    ],
)
def test_an_unknown_split_names_the_known_ones(read, known, split):
    with pytest.raises(ValueError, match="has no split") as caught:
        read(split)
    assert str(caught.value) == known.format(repr(split))
