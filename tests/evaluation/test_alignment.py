"""From the weights between tokens to words, and guesses held against links made by hand."""

from collections import Counter
from itertools import product
from typing import Any

import pytest
import torch

from glassbox.data import alignments, tatoeba
from glassbox.data.alignments import AlignedPair, split_words
from glassbox.evaluation import score_alignment, word_attention
from glassbox.evaluation.alignment import word_numbers, word_weights
from glassbox.translation import Translator
from glassbox_book.exercises import EXERCISES
from tests.translation import toy

PAIR = AlignedPair("la maison blanche", "the white house", tuple(map(frozenset, ({0}, {2}, {1}))))


def test_a_word_is_all_its_tokens_and_special_ones_are_none():
    pieces = "<en>", "ĠLe", "Ġch", "ien", "Ġl'", "a", ".", "</s>"
    assert word_numbers(pieces).tolist() == [-1, 0, 1, 1, 2, 2, 3, -1]


def test_a_mark_with_a_space_before_it_is_one_word():
    pieces = "ĠLe", "Ġchat", "Ġ", ",", "Ġle", "Ġ?", "Ġ", "."
    assert word_numbers(pieces).tolist() == [0, 1, 2, 2, 3, 4, 5, 5]


def test_without_pairs_there_is_no_score():
    with pytest.raises(ValueError, match="there are no pairs"):
        score_alignment([], [])


def test_weights_of_words_are_those_that_the_exercise_asks_for():
    generator = torch.Generator().manual_seed(0)
    weights = torch.rand(2, 3, 5, 7, generator=generator).softmax(-1)
    query_words, key_words = torch.tensor([0, 1, 1, 2, -1]), torch.tensor([-1, 0, 1, 1, 2, 3, -1])
    found = word_weights(weights, query_words, key_words)
    reference = EXERCISES["decoder.word_weights"].reference
    expected = reference(weights[1, 2], query_words, key_words)
    torch.testing.assert_close(found[1, 2], expected)


@pytest.mark.parametrize(
    ("guesses", "right", "moved", "error"),
    [([0, 2, 1], 3, 2, 0), ([0, 1, 2], 1, 0, 2 / 3), ([1, 2, 0], 1, 1, 2 / 3)],
)
def test_guesses_are_counted_and_those_for_moved_words_apart(guesses, right, moved, error):
    found = score_alignment([guesses], [PAIR])
    assert (found.right, found.moved_right) == (right, moved)
    assert (found.words, found.moved, found.links) == (3, 2, 3)
    assert found.error_rate == pytest.approx(error)


@pytest.mark.slow
def test_words_that_occur_together_find_three_in_four_of_the_harder_ones():
    """The Dice coefficient, a baseline of Och and Ney (2003), beside which chapter 8 puts heads."""

    def words(text):
        return split_words(text.lower())

    pairs = alignments()["harder"]
    english = {word for pair in pairs for word in words(pair.target)}
    french = {word for pair in pairs for word in words(pair.source)}
    alone: Counter[tuple[str, str]] = Counter()
    together: Counter[tuple[str, str]] = Counter()
    for target, source, *_ in tatoeba("train"):
        ours, theirs = english & {*words(target)}, french & {*words(source)}
        alone.update(product(["en"], ours))
        alone.update(product(["fr"], theirs))
        together.update(product(ours, theirs))

    def guess(word, candidates):
        dice = [2 * together[word, c] / (alone["en", word] + alone["fr", c]) for c in candidates]
        return dice.index(max(dice))

    guesses = [[guess(word, words(p.source)) for word in words(p.target)] for p in pairs]
    found = score_alignment(guesses, pairs)
    assert (found.right, found.words) == (123, 162)


@pytest.mark.usefixtures("as_a_reader")
def test_guesses_may_be_numbers_of_a_tensor():
    guesses: Any = torch.tensor([[0, 2, 1]])
    assert score_alignment(guesses, [PAIR]) == score_alignment([[0, 2, 1]], [PAIR])


def test_a_word_with_two_links_costs_a_guess_that_can_name_only_one():
    pair = AlignedPair("a acheté", "bought", (frozenset({0, 1}),))
    assert score_alignment([[1]], [pair]).error_rate == pytest.approx(1 / 3)


def test_a_guess_for_each_word_is_wanted():
    with pytest.raises(ValueError, match=r"\[2\] guesses for \[3\] words"):
        score_alignment([[0, 1]], [PAIR])


def test_links_fit_their_sentences():
    with pytest.raises(ValueError, match="has 3 words and 2 sets of links"):
        AlignedPair("la maison", "the white house", (frozenset({0}),) * 2)
    with pytest.raises(ValueError, match="'' has 0 words and 0 sets of links"):
        AlignedPair("", "", ())
    with pytest.raises(ValueError, match=r"links=\[2\].*expected some of 0 to 1"):
        AlignedPair("la maison", "house", (frozenset({2}),))


def test_the_pairs_of_the_book_are_split_as_the_translator_splits_them():
    tokenizer = Translator.from_pretrained("tatoeba-en-fr").tokenizer
    pairs = alignments()
    assert {kind: len(found) for kind, found in pairs.items()} == {
        "search": 12,
        "plain": 12,
        "harder": 20,
    }
    for pair in (pair for group in pairs.values() for pair in group):
        sides = tokenizer.encode_source(pair.source, "en"), tokenizer.encode_target(pair.target)
        for ids, text in zip(sides, (pair.source, pair.target), strict=True):
            assert word_numbers(tokenizer.tokens(ids)).max() + 1 == len(split_words(text)), text


def test_a_text_whose_words_its_tokens_do_not_show_is_refused():
    translator = Translator.from_pretrained("tatoeba-en-fr")
    pair = AlignedPair("Il a 3,5 euros.", "He has them.", (frozenset({0}),) * 4)
    with pytest.raises(ValueError, match=r"'Il a 3,5 euros\.' has 7 words, but its tokens show 6"):
        word_attention(translator, pair, "writing")


def test_a_head_that_reads_looks_at_what_was_written_a_position_before():
    translator = Translator.from_pretrained("tatoeba-en-fr")
    pair = alignments()["plain"][0]
    writing, reading = (word_attention(translator, pair, when) for when in ("writing", "reading"))
    assert writing.shape == reading.shape == (3, 8, 6, 6)
    gold = [min(links) for links in pair.links]
    assert writing[1, 2].argmax(-1).tolist() == reading[0, 3].argmax(-1).tolist() == gold


def test_dropout_is_off_for_as_long(device):
    translator = toy.blank(dropout=0.5)
    translator.model.train().to(device)
    pair = AlignedPair("Je vois.", "I see.", tuple(map(frozenset, ({0}, {1}, {2}))))
    first, again = (word_attention(translator, pair, "writing") for _ in range(2))
    assert torch.equal(first, again)
    assert translator.model.training


def test_when_is_one_of_two():
    translator = Translator.from_pretrained("tatoeba-en-fr")
    with pytest.raises(ValueError, match="when='later' is not known; expected one of"):
        word_attention(translator, PAIR, "later")
