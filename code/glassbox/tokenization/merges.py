"""Merging neighbours: how a vocabulary is learned, and how words are split with it (chapter 2)."""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from heapq import heapify, heappop, heappush
from itertools import pairwise
from typing import TypeVar

from glassbox.checks import check_number

Symbol = TypeVar("Symbol")


def merge_pair(
    symbols: Sequence[Symbol], pair: tuple[Symbol, Symbol], merged: Symbol
) -> list[Symbol]:
    """Replace every occurrence of two neighbours with one symbol, from left to right.

    Parameters
    ----------
    symbols : sequence
        A word, cut into symbols.
    pair : tuple
        The two neighbours.
    merged : str or int
        The symbol that replaces them.

    Returns
    -------
    list
        The new symbols: one fewer for each occurrence.

    Notes
    -----
    Sennrich, Haddow and Birch (2016), section 3.2. Chapter 2.
    """
    result: list[Symbol] = []
    for symbol in symbols:
        if result and (result[-1], symbol) == pair:
            result[-1] = merged
        else:
            result.append(symbol)
    return result


def best_pair(
    symbols: Sequence[str], ranks: Mapping[tuple[str, str], int]
) -> tuple[str, str] | None:
    """Return the pair of neighbours in ``symbols`` that was learned first, or ``None``.

    The lower a pair's rank in ``ranks``, the earlier it was learned.

    Notes
    -----
    Sennrich, Haddow and Birch (2016), section 3.2. Chapter 2.
    """
    known = [pair for pair in pairwise(symbols) if pair in ranks]
    return min(known, key=ranks.__getitem__, default=None)


def bpe_merges(
    symbols: Sequence[str],
    ranks: Mapping[tuple[str, str], int],
) -> Iterator[list[str]]:
    """Merge a word step by step, always the pair that was learned first.

    Parameters
    ----------
    symbols : sequence of str
        The word; a string is a sequence of its characters.
    ranks : mapping of tuple of str to int
        The rank of each learned pair: its index in the order of learning.

    Yields
    ------
    list of str
        The word's symbols at first, then after each merge. The last list holds its tokens.

    Notes
    -----
    Sennrich, Haddow and Birch (2016), section 3.2. Chapter 2.

    Examples
    --------
    >>> list(bpe_merges("low", {("l", "o"): 0, ("lo", "w"): 1}))
    [['l', 'o', 'w'], ['lo', 'w'], ['low']]
    """
    symbols = list(symbols)
    yield symbols
    while (pair := best_pair(symbols, ranks)) is not None:
        symbols = merge_pair(symbols, pair, "".join(pair))
        yield symbols


def bpe_word(word: Sequence[str], ranks: Mapping[tuple[str, str], int]) -> list[str]:
    """Return the last step of :func:`bpe_merges`, in O(n log n) time instead of O(n²).

    Pairs wait in a priority queue, and a merge changes only two of them. A symbol that was merged
    into its left neighbour is left empty and skipped. The result differs only for ranks in which a
    pair precedes the one that builds its own part: here it is merged as soon as it is there, as in
    the reference library, while :func:`bpe_merges` finishes all occurrences of the part first.

    Parameters
    ----------
    word : sequence of str
        The word; a string is a sequence of its characters.
    ranks : mapping of tuple of str to int
        As for :func:`bpe_merges`.

    Notes
    -----
    Sennrich, Haddow and Birch (2016), section 3.2. Chapter 2.
    """
    symbols = list(word)
    right = [*range(1, len(symbols)), -1]  # the neighbours of each symbol; -1 = none
    left = list(range(-1, len(symbols) - 1))
    pairs = enumerate(pairwise(symbols))
    queue = [(ranks[pair], start, pair) for start, pair in pairs if pair in ranks]
    heapify(queue)
    while queue:
        _, start, pair = heappop(queue)
        end = right[start]
        if end < 0 or (symbols[start], symbols[end]) != pair:
            continue  # one of the two has since been merged with another
        symbols[start], symbols[end] = "".join(pair), ""
        right[start] = right[end]
        if right[end] >= 0:
            left[right[end]] = start
        for first, second in ((left[start], start), (start, right[start])):
            if first >= 0 and second >= 0 and (new := (symbols[first], symbols[second])) in ranks:
                heappush(queue, (ranks[new], first, new))
    return [symbol for symbol in symbols if symbol]


def learn_merges(
    words: Mapping[tuple[str, ...], int],
    tokens: Sequence[str],
    vocab_size: int,
    *,
    min_frequency: int = 1,
    prefix: str = "",
    avoid: Collection[str] = (),
) -> tuple[list[str], list[tuple[str, str]]]:
    """Merge the most frequent pair of neighbours repeatedly until the vocabulary is full.

    Counting all pairs anew after each merge would take hours. Only the words that contain the
    merged pair change, so only their pairs are recounted; a priority queue keeps the most frequent
    pair on top.

    Parameters
    ----------
    words : mapping of tuple of str to int
        Each word, cut into symbols, and how often it occurs.
    tokens : sequence of str
        The vocabulary to begin with: special tokens, then every symbol of the words.
    vocab_size : int
        Number of tokens to stop at.
    min_frequency : int, optional
        Pairs that are rarer are not merged.
    prefix : str, optional
        The mark of a token that continues a word, ``"##"`` in WordPiece: when two tokens are
        merged, the second loses it.
    avoid : collection of str, optional
        Tokens that no merge may build.

    Returns
    -------
    tokens : list of str
        The vocabulary, new tokens last. Shorter than ``vocab_size`` if the words have no pair left
        that is frequent enough.
    merges : list of tuple of str
        The pairs in the order in which they were merged.

    Raises
    ------
    ValueError
        If ``min_frequency`` is negative or no number.

    Notes
    -----
    Sennrich, Haddow and Birch (2016), algorithm 1. Among equally frequent pairs, the one with the
    lower ids goes first, as in the reference library. Chapter 2, equation ``eq-bpe-pair``.
    """
    check_number("min_frequency", min_frequency, "at least 0 and finite")
    tokens = list(tokens)
    ids = {token: number for number, token in enumerate(tokens)}
    sequences = [[ids[symbol] for symbol in word] for word in words]
    frequencies = list(words.values())

    counts: Counter[tuple[int, int]] = Counter()
    where: defaultdict[tuple[int, int], set[int]] = defaultdict(set)
    for index, sequence in enumerate(sequences):
        for pair in pairwise(sequence):
            counts[pair] += frequencies[index]
            where[pair].add(index)

    merges: dict[tuple[str, str], None] = {}
    queue = [(-count, pair) for pair, count in counts.items()]
    heapify(queue)
    while queue and len(tokens) < vocab_size:
        negative, pair = heappop(queue)
        if counts[pair] != -negative:  # other merges have used some of them: requeue
            if counts[pair]:
                heappush(queue, (-counts[pair], pair))
            continue
        if counts[pair] < min_frequency:
            break

        left, right = tokens[pair[0]], tokens[pair[1]]
        token = left + right.removeprefix(prefix)
        if token in avoid:
            continue
        if token not in ids:
            ids[token] = len(tokens)
            tokens.append(token)
        merges.pop((left, right), None)  # merged before, now adjacent again: the last merge counts
        merges[left, right] = None

        grown = set()
        for index in where.pop(pair):
            before, count = sequences[index], frequencies[index]
            sequences[index] = after = merge_pair(before, pair, ids[token])
            for old in pairwise(before):
                counts[old] -= count
            for new in pairwise(after):
                counts[new] += count
                if ids[token] in new:
                    where[new].add(index)
                    grown.add(new)
        for new in grown:
            heappush(queue, (-counts[new], new))
    return tokens, list(merges)
