"""The English of all corpora: distinct texts, without a test split."""

import pytest

from glassbox.data import english, multi30k, sst2, tatoeba, tiny_shakespeare, wnut17

FILES = (
    "tatoeba_eng_fra/fra-eng.zip",
    "multi30k/train.en.gz",
    "multi30k/val.en.gz",
    "classification_sst2/train.tsv",
    "classification_sst2/dev.tsv",
    "ner_wnut17/wnut17train.conll",
    "ner_wnut17/emerging.dev.conll",
    "tinyshakespeare/input.txt",
)


@pytest.fixture(autouse=True)
def corpora(data):
    for name in FILES:
        data(name)


@pytest.mark.parametrize(("split", "number"), [("train", 141_319), ("valid", 5_219)])
def test_texts_are_distinct_and_of_every_corpus(split, number):
    texts = english(split)
    assert len(texts) == len({*texts}) == number
    assert {sentence for sentence, _ in tatoeba(split)} < {*texts}
    assert {caption for (caption,) in multi30k(split, "en")} < {*texts}
    assert {sentence.text for sentence in sst2(split)} < {*texts}
    assert " ".join(wnut17(split)[7].words) in texts
    assert " ".join(tiny_shakespeare(split).split("\n\n")[9].split()) in texts
    assert all(text == text.strip() and "\n" not in text for text in texts)


def test_one_caption_is_in_both_splits_and_no_test_text_is_in_the_training():
    train = {*english("train")}
    assert train & {*english("valid")} == {"A man in a black shirt is singing into a microphone."}
    assert not train & {sentence for sentence, _ in tatoeba("test")}


def test_an_unknown_split_is_refused():
    with pytest.raises(ValueError, match="English has no split 'test'; it has: 'train', 'valid'"):
        english("test")
