"""sacreBLEU's scores: passed on as they are, for one reference or several, with signatures."""

import re
import subprocess
import sys
from typing import Any

import pytest
import sacrebleu
from sacrebleu.tokenizers.tokenizer_13a import Tokenizer13a

from glassbox.data import multi30k
from glassbox.evaluation import corpus_bleu, score_translations

HYPOTHESES = ["The dogs are great, I think.", "He's reading.", "No"]
REFERENCES = ["Dogs are great, I think.", "He is reading a book.", "No."]
SEVERAL = [
    ["Dogs are great, I think.", "I think the dogs are great."],
    ["He is reading a book."],
    ["No.", "Nope.", "No"],
]


def test_one_reference_is_scored_as_sacrebleu_scores_it():
    scores = score_translations(HYPOTHESES, REFERENCES)
    assert scores.bleu == sacrebleu.corpus_bleu(HYPOTHESES, [REFERENCES]).score
    assert scores.chrf == sacrebleu.corpus_chrf(HYPOTHESES, [REFERENCES]).score


def test_different_numbers_of_references_go_to_their_sentences():
    columns: list[Any] = [
        ["Dogs are great, I think.", "He is reading a book.", "No."],
        ["I think the dogs are great.", None, "Nope."],
        [None, None, "No"],
    ]
    scores = score_translations(HYPOTHESES, SEVERAL)
    assert scores.bleu == sacrebleu.corpus_bleu(HYPOTHESES, columns).score
    assert scores.chrf == sacrebleu.corpus_chrf(HYPOTHESES, columns).score
    assert scores.bleu > score_translations(HYPOTHESES, REFERENCES).bleu


@pytest.mark.parametrize(
    ("references", "lowercase", "expected"),
    [
        (REFERENCES, False, "nrefs:1|case:mixed|"),
        (SEVERAL, False, "nrefs:var|case:mixed|"),
        ([[one, one] for one in REFERENCES], True, "nrefs:2|case:lc|"),
    ],
)
def test_signatures_say_what_was_counted(references, lowercase, expected):
    scores = score_translations(HYPOTHESES, references, lowercase=lowercase)
    version = f"|version:{sacrebleu.__version__}"
    assert scores.bleu_signature == f"{expected}eff:no|tok:13a|smooth:exp{version}"
    assert scores.chrf_signature == f"{expected}eff:yes|nc:6|nw:0|space:no{version}"


def test_bleu_is_ours_on_the_tokens_of_13a(data):
    data("multi30k/test_2016_flickr.en.gz")
    captions = [caption for (caption,) in multi30k("test_2016", "en")]
    hypotheses = [" ".join(caption.split(" ")[1:]) for caption in captions]
    split = Tokenizer13a()
    ours = corpus_bleu(
        [split(text).split() for text in hypotheses], [[split(text).split()] for text in captions]
    )
    assert score_translations(hypotheses, captions).bleu == pytest.approx(ours.score, rel=1e-12)


def test_case_counts_unless_told_otherwise():
    shouted = [text.upper() for text in REFERENCES]
    assert score_translations(shouted, REFERENCES).bleu < 50
    assert score_translations(shouted, REFERENCES, lowercase=True)[:2] == pytest.approx((100, 100))


@pytest.mark.usefixtures("as_a_reader")
@pytest.mark.parametrize(
    ("hypotheses", "references", "error", "says"),
    [
        ([], [], ValueError, "no translation"),
        (["a"], ["a", "b"], ValueError, "1 translations and references for 2"),
        (["a"], [[]], ValueError, "translation 0 has no reference"),
        ("a", ["a"], TypeError, "hypotheses is of type str, 'a'"),
        (["a"], "a", TypeError, "references is of type str, 'a'"),
        ([["a"]], ["a"], TypeError, "translation 0 is of type list, ['a']"),
        (["a", None], ["a", "b"], TypeError, "translation 1 is of type NoneType, None"),
        (["a"], [[["a"]]], TypeError, "a reference of translation 0 is of type list, ['a']"),
        (
            ["a"],
            [None],
            TypeError,
            "references[0] is of type NoneType, None",
        ),
    ],
)
def test_what_is_no_text_or_not_paired_is_refused(hypotheses, references, error, says):
    with pytest.raises(error, match=re.escape(says)):
        score_translations(hypotheses, references)


def test_a_missing_library_is_asked_for_when_it_is_needed(monkeypatch):
    monkeypatch.setitem(sys.modules, "sacrebleu", None)
    with pytest.raises(ModuleNotFoundError, match=r"pip install 'glassbox\[train\]'") as caught:
        score_translations(["a"], ["a"])
    assert "scoring translations needs sacrebleu, which is not installed" in str(caught.value)


@pytest.mark.slow
def test_the_package_is_imported_without_the_libraries_that_measure_and_what_shards_a_model():
    program = (
        "import sys, glassbox.evaluation, glassbox.training; "
        "heavy = {'sacrebleu', 'spacy', 'sacremoses', 'torch.distributed.fsdp'}; "
        "print(heavy & {*sys.modules})"
    )
    found = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    assert found.stdout.decode().strip() == "set()"
