"""Every sentence with its label, its tags or its tree, as published."""

import re
from collections import Counter

import pytest

from glassbox.data import sst2, ud_english, wnut17
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


PARSED = {"valid": (2_001, 25_147), "test": (2_077, 25_094)}


@pytest.mark.parametrize(("split", "size", "words"), [(k, *v) for k, v in PARSED.items()])
def test_the_splits_of_ud_english_have_their_published_words(data, split, size, words):
    data("pos_ud_english_ewt/en_ewt-ud-dev.conllu")
    sentences = ud_english(split)
    assert len(sentences) == size
    assert f"{size:,}" in str(ud_english.__doc__)
    assert sum(len(sentence.words) for sentence in sentences) == words


@pytest.mark.parametrize("split", PARSED)
def test_the_words_of_a_sentence_spell_its_text(data, split):
    data("pos_ud_english_ewt/en_ewt-ud-dev.conllu")
    for sentence in ud_english(split):
        assert "".join("".join(sentence.words).split()) == "".join(sentence.text.split())


@pytest.mark.parametrize("split", PARSED)
def test_from_every_word_the_heads_lead_to_the_root(data, split):
    data("pos_ud_english_ewt/en_ewt-ud-dev.conllu")
    for sentence in ud_english(split):
        for word, head in enumerate(sentence.heads):
            assert (head is None) == (sentence.relations[word] == "root")
            steps = 0
            while head is not None:
                head = sentence.heads[head]
                steps += 1
                assert steps < len(sentence.words)


WRITTEN_AS_ONE = """\
# sent_id = 1
# text = Don't go.
1-2\tDon't\t_\t_\t_\t_\t_\t_\t_\t_
1\tDo\tdo\tAUX\tVB\t_\t3\taux\t3:aux\t_
2\tn't\tnot\tPART\tRB\t_\t3\tadvmod\t3:advmod\t_
3\tgo\tgo\tVERB\tVB\t_\t0\troot\t0:root\tSpaceAfter=No
3.1\taway\taway\tADV\tRB\t_\t_\t_\t3:advmod\t_
4\t.\t.\tPUNCT\t.\t_\t3\tpunct\t3:punct\t_
"""


def test_heads_are_positions_of_words_whatever_is_numbered_between_them(put):
    put("pos_ud_english_ewt/en_ewt-ud-dev.conllu", WRITTEN_AS_ONE.encode())
    (sentence,) = ud_english("valid")
    assert sentence._asdict() == {
        "text": "Don't go.",
        "words": ("Do", "n't", "go", "."),
        "tags": ("AUX", "PART", "VERB", "PUNCT"),
        "heads": (2, 2, None, 2),
        "relations": ("aux", "advmod", "root", "punct"),
    }


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


# What is changed, the line on which it is told, and what is told.
BROKEN = {
    "a field too few": ("\t3:punct\t_", "\t3:punct", 8, "ten fields, the number 4 first"),
    "spaces for tabs": ("3\tgo\tgo\t", "3 go go ", 6, "ten fields, the number 3 first"),
    "a number left out": ("\n2\tn't", "\n5\tn't", 5, "the number 2 first"),
    "a head that is none of the words": ("_\t3\taux", "_\t5\taux", 4, "a head up to 4 seventh"),
    "a head below 0": ("_\t3\taux", "_\t-1\taux", 4, "a head up to 4 seventh"),
    "no head": ("_\t3\taux", "_\t_\taux", 4, "a head up to 4 seventh"),
    "two roots": ("_\t3\taux", "_\t0\troot", 1, "one root, got 1 and 2"),
    "no root": ("_\t0\troot", "_\t1\troot", 1, "one root, got 1 and 0"),
    "no text": ("# text = ", "# said = ", 1, "one line '# text = ' and one root, got 0 and 1"),
    "no sentence": (WRITTEN_AS_ONE, "# text = \n", 1, "one root, got 1 and 0"),
}


@pytest.mark.parametrize(("old", "new", "number", "says"), BROKEN.values(), ids=BROKEN)
def test_a_tree_that_cannot_be_read_is_named(put, old, new, number, says):
    assert old in WRITTEN_AS_ONE
    broken = f"{WRITTEN_AS_ONE}\n{WRITTEN_AS_ONE.replace(old, new, 1)}"
    path = put("pos_ud_english_ewt/en_ewt-ud-dev.conllu", broken.encode())
    number += WRITTEN_AS_ONE.count("\n") + 1
    with pytest.raises(ValueError, match=re.escape(f"{path}, line {number}: expected")) as caught:
        ud_english("valid")
    assert says in str(caught.value)


@pytest.mark.usefixtures("as_a_reader")
@pytest.mark.parametrize("split", ["dev", "", None])
@pytest.mark.parametrize(
    ("read", "known"),
    [
        (sst2, "SST-2 has no split {}; it has: 'train', 'valid', 'test'"),
        (wnut17, "WNUT 2017 has no split {}; it has: 'train', 'valid', 'test'"),
        (ud_english, "UD English has no split {}; it has: 'valid', 'test'"),
    ],
)
def test_an_unknown_split_names_the_known_ones(read, known, split):
    with pytest.raises(ValueError, match="has no split") as caught:
        read(split)
    assert str(caught.value) == known.format(repr(split))
