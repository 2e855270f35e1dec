"""Chapter 2: merges, matches and segmentations, cosine similarities, and a look-up."""

import math
from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import pairwise

import torch
from torch import Tensor

from glassbox_book.exercises.exercise import Case, Draw, cases_of

Words = Mapping[tuple[str, ...], int]


def _next_merge(words: Words, flaw: str = "") -> tuple[str, str]:
    counts: Counter[tuple[str, str]] = Counter()
    for symbols, occurrences in words.items():
        pairs = list(pairwise(symbols))
        for pair in set(pairs) if flaw == "once a word" else pairs:
            counts[pair] += 1 if flaw == "each word once" else occurrences
    best = min(counts.values()) if flaw == "rarest" else max(counts.values())
    ties = [pair for pair, count in counts.items() if count == best]
    return max(ties) if flaw == "last" else min(ties)


@cases_of(_next_merge, returns=("left symbol", "right symbol"))
def _texts(draw: Draw) -> Iterator[Case]:
    yield Case("a single word", words={("a", "b"): 1})
    yield Case(
        "a rare word with more pairs",
        words={tuple("xyzxyz"): 1, tuple("slow"): 5, tuple("low"): 2, tuple("own"): 1},
    )
    yield Case("several pairs equally often", words={tuple("zy"): 3, tuple("ab"): 3})
    yield Case("a tie with a longer symbol", words={("ab", "b"): 2, ("a", "c"): 2})
    yield Case("a pair twice in a word", words={tuple("banana"): 3, tuple("bog"): 4})
    yield Case("symbols of several letters", words={("slow", "er"): 3, ("fast", "er"): 2})
    yield Case("a word of one symbol among others", words={("a",): 9, ("a", "c"): 1})


def _longest_match(word: str, vocabulary: frozenset[str], flaw: str = "") -> list[str]:
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
def _words(draw: Draw) -> Iterator[Case]:
    small = frozenset({"un", "una", "aff", "##aff", "##ffa", "##able", "##ble", "##a", "u", "##n"})
    letters = frozenset("slower") | {f"##{c}" for c in "slower"}
    ends = letters | {"slow", "low", "##low", "##er", "er", "##e"}
    yield Case("a word that is a token", word="slow", vocabulary=ends)
    yield Case("a beginning and an end", word="slower", vocabulary=ends)
    yield Case("a piece that exists with and without ##", word="owlow", vocabulary=ends)
    yield Case("a long first piece that leaves no good cut", word="unaffable", vocabulary=small)
    few = frozenset({"a", "ab", "##bc"})
    yield Case("a shorter first piece would fit", word="abc", vocabulary=few)
    yield Case("a single letter", word="s", vocabulary=letters)
    yield Case("nothing fits at the beginning", word="fast", vocabulary=ends)
    yield Case("nothing fits further on", word="slowest", vocabulary=ends)
    yield Case("a piece that fits only without ##", word="sun", vocabulary=frozenset({"s", "un"}))


def _best_cut(word: str, scores: Mapping[str, float], flaw: str = "") -> tuple[list[str], float]:
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
def _scored(draw: Draw) -> Iterator[Case]:
    letters = {letter: -5.0 - 0.1 * place for place, letter in enumerate("slowerfat")}
    some = letters | {"slow": -2.0, "low": -2.5, "er": -3.0}
    some |= {"est": -4.0, "lower": -9.0, "fas": -3.0}
    pairs = {"a": -1.0, "b": -1.1, "aba": -9.0, "bab": -9.3, "ab": -2.4}
    yield Case("a word that is a piece", word="slow", scores=some)
    yield Case("two pieces", word="slower", scores=some)
    yield Case("a long piece that is rare", word="lower", scores=some)
    yield Case("letters alone", word="test", scores=letters)
    yield Case("a single letter", word="s", scores=letters)
    yield Case("a place where no piece ends", word="slow", scores={"sl": -2.0, "ow": -3.0})
    yield Case("fewer pieces that are less probable", word="abab", scores=pairs)
    hasty = {"a": -1.0, "ab": -2.4, "c": -1.0}
    yield Case("a good first piece before a bad one", word="abc", scores=hasty | {"bc": -5.0})
    yield Case("a good first piece, but none for the rest", word="abc", scores=hasty)
    # Three equal pieces win, so no other order of the same pieces ties with them.
    long = {"a": -3.0, "aa": -4.0, "aaa": -5.0, "a" * 13: -9.0, "b": -1.0}
    yield Case("a word of forty letters", word="a" * 39 + "b", scores=long)


def _cosines(u: Tensor, v: Tensor, flaw: str = "") -> Tensor:
    def unit(x: Tensor) -> Tensor:
        lengths = x.norm(dim=1, keepdim=True)
        if flaw == "squared":
            lengths = lengths.square()
        return x / (lengths if flaw == "NaN" else lengths.clamp(min=1e-12))

    result = u @ v.T if flaw == "dot products" else unit(u) @ unit(v).T
    return result.T if flaw == "transposed" else result


@cases_of(_cosines, returns=("cosines",))
def _rows(draw: Draw) -> Iterator[Case]:
    yield Case("two rows and three", u=draw(2, 4), v=draw(3, 4))
    yield Case("as many rows", u=draw(4, 3), v=draw(4, 3))
    yield Case("long and short rows", u=100 * draw(3, 5), v=1e-4 * draw(2, 5))
    yield Case("opposite directions", u=torch.tensor([[1.0, 2.0]]), v=torch.tensor([[-2.0, -4.0]]))
    yield Case("a row of zeros", u=draw(2, 3) * torch.tensor([[1.0], [0.0]]), v=draw(3, 3))
    yield Case("a single row each", u=draw(1, 7), v=draw(1, 7))
    yield Case("double precision", u=draw(2, 3).double(), v=draw(4, 3).double())
    zero = torch.tensor([[1.0, 2.0], [0.0, 0.0]])
    yield Case("a row of zeros in v", u=zero[:1], v=zero)


def _embedding_gradient(
    token_ids: Tensor, upstream: Tensor, vocab_size: int, flaw: str = ""
) -> Tensor:
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
def _lookups(draw: Draw) -> Iterator[Case]:
    def case(about: str, *ids: int, vocab_size: int = 6, d: int = 3) -> Case:
        upstream = draw(len(ids), d)
        return Case(about, token_ids=torch.tensor(ids), upstream=upstream, vocab_size=vocab_size)

    yield case("three different tokens", 4, 0, 2)
    yield case("one token", 5)
    yield case("a token that occurs twice", 1, 3, 1)
    yield case("the same token throughout", 2, 2, 2, 2)
    yield case("a larger vocabulary", 7, 40, 7, 99, vocab_size=100, d=8)
    yield case("all tokens, the last one first", 2, 1, 0, vocab_size=3)
