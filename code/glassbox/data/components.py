"""Split sentence pairs by whole components, so that no sentence is in two splits."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from hashlib import sha256
from unicodedata import category

Pair = tuple[str, str]


def words(sentence: str) -> str:
    """Return a sentence in lower case without punctuation, the form used for comparison.

    Parameters
    ----------
    sentence : str
        A sentence, such as ``"Go on, Tom!"``.

    Returns
    -------
    str
        Its words in lower case, separated by single spaces: ``"go on tom"``. A sentence without
        any, such as an emoji, is returned without the spaces around it.
    """
    # Marks, such as the vowel signs of Hindi, are parts of words; U+FE0F only colours an emoji.
    lower = sentence.lower()
    marks = {c for c in lower if category(c)[0] == "M"} - {"\ufe0f"}
    kept = (c if c.isalnum() or c in marks else " " for c in lower)
    return " ".join("".join(kept).split()) or sentence.strip()


def components(pairs: Iterable[Pair]) -> Iterator[list[Pair]]:
    """Group the pairs that share sentences, directly or through other pairs.

    The groups are the connected components of the graph whose nodes are the sentences, as
    :func:`words` compares them, and whose edges are the pairs.

    Parameters
    ----------
    pairs : iterable of (str, str)
        Sentences and their translations.

    Yields
    ------
    list of (str, str)
        The distinct pairs of a component, sorted; none of their sentences is in another component.
    """
    ends = {pair: tuple(map(words, pair)) for pair in pairs}
    pairs_with = defaultdict(list)
    for pair, sentences in ends.items():
        for sentence in sentences:
            pairs_with[sentence].append(pair)
    while pairs_with:
        _, found = pairs_with.popitem()
        for pair in found:  # the list grows during the loop
            for sentence in ends[pair]:
                found += pairs_with.pop(sentence, [])
        yield sorted({*found})


def deal(pairs: Iterable[Pair], sizes: Mapping[str, int], rest: str) -> dict[str, list[Pair]]:
    """Deal whole components to splits of given sizes, by the digests of their text.

    In the order of their digests, each component goes into the first split that has room for all of
    it. The result depends only on the set of pairs, not on their order, a seed or the machine.

    Parameters
    ----------
    pairs : iterable of (str, str)
        Sentences and their translations.
    sizes : mapping of str to int
        The splits to fill, with the maximum number of pairs in each.
    rest : str
        The split for all pairs that do not fit into the others.

    Returns
    -------
    dict of str to list of (str, str)
        The distinct pairs of each split, in the order in which they were dealt, effectively random.
    """
    splits: dict[str, list[Pair]] = {name: [] for name in (*sizes, rest)}
    for component in sorted(components(pairs), key=_digest):
        fitting = (n for n, size in sizes.items() if len(splits[n]) + len(component) <= size)
        splits[next(fitting, rest)] += component
    return splits


def _digest(component: list[Pair]) -> bytes:
    return sha256("\n".join(map("\t".join, component)).encode()).digest()
