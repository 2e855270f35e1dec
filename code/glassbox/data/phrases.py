"""A small grammar of English and French: sentence pairs to learn from, without a download."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import count
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

    Who translates them has to learn what word-for-word substitution cannot do. Most adjectives
    stand behind the French noun; articles, possessives and adjectives agree with it in gender and
    number, which English does not show; verbs are conjugated; vowels elide (*l'arbre*, *je n'aime
    pas*, *mon école*); *not* is two words around the verb, and *a* becomes *de* behind them;
    pronouns that are objects stand before the verb; questions have another order in English only.

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


#: A word, and the number of the thing it says; words that say nothing of their own have ``None``.
Word = tuple[str, int | None]


class _Draw:
    """Choices that follow from the seed; ``Random.random`` is the same in every Python."""

    def __init__(self, seed: int) -> None:
        self._random = Random(seed)
        self.things = count()

    def one(self, choices: Sequence[T]) -> T:
        return choices[int(self._random.random() * len(choices))]

    def chance(self, share: float) -> bool:
        return self._random.random() < share


@dataclass
class _NounPhrase:
    english: list[Word]
    french: list[Word]
    noun: Noun
    plural: bool
    apart: bool

    @property
    def person(self) -> int:
        return 5 if self.plural else 2


def _kept_apart(noun: Noun, adjective: Adjective) -> bool:
    masculine, feminine = adjective.french[:2]
    if masculine == feminine:  # *rouge* agrees with everything: nobody can fail there
        return False
    return (NOUNS.index(noun) + 3 * ADJECTIVES.index(adjective)) % APART == 0


def _form(adjective: Adjective, *, feminine: bool, plural: bool) -> str:
    return adjective.french[2 * plural + feminine]


def _noun_phrase(draw: _Draw, *, negated: bool = False, described: float = 0.5) -> _NounPhrase:
    """Return a noun with its determiner and, as often as ``described`` says, an adjective."""
    noun, plural = draw.one(NOUNS), draw.chance(0.4)
    (singular, several), forms = draw.one(list(DETERMINERS.items()))
    if negated and singular == "a":
        forms = NEGATED
    thing = next(draw.things)
    english: list[Word] = [(noun.english[plural], thing)]
    french: list[Word] = [(noun.french[plural], thing)]
    apart, adjective = False, None
    if draw.chance(described):
        adjective = draw.one([one for one in ADJECTIVES if noun.kind in one.of])
        apart, quality = _kept_apart(noun, adjective), next(draw.things)
        english.insert(0, (adjective.english, quality))
        form = _form(adjective, feminine=noun.feminine, plural=plural)
        if adjective.first and not (plural or noun.feminine) and begins_with_vowel(french[0][0]):
            form = adjective.before_vowel
        french.insert(0 if adjective.first else 1, (form, quality))
    determiner, article = next(draw.things), several if plural else singular
    if article == "a" and english[0][0][0] in "aeiou":
        article = "an"
    vowel = begins_with_vowel(french[0][0])
    form = forms[2 if plural else noun.feminine + (3 if vowel else 0)]
    if plural and forms is NEGATED and vowel:
        form = "d'"
    if form == "des" and adjective is not None and adjective.first:
        form = "de"
    english.insert(0, (article, determiner))
    french.insert(0, (form, determiner))
    return _NounPhrase(english, french, noun, plural, apart)


def _sentence(draw: _Draw) -> tuple[Phrase, bool]:
    """Return a sentence, and whether a noun has an adjective that is kept apart from it."""
    asks, negated = draw.chance(0.2), draw.chance(0.3)
    describes = draw.chance(0.3)  # the house is white
    apart, feminine = False, False
    subject_english: list[Word]
    subject_french: list[Word]
    if draw.chance(0.35):
        pronoun = draw.one(SEEN if describes else PRONOUNS)
        who = next(draw.things)
        subject_english, subject_french = [(pronoun.english, who)], [(pronoun.french, who)]
        person, feminine, noun = pronoun.person, pronoun.feminine, None
    else:
        subject = _noun_phrase(draw)
        while not describes and subject.noun.kind == "t":
            subject = _noun_phrase(draw)
        subject_english, subject_french = subject.english, subject.french
        person, noun, apart = subject.person, subject.noun, subject.apart
        feminine = noun.feminine
    plural, does, no = person > 2, next(draw.things), next(draw.things)
    third = person == 2
    verb = BE if describes else draw.one(VERBS)
    verb_french: list[Word] = [(verb.french[person], does)]
    rest_english: list[Word]
    rest_french: list[Word]
    if describes:
        kind = "p" if noun is None else noun.kind
        fitting = [adjective for adjective in ADJECTIVES if kind in adjective.of]
        adjective, quality = draw.one(fitting), next(draw.things)
        apart |= noun is not None and _kept_apart(noun, adjective)
        form = _form(adjective, feminine=feminine, plural=plural)
        rest_english, rest_french = [(adjective.english, quality)], [(form, quality)]
    elif draw.chance(0.25):
        (whom, object_french), what = draw.one(list(OBJECTS.items())), next(draw.things)
        rest_english, rest_french = [(whom, what)], []
        verb_french.insert(0, (object_french, what))
    else:
        thing = _noun_phrase(draw, negated=negated)
        rest_english, rest_french = thing.english, thing.french
        apart |= thing.apart
    if negated:
        verb_french = [("ne", no), *verb_french, ("pas", no)]
    french = [*subject_french, *verb_french, *rest_french]
    be: Word = (verb.english[third], does)
    base: Word = (verb.english[0], does)
    helper: Word = ("does" if third else "do", None)
    denied: list[Word] = [("not", no)] if negated else []
    if asks:
        french = [("est-ce", None), ("que", None), *french, ("?", next(draw.things))]
        opened, verbs = ([be], denied) if describes else ([helper], [*denied, base])
        english = [*opened, *subject_english, *verbs, *rest_english, ("?", french[-1][1])]
    else:
        french.append((".", next(draw.things)))
        verbs = [helper, *denied, base] if negated else [(verb.english[third], does)]
        verbs = [be, *denied] if describes else verbs
        english = [*subject_english, *verbs, *rest_english, (".", french[-1][1])]
    return _phrase(english, _elided(french)), apart


def _elided(words: list[Word]) -> list[Word]:
    """Take the vowel off the short words that stand before another vowel."""
    heard: list[Word] = []
    for (word, thing), (following, _) in zip(words, [*words[1:], ("", None)], strict=True):
        short = word in ("je", "ne", "que", "le", "la")
        if short and following and begins_with_vowel(following):
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
    one, other = ([word for word, _ in words] for words in (english, french))
    return Phrase(
        " ".join(one[:-1]) + one[-1],
        " ".join(other).replace("' ", "'").replace(" .", "."),
        tuple(one),
        tuple(other),
        frozenset(links),
    )
