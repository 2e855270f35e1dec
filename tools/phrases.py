"""Write the sentence pairs of `glassbox.data.phrases`, which a small grammar generates.

    python -m tools.phrases

gives the same file on every machine; chapter 9 learns from it.
"""

import argparse
from collections.abc import Iterable, Sequence
from pathlib import Path
from random import Random
from typing import NamedTuple, TypeVar

from glassbox.data.phrases import Phrase
from tools.lexicon import (
    ADJECTIVES,
    BE,
    DETERMINERS,
    NEGATED,
    NOUNS,
    OBJECTS,
    PRONOUNS,
    SEEN,
    VERBS,
    Adjective,
    Noun,
    begins_with_vowel,
)

PATH = Path(__file__).resolve().parent.parent / "code" / "glassbox" / "data" / "phrases.txt"
SIZES = {"train": 6_000, "valid": 200, "test": 500, "apart": 500}
SEED = 9
#: One in this many combinations of a noun and an adjective with two genders is kept apart.
APART = 8

T = TypeVar("T")


def deal() -> dict[str, list[Phrase]]:
    """Return all pairs, by their splits. No sentence, in either language, occurs twice."""
    draw = _Draw(SEED)
    parts: dict[str, list[Phrase]] = {split: [] for split in SIZES}
    seen: set[str] = set()
    while any(len(parts[split]) < size for split, size in SIZES.items()):
        phrase, apart = _sentence(draw)
        if {phrase.english, phrase.french} & seen:
            continue
        possible = ("apart",) if apart else ("valid", "test", "train")
        open_ones = [split for split in possible if len(parts[split]) < SIZES[split]]
        if open_ones:
            seen |= {phrase.english, phrase.french}
            parts[open_ones[0]].append(phrase)
    return parts


#: A word and its meaning; an English and a French word with the same meaning are linked.
Word = tuple[str, str | None]

#: The parts of an English sentence in their order, with *be* and with other verbs.
BE_STATEMENT, BE_QUESTION = "subject verb denial rest .", "verb subject denial rest ?"
STATEMENT, DENIAL = "subject verb rest .", "subject do denial base rest ."
QUESTION = "do subject denial base rest ?"
#: And of a French one, where a negation surrounds the verb. Parts may be empty.
FRENCH_STATEMENT = "subject ne pronoun verb pas rest ."
FRENCH_QUESTION = "est-ce que subject ne pronoun verb pas rest ?"


class _Draw:
    """Choices determined by the seed; ``Random.random`` is the same in every Python."""

    def __init__(self, seed: int) -> None:
        self._random = Random(seed)

    def one(self, choices: Iterable[T]) -> T:
        several = list(choices)
        return several[int(self._random.random() * len(several))]

    def chance(self, share: float) -> bool:
        return self._random.random() < share


class _Part(NamedTuple):
    """A subject, an object or a description, with the features for agreement."""

    english: Sequence[Word]
    french: Sequence[Word]
    person: int = 2
    feminine: bool = False
    noun: Noun | None = None
    apart: bool = False
    is_pronoun: bool = False


def _sentence(draw: _Draw) -> tuple[Phrase, bool]:
    """Return a sentence, and whether a noun has an adjective that is kept apart from it."""
    asks, negated, describes = draw.chance(0.2), draw.chance(0.3), draw.chance(0.3)
    subject = _subject(draw, describes=describes)
    verb = BE if describes else draw.one(VERBS)
    rest = _description(draw, subject) if describes else _object(draw, negated=negated)
    if describes:
        order = BE_QUESTION if asks else BE_STATEMENT
    else:
        order = QUESTION if asks else DENIAL if negated else STATEMENT
    third = subject.person == 2
    english = _ordered(
        order,
        subject=subject.english,
        verb=[(verb.english[third], "verb")],
        base=[(verb.english[0], "verb")],
        do=[("does" if third else "do", None)],
        denial=[("not", "negation")] if negated else [],
        rest=rest.english,
    )
    french = _ordered(
        FRENCH_QUESTION if asks else FRENCH_STATEMENT,
        subject=subject.french,
        ne=[("ne", "negation")] if negated else [],
        pronoun=rest.french if rest.is_pronoun else [],
        verb=[(verb.french[subject.person], "verb")],
        pas=[("pas", "negation")] if negated else [],
        rest=[] if rest.is_pronoun else rest.french,
    )
    return _phrase(english, _elided(french)), subject.apart or rest.apart


def _ordered(order: str, **parts: Sequence[Word]) -> list[Word]:
    """Put the words of the parts in order; a word in the order that names no part is kept."""
    words: list[Word] = []
    for part in order.split():
        words += parts.get(part, [(part, "end" if part in ".?" else None)])
    return words


def _subject(draw: _Draw, *, describes: bool) -> _Part:
    """Return a pronoun or a noun; things do not see, love or choose, but may be described."""
    if draw.chance(0.35):
        pronoun = draw.one(SEEN if describes else PRONOUNS)
        english, french = [(pronoun.english, "subject")], [(pronoun.french, "subject")]
        return _Part(english, french, pronoun.person, pronoun.feminine)
    subject = _noun_phrase(draw, "subject")
    while not describes and subject.noun is not None and subject.noun.kind == "t":
        subject = _noun_phrase(draw, "subject")
    return subject


def _object(draw: _Draw, *, negated: bool) -> _Part:
    """Return a pronoun or a noun as the object of a verb."""
    if draw.chance(0.25):
        english, french = draw.one(OBJECTS.items())
        return _Part([(english, "object")], [(french, "object")], is_pronoun=True)
    return _noun_phrase(draw, "object", negated=negated)


def _description(draw: _Draw, subject: _Part) -> _Part:
    """Return a description of the subject: an adjective, which agrees with it in French."""
    noun, plural = subject.noun, subject.person > 2
    adjective = _adjective(draw, "p" if noun is None else noun.kind)
    form = adjective.french[2 * plural + subject.feminine]
    apart = noun is not None and _kept_apart(noun, adjective)
    return _Part([(adjective.english, "quality")], [(form, "quality")], apart=apart)


def _noun_phrase(draw: _Draw, role: str, *, negated: bool = False) -> _Part:
    """Return a noun with its determiner and, half the time, an adjective."""
    noun, plural = draw.one(NOUNS), draw.chance(0.4)
    articles, forms = draw.one(DETERMINERS.items())
    english: list[Word] = [(noun.english[plural], role)]
    french: list[Word] = [(noun.french[plural], role)]
    adjective = _adjective(draw, noun.kind) if draw.chance(0.5) else None
    if adjective is not None:
        form = adjective.french[2 * plural + noun.feminine]
        if adjective.first and not (plural or noun.feminine) and begins_with_vowel(french[0][0]):
            form = adjective.before_vowel
        english.insert(0, (adjective.english, f"adjective of {role}"))
        french.insert(0 if adjective.first else 1, (form, f"adjective of {role}"))
    article = articles[plural]
    if article == "a" and english[0][0][0] in "aeiou":
        article = "an"
    if negated and articles[0] == "a":
        forms = NEGATED
    form = forms[(2 if plural else noun.feminine) + 3 * begins_with_vowel(french[0][0])]
    if form == "des" and adjective is not None and adjective.first:
        form = "de"
    english.insert(0, (article, f"determiner of {role}"))
    french.insert(0, (form, f"determiner of {role}"))
    apart = adjective is not None and _kept_apart(noun, adjective)
    return _Part(english, french, 5 if plural else 2, noun.feminine, noun, apart)


def _adjective(draw: _Draw, kind: str) -> Adjective:
    """Return an adjective that may describe this kind of noun."""
    return draw.one(adjective for adjective in ADJECTIVES if kind in adjective.of)


def _kept_apart(noun: Noun, adjective: Adjective) -> bool:
    masculine, feminine = adjective.french[:2]
    if masculine == feminine:  # *rouge* agrees with every noun: no model can fail there
        return False
    return (NOUNS.index(noun) + 3 * ADJECTIVES.index(adjective)) % APART == 0


def _elided(words: list[Word]) -> list[Word]:
    """Drop the vowel of short words that precede another vowel."""
    heard: list[Word] = []
    for (word, thing), (following, _) in zip(words, [*words[1:], (".", None)], strict=True):
        if word in ("je", "ne", "que", "le", "la") and begins_with_vowel(following):
            word = f"{word[:-1]}'"
        heard.append((word, thing))
    return heard


def _phrase(english: list[Word], french: list[Word]) -> Phrase:
    links = {
        (i, j)
        for i, (_, thing) in enumerate(english)
        for j, (_, other) in enumerate(french)
        if thing is not None and thing == other
    }
    one, other = (tuple(word for word, _ in words) for words in (english, french))
    written = " ".join(other).replace("' ", "'").replace(" .", ".")
    return Phrase(" ".join(one[:-1]) + one[-1], written, one, other, frozenset(links))


def lines(parts: dict[str, list[Phrase]]) -> str:
    """Return the text of the file: split, English, French, and the words that correspond."""
    return "".join(
        f"{split} | {phrase.english} | {phrase.french} | "
        + " ".join(f"{i}-{j}" for i, j in sorted(phrase.links))
        + "\n"
        for split, several in parts.items()
        for phrase in several
    )


if __name__ == "__main__":
    argparse.ArgumentParser(description=__doc__.splitlines()[0]).parse_args()  # it takes none
    PATH.write_text(lines(deal()), encoding="utf-8")
