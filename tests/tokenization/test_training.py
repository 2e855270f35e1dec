"""Vocabularies that are learned: those of the reference, from the given texts and nothing else."""

import gzip
import json
import math
from collections import Counter
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer as Reference
from tokenizers import models, normalizers, pre_tokenizers, trainers

from glassbox.tokenization import (
    BPE,
    Pieces,
    SentencePieceBPE,
    Unigram,
    WordPiece,
    learn_merges,
    marginals,
    merge_pair,
    split_metaspace,
)
from glassbox.tokenization.unigram_training import expected_counts, new_scores, prune, seed_pieces
from tests.tokenization.conftest import pieces_of

pytestmark = pytest.mark.slow

SPECIAL = ["<pad>", "</s>", "<unk>"]


@pytest.mark.usefixtures("as_a_reader")
@pytest.mark.parametrize(
    ("vocab_size", "min_frequency", "special"),
    [(3000, 1, ["<|endoftext|>"]), (100_000, 5, ["<pad>", "<s>"]), (1000, 1, [])],
)
def test_bpe_learns_the_reference_s_merges_in_the_same_order(
    captions, vocab_size, min_frequency, special
):
    reference = Reference(models.BPE())
    reference.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    trainer = trainers.BpeTrainer(
        vocab_size=vocab_size,
        min_frequency=min_frequency,
        special_tokens=special,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    reference.train_from_iterator(captions, trainer)
    ours = BPE.train(captions, vocab_size, min_frequency=min_frequency, special_tokens=special)
    merges = [tuple(pair) for pair in json.loads(reference.to_str())["model"]["merges"]]
    assert ours.merges == merges
    assert ours.vocabulary == reference.get_vocab()


@pytest.mark.usefixtures("as_a_reader")
@pytest.mark.parametrize(("prepend", "scheme"), [("always", "always"), ("never", "never")])
def test_sentencepiece_bpe_learns_the_reference_s_merges_in_the_same_order(
    captions, prepend, scheme
):
    ours = SentencePieceBPE.train(captions, 2000, prepend=prepend)
    reference = Reference(models.BPE())
    reference.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme=scheme)
    trainer = trainers.BpeTrainer(
        vocab_size=2000, special_tokens=ours.tokens[:260], show_progress=False
    )
    reference.train_from_iterator(captions, trainer)
    merges = [tuple(pair) for pair in json.loads(reference.to_str())["model"]["merges"]]
    assert ours.merges == merges
    assert ours.vocabulary == reference.get_vocab()


@pytest.mark.usefixtures("as_a_reader")
def test_wordpiece_learns_the_reference_s_vocabulary(captions):
    ours = WordPiece.train(captions, 2000)
    reference = Reference(models.WordPiece(unk_token="[UNK]"))
    reference.normalizer = normalizers.BertNormalizer()
    reference.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    # The reference numbers continuing characters in the order of a hash table, another one in
    # each run, and lets the numbers decide between equals. Told the characters, it has no choice.
    characters = [token for token in ours.tokens[5:] if len(token.removeprefix("##")) == 1]
    trainer = trainers.WordPieceTrainer(
        vocab_size=2000, special_tokens=[*ours.special_tokens, *characters], show_progress=False
    )
    reference.train_from_iterator(captions, trainer)
    assert ours.vocabulary == reference.get_vocab()


@given(
    words=st.dictionaries(st.text("ab", min_size=1, max_size=8), st.integers(1, 5), min_size=1),
    size=st.integers(2, 14),
)
def test_counting_only_what_changed_gives_what_counting_everything_gives(words, size):
    given_words = {tuple(word): count for word, count in words.items()}
    tokens, merges = learn_merges(given_words, ["a", "b"], size)

    expected, slow = ["a", "b"], dict(given_words)
    for _ in merges:
        counts: Counter[tuple[str, str]] = Counter()
        for word, count in slow.items():
            for pair in pairwise(word):
                counts[pair] += count
        best = min(counts, key=lambda p: (-counts[p], expected.index(p[0]), expected.index(p[1])))
        joined = "".join(best)
        expected += [joined] if joined not in expected else []
        merged: Counter[tuple[str, ...]] = Counter()
        for word, count in slow.items():
            merged[tuple(merge_pair(word, best, joined))] += count
        slow = dict(merged)
    assert tokens == expected
    assert len(tokens) == size or not any(len(word) > 1 for word in slow)


@pytest.mark.usefixtures("as_a_reader")
def test_a_new_vocabulary_is_full_and_knows_every_text_it_was_learned_from(captions):
    for kind in (WordPiece, Unigram, BPE):
        tokenizer = kind.train(captions[:200], 400)
        assert len(tokenizer) == 400
        unknown = tokenizer.unknown_token
        assert not any(unknown in tokenizer.tokenize(text) for text in captions[:200])


def test_only_the_texts_given_decide():
    base = ["the cat sat on the mat"] * 3
    for kind, size in ((WordPiece, 60), (Unigram, 30), (BPE, 280)):
        first = kind.train(base, size)
        kind.train(["completely other words"], 300)
        assert kind.train(iter(base), size).vocabulary == first.vocabulary
        assert not any("other" in token for token in first.tokens)


def test_a_character_that_is_a_special_token_takes_no_other_s_place():
    tokenizer = Unigram.train(["abc"], 7, special_tokens=[*SPECIAL, "a"])
    assert {*tokenizer.tokens} == {*SPECIAL, *"▁abc"}


@pytest.mark.parametrize("token", ["<0x41>", "</s>"])
def test_no_merge_of_text_builds_a_byte_or_a_special_token(token):
    tokenizer = SentencePieceBPE.train([f"x{token}y ({token}) '{token}'"], 400)
    assert token not in map("".join, tokenizer.merges)
    assert tokenizer.decode(tokenizer.encode(f"a ({token}")) == f"<s> a ({token}"


def test_rare_pairs_are_not_merged():
    texts = ["aaab"] * 2 + ["xyz"]
    tokens = set(WordPiece.train(texts, 100, min_frequency=2).tokens)
    assert "aaab" in tokens
    assert not {"xy", "xyz", "##yz"} & tokens
    assert "xyz" in WordPiece.train(texts, 100).tokens


def reference_pieces(texts, vocab_size) -> dict[str, float]:
    """What the reference's trainer learns."""
    reference = Reference(models.Unigram())
    steps = [pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Metaspace()]
    reference.pre_tokenizer = pre_tokenizers.Sequence(steps)
    trainer = trainers.UnigramTrainer(
        vocab_size=vocab_size, special_tokens=SPECIAL, unk_token="<unk>", show_progress=False
    )
    reference.train_from_iterator(texts, trainer)
    return dict(pieces_of(reference))


@pytest.mark.usefixtures("as_a_reader")
@pytest.mark.parametrize(
    ("language", "n", "vocab_size"), [("en", 1014, 5000), ("fr", 1014, 500), ("de", 1014, 1800)]
)
def test_unigram_learns_the_reference_s_pieces_and_scores(data, language, n, vocab_size):
    """Without pruning, after many rounds of it, and after a few."""
    content = gzip.decompress(data(f"multi30k/val.{language}.gz").read_bytes()).decode()
    texts = content.split("\n")[:n]
    expected = reference_pieces(texts, vocab_size)
    learned = Unigram.train(texts, vocab_size).pieces.scores
    assert learned.keys() == expected.keys()
    assert [*learned.values()] == sorted(learned.values(), reverse=True)
    # Characters that no word needs any more get the rarest piece's score and 0.0001 more each,
    # which the reference deals out in the order of a hash table.
    floor = min(learned.values())
    dealt_out = {p for p, score in learned.items() if len(p) == 1 and score < floor + 0.01}
    for piece in learned.keys() - dealt_out:
        assert learned[piece] == pytest.approx(expected[piece], abs=1e-8)
    assert sorted(learned.values()) == pytest.approx(sorted(expected.values()), abs=1e-8)


@pytest.mark.usefixtures("as_a_reader")
def test_each_round_of_expectation_maximisation_raises_the_likelihood(captions):
    words = Counter(word for text in captions[:150] for word in split_metaspace(text))
    scores, last = seed_pieces(words), -math.inf
    for _ in range(4):
        pieces = Pieces(scores)
        now = sum(count * marginals(word, pieces)[1] for word, count in words.items())
        assert now > last
        expected = expected_counts(words, pieces)
        total = sum(expected.values())  # the plain logarithm: the prior's round is not monotone
        scores = {piece: math.log(count / total) for piece, count in expected.items() if count}
        last = now


def test_expected_counts_spell_the_words():
    words = {"abab": 3, "ba": 2}
    pieces = Pieces({"a": -1.0, "b": -1.5, "ab": -1.2, "aba": -3.0})
    expected = expected_counts(words, pieces)
    letters = sum(len(piece) * count for piece, count in expected.items())
    assert letters == pytest.approx(3 * 4 + 2 * 2)
    scores = new_scores(pieces.scores, expected)
    assert list(scores) == [piece for piece in pieces.scores if expected[piece] >= 0.5]
    assert sum(map(math.exp, scores.values())) < 1


def test_what_is_missed_least_is_pruned_first():
    words = {"abc": 50, "abd": 50, "xy": 3}
    scores = dict.fromkeys("abcdxy", -3.0) | {"ab": -2.0, "xy": -4.0, "bc": -9.0}
    kept = prune(words, scores, 7)
    assert list(kept) == [*"abcdxy", "ab"]
    assert list(prune(words, scores, 8)) == [*"abcdxy", "ab", "xy"]
    assert "bc" not in prune(words, scores, 100)  # no word uses it
    assert prune(words, scores, 0).keys() == set("abcdxy")


def test_seeds_are_the_characters_and_what_branches():
    seeds = seed_pieces({"abc": 2, "abd": 1, "xab": 1})
    assert list(seeds) == ["b", "a", "c", "x", "d", "ab"]
    assert sum(map(math.exp, seeds.values())) == pytest.approx(1)
    assert math.exp(seeds["ab"] - seeds["a"]) == pytest.approx(6 / 4)
    assert "abc" not in seeds  # only in one place
    assert "ab" not in seed_pieces({"abc": 1, "xabc": 1})  # always followed by c: abc does as well
    assert "abc" in seed_pieces({"abc": 1, "xabcd": 1})
    assert max(map(len, seed_pieces({"a" * 30: 1}, max_length=4))) == 4
