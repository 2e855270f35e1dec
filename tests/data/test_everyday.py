"""The sentences that come with the package: enough, all different, two by two."""

from glassbox.data import everyday


def test_there_are_120_sentences_and_no_two_are_the_same():
    sentences = everyday()
    assert len(sentences) == len({sentence.lower() for sentence in sentences}) == 120


def test_every_line_is_one_sentence_of_6_to_18_words_as_a_keyboard_writes_it():
    for sentence in everyday():
        assert sentence.isascii()
        assert sentence[0].isupper()
        assert sentence[-1] in ".?"
        assert 6 <= len(sentence.split()) <= 18


def test_partners_stand_together_and_share_few_words():
    """A model cannot find a partner by counting common words."""
    words = [set(sentence.lower().strip(".?").split()) for sentence in everyday()]
    pairs = list(zip(words[::2], words[1::2], strict=True))
    shared = [len(one & other) / len(one | other) for one, other in pairs]
    assert sum(shared) / len(shared) < 0.3
