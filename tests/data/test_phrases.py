"""The grammar's sentences: all different, agreeing as French does, and aligned."""

import itertools
import re
from hashlib import sha256

import pytest

from glassbox.data import phrases
from tools.lexicon import ADJECTIVES, NOUNS
from tools.phrases import APART, PATH, SIZES, deal, lines

FORMS = {form: adjective for adjective in ADJECTIVES for form in adjective.french}
FRENCH_NOUNS = {form: noun for noun in NOUNS for form in noun.french}


def test_no_sentence_of_either_language_is_there_twice():
    everything = [phrase for split in SIZES for phrase in phrases(split)]
    assert [len(phrases(split)) for split in SIZES] == list(SIZES.values())
    for side in (0, 1):
        assert len({phrase[side] for phrase in everything}) == len(everything)


def test_the_same_sentences_on_every_machine():
    lines = [
        f"{split}: {phrase.english} = {phrase.french} {sorted(phrase.links)}"
        for split in SIZES
        for phrase in phrases(split)
    ]
    assert lines[0].startswith(FIRST)
    assert sha256("\n".join(lines).encode()).hexdigest() == DIGEST


FIRST = (
    "train: our green cows do not find our queen. = nos vaches vertes ne trouvent pas notre reine."
)
DIGEST = "a150a619cc5ffebe53a4a4148d6389d1895c3849a27feb5d3c85763b49eb2e18"


@pytest.mark.slow
def test_the_file_is_what_the_grammar_generates():
    parts = deal()
    assert PATH.read_text(encoding="utf-8") == lines(parts)
    assert {split: phrases(split) for split in SIZES} == parts


def test_every_word_of_the_other_parts_occurs_in_training():
    known = {word for phrase in phrases("train") for side in phrase[2:4] for word in side}
    for split in ("valid", "test", "apart"):
        for phrase in phrases(split):
            assert known >= {*phrase.english_words, *phrase.french_words}


def test_words_are_those_of_the_sentences():
    for phrase in phrases("test"):
        assert "".join(phrase.english_words) == phrase.english.replace(" ", "")
        assert "".join(phrase.french_words) == phrase.french.replace(" ", "")


def test_french_elides_before_every_vowel_and_nowhere_else():
    for phrase in phrases("train"):
        assert not re.search(r"\b(je|ne|le|la|que|ma|ce) [aeiouâàéèêëîïôû]", phrase.french)
        assert not re.search(r"'[^aeiouâàéèêëîïôû]", phrase.french)


def test_adjectives_beside_a_noun_agree_with_it():
    checked = 0
    for phrase in phrases("train"):
        words = phrase.french_words
        for one, other in itertools.pairwise(words):
            noun, adjective = FRENCH_NOUNS.get(one), FORMS.get(other)
            if noun is None or adjective is None or adjective.first:
                continue
            plural = one == noun.french[1] if noun.french[0] != noun.french[1] else None
            right = {adjective.french[2 * p + noun.feminine] for p in (0, 1) if plural in (None, p)}
            assert other in right
            checked += 1
    assert checked > 1000


def test_a_determiner_goes_with_the_gender():
    for phrase in phrases("train"):
        words = phrase.french_words
        for one, other in itertools.pairwise(words):
            if one in ("un", "une") and (noun := FRENCH_NOUNS.get(other)):
                assert (one == "une") == noun.feminine


def test_apart_has_combinations_that_training_never_has():
    def combinations(split):
        found = set()
        for phrase in phrases(split):
            words = phrase.english_words
            for adjective, noun in itertools.pairwise(words):
                for number, known in enumerate(NOUNS):
                    if noun in known.english:
                        places = [n for n, a in enumerate(ADJECTIVES) if a.english == adjective]
                        found |= {(number, place) for place in places}
        return found

    kept = {
        (noun, place)
        for noun, place in combinations("apart")
        if (noun + 3 * place) % APART == 0
        and ADJECTIVES[place].french[0] != ADJECTIVES[place].french[1]  # it tells the gender
    }
    assert len(kept) > 20
    assert not kept & combinations("train")
    assert not kept & combinations("test")


def test_links_join_words_that_translate_one_another():
    for phrase in phrases("valid"):
        for i, j in phrase.links:
            english, french = phrase.english_words[i], phrase.french_words[j]
            if (noun := FRENCH_NOUNS.get(french)) is not None and english in {
                word for known in NOUNS for word in known.english
            }:
                assert english in noun.english
        assert (len(phrase.english_words) - 1, len(phrase.french_words) - 1) in phrase.links


def test_not_is_two_words():
    for phrase in phrases("test"):
        if "not" in phrase.english_words:
            at = phrase.english_words.index("not")
            linked = {phrase.french_words[j] for i, j in phrase.links if i == at}
            assert linked in ({"ne", "pas"}, {"n'", "pas"})


def test_another_split_is_refused():
    with pytest.raises(ValueError, match="no split 'dev'"):
        phrases("dev")


def test_every_sentence_apart_has_such_a_combination():
    for phrase in phrases("apart"):
        things = [n for n, noun in enumerate(NOUNS) if {*noun.english} & {*phrase.english_words}]
        qualities = [
            n
            for n, adjective in enumerate(ADJECTIVES)
            if adjective.english in phrase.english_words
            and adjective.french[0] != adjective.french[1]
        ]
        assert any((n + 3 * place) % APART == 0 for n in things for place in qualities)
