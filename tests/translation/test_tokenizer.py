"""Sentences as sources and targets: framed as documented, lossless, saved whole or not at all."""

import json
from dataclasses import replace
from importlib.resources import files
from pathlib import Path

import pytest
import tokenizers
from hypothesis import given
from hypothesis import strategies as st

from glassbox.data import plain_spaces
from glassbox.tokenization import BPE
from glassbox.tokenization import tokenizer as base
from glassbox.translation import TranslationTokenizer
from glassbox.translation import tokenizer as module
from glassbox.translation.language import LanguageClassifier
from glassbox.translation.tokenizer import special_tokens
from tests.translation import toy

TEXTS = {"en": ["I see a dog.", "We know."], "fr": ["Je vois un chien.", "Nous savons."]}
TOKENIZER = toy.tokenizer()


@pytest.fixture(scope="module")
def packaged():
    """The tokenizer of the translator that the package carries."""
    folder = Path(str(files("glassbox"))) / "pretrained_weights" / "tatoeba-en-fr"
    return TranslationTokenizer.load(folder)


def words(ids):
    return [TOKENIZER.bpe.tokens[number] for number in ids]


@pytest.mark.parametrize(
    ("directions", "expected"),
    [
        ([("en", "fr"), ("fr", "en")], ("<pad>", "<s>", "</s>", "<en>", "<fr>")),
        ([("de", "en")], ("<pad>", "<s>", "</s>", "<en>")),
        ([("en", "fr"), ("en", "de")], ("<pad>", "<s>", "</s>", "<de>", "<fr>")),
    ],
)
def test_a_language_that_is_written_has_a_token_behind_the_three_others(directions, expected):
    assert special_tokens(directions) == expected
    texts = {language: ["x y"] for pair in directions for language in pair}
    tokenizer = TranslationTokenizer.train(texts, 300, directions=directions)
    assert tuple(tokenizer.bpe.tokens[: len(expected)]) == expected
    assert (tokenizer.pad_id, tokenizer.bos_id, tokenizer.eos_id) == (0, 1, 2)


def test_sources_and_targets_are_framed_as_documented():
    assert words(TOKENIZER.encode_source("I see a dog.", "fr"))[:3] == ["<fr>", "ĠI", "Ġsee"]
    assert words(TOKENIZER.encode_source("", "en")) == ["<en>", "</s>"]
    target = words(TOKENIZER.encode_target("Je vois."))
    assert (target[0], target[1:3], target[-1]) == ("<s>", ["ĠJe", "Ġvois"], "</s>")


@given(text=st.text())
def test_any_text_comes_back_but_for_its_white_space(text):
    expected = " ".join(plain_spaces(text).split())
    assert TOKENIZER.decode(TOKENIZER.encode_target(text)) == expected
    assert TOKENIZER.decode(TOKENIZER.encode_source(text, "fr")) == expected


def test_special_tokens_that_a_user_writes_are_text():
    text = "a </s> b <fr><pad> <s>"
    assert min(TOKENIZER.encode_text(text)) >= 5
    assert TOKENIZER.decode(TOKENIZER.encode_text(text)) == text


def test_typographic_and_typed_spelling_are_the_same_tokens():
    typed = TOKENIZER.encode_text("L'été : où ?")
    assert TOKENIZER.encode_text("L\u2019e\u0301te\u0301\u00a0: ou\u0300\u202f?") == typed


def test_white_space_is_one_space():
    typed = TOKENIZER.encode_text("I see a dog.")
    assert TOKENIZER.encode_text(" I  see\ta\ndog. \r\n") == typed
    assert TOKENIZER.encode_text(" \t") == []


def test_texts_may_come_one_by_one_and_a_single_text_is_not_its_letters():
    """They are read twice: for the vocabulary, and for the classifier."""
    once = {language: iter(texts) for language, texts in TEXTS.items()}
    found = TranslationTokenizer.train(once, 300)
    assert found.classifier == TranslationTokenizer.train(TEXTS, 300).classifier
    with pytest.raises(
        TypeError, match=r"texts is of type str, 'I see\.'; expected several strings"
    ):
        TranslationTokenizer.train({"en": "I see.", "fr": "Je vois."}, 300)


def test_lower_case_is_an_option_of_the_tokenizer():
    small = TranslationTokenizer.train(TEXTS, 300, lowercase=True)
    assert small.encode_text("I SEE A DOG.") == small.encode_text("i see a dog.")
    assert TOKENIZER.encode_text("I SEE A DOG.") != TOKENIZER.encode_text("i see a dog.")
    assert ("Ġ", "I") in TOKENIZER.bpe.merges
    assert ("Ġ", "I") not in small.bpe.merges
    assert ("Ġ", "i") in small.bpe.merges


@pytest.mark.slow
def test_the_vocabulary_is_that_of_the_reference_library(sentences):
    english, french = zip(*sentences[:1000], strict=True)
    ours = TranslationTokenizer.train({"en": english, "fr": french}, 1_000)
    theirs = tokenizers.ByteLevelBPETokenizer(add_prefix_space=True)
    theirs.train_from_iterator(
        english + french,
        vocab_size=1_000,
        min_frequency=1,
        special_tokens=[*special_tokens(ours.directions)],
        show_progress=False,
    )
    assert len(ours) == 1_000
    assert ours.bpe.vocabulary == theirs.get_vocab()
    for text in english + french:
        assert ours.encode_text(text) == theirs.encode(text).ids


@pytest.mark.parametrize("lowercase", [False, True])
def test_what_is_saved_is_what_is_read(lowercase, tmp_path):
    saved = TranslationTokenizer.train(TEXTS, 300, directions=[("fr", "en")], lowercase=lowercase)
    saved.save(tmp_path / "new" / "folder")
    read = TranslationTokenizer.load(tmp_path / "new" / "folder")
    for name in ("languages", "directions", "lowercase", "classifier"):
        assert getattr(read, name) == getattr(saved, name)
    assert (read.bpe.vocabulary, read.bpe.merges) == (saved.bpe.vocabulary, saved.bpe.merges)
    text = "Je VOIS un 犬, </s>"
    assert read.encode_source(text, "en") == saved.encode_source(text, "en")


def test_without_a_classifier_it_is_read_without_one(tmp_path):
    TOKENIZER.save(tmp_path)
    replace(TOKENIZER, classifier=None).save(tmp_path)  # the counts of the first are gone
    assert TranslationTokenizer.load(tmp_path).classifier is None


def test_what_cannot_be_written_leaves_what_was_there(tmp_path, monkeypatch):
    TOKENIZER.save(tmp_path)
    (tmp_path / "CARD.md").write_text("A card.")
    before = {file.name: file.read_bytes() for file in tmp_path.iterdir()}

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(module, "write_json", full)  # after the vocabulary is written
    with pytest.raises(OSError, match="No space"):
        TranslationTokenizer.train(TEXTS, 300).save(tmp_path)
    assert {file.name: file.read_bytes() for file in tmp_path.iterdir()} == before


def test_a_file_in_the_place_of_the_folder_is_refused(tmp_path):
    (tmp_path / "file").write_text("mine")
    with pytest.raises(FileExistsError, match="file is a file; expected a folder"):
        TOKENIZER.save(tmp_path / "file")
    assert (tmp_path / "file").read_text() == "mine"


FAMILIAR = {
    "English": "Two young men in white shirts are waiting for the bus, and one of them is asleep.",
    "French": "Une femme en robe rouge vend des légumes à côté d'une vieille église.",
    "short German": "Ich liebe dich.",
    "nine short tokens": "a b c d e f g i",
}
UNFAMILIAR = {
    "German": "Ich habe gestern meine Schlüssel verloren und konnte die Tür nicht öffnen.",
    "German without umlauts": "Der Bahnhof ist heute wegen eines Streiks geschlossen worden.",
    "Portuguese": "O gato está dormindo na cadeira perto da janela.",
    "Spanish": "Mañana por la mañana vamos a viajar juntos hacia Zaragoza.",
    "Russian": "Привет, как дела?",
    "Chinese": "我今天很高兴。",
    "emoji": "😀🎉🚀",
    "ten short tokens": "a b c d e f g h i",
    "one sign": "犬",
    "one emoji": "I love my 🐶.",
    "one word with foreign letters": "Łódź",
}


@pytest.mark.parametrize(
    ("text", "expected"),
    [*((text, True) for text in FAMILIAR.values()), *((t, False) for t in UNFAMILIAR.values())],
    ids=[*FAMILIAR, *UNFAMILIAR],
)
def test_text_unlike_the_training_text_is_unfamiliar(text, expected, packaged):
    assert packaged.is_familiar(text) is expected


def test_without_counts_every_text_is_familiar(packaged):
    assert replace(packaged, classifier=None).is_familiar(UNFAMILIAR["Chinese"])


OTHER = BPE.train(["I see a dog."], 300, special_tokens=("<pad>", "<s>", "</s>", "<de>", "<en>"))
BAD = {
    "three letters": ({"languages": ("eng", "fr")}, "'eng': expected two small letters"),
    "capital letters": ({"languages": ("EN", "fr")}, "'EN': expected two small letters"),
    "no direction": ({"directions": ()}, r"no direction between \['en', 'fr'\]"),
    "into itself": ({"directions": (("en", "en"),)}, r"\('en', 'en'\): expected two different"),
    "into another": ({"directions": (("en", "de"),)}, r"\('en', 'de'\): expected two .*'fr'"),
    "a list": ({"directions": (["en", "fr"],)}, r"\['en', 'fr'\]: expected two .*in a tuple"),
    "twice": ({"directions": (("en", "fr"), ("en", "fr"))}, "stands twice"),
    "a language twice": ({"languages": ("en", "fr", "en")}, "stands twice"),
    "another vocabulary": ({"bpe": OTHER}, "begins with .*, '<de>', .*; expected .*, '<en>', "),
    "no padding": (
        {"bpe": BPE(TOKENIZER.bpe.vocabulary, TOKENIZER.bpe.merges, special_tokens=())},
        "the pad_token is None; expected '<pad>'",
    ),
    "counts of fewer tokens": (
        {"classifier": LanguageClassifier({"en": [1] * 300, "fr": [1] * 300})},
        "counts the tokens {'en': 300, 'fr': 300}; expected {'en': 340, 'fr': 340}",
    ),
    "counts of another language": (
        {"classifier": LanguageClassifier({"en": [1] * 340, "de": [1] * 340})},
        "{'en': 340, 'de': 340}; expected {'en': 340, 'fr': 340}",
    ),
}


@pytest.mark.usefixtures("as_a_reader")
@pytest.mark.parametrize(("change", "says"), BAD.values(), ids=BAD)
def test_what_does_not_go_together_is_refused(change, says):
    with pytest.raises(ValueError, match=says):
        replace(TOKENIZER, **change)


@pytest.mark.usefixtures("as_a_reader")
@pytest.mark.parametrize(
    ("text", "error", "says"),
    [
        (None, TypeError, "text is of type NoneType, None; expected a string"),
        (b"Je", TypeError, "text is of type bytes"),
        ("a\ud800", ValueError, "surrogate"),
    ],
)
def test_what_is_no_text_is_refused(text, error, says):
    for encode in (TOKENIZER.encode_text, TOKENIZER.encode_target):
        with pytest.raises(error, match=says):
            encode(text)


@pytest.mark.usefixtures("as_a_reader")
def test_a_word_for_a_truth_value_is_refused():
    with pytest.raises(TypeError, match="lowercase is of type str, 'no'"):
        replace(TOKENIZER, lowercase="no")  # type: ignore[arg-type]


def test_what_is_no_token_has_no_text():
    for read in (TOKENIZER.tokens, TOKENIZER.decode):
        with pytest.raises(ValueError, match=r"ids\[1\] is -100; this vocabulary has 340 tokens"):
            read([3, -100])  # a negative number would count from the end


def test_a_language_that_is_not_written_is_refused():
    with pytest.raises(ValueError, match=r"to='de' is not known; expected one of \['en', 'fr'\]"):
        TOKENIZER.encode_source("I see.", "de")
    one = TranslationTokenizer.train(TEXTS, 300, directions=[("fr", "en")])
    with pytest.raises(ValueError, match=r"to='fr' is not known; expected one of \['en'\]"):
        one.encode_source("I see.", "fr")


def test_nothing_is_learned_from_a_direction_that_cannot_be():
    with pytest.raises(ValueError, match=r"direction \('en', 'de'\)"):
        TranslationTokenizer.train(TEXTS, 300, directions=[("en", "de")])
    with pytest.raises(ValueError, match="vocab_size=200 is too small"):
        TranslationTokenizer.train(TEXTS, 200)


def cut(file, _folder):
    file.write_text(file.read_text()[:-20])


def drop_last_line(file, _folder):
    lines = file.read_text(encoding="utf-8").splitlines()
    file.write_text("\n".join(lines[:-1]) + "\n", encoding="utf-8")


NO_MERGE = "the 0 merges build 0 of the 79 tokens of several characters .* truncated"
DAMAGE = {
    "no folder": (None, None, FileNotFoundError, "no folder"),
    "no languages": ("translator.json", lambda file, _: file.unlink(), FileNotFoundError, "holds"),
    "no merges": ("merges.txt", lambda file, _: file.unlink(), FileNotFoundError, "merges.txt is"),
    **{
        f"no {name}": (name, lambda file, _: file.unlink(), FileNotFoundError, f"holds no {name}")
        for name in ("token_counts.json", "tokenizer_config.json")
    },
    "no merge": ("merges.txt", lambda file, _: file.write_text(""), ValueError, NO_MERGE),
    "a merge too few": ("merges.txt", drop_last_line, ValueError, "78 merges build 78 of the 79"),
    "half a merge": ("merges.txt", cut, ValueError, "needs the token .* belong together"),
    "cut off": ("translator.json", cut, ValueError, "translator.json is not JSON"),
    "cut off counts": ("token_counts.json", cut, ValueError, "token_counts.json is not JSON"),
    "an entry too few": (
        "translator.json",
        lambda file, _: file.write_text('{"languages": ["en", "fr"]}'),
        ValueError,
        r"has no \['directions', 'lowercase'\]",
    ),
    "languages in a string": (
        "translator.json",
        lambda file, _: file.write_text('{"languages":"en","directions":[],"lowercase":false}'),
        ValueError,
        "language 'e': expected two small letters",
    ),
    "a case that is no truth": (
        "translator.json",
        lambda file, _: file.write_text(file.read_text().replace("false", '"no"')),
        ValueError,
        "lowercase is of type str, 'no'; expected True or False",
    ),
    "directions that are none": (
        "translator.json",
        lambda file, _: file.write_text(
            json.dumps({"languages": ["en", "fr"], "directions": [1], "lowercase": False})
        ),
        ValueError,
        "holds no translator's tokenizer",
    ),
    "counts that are none": (
        "token_counts.json",
        lambda file, _: file.write_text('{"en": ["many"], "fr": [1]}'),
        ValueError,
        "occurs 'many' times",
    ),
    "another's vocabulary": (
        "vocab.json",
        lambda _, folder: OTHER.save(folder),
        ValueError,
        "begins with .*, '<de>', ",
    ),
}


@pytest.mark.usefixtures("as_a_reader")
@pytest.mark.parametrize(("name", "damage", "error", "says"), DAMAGE.values(), ids=DAMAGE)
def test_a_damaged_folder_is_refused(name, damage, error, says, tmp_path):
    folder = tmp_path / "tokenizer"
    if name is not None:
        TOKENIZER.save(folder)
        damage(folder / name, folder)
    with pytest.raises(error, match=says) as caught:
        TranslationTokenizer.load(folder)
    assert str(folder) in str(caught.value)


def test_a_word_of_a_text_is_split_once(monkeypatch):
    fresh = replace(TOKENIZER)
    fresh.encode_text("I see a dog and a dog.")
    monkeypatch.setattr(base.Tokenizer, "_remember", lambda *_: pytest.fail("split again"))
    fresh.encode_text("I see a dog and a dog.")
