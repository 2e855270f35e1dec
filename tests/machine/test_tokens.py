"""The page cuts a text into the package's tokens, and puts them together again."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from glassbox.data.parallel import tatoeba

READ = """(texts) => texts.map((text) => {
  const { tokenizer } = translator, ids = tokenizer.encodeText(text);
  return [ids, tokenizer.decode(ids), tokenizer.targetLanguage(text), tokenizer.isFamiliar(text)];
})"""
#: Not assigned in the interpreter's Unicode, but maybe in the browser's; and halves of characters.
characters = st.characters(exclude_categories=["Cs", "Cn"])
SPECIAL = ["I'm", "l'été", "</s>", "<fr>", "\u202f!", "e\u0301", "’s", "😀", "9½"]
pieces = st.sampled_from([*SPECIAL, " ", "\u00a0", "\u2028"])
texts = st.lists(st.one_of(st.text(characters, max_size=20), pieces), max_size=8).map("".join)


def compare(machine, translator, sentences):
    tokenizer = translator.tokenizer
    for text, found in zip(sentences, machine.page.evaluate(READ, sentences), strict=True):
        ids = tokenizer.encode_text(text)
        expected = [
            *(ids, tokenizer.decode(ids), translator.target_language(text)),
            tokenizer.is_familiar(text),
        ]
        assert found == expected, ascii(text)


def test_five_hundred_lines_of_the_corpus_are_cut_alike(machine, translator, data):
    data("tatoeba_eng_fra/fra-eng.zip")
    lines = [line for pair in tatoeba("test")[:250] for line in pair]
    assert len(lines) == 500
    compare(machine, translator, lines)


@given(st.lists(texts, min_size=1, max_size=20))
def test_any_text_is_cut_alike(machine, translator, sentences):
    compare(machine, translator, sentences)


def test_every_token_decodes_alike(machine, translator):
    tokenizer = translator.tokenizer
    call = """(ids) => ids.map((id) => (
      [translator.tokenizer.piece(id), translator.tokenizer.decode([id, 279])]))"""
    ids = list(range(len(tokenizer)))
    for number, (piece, text) in zip(ids, machine.page.evaluate(call, ids), strict=True):
        assert piece == tokenizer.piece(number)
        assert text == tokenizer.decode([number, 279])


def test_a_special_token_that_a_reader_types_is_text(machine):
    found = machine.page.evaluate("translator.tokenizer.encodeText('</s> <fr>')")
    assert min(found) > 4


def test_a_word_of_many_letters_is_cut_alike(machine, translator):
    compare(machine, translator, ["anticonstitutionnellement" * 12, "a" * 500, "éàü" * 100])


def test_nine_tokens_are_not_judged_and_ten_are(machine, translator):
    strange = ["q" * n for n in range(1, 20)]
    compare(machine, translator, strange)
    lengths = {len(translator.tokenizer.encode_text(text)): text for text in strange}
    assert translator.tokenizer.is_familiar(lengths[9])
    assert not translator.tokenizer.is_familiar(lengths[10])


def test_a_language_is_as_probable_as_in_the_package(machine, translator):
    call = "(ids) => Object.fromEntries(translator.tokenizer.classifier.logs(ids))"
    for text in ("pain", "Tom", "Où est la gare ?", "I love machine learning."):
        ids = translator.tokenizer.encode_text(text)
        logs = machine.page.evaluate(call, ids)
        shares = translator.tokenizer.classifier.probabilities(ids)
        expected = math.log(shares["en"] / shares["fr"])
        assert logs["en"] - logs["fr"] == pytest.approx(expected, abs=1e-9)
