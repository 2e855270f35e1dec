"""Tatoeba without a sentence in two splits; Multi30k with every caption beside its translation."""

import gzip
import io
import random
import re
from hashlib import sha256
from itertools import combinations, permutations
from zipfile import ZipFile

import pytest

from glassbox.data import multi30k, plain_spaces, references, tatoeba
from glassbox.data.components import components

TATOEBA = "tatoeba_eng_fra/fra-eng.zip"


@pytest.fixture(scope="module")
def splits(data):
    data(TATOEBA)
    return {split: tatoeba(split) for split in ("train", "valid", "test")}


@pytest.fixture(scope="module")
def published(data):
    """The pairs as they stand in the file, line by line."""
    with ZipFile(data(TATOEBA)) as archive:
        text = plain_spaces(archive.read("fra.txt").decode())
    return [
        (english.strip(), french.strip())
        for line in text.splitlines()
        for english, french in [line.split("\t")]
    ]


def zipped(text: str) -> bytes:
    """An archive as Tatoeba's, with these lines."""
    content = io.BytesIO()
    with ZipFile(content, "w") as archive:
        archive.writestr("_about.txt", "Pairs\n")
        archive.writestr("fra.txt", text)
    return content.getvalue()


# The splits themselves, sentence by sentence: the scores of shipped weights hold for these only.
SPLITS = {
    "train": (138_612, "ac4b2c4eaf0562d5bd5d908c42dd3982efe93764eb86c3c7f5d50987c2d80a54"),
    "valid": (2_000, "faace5ee61b5f5b460f8e00ecbe3f5e9e9887381b434407180036b6e105d989d"),
    "test": (2_000, "caa8c1ea1ace9816f202646d7d2017dbf93dd6f99d50c6567e5d940cfdbb0263"),
}


@pytest.mark.slow
@pytest.mark.parametrize(("split", "size", "digest"), [(k, *v) for k, v in SPLITS.items()])
def test_the_splits_of_tatoeba_are_the_same_everywhere(splits, split, size, digest):
    assert len(splits[split]) == size
    text = "\n".join(map("\t".join, splits[split]))
    assert sha256(text.encode()).hexdigest() == digest


@pytest.mark.slow
def test_the_splits_together_are_the_published_pairs(splits, published):
    assert len(published) == 142_787
    together = [pair for split in splits.values() for pair in split]
    assert {*together} == {*published}
    assert len(together) == len({*published}) == 142_612


@pytest.mark.slow
@pytest.mark.parametrize(("one", "other"), [*combinations(SPLITS, 2)])
def test_no_sentence_is_in_two_splits_of_tatoeba(splits, one, other):
    """Told from the text anew: in lower case, without what ends a sentence."""

    def sentences(split):
        return {re.sub(r"[\s.!?…‽]+$", "", side.lower()) for pair in splits[split] for side in pair}

    assert sentences(one).isdisjoint(sentences(other))


@pytest.mark.slow
def test_the_splits_are_alike_as_the_docstring_says(splits, published):
    english = {
        split: sum(len(pair[0].split()) for pair in pairs) / len(pairs)
        for split, pairs in splits.items()
    }
    assert {split: round(mean, 2) for split, mean in english.items()} == {
        "train": 6.17,
        "valid": 6.16,
        "test": 6.0,
    }
    backwards = [(french, english) for english, french in splits["test"]]
    assert (len(references(splits["test"])), len(references(backwards))) == (1_355, 1_874)
    sizes = [len(component) for component in components(published)]
    assert (len(sizes), sizes.count(1), max(sizes)) == (92_839, 63_324, 72)
    numbers = ("6.17, 6.16 and 6.00", "1,355", "1,874", "142,612", "92,839", "63,324", "72 pairs")
    assert all(number in str(tatoeba.__doc__) for number in numbers)


@pytest.mark.slow
@pytest.mark.parametrize("backwards", [False, True], ids=["from English", "from French"])
def test_every_translation_of_a_sentence_is_among_its_references(splits, published, backwards):
    step = -1 if backwards else 1
    everywhere = references((a, b)[::step] for a, b in published)
    tested = references((a, b)[::step] for a, b in splits["test"])
    assert all({*targets} == {*everywhere[source]} for source, targets in tested.items())


def test_tatoeba_does_not_depend_on_the_order_of_its_lines(put):
    lines = [f"Sentence {i}.\tPhrase {i % 4_500}.\n" for i in range(5_000)]
    put(TATOEBA, zipped("".join(lines)))
    expected = {split: tatoeba(split) for split in SPLITS}
    assert {split: len(pairs) for split, pairs in expected.items()} == {
        "train": 1_000,
        "valid": 2_000,
        "test": 2_000,
    }
    random.Random(0).shuffle(lines)
    put(TATOEBA, zipped("".join(lines)))
    assert {split: tatoeba(split) for split in SPLITS} == expected


def test_a_list_that_is_changed_changes_no_other(put):
    put(TATOEBA, zipped("Go.\tVa !\nRun!\tCours !\n"))
    pairs = tatoeba("test")
    pairs.clear()
    assert len(tatoeba("test")) == 2


def test_the_sentences_of_tatoeba_are_plain_and_each_pair_is_there_once(put):
    put(TATOEBA, zipped("Go.\tVa\u202f!\nGo. \t Va !\nI\u2019m up.\tJe suis levé.\n"))
    assert {*tatoeba("test")} == {("Go.", "Va !"), ("I'm up.", "Je suis levé.")}
    assert len(tatoeba("test")) == 2


MALFORMED = {
    "no tab": ("Go. Va !", "Go. Va !"),
    "a third column": ("Go.\tVa !\tCC-BY 2.0", r"Go.\tVa !\tCC-BY 2.0"),
    "no French": ("Go.\t", r"Go.\t"),
    "no English": ("\tVa !", r"\tVa !"),
    "French that is a space": ("Go.\t\u202f", r"Go.\t "),
    "nothing": ("", ""),
}


@pytest.mark.parametrize(("line", "shown"), MALFORMED.values(), ids=MALFORMED)
def test_a_line_of_tatoeba_that_is_no_pair_is_named(put, line, shown):
    path = put(TATOEBA, zipped(f"Run!\tCours !\n{line}\nWow!\tÇa alors !\n"))
    expected = (
        f"fra.txt, line 2: expected an English sentence, a tab and a French sentence, got '{shown}'"
    )
    with pytest.raises(ValueError, match=re.escape(expected)) as caught:
        tatoeba("train")
    assert str(path) in str(caught.value)


def test_a_character_that_ends_no_line_is_left_in_its_sentence(put):
    put(TATOEBA, zipped("Go\u0085 on.\tVa\u2028 !"))
    assert tatoeba("test") == [("Go\u0085 on.", "Va\u2028 !")]
    put("multi30k/val.fr.gz", gzip.compress("Un\u2028 chien.\rUn chat.\n".encode()))
    assert multi30k("valid", "fr") == [("Un\u2028 chien.\rUn chat.",)]


def test_an_archive_that_has_changed_is_read_anew(put):
    put(TATOEBA, zipped("Go.\tVa !\n"))
    assert tatoeba("test") == [("Go.", "Va !")]
    put(TATOEBA, zipped("Run!\tCours !\n"))
    assert tatoeba("test") == [("Run!", "Cours !")]


@pytest.mark.usefixtures("as_a_reader")
@pytest.mark.parametrize("split", ["dev", "Train", "", None, 0])
def test_an_unknown_split_of_tatoeba_names_the_known_ones(split):
    with pytest.raises(ValueError, match=f"Tatoeba has no split {split!r}") as caught:
        tatoeba(split)
    assert str(caught.value).endswith("it has: 'train', 'valid', 'test'")


SIZES = {
    "train": 29_000,
    "valid": 1_014,
    "test_2016": 1_000,
    "test_2017": 1_000,
    "test_2018": 1_071,
}


@pytest.mark.parametrize(("split", "size"), SIZES.items())
def test_the_splits_of_multi30k_have_their_published_sizes(data, split, size):
    data("multi30k/train.en.gz")
    captions = multi30k(split, "de", "en", "fr")
    assert len(captions) == size
    assert all(text and text == text.strip() for photograph in captions for text in photograph)


def test_the_captions_of_a_photograph_stand_side_by_side_in_the_order_asked_for(data):
    data("multi30k/train.en.gz")
    first = {
        "de": "Ein Mann mit einem orangefarbenen Hut, der etwas anstarrt.",
        "en": "A man in an orange hat starring at something.",
        "fr": "Un homme avec un chapeau orange regardant quelque chose.",
    }
    for number in (1, 2, 3):
        for languages in permutations(first, number):
            expected = tuple(first[language] for language in languages)
            assert multi30k("test_2016", *languages)[0] == expected
    german, english = zip(*multi30k("valid", "de", "en"), strict=True)
    assert multi30k("valid", "en", "de") == list(zip(english, german, strict=True))


def test_languages_with_different_numbers_of_captions_are_refused(put):
    texts = {"en": "A dog.\nA cat.\n", "de": "Ein Hund.\n", "fr": "Un chien.\nUn chat.\n"}
    paths = {
        language: put(f"multi30k/val.{language}.gz", gzip.compress(text.encode()))
        for language, text in texts.items()
    }
    assert multi30k("valid", "en", "fr") == [("A dog.", "Un chien."), ("A cat.", "Un chat.")]
    with pytest.raises(ValueError, match="expected a caption for each photograph") as caught:
        multi30k("valid", "de", "en")
    assert str(caught.value).endswith(f"got 1 in {paths['de']}, 2 in {paths['en']}")


def test_a_caption_that_is_not_utf_8_is_named_with_its_line(put):
    path = put("multi30k/val.de.gz", gzip.compress("Hunde.\nKühe.\n".encode("latin-1")))
    with pytest.raises(ValueError, match=r"line 2: expected UTF-8, got b'\\xfc'") as caught:
        multi30k("valid", "de")
    assert str(path) in str(caught.value)


@pytest.mark.usefixtures("as_a_reader")
@pytest.mark.parametrize("split", ["val", "test", "test_2016_flickr", None])
def test_an_unknown_split_of_multi30k_names_the_known_ones(split):
    with pytest.raises(ValueError, match=f"Multi30k has no split {split!r}") as caught:
        multi30k(split, "en", "de")
    known = "'train', 'valid', 'test_2016', 'test_2017', 'test_2018'"
    assert str(caught.value).endswith(f"it has: {known}")


@pytest.mark.usefixtures("as_a_reader")
@pytest.mark.parametrize("languages", [(), ("en", "cs"), ("EN",), ("en", "en"), (None,), (["en"],)])
def test_languages_that_multi30k_does_not_have_are_refused(languages):
    with pytest.raises(ValueError, match=re.escape(f"Multi30k in {languages}")) as caught:
        multi30k("valid", *languages)
    assert str(caught.value).endswith("expected different ones of: en, de, fr")


def test_references_are_the_distinct_translations_of_each_sentence_in_order():
    pairs = [
        ("Go.", "Va !"),
        ("Run!", "Cours !"),
        ("Go.", "Allez."),
        ("Go.", "Va !"),
        ("Go!", "Va !"),
    ]
    assert references(pairs) == {
        "Go.": ["Va !", "Allez."],
        "Run!": ["Cours !"],
        "Go!": ["Va !"],
    }
    assert list(references(pairs)) == ["Go.", "Run!", "Go!"]
    assert references([]) == {}
