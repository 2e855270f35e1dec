"""BLEU from scratch: the paper's examples, sacreBLEU's figures, and what a corpus score must do."""

import math
import random
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sacrebleu.metrics import BLEU

from glassbox.data import multi30k
from glassbox.evaluation import clipped_matches, corpus_bleu
from glassbox.evaluation.bleu import brevity_penalty, count_ngrams

#: Papineni et al. (2002), examples 1 and 2, without full stops and capitals.
REFERENCES = [
    "it is a guide to action that ensures that the military will forever heed party commands",
    "it is the guiding principle which guarantees the military forces always being under the "
    "command of the party",
    "it is the practical guide for the army always to heed the directions of the party",
]
GOOD = (
    "it is a guide to action which ensures that the military always obeys the commands of the party"
)
BAD = "it is to insure the troops forever hearing the activity guidebook that party direct"
THE_CAT = ["the cat is on the mat", "there is a cat on the mat"]

WORDS = st.lists(st.sampled_from("abcde"), max_size=9)
CORPORA = st.lists(st.tuples(WORDS, st.lists(WORDS, min_size=1, max_size=3)), min_size=1)


def words(text):
    return text.split()


def split(corpus):
    """A corpus of pairs as two lists."""
    return [pair[0] for pair in corpus], [pair[1] for pair in corpus]


def reference_bleu(hypotheses, references, max_n=4):
    """What sacreBLEU says of text that is split already, unsmoothed."""
    width = max(map(len, references))
    columns: list[Any] = [
        [" ".join(several[i]) if i < len(several) else None for several in references]
        for i in range(width)
    ]
    bleu = BLEU(tokenize="none", smooth_method="none", max_ngram_order=max_n, force=True)
    return bleu.corpus_score([" ".join(tokens) for tokens in hypotheses], columns)


def assert_equals_the_reference(ours, theirs):
    assert ours.score == pytest.approx(theirs.score, rel=1e-12, abs=1e-12)
    assert ours.precisions == pytest.approx(theirs.precisions, rel=1e-12)
    assert ours.brevity_penalty == pytest.approx(theirs.bp, rel=1e-12)
    assert (ours.hypothesis_length, ours.reference_length) == (theirs.sys_len, theirs.ref_len)


@pytest.mark.parametrize(
    ("text", "references", "n", "expected"),
    [
        ("the the the the the the the", THE_CAT, 1, (2, 7)),
        ("the the the the the the the", THE_CAT, 2, (0, 6)),
        (GOOD, REFERENCES, 1, (17, 18)),
        (GOOD, REFERENCES, 2, (10, 17)),
        (BAD, REFERENCES, 1, (8, 14)),
        (BAD, REFERENCES, 2, (1, 13)),
    ],
)
def test_the_papers_examples_have_the_papers_precisions(text, references, n, expected):
    assert clipped_matches(text.split(), [one.split() for one in references], n) == expected


def test_runs_are_counted_as_often_as_they_occur():
    assert count_ngrams(words("a b a b"), 2) == {("a", "b"): 2, ("b", "a"): 1}
    assert count_ngrams(words("a b"), 3) == {}


def test_a_short_corpus_worked_by_hand():
    """5 words against 6: matches 5, 3, 1 of runs 5, 4, 3; two words, of lengths 1 to 3."""
    score = corpus_bleu([words("the cat is the mat")], [[words("the cat is on the mat")]], max_n=3)
    assert score.precisions == pytest.approx((100 * 5 / 5, 100 * 3 / 4, 100 * 1 / 3))
    assert score.brevity_penalty == math.exp(1 - 6 / 5)
    assert score.score == pytest.approx(100 * math.exp(-1 / 5) * (1 * 3 / 4 * 1 / 3) ** (1 / 3))


def test_a_published_score_follows_from_its_published_parts():
    """Wu et al. (2021), in their log: 41.02 from 71.0/47.5/34.3/24.5, 12,096 tokens for 12,103."""
    mean = math.prod((71.0, 47.5, 34.3, 24.5)) ** (1 / 4)
    assert mean * brevity_penalty(12_096, 12_103) == pytest.approx(41.02, abs=0.05)


@pytest.mark.parametrize(
    ("hypothesis", "reference", "expected"),
    [
        (10, 10, 1.0),
        (11, 10, 1.0),
        (10, 11, math.exp(-0.1)),
        (5, 10, math.exp(-1)),
        (0, 10, 0.0),
        (0, 0, 1.0),
    ],
)
def test_only_what_is_too_short_is_punished(hypothesis, reference, expected):
    assert brevity_penalty(hypothesis, reference) == pytest.approx(expected)


@given(CORPORA, st.integers(1, 5))
def test_equals_sacrebleu_on_random_tokens(corpus, max_n):
    hypotheses, references = split(corpus)
    ours = corpus_bleu(hypotheses, references, max_n)
    assert_equals_the_reference(ours, reference_bleu(hypotheses, references, max_n))


def test_equals_sacrebleu_on_real_sentences(data):
    """Captions as their own translations, with words lost and swapped; other ones as references."""
    data("multi30k/test_2016_flickr.en.gz")
    captions = [caption.split() for (caption,) in multi30k("test_2016", "en")]
    draw = random.Random(0)
    hypotheses = []
    for caption in captions:
        kept = [word for word in caption if draw.random() < 0.9]
        i = draw.randrange(len(kept) - 1)
        hypotheses.append([*kept[:i], kept[i + 1], kept[i], *kept[i + 2 :]])
    references = [[caption] for caption in captions]
    references[::3] = [[captions[i - 1], caption] for i, caption in list(enumerate(captions))[::3]]
    ours = corpus_bleu(hypotheses, references)
    assert 40 < ours.score < 80
    assert_equals_the_reference(ours, reference_bleu(hypotheses, references))


@given(st.lists(st.lists(st.sampled_from("abcde"), min_size=4, max_size=9), min_size=1))
def test_what_people_wrote_scores_100(corpus):
    assert corpus_bleu(corpus, [[tokens] for tokens in corpus]).score == 100
    assert corpus_bleu(corpus, [[["z"], tokens] for tokens in corpus]).score == 100


@given(CORPORA, st.randoms(use_true_random=False))
def test_the_order_of_sentences_and_of_references_is_nothing(corpus, draw):
    mixed = [(tokens, draw.sample(several, len(several))) for tokens, several in corpus]
    draw.shuffle(mixed)
    assert corpus_bleu(*split(corpus)) == corpus_bleu(*split(mixed))


@given(CORPORA)
def test_a_score_is_from_0_to_100_and_inputs_stay_as_they_are(corpus):
    before = repr(corpus)
    assert 0 <= corpus_bleu(*split(corpus)).score <= 100 + 1e-9
    assert repr(corpus) == before


@given(CORPORA, WORDS)
def test_one_more_reference_loses_no_match(corpus, other):
    hypotheses, references = split(corpus)
    more = corpus_bleu(hypotheses, [[*several, other] for several in references])
    fewer = corpus_bleu(hypotheses, references)
    assert all(a >= b for a, b in zip(more.precisions, fewer.precisions, strict=True))


def test_a_corpus_is_not_the_mean_of_its_sentences():
    """A sentence without a match costs its runs, not half of the score."""
    hypotheses = [words("a b c d e f"), words("x")]
    references = [[words("a b c d e f")], [words("y")]]
    together = corpus_bleu(hypotheses, references)
    alone = [
        corpus_bleu([one], [two]).score for one, two in zip(hypotheses, references, strict=True)
    ]
    assert alone == [100, 0]
    assert together.precisions == pytest.approx((100 * 6 / 7, 100, 100, 100))


def test_without_a_match_of_every_length_it_is_0():
    assert corpus_bleu([words("a b c")], [[words("a b c")]]).score == 0
    assert corpus_bleu([words("a b c")], [[words("a b c")]], max_n=3).score == 100


@pytest.mark.parametrize(
    ("lengths", "expected"), [((4, 7), 4), ((4, 6), 4), ((6, 4), 4), ((3, 6), 6), ((9, 1), 1)]
)
def test_the_closest_length_counts_and_of_two_the_shorter(lengths, expected):
    references = [["a"] * length for length in lengths]
    assert corpus_bleu([["a"] * 5], [references]).reference_length == expected


@pytest.mark.usefixtures("as_a_reader")
@pytest.mark.parametrize(
    ("hypotheses", "references", "error", "says"),
    [
        ([], [], ValueError, "no translation"),
        ([["a"]], [], ValueError, "1 translations and references for 0"),
        ([["a"]], [[["a"]], [["b"]]], ValueError, "1 translations and references for 2"),
        ([["a"]], [[]], ValueError, "translation 0 has no reference"),
        ("a b", [[["a"]]], TypeError, "hypotheses is of type str, 'a b'"),
        ([["a"]], "a", TypeError, "references is of type str, 'a'"),
        (["a b"], [[["a", "b"]]], TypeError, "translation 0 is of type str, 'a b'"),
        ([["a"], "a b"], [[["a"]], [["a"]]], TypeError, "translation 1 is of type str, 'a b'"),
        ([["a"]], ["a"], TypeError, "references[0] is of type str, 'a'"),
        ([["a"]], [["a b"]], TypeError, "a reference of translation 0 is of type str, 'a b'"),
        ([["a"]], [[[["a"]]]], TypeError, "has the token ['a'], list"),
        ([[1, 2]], [[["a"]]], TypeError, "translation 0 has the token 1, int"),
        ([None], [[["a"]]], TypeError, "translation 0 is of type NoneType, None"),
        (None, [[["a"]]], TypeError, "hypotheses is of type NoneType, None"),
    ],
)
def test_what_is_not_split_or_not_paired_is_refused(hypotheses, references, error, says):
    with pytest.raises(error, match=re.escape(says)):
        corpus_bleu(hypotheses, references)


@pytest.mark.usefixtures("as_a_reader")
@pytest.mark.parametrize(
    ("hypothesis", "references", "n", "error", "says"),
    [
        ("the cat", [["the", "cat"]], 1, TypeError, "'the cat' is text; expected a list of tokens"),
        (["the", "cat"], ["the cat"], 1, TypeError, "'the cat' is text"),
        (["the", "cat"], ["the", "cat"], 1, TypeError, "'the' is text"),
        (["the", "cat"], [["the", "cat"]], 0, ValueError, "n=0: expected an int, at least"),
    ],
)
def test_matches_of_what_is_not_split_are_refused(hypothesis, references, n, error, says):
    with pytest.raises(error, match=says):
        clipped_matches(hypothesis, references, n)


@pytest.mark.parametrize("max_n", [0, -1])
def test_runs_of_no_length_are_refused(max_n):
    with pytest.raises(ValueError, match=f"max_n={max_n}: expected an int, at least 1"):
        corpus_bleu([["a"]], [[["a"]]], max_n)
