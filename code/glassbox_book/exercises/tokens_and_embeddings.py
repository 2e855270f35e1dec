"""Chapter 2: merges, matches and segmentations, cosine similarities, and a look-up."""

import math
from collections import Counter
from collections.abc import Mapping
from itertools import pairwise

import torch
from torch import Tensor

from glassbox_book.exercises.exercise import Cases, Draw, Given, cases_of

Words = Mapping[tuple[str, ...], int]


def _next_merge(words: Words, flaw: str) -> tuple[str, str]:
    counts: Counter[tuple[str, str]] = Counter()
    for symbols, occurrences in words.items():
        pairs = list(pairwise(symbols))
        for pair in set(pairs) if flaw == "once a word" else pairs:
            counts[pair] += 1 if flaw == "each word once" else occurrences
    best = min(counts.values()) if flaw == "rarest" else max(counts.values())
    ties = [pair for pair, count in counts.items() if count == best]
    return max(ties) if flaw == "last" else min(ties)


@cases_of(_next_merge, returns=("left symbol", "right symbol"))
def _texts(draw: Draw) -> Cases:
    yield "a single word", {("a", "b"): 1}
    rare = {tuple("xyzxyz"): 1, tuple("slow"): 5, tuple("low"): 2, tuple("own"): 1}
    yield "a rare word with more pairs", rare
    yield "several pairs equally often", {tuple("zy"): 3, tuple("ac"): 3, tuple("ab"): 3}
    yield "a tie with a longer symbol", {("ab", "b"): 2, ("a", "c"): 2}
    yield "a pair twice in a word", {tuple("banana"): 3, tuple("bog"): 4}
    alike = {("slow", "er"): 3, ("fast", "er"): 2, ("xy", "z", "x", "yz"): 2}
    yield "symbols of several letters", alike
    yield "a word of one symbol among others", {("a",): 9, ("a", "c"): 1}


def _longest_match(word: str, vocabulary: frozenset[str], flaw: str) -> list[str]:
    tokens: list[str] = []
    start = 0
    while start < len(word):
        mark = "##" if start and flaw != "no ##" else ""
        ends = range(start + 1, len(word) + 1)
        for end in ends if flaw == "shortest" else reversed(ends):
            if mark + word[start:end] in vocabulary:
                break
        else:
            return [*tokens, "[UNK]"] if flaw == "kept" else ["[UNK]"]
        tokens.append(mark + word[start:end])
        start = end
    return tokens


@cases_of(_longest_match, returns=("list of tokens",))
def _words(draw: Draw) -> Cases:
    small = frozenset({"un", "una", "aff", "##aff", "##ffa", "##able", "##ble", "##a", "u", "##n"})
    letters = frozenset("slower") | {f"##{c}" for c in "slower"}
    ends = letters | {"slow", "low", "##low", "##er", "er", "##e"}
    yield "a word that is a token", "slow", ends
    yield "a beginning and an end", "slower", ends
    yield "a piece that exists with and without ##", "owlow", ends
    yield "a long first piece that leaves no good cut", "unaffable", small
    yield "a shorter first piece would fit", "abc", frozenset({"a", "ab", "##bc"})
    yield "a single letter", "s", letters
    yield "nothing fits at the beginning", "fast", ends
    yield "nothing fits further on", "slowest", ends
    yield "a piece that fits only without ##", "sun", frozenset({"s", "un"})


def _best_cut(word: str, scores: Mapping[str, float], flaw: str) -> tuple[list[str], float]:
    best: dict[int, tuple[float, float, list[str]]] = {0: (0.0, 0.0, [])}
    for end in range(1, len(word) + 1):
        for start in range(end):
            piece = word[start:end]
            if start not in best or piece not in scores:
                continue
            _, score, pieces = best[start]
            score, pieces = score + scores[piece], [*pieces, piece]
            ranks = {
                "long pieces": -sum(len(piece) ** 2 for piece in pieces),
                "fewest": len(pieces) - score / 1e6,
            }
            rank = ranks.get(flaw, -score)
            if end not in best or rank < best[end][0]:
                best[end] = (rank, score, pieces)
    _, score, pieces = best[len(word)]
    return pieces, math.exp(score) if flaw == "probability" else score


@cases_of(_best_cut, returns=("segmentation", "score"))
def _scored(draw: Draw) -> Cases:
    letters = {letter: -5.0 - 0.1 * place for place, letter in enumerate("slowerfat")}
    some = letters | {"slow": -2.0, "low": -2.5, "er": -3.0}
    some |= {"est": -4.0, "lower": -9.0, "fas": -3.0}
    pairs = {"a": -1.0, "b": -1.1, "aba": -9.0, "bab": -9.3, "ab": -2.4}
    yield "a word that is a piece", "slow", some
    yield "two pieces", "slower", some
    yield "a long piece that is rare", "lower", some
    yield "letters alone", "test", letters
    yield "a single letter", "s", letters
    yield "a place where no piece ends", "slow", {"sl": -2.0, "ow": -3.0}
    yield "fewer pieces that are less probable", "abab", pairs
    hasty = {"a": -1.0, "ab": -2.4, "c": -1.0}
    yield "a good first piece before a bad one", "abc", hasty | {"bc": -5.0}
    yield "a good first piece, but none for the rest", "abc", hasty
    # Three equal pieces win, so no other order of the same pieces ties with them.
    long = {"a": -3.0, "aa": -4.0, "aaa": -5.0, "a" * 13: -9.0, "b": -100.0}
    yield "a word of forty letters", "a" * 39 + "b", long


def _cosines(u: Tensor, v: Tensor, flaw: str) -> Tensor:
    def unit(x: Tensor) -> Tensor:
        lengths = x.norm(dim=1, keepdim=True)
        if flaw == "squared":
            lengths = lengths.square()
        return x / (lengths if flaw == "NaN" else lengths.clamp(min=1e-12))

    result = u @ v.T if flaw == "dot products" else unit(u) @ unit(v).T
    return result.T if flaw == "transposed" else result


@cases_of(_cosines, returns=("cosines",))
def _rows(draw: Draw) -> Cases:
    lengths = torch.tensor([[100.0], [1.0], [1e-4]])
    yield "two rows and three", draw(2, 4), draw(3, 4)
    yield "as many rows", draw(4, 3), draw(4, 3)
    yield "long and short rows", lengths * draw(3, 5), 1e-4 * draw(2, 5)
    yield "opposite directions", torch.tensor([[1.0, 2.0]]), torch.tensor([[-2.0, -4.0]])
    yield "a row of zeros", draw(2, 3) * torch.tensor([[1.0], [0.0]]), draw(3, 3)
    yield "a single row each", draw(1, 7), draw(1, 7)
    yield "double precision", draw(2, 3).double(), draw(4, 3).double()
    yield "a row of zeros in v", torch.tensor([[1.0, 2.0]]), torch.tensor([[1.0, 2.0], [0.0, 0.0]])


def _embedding_gradient(token_ids: Tensor, upstream: Tensor, vocab_size: int, flaw: str) -> Tensor:
    table = upstream.new_zeros(vocab_size, upstream.size(1))
    if flaw == "last":
        for row, token in enumerate(token_ids.tolist()):
            table[token] = upstream[row]
        return table
    table.index_add_(0, token_ids, upstream)
    counts = torch.bincount(token_ids, minlength=vocab_size)[:, None]
    flaws = {"mean": table / counts.clamp(min=1), "times": table * counts}
    return flaws.get(flaw, table)


@cases_of(_embedding_gradient, returns=("gradient",))
def _lookups(draw: Draw) -> Cases:
    def case(about: str, *ids: int, vocab_size: int = 6, d: int = 3) -> Given:
        return about, torch.tensor(ids), draw(len(ids), d), vocab_size

    yield case("three different tokens", 4, 0, 2)
    yield case("one token", 5)
    yield case("a token that occurs twice", 1, 3, 1)
    yield case("the same token throughout", 2, 2, 2, 2)
    yield case("a larger vocabulary", 7, 40, 7, 99, vocab_size=100, d=8)
    yield case("all tokens, the last one first", 2, 1, 0, vocab_size=3)
