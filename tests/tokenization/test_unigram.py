"""The unigram model: the likeliest segmentation, and all of them together."""

import math
import struct
import unicodedata
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from glassbox.tokenization import (
    Pieces,
    Unigram,
    marginals,
    split_metaspace,
    unigram_training,
    viterbi,
)
from glassbox.tokenization.lattice import backward, forward

SCORES = st.dictionaries(
    st.text("abc", min_size=1, max_size=4), st.floats(-12, -0.1), min_size=1, max_size=12
)
WORDS = st.text("abcd", min_size=1, max_size=7)
SPECIAL = [("<pad>", 0.0), ("</s>", 0.0), ("<unk>", 0.0)]


def all_ways(word: str, pieces: Pieces) -> dict[tuple[str, ...], float]:
    """Every segmentation and its score, found by trying every set of cuts."""
    ways = {}
    for choice in range(2 ** (len(word) - 1)):
        cuts = [0, *(n + 1 for n in range(len(word) - 1) if choice >> n & 1), len(word)]
        parts = [word[start:end] for start, end in pairwise(cuts)]
        if all(part in pieces.scores or len(part) == 1 for part in parts):
            scores = (pieces.scores.get(part, pieces.unknown_score) for part in parts)
            ways[tuple(parts)] = sum(scores)
    return ways


@given(word=WORDS, scores=SCORES)
def test_viterbi_finds_the_likeliest_of_all_segmentations(word, scores):
    pieces = Pieces(scores)
    ways = all_ways(word, pieces)
    best = viterbi(word, pieces)
    assert ways[tuple(best)] == pytest.approx(max(ways.values()), abs=1e-9)
    divided = {way: score for way, score in ways.items() if len(way) > 1}
    if divided:
        second = viterbi(word, pieces, whole=False)
        assert ways[tuple(second)] == pytest.approx(max(divided.values()), abs=1e-9)


@given(word=WORDS, scores=SCORES)
def test_the_marginals_are_those_of_all_segmentations(word, scores):
    pieces = Pieces(scores)
    ways = {way: math.exp(score) for way, score in all_ways(word, pieces).items()}
    total = sum(ways.values())
    shares, log_total = marginals(word, pieces)
    assert log_total == pytest.approx(math.log(total), abs=1e-9)
    expected = dict.fromkeys(shares, 0.0)
    for way, probability in ways.items():
        place = 0
        for part in way:
            expected[place, place + len(part)] += probability / total
            place += len(part)
    assert shares == pytest.approx(expected, abs=1e-9)
    edges = pieces.edges(word)
    assert forward(edges)[-1] == pytest.approx(backward(edges)[0], abs=1e-9)
    assert len(backward(edges)) == len(word) + 1


def test_among_equals_the_longest_last_piece_wins():
    pieces = Pieces({"a": -1.0, "b": -1.0, "c": -1.0, "ab": -2.0, "bc": -2.0})
    assert viterbi("abc", pieces) == ["a", "bc"]


def test_unknown_characters_in_a_row_are_one():
    tokenizer = Unigram([*SPECIAL, ("▁", -2.0), ("a", -1.0)])
    assert tokenizer.tokenize("a☃☃a☃") == ["▁", "a", "☃☃", "a", "☃"]
    assert tokenizer.encode("a☃☃a☃") == [3, 4, 2, 4, 2, 1]


@given(text=st.text(" ab\tc"))
def test_spaces_come_back_as_they_were(text):
    pieces = [*SPECIAL, *((character, -1.0) for character in "▁abc\t"), ("▁a", -1.5)]
    tokenizer = Unigram(pieces, collapse=False)
    decoded = tokenizer.decode(tokenizer.encode(text, add_special_tokens=False))
    assert decoded == text.removeprefix(" ")
    collapsed = Unigram(pieces)
    decoded = collapsed.decode(collapsed.encode(text, add_special_tokens=False))
    assert decoded == " ".join(text.split())


def test_each_word_carries_the_space_in_front_of_it():
    assert split_metaspace("Hey  you") == ["▁Hey", "▁you"]
    assert split_metaspace("Hey  you ", collapse=False) == ["▁Hey", "▁", "▁you", "▁"]
    assert split_metaspace(" Hey", collapse=False) == ["▁Hey"]
    assert split_metaspace("") == split_metaspace("", collapse=False) == []


def test_an_end_stands_behind_each_text():
    tokenizer = Unigram([*SPECIAL, ("▁a", -1.0), ("▁b", -1.0)])
    assert tokenizer.encode("a") == [3, 1]
    assert tokenizer.encode("a", "b") == [3, 1, 4, 1]
    assert tokenizer.decode([3, 4, 1]) == "a b</s>"
    without = Unigram([*SPECIAL, ("▁a", -1.0)], end=None)
    assert without.encode("a") == [3]


def test_the_character_map_replaces_as_the_reference_does(character_map, sentences):
    from tokenizers.normalizers import Precompiled

    from glassbox.tokenization.normalize import CharacterMap
    from tests.tokenization.conftest import CHARACTERS, HARD

    ours, reference = CharacterMap(character_map), Precompiled(character_map)
    assert ours("ＦＵＬＬ\u00a0ﬁ①") == "FULL fi1"
    texts = [*sentences[::10], *HARD.values()]
    first = [c for c in CHARACTERS if c < "\u3400"]
    changed = [
        c for c in CHARACTERS if unicodedata.normalize("NFKC", c) != c and not "가" <= c <= "힣"
    ]
    texts += [f"a{character}b" for character in {*first, *changed}]
    # A cluster is looked up as a whole if it has less than six bytes.
    texts += [character + mark for character in changed for mark in ("\u0301", "\u20d0")]
    wrong = [text for text in texts if text and ours(text) != reference.normalize_str(text)]
    assert wrong == []


@pytest.mark.parametrize("missing", [1, 50, 5000, 30_000, 200_000])
def test_a_character_map_that_is_cut_off_anywhere_does_not_load(character_map, missing):
    from glassbox.tokenization.normalize import CharacterMap

    with pytest.raises(ValueError, match=r"a character map of \d+ bytes .* damaged or truncated"):
        CharacterMap(character_map[:-missing])


def test_a_character_beyond_the_end_of_the_trie_is_not_in_it():
    from glassbox.tokenization.normalize import CharacterMap

    one_unit = struct.pack("<II", 4, 96 << 10) + b"\0"  # it sends "a", 97, to unit 96 ^ 97 = 1
    assert CharacterMap(one_unit)("a") == "a"


def test_a_large_trie_s_offsets_are_in_steps_of_256():
    from glassbox.tokenization.normalize import _offset

    assert _offset(5 << 10 | 0xFF) == 5
    assert _offset(5 << 10 | 0x200) == 5 * 256


@pytest.mark.parametrize(("shrink", "last"), [(0.7, 54), (0.9, 64)])
def test_pruning_keeps_its_share_until_a_tenth_more_is_left_than_wanted(monkeypatch, shrink, last):
    syllables = ["ba", "di", "ko", "mu", "ne", "ri", "so", "ta"]
    words = {a + b + c: 2 for a in syllables for b in syllables for c in syllables}
    before, asked = [], []

    def watched(words, scores, size):
        before.append(len(scores))
        asked.append(size)
        return prune(words, scores, size)

    prune = unigram_training.prune
    monkeypatch.setattr(unigram_training, "prune", watched)
    unigram_training.learn_pieces(words, 50, shrink=shrink)
    enough = 54  # 50 and a tenth, without the unknown token
    assert asked == [max(enough, int(shrink * (n + 1)) - 1) for n in before]
    assert asked[-1] == last < before[-1]


def test_characters_that_no_piece_needs_come_back_as_the_rarest(monkeypatch):
    scores = {"ab": -1.0, "cd": -2.0, "a": -3.0}
    monkeypatch.setattr(unigram_training, "seed_pieces", lambda words, max_length: scores)
    monkeypatch.setattr(unigram_training, "new_scores", lambda scores, expected: scores)
    learned = dict(unigram_training.learn_pieces({"abcd": 1}, 10))
    assert learned == pytest.approx(
        {"ab": -1.0, "cd": -2.0, "a": -3.0, "b": -3.0, "c": -2.9999, "d": -2.9998}
    )
