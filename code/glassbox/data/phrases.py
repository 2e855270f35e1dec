"""A small grammar of English and French: sentence pairs to learn from, without a download."""

from collections.abc import Iterable, Sequence
from functools import lru_cache
from random import Random
from typing import NamedTuple, TypeVar

from glassbox.data.lexicon import (
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
from glassbox.data.reading import check_split

SIZES = {"train": 6_000, "valid": 200, "test": 500, "apart": 500}
SEED = 9
#: One combination in so many, of a noun and an adjective with two genders, is kept apart.
APART = 8

T = TypeVar("T")


class Phrase(NamedTuple):
    """A sentence in two languages, and which word goes with which.

    Attributes
    ----------
    english, french : str
        The sentences, in small letters.
    english_words, french_words : tuple of str
        Their words and signs; what French elides, such as ``l'``, is a word.
    links : frozenset of (int, int)
        Places of English and of French words that translate one another, counted from 0.
    """

    english: str
    french: str
    english_words: tuple[str, ...]
    french_words: tuple[str, ...]
    links: frozenset[tuple[int, int]]


def phrases(split: str) -> list[Phrase]:
    """Return sentence pairs that a small grammar made, English and French.

    Word-for-word substitution cannot translate them. Most adjectives stand behind the French noun;
    articles, possessives and adjectives agree with it in gender and number, which English does not
    show; verbs are conjugated; vowels elide (*l'arbre*, *je n'aime pas*, *mon école*); *not* is two
    words around the verb, and *a* becomes *de* behind them; pronouns that are objects stand before
    the verb; questions have another order in English only.

    Parameters
    ----------
    split : str
        ``"train"`` (6,000 pairs), ``"valid"`` (200), ``"test"`` (500), or ``"apart"`` (500): in
        each sentence of the last an adjective that has a form for each gender belongs to a noun
        that it never belongs to in the others, so that agreement cannot have been learned pair by
        pair.

    Returns
    -------
    list of Phrase
        The same on every machine. No sentence, in either language, occurs twice.

    Raises
    ------
    ValueError
        If there is no such split.

    Notes
    -----
    Written for this book. Chapter 9.

    Examples
    --------
    >>> phrases("test")[0].english_words[-1]
    '.'
    """
    check_split("the phrases", split, tuple(SIZES))
    return list(_deal()[split])


@lru_cache(maxsize=1)
def _deal() -> dict[str, list[Phrase]]:
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


#: A word and what it stands for; an English and a French word that stand for the same are linked.
Word = tuple[str, str | None]

#: The parts of an English sentence in their order, with *be* and with other verbs.
BE_STATEMENT, BE_QUESTION = "subject verb denial rest .", "verb subject denial rest ?"
STATEMENT, DENIAL = "subject verb rest .", "subject do denial base rest ."
QUESTION = "do subject denial base rest ?"
#: And of a French one, where a negation stands around the verb. Parts may be empty.
FRENCH_STATEMENT = "subject ne pronoun verb pas rest ."
FRENCH_QUESTION = "est-ce que subject ne pronoun verb pas rest ?"


class _Draw:
    """Choices that follow from the seed; ``Random.random`` is the same in every Python."""

    def __init__(self, seed: int) -> None:
        self._random = Random(seed)

    def one(self, choices: Iterable[T]) -> T:
        several = list(choices)
        return several[int(self._random.random() * len(several))]

    def chance(self, share: float) -> bool:
        return self._random.random() < share


class _Part(NamedTuple):
    """A subject, an object or a description, with what the verb and adjectives agree with."""

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
    """Put the words of the parts in order; a word of the order that is no part is itself."""
    words: list[Word] = []
    for part in order.split():
        words += parts.get(part, [(part, "end" if part in ".?" else None)])
    return words


def _subject(draw: _Draw, *, describes: bool) -> _Part:
    """Return a pronoun or a noun; things see, love and choose nothing, but may be described."""
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
    """Return what the subject is: an adjective, which French makes agree with it."""
    noun, plural = subject.noun, subject.person > 2
    adjective = _adjective(draw, "p" if noun is None else noun.kind)
    form = adjective.french[2 * plural + subject.feminine]
    apart = noun is not None and _kept_apart(noun, adjective)
    return _Part([(adjective.english, "quality")], [(form, "quality")], apart=apart)


def _noun_phrase(draw: _Draw, role: str, *, negated: bool = False) -> _Part:
    """Return a noun with its determiner and, half of the time, an adjective."""
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
    if masculine == feminine:  # *rouge* agrees with everything: nobody can fail there
        return False
    return (NOUNS.index(noun) + 3 * ADJECTIVES.index(adjective)) % APART == 0


def _elided(words: list[Word]) -> list[Word]:
    """Take the vowel off the short words that stand before another vowel."""
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
