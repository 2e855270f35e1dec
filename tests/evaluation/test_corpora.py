"""Test sets by name: the right side as the source, every reference, the digest of each file."""

import re

import pytest

from glassbox.data import FILES
from glassbox.evaluation import corpora, parallel_test
from glassbox.evaluation.corpora import ParallelTest

TATOEBA = "tatoeba_eng_fra/fra-eng.zip"
PAIRS = [("Run!", "Cours !"), ("Run!", "Courez !"), ("Jump.", "Saute."), ("Go!", "Cours !")]


@pytest.fixture
def few(monkeypatch):
    """Tatoeba with four pairs."""
    monkeypatch.setattr(corpora, "tatoeba", lambda split: PAIRS)


@pytest.mark.usefixtures("few")
@pytest.mark.parametrize(
    ("source", "to", "sources", "references"),
    [
        ("en", "fr", ["Run!", "Jump.", "Go!"], [["Cours !", "Courez !"], ["Saute."], ["Cours !"]]),
        ("fr", "en", ["Cours !", "Courez !", "Saute."], [["Run!", "Go!"], ["Run!"], ["Jump."]]),
    ],
)
def test_a_sentence_of_tatoeba_stands_once_with_all_its_translations(
    source, to, sources, references
):
    test = parallel_test("tatoeba", "test", source, to)
    assert test.sources == sources
    assert test.references == references
    assert test[:4] == ("tatoeba", "test", source, to)
    assert test.files == {TATOEBA: FILES[TATOEBA].sha256}
    swapped = [
        (english, french) if source == "en" else (french, english) for english, french in PAIRS
    ]
    assert sorted(test.pairs) == sorted(swapped)


@pytest.mark.usefixtures("few")
def test_the_first_sentences_keep_their_references():
    test = parallel_test("tatoeba", "test", "en", "fr")
    assert test.first(1).sources == ["Run!"]
    assert test.first(1).pairs == [("Run!", "Cours !"), ("Run!", "Courez !")]
    assert test.first(None) == test.first(10) == test


def test_the_split_of_tatoeba_that_is_asked_for_is_read(monkeypatch):
    monkeypatch.setattr(corpora, "tatoeba", lambda split: [(split, "")])
    assert parallel_test("tatoeba", "valid", "en", "fr").sources == ["valid"]


@pytest.mark.parametrize(
    ("split", "named", "stem", "number"),
    [
        ("test", "test_2016", "test_2016_flickr", 1000),
        ("test_2018", "test_2018", "test_2018_flickr", 1071),
        ("valid", "valid", "val", 1014),
    ],
)
def test_lines_of_multi30k_stay_as_they_are(split, named, stem, number, data):
    for language in ("de", "en"):
        data(f"multi30k/{stem}.{language}.gz")
    test = parallel_test("multi30k", split, "de", "en")
    assert test.split == named
    assert len(test.sources) == len(test.references) == number
    assert {len(several) for several in test.references} == {1}
    names = [f"multi30k/{stem}.de.gz", f"multi30k/{stem}.en.gz"]
    assert test.files == {name: FILES[name].sha256 for name in names}
    turned = parallel_test("multi30k", split, "en", "de")
    assert turned.pairs == [(target, source) for source, target in test.pairs]


def test_the_first_caption_is_known(data):
    data("multi30k/test_2016_flickr.de.gz")
    assert parallel_test("multi30k", "test", "de", "en").pairs[0] == (
        "Ein Mann mit einem orangefarbenen Hut, der etwas anstarrt.",
        "A man in an orange hat starring at something.",
    )


@pytest.mark.usefixtures("as_a_reader")
@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (
            ("wmt14", "test", "en", "de"),
            "corpus='wmt14' is not known; expected one of ['multi30k', 'tatoeba']",
        ),
        (
            ("tatoeba", "test", "en", "de"),
            "tatoeba from 'en' to 'de': expected two different languages of en, fr",
        ),
        (
            ("multi30k", "test", "cs", "en"),
            "multi30k from 'cs' to 'en': expected two different languages of de",
        ),
        (("tatoeba", "test", "en", "en"), "from 'en' to 'en': expected two different languages"),
        (("tatoeba", "test_2016", "en", "fr"), "'test_2016'"),
        (("multi30k", "test_2015", "en", "fr"), "'test_2015'"),
        ((None, "test", "en", "fr"), "corpus=None is not known"),
    ],
)
def test_an_unknown_name_is_refused(arguments, says):
    with pytest.raises(ValueError, match=re.escape(says)):
        parallel_test(*arguments)


def test_what_is_there_is_not_changed_by_taking_the_first():
    test = ParallelTest("c", "s", "a", "b", ["x", "y"], [["1"], ["2"]], {})
    test.first(1)
    assert test.sources == ["x", "y"]
