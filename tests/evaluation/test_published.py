"""BLEU as two published runs computed it: their tokens, their formula."""

import re
import sys

import pytest
import sacrebleu

from glassbox.data import multi30k
from glassbox.evaluation import corpus_bleu, moses_bleu, spacy_bleu
from glassbox.evaluation import published as module
from glassbox.evaluation.published import moses_tokens, spacy_tokens


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "language", "expected"),
    [
        ("I don't like well-known dogs.", "en", "i do n't like well - known dogs ."),
        ("Dr. Smith has a lot of patients.", "en", "dr. smith has a lot of patients ."),
        ("dr. smith has a lot of patients.", "en", "dr . smith has a lot of patients ."),
        ("Ein Hund z.B. läuft.", "de", "ein hund z.b. läuft ."),
        ("L'homme n'est pas là !", "fr", "l' homme n' est pas là !"),
    ],
)
def test_spacy_splits_first_and_lowers_then(text, language, expected):
    assert spacy_tokens(text, language) == expected.split()


@pytest.mark.parametrize(
    ("text", "language", "expected"),
    [
        ("I don't like well-known dogs.", "en", "i don &apos;t like well-known dogs ."),
        ("L'homme n’est pas là !\n", "fr", "l&apos; homme n&apos; est pas là !"),
        ("„So“ war’s: 3,5 km.", "de", "&quot; so &quot; war &apos; s : 3,5 km ."),
        ("Two & three [dogs]", "en", "two &amp; three &#91; dogs &#93;"),
    ],
)
def test_moses_keeps_hyphens_and_escapes_signs(text, language, expected):
    assert moses_tokens(text, language) == expected.split()


@pytest.mark.slow
def test_the_german_test_set_has_the_tokens_of_the_published_log(data):
    """Wu et al. (2021): ``reflen=12103``; with hyphens split it would be 12,243."""
    data("multi30k/test_2016_flickr.de.gz")
    captions = [caption for (caption,) in multi30k("test_2016", "de")]
    assert moses_bleu(captions, captions, "de")[3:] == (12_103, 12_103)


@pytest.mark.parametrize(
    ("measure", "tokens"), [(spacy_bleu, spacy_tokens), (moses_bleu, moses_tokens)]
)
def test_the_formula_is_corpus_bleu_of_these_tokens(data, measure, tokens):
    data("multi30k/val.en.gz")
    captions = [caption for (caption,) in multi30k("valid", "en")][:100]
    shortened = [" ".join(caption.split()[:-2]) for caption in captions]
    split = [tokens(text, "en") for text in shortened], [tokens(text, "en") for text in captions]
    ours = measure(shortened, captions, "en")
    assert ours == corpus_bleu(split[0], [[one] for one in split[1]])
    texts = [[" ".join(one) for one in side] for side in split]
    unsmoothed = {"tokenize": "none", "smooth_method": "none", "force": True}
    theirs = sacrebleu.corpus_bleu(texts[0], [texts[1]], **unsmoothed)
    assert ours.score == pytest.approx(theirs.score, rel=1e-12)
    assert 50 < ours.score < 99


@pytest.mark.parametrize("measure", [spacy_bleu, moses_bleu])
def test_case_is_overlooked_and_any_reference_may_match(measure):
    text = "There are three dogs in the snow."
    assert measure([text.upper()], [["Nothing.", text]], "en").score == 100


def test_the_two_differ_in_what_a_word_is():
    """Hyphens: three words against one."""
    found, wanted = ["a well-known dog runs"], ["a well-known cat runs"]
    assert spacy_bleu(found, wanted).precisions[0] == pytest.approx(100 * 5 / 6)
    assert moses_bleu(found, wanted, "en").precisions[0] == pytest.approx(100 * 3 / 4)


@pytest.mark.usefixtures("as_a_reader")
@pytest.mark.parametrize("language", ["xx", "english", "", None])
@pytest.mark.parametrize("measure", [spacy_bleu, moses_bleu])
def test_a_language_without_rules_is_refused(measure, language):
    with pytest.raises(
        ValueError, match=re.escape(f"language={language!r} is not known; expected one of ['de'")
    ):
        measure(["a"], ["a"], language)


@pytest.mark.usefixtures("as_a_reader")
@pytest.mark.parametrize(
    ("hypotheses", "references", "error", "says"),
    [
        (["a"], [], ValueError, "1 translations and references for 0"),
        ("a", ["a"], TypeError, "hypotheses is of type str, 'a'"),
        ([["a"]], ["a"], TypeError, "translation 0 is of type list, ['a']"),
    ],
)
@pytest.mark.parametrize("measure", [spacy_bleu, moses_bleu])
def test_what_is_no_text_or_not_paired_is_refused(measure, hypotheses, references, error, says):
    with pytest.raises(error, match=re.escape(says)):
        measure(hypotheses, references, "en")


@pytest.mark.parametrize(
    ("measure", "library"), [(spacy_bleu, "spacy"), (moses_bleu, "sacremoses")]
)
def test_a_missing_library_is_asked_for(measure, library, monkeypatch):
    monkeypatch.setattr(module, "_spacy_tokenizer", module._spacy_tokenizer.__wrapped__)
    monkeypatch.setattr(module, "_moses", module._moses.__wrapped__)  # not those made before
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(ModuleNotFoundError, match=f"needs {library}, which is not installed"):
        measure(["a"], ["a"], "en")
