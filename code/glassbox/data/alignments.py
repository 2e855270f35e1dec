"""Sentence pairs whose words are aligned by hand (chapter 8)."""

import re
from dataclasses import dataclass

from glassbox.data.reading import carried_rows


@dataclass(frozen=True)
class AlignedPair:
    """A sentence, its translation, and which words translate which.

    Parameters
    ----------
    source, target : str
        The sentences. Words are separated by spaces, and punctuation marks are words.
    links : tuple of frozenset of int
        For each word of the target, the words of the source that it translates, counted from 0.

    Raises
    ------
    ValueError
        If the target has no word, there is not one set of links for each of its words, or one is
        empty or names a word that the source does not have.
    """

    source: str
    target: str
    links: tuple[frozenset[int], ...]

    def __post_init__(self) -> None:
        words, of = len(split_words(self.target)), len(split_words(self.source))
        if not words or len(self.links) != words:
            raise ValueError(
                f"{self.target!r} has {words} words and {len(self.links)} sets of links; "
                "it needs at least one word, and a set for each"
            )
        for word in self.links:
            if not word or not word <= frozenset(range(of)):
                raise ValueError(
                    f"links={sorted(word)} in {self.target!r}; expected some of 0 to {of - 1}"
                )


def split_words(text: str) -> list[str]:
    """Split at spaces and around each of ``.,?!``; words joined by an apostrophe stay together.

    Parameters
    ----------
    text : str
        A sentence.

    Returns
    -------
    list of str
        Its words and punctuation marks.
    """
    return re.findall(r"[^\s.,?!]+|[.,?!]", text)


def alignments() -> dict[str, list[AlignedPair]]:
    """Return 44 French sentences with their English translations, aligned for this book.

    Returns
    -------
    dict of str to list of AlignedPair
        ``"search"`` and ``"plain"`` have twelve short sentences each, nearly all with an adjective
        after its noun; ``"harder"`` has twenty with pronouns before the verb, negations in two
        parts, and words that have no counterpart of their own. Nothing is fetched.

    Notes
    -----
    Chapter 8.
    """
    found: dict[str, list[AlignedPair]] = {}
    for kind, source, target, numbers in carried_rows("alignments.txt"):
        links = tuple(frozenset(map(int, word.split("+"))) for word in numbers.split())
        found.setdefault(kind, []).append(AlignedPair(source, target, links))
    return found
