"""Which language a text is in: Bayes' rule by hand, and sentences nobody has counted."""

import math

import pytest

from glassbox.translation import TranslationTokenizer
from glassbox.translation.language import LanguageClassifier


def test_bayes_rule_by_hand():
    classifier = LanguageClassifier({"en": [2, 0, 1], "fr": [0, 5, 1]})
    english = (3 / 6) ** 2 * (1 / 6)
    french = (1 / 9) ** 2 * (6 / 9)
    expected = english / (english + french)
    found = classifier.probabilities([0, 0, 1])
    assert list(found) == ["en", "fr"]
    assert found["en"] == pytest.approx(expected, abs=1e-12)
    assert math.fsum(found.values()) == pytest.approx(1, abs=1e-12)


def test_without_tokens_all_languages_are_equally_probable():
    classifier = LanguageClassifier({"de": [9, 9], "en": [1, 0], "fr": [0, 5]})
    assert classifier.probabilities([]) == dict.fromkeys(("de", "en", "fr"), pytest.approx(1 / 3))


def test_a_long_text_does_not_underflow():
    found = LanguageClassifier({"en": [1, 0], "fr": [0, 1]}).probabilities([0] * 100_000)
    assert found == {"en": 1.0, "fr": 0.0}


def test_fitting_counts_each_token():
    fitted = LanguageClassifier.fit({"en": [[0, 1], [1]], "fr": [[3], []]}, 4)
    assert fitted.counts == {"en": [1, 2, 0, 0], "fr": [0, 0, 0, 1]}


def test_sentences_of_three_words_are_told_apart_in_99_of_100_cases(sentences):
    """It has counted a thousand others of each: the one that ships knows a hundred times more."""
    counted = [*zip(*sentences[:1000], strict=True)]
    texts = {"en": counted[0], "fr": counted[1]}
    tokenizer = TranslationTokenizer.train(texts, 1_500)
    classifier = tokenizer.classifier
    assert classifier is not None
    asked = {
        (language, text)
        for pair in sentences[1000:]
        for language, text in zip(("en", "fr"), pair, strict=True)
        if len(text.split()) >= 3 and text not in texts[language]
    }
    wrong = []
    for language, text in asked:
        found = classifier.probabilities(tokenizer.encode_text(text))
        if found[language] < 0.5:
            wrong.append(text)
    assert len(asked) > 1_500
    assert len(wrong) <= 0.01 * len(asked), wrong


BAD = {
    "no language": ({}, "count {} tokens; expected all"),
    "no token": ({"en": [], "fr": []}, "count {'en': 0, 'fr': 0} tokens; expected all"),
    "vocabularies": ({"en": [1, 2], "fr": [1]}, "{'en': 2, 'fr': 1} tokens; expected all"),
    "negative": ({"en": [1, -2], "fr": [1, 1]}, "token 1 occurs -2 times in 'en'"),
    "a fraction": ({"en": [1, 1], "fr": [0.5, 1]}, "token 0 occurs 0.5 times in 'fr'"),
    "a truth": ({"en": [True, 1], "fr": [1, 1]}, "token 0 occurs True times in 'en'"),
}


@pytest.mark.usefixtures("as_a_reader")
@pytest.mark.parametrize(("counts", "says"), BAD.values(), ids=BAD)
def test_what_is_no_count_is_refused(counts, says):
    with pytest.raises(ValueError, match=says):
        LanguageClassifier(counts)
