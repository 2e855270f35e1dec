"""The words of `tools/phrases.py`: what each is in English and in French."""

import tomllib
from pathlib import Path
from typing import NamedTuple

VOWELS = "aeiouâàéèêëîïôûùœ"


class Noun(NamedTuple):
    """A noun: singular and plural in both languages, its gender, and what it names.

    ``kind`` is "p" for a person, "a" for an animal, "t" for a thing.
    """

    english: tuple[str, str]
    french: tuple[str, str]
    feminine: bool
    kind: str


class Adjective(NamedTuple):
    """An adjective, with its French forms.

    ``french`` holds masculine and feminine, singular, then plural; ``before_vowel`` is the
    masculine form before a vowel; ``first`` says whether it precedes the noun; ``of``, which kinds
    of nouns it may describe.
    """

    english: str
    french: tuple[str, str, str, str]
    first: bool
    of: str
    before_vowel: str


class Verb(NamedTuple):
    """A verb: English base and third person, French first to third person, singular and plural."""

    english: tuple[str, str]
    french: tuple[str, ...]


class Pronoun(NamedTuple):
    """A pronoun: both languages, person (0 to 5, plural from 3 on), and gender."""

    english: str
    french: str
    person: int
    feminine: bool = False


def begins_with_vowel(word: str) -> bool:
    """Return whether French elides before a ``word``."""
    return word[0] in VOWELS


#: Singular and plural: masculine, feminine and plural, then the same before a vowel.
DETERMINERS = {
    ("the", "the"): ("le", "la", "les", "l'", "l'", "les"),
    ("a", "some"): ("un", "une", "des", "un", "une", "des"),
    ("my", "my"): ("mon", "ma", "mes", "mon", "mon", "mes"),
    ("our", "our"): ("notre", "notre", "nos", "notre", "notre", "nos"),
    ("this", "these"): ("ce", "cette", "ces", "cet", "cette", "ces"),
}
#: *a* and *some* after *not*.
NEGATED = ("de", "de", "de", "d'", "d'", "d'")


_LINES = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))


def _noun(line: str) -> Noun:
    kind, gender, one, several, un, plusieurs = line.split()
    return Noun((one, several), (un, plusieurs), gender == "f", kind)


def _adjective(line: str, *, first: bool) -> Adjective:
    of, english, *forms = line.split()
    if len(forms) == 2:  # masculine and feminine; the plural takes an s
        forms += [f"{form}s" for form in forms]
    m, f, mp, fp, *vowel = forms
    return Adjective(english, (m, f, mp, fp), first, of, vowel[0] if vowel else m)


def _verb(line: str) -> Verb:
    base, third, *french = line.split()
    return Verb((base, third), tuple(french))


NOUNS = [_noun(line) for line in _LINES["nouns"].splitlines()]
ADJECTIVES = [_adjective(line, first=False) for line in _LINES["adjectives"].splitlines()]
ADJECTIVES += [_adjective(line, first=True) for line in _LINES["adjectives_first"].splitlines()]
VERBS = [_verb(line) for line in _LINES["verbs"].splitlines()]
BE = _verb(_LINES["be"])

PRONOUNS = [
    Pronoun("I", "je", 0),
    Pronoun("he", "il", 2),
    Pronoun("she", "elle", 2, feminine=True),
    Pronoun("we", "nous", 3),
    Pronoun("you", "vous", 4),
    Pronoun("they", "ils", 5),
]
#: Pronouns whose gender is known, so that an adjective can agree with them.
SEEN = [PRONOUNS[1], PRONOUNS[2], PRONOUNS[5]]
OBJECTS = {"him": "le", "her": "la", "them": "les"}
