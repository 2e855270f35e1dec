"""Sentences with the part of speech and the head of each word."""

import re
from pathlib import Path
from typing import NamedTuple

from glassbox.data.reading import blocks, check_split, find_lines, malformed


class ParsedSentence(NamedTuple):
    """A sentence and its dependency tree: every word but one depends on another.

    Parameters
    ----------
    text : str
        The sentence as it was written.
    words : tuple of str
        Its syntactic words: ``didn't`` is the two words ``did`` and ``n't``.
    tags : tuple of str
        The part of speech of each word, such as ``"NOUN"``.
    heads : tuple of int or None
        The position of the word on which each depends, from 0; None for the root of the tree.
    relations : tuple of str
        Its relation to that word, such as ``"nsubj"``; ``"root"`` for the root.
    """

    text: str
    words: tuple[str, ...]
    tags: tuple[str, ...]
    heads: tuple[int | None, ...]
    relations: tuple[str, ...]


UD_ENGLISH = {"valid": "dev", "test": "test"}


def ud_english(split: str) -> list[ParsedSentence]:
    """Return sentences of the English Web Treebank, parsed by hand.

    Parameters
    ----------
    split : str
        ``"valid"`` (2,001 sentences) or ``"test"`` (2,077).

    Returns
    -------
    list of ParsedSentence
        From blogs, newsgroups, e-mails, reviews, and questions with their answers.

    Raises
    ------
    ValueError
        If there is no such split, or a line cannot be read, or from :func:`glassbox.data.find`.

    Notes
    -----
    Silveira et al. (2014), as maintained by the project Universal Dependencies. The book examines
    models with these sentences but trains none on them, so the training split is not among its
    files. Words that the annotators added where a sentence omits them are not returned: nothing
    depends on them in the basic tree.
    """
    check_split("UD English", split, UD_ENGLISH)
    path, lines = find_lines(f"pos_ud_english_ewt/en_ewt-ud-{UD_ENGLISH[split]}.conllu")
    return [_parsed(block, path) for block in blocks(lines)]


TEXT = "# text = "


def _parsed(block: list[tuple[int, str]], path: Path) -> ParsedSentence:
    """Read a sentence in CoNLL-U format: one word per line, numbered from 1; head 0 means none.

    Numbers such as 8-9 and 8.1 mark words written as one and added words.
    """
    text = [line.removeprefix(TEXT) for _, line in block if line.startswith(TEXT)]
    rows = [(number, line.split("\t")) for number, line in block if not line.startswith("#")]
    words = [row for row in rows if not re.fullmatch(r"\d+[-.]\d+", row[1][0])]
    places = {"0": None} | {str(place): place - 1 for place in range(1, len(words) + 1)}
    for position, (number, fields) in enumerate(words, start=1):
        if len(fields) != 10 or fields[0] != str(position) or fields[6] not in places:
            expected = f"ten fields, the number {position} first, a head up to {len(words)} seventh"
            raise malformed(path, number, expected, "\t".join(fields))
    roots = [fields[1] for _, fields in words if fields[6] == "0"]
    if len(text) != 1 or len(roots) != 1:
        raise ValueError(
            f"{path}, line {block[0][0]}: expected a sentence with one line {TEXT!r} and one root, "
            f"got {len(text)} and {len(roots)}"
        )
    _, forms, _, tags, _, _, heads, relations, _, _ = zip(*(row for _, row in words), strict=True)
    return ParsedSentence(text[0], forms, tags, tuple(places[head] for head in heads), relations)
