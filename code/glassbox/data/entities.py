"""Named entities found against entities in the text: precision, recall and F1."""

from collections.abc import Sequence
from typing import NamedTuple


class Entity(NamedTuple):
    """Consecutive words with one kind of name.

    Parameters
    ----------
    start, end : int
        Its first word, and the one after its last.
    kind : str
        Such as ``"person"``.
    """

    start: int
    end: int
    kind: str


def entities(tags: Sequence[str]) -> set[Entity]:
    """Return the entities of a sentence, given the tag of each word.

    Parameters
    ----------
    tags : sequence of str
        ``"O"`` outside of entities; ``B-`` and a kind for the first word of one, ``I-`` for the
        words that follow. An ``I-`` that follows nothing of its kind begins an entity, as in the
        program of the CoNLL-2000 shared task.

    Returns
    -------
    set of Entity

    Raises
    ------
    ValueError
        If a tag is neither ``"O"`` nor begins with ``B-`` or ``I-``.

    Examples
    --------
    >>> sorted(entities(["B-person", "I-person", "O", "B-location"]))
    [Entity(start=0, end=2, kind='person'), Entity(start=3, end=4, kind='location')]
    """
    found: set[Entity] = set()
    start, kind = 0, ""
    for number, tag in enumerate([*tags, "O"]):
        place, _, named = tag.partition("-")
        if tag != "O" and (place not in ("B", "I") or not named):
            raise ValueError(f"tag {number} is {tag!r}; expected 'O', or B- or I- and a kind")
        if kind and (place != "I" or named != kind):
            found.add(Entity(start, number, kind))
            kind = ""
        if named and not kind:
            start, kind = number, named
    return found


class EntityScores(NamedTuple):
    """How many entities were found, and how many of those found are right.

    Attributes
    ----------
    precision, recall, f1 : float
        Shares from 0 to 1; 0 if there is nothing to count.
    """

    precision: float
    recall: float
    f1: float


def score_entities(
    predicted: Sequence[Sequence[str]], expected: Sequence[Sequence[str]]
) -> EntityScores:
    """Compare tags with the right ones; an entity counts if both ends and its kind are right.

    Parameters
    ----------
    predicted, expected : sequence of sequence of str
        The tags of each sentence, as for :func:`entities`.

    Returns
    -------
    EntityScores
        Over all entities of all sentences together.

    Raises
    ------
    ValueError
        If the sentences differ in number or in length, or a tag is invalid.

    Notes
    -----
    The "F1 (entity)" of Derczynski et al. (2017).
    """
    if len(predicted) != len(expected):
        raise ValueError(f"tags of {len(predicted)} sentences, expected those of {len(expected)}")
    right = given = there = 0
    for number, (ours, theirs) in enumerate(zip(predicted, expected, strict=True)):
        if len(ours) != len(theirs):
            raise ValueError(
                f"sentence {number} has {len(ours)} tags; expected {len(theirs)}, one for each word"
            )
        found, true = entities(ours), entities(theirs)
        right, given, there = right + len(found & true), given + len(found), there + len(true)
    precision, recall = right / max(given, 1), right / max(there, 1)
    return EntityScores(precision, recall, 2 * right / max(given + there, 1))
