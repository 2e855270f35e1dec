"""Split sentence pairs so that no sentence stands in two splits: whole components are dealt."""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from hashlib import sha256

Pair = tuple[str, str]


def words(sentence: str) -> str:
    """Return a sentence in lower case without punctuation, the form in which they are compared.

    Parameters
    ----------
    sentence : str
        Such as ``"Go on, Tom!"``.

    Returns
    -------
    str
        Its words in lower case with a space between each two: ``"go on tom"``.
    """
    return " ".join(re.findall(r"\w+", sentence.lower()))


def components(pairs: Iterable[Pair]) -> Iterator[list[Pair]]:
    """Gather the pairs that share sentences, directly or by way of other pairs.

    They are the connected components of the graph whose nodes are the sentences, as
    :func:`words` compares them, and whose edges are the pairs.

    Parameters
    ----------
    pairs : iterable of (str, str)
        Sentences and their translations.

    Yields
    ------
    list of (str, str)
        The distinct pairs of a component, sorted; none of their sentences is in another one.
    """
    ends = {pair: tuple(map(words, pair)) for pair in pairs}
    pairs_with = defaultdict(list)
    for pair, sentences in ends.items():
        for sentence in sentences:
            pairs_with[sentence].append(pair)
    while pairs_with:
        _, found = pairs_with.popitem()
        for pair in found:  # which grows meanwhile
            for sentence in ends[pair]:
                found += pairs_with.pop(sentence, [])
        yield sorted({*found})


def deal(pairs: Iterable[Pair], sizes: Mapping[str, int], rest: str) -> dict[str, list[Pair]]:
    """Deal whole components to splits of given sizes, by the digests of their text.

    In the order of their digests, each component goes into the first split that has room for all
    of it. The result depends on which pairs there are and on nothing else: not on their order, a
    seed, or the machine.

    Parameters
    ----------
    pairs : iterable of (str, str)
        Sentences and their translations.
    sizes : mapping of str to int
        The splits that are filled, with the number of pairs that each may have.
    rest : str
        The split that takes what the others have no room for.

    Returns
    -------
    dict of str to list of (str, str)
        The distinct pairs of each split, in the order in which they were dealt, which is as good as
        random.
    """
    splits: dict[str, list[Pair]] = {name: [] for name in (*sizes, rest)}
    for component in sorted(components(pairs), key=_digest):
        fitting = (n for n, size in sizes.items() if len(splits[n]) + len(component) <= size)
        splits[next(fitting, rest)] += component
    return splits


def _digest(component: list[Pair]) -> bytes:
    return sha256("\n".join(map("\t".join, component)).encode()).digest()
