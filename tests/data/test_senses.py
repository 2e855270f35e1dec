"""Two senses of a word: enough sentences of each, and the word stands in each of them once."""

import pytest

from glassbox.data import senses

SENSES = [(word, sense) for word, of in senses().items() for sense in of]


def test_six_words_have_two_senses_each():
    assert len(senses()) == 6
    assert all(len(of) == 2 for of in senses().values())


@pytest.mark.parametrize(("word", "sense"), SENSES)
def test_a_sense_has_eight_sentences_with_the_word_once_in_each(word, sense):
    sentences = senses()[word][sense]
    assert len(sentences) == len(set(sentences)) == 8
    for sentence in sentences:
        assert sentence.isascii()
        assert sentence[0].isupper()
        assert sentence.endswith(".")
        assert sentence.lower().rstrip(".").split().count(word) == 1
