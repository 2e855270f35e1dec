"""The words of :mod:`glassbox.data.phrases`: what each is in English and in French."""

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
    """An adjective, with what French makes of it.

    ``french`` are masculine and feminine, singular, then plural; ``before_vowel`` is the masculine
    form in front of a vowel; ``first`` says whether it stands before the noun; ``of``, which
    kinds of nouns it may describe.
    """

    english: str
    french: tuple[str, str, str, str]
    first: bool
    of: str
    before_vowel: str


class Verb(NamedTuple):
    """A verb: English base and third person, French first to third person, singular and plural."""

    english: tuple[str, str]
    french: tuple[str, str, str, str, str, str]


class Pronoun(NamedTuple):
    """A pronoun: both languages, person (0 to 5, plural from 3 on), and gender."""

    english: str
    french: str
    person: int
    feminine: bool = False


def begins_with_vowel(word: str) -> bool:
    """Return whether French elides before a ``word``."""
    return word[0] in VOWELS


#: Singular and plural: masculine, feminine, plural, masculine and feminine before a vowel.
DETERMINERS: dict[tuple[str, str], tuple[str, str, str, str, str]] = {
    ("the", "the"): ("le", "la", "les", "l'", "l'"),
    ("a", "some"): ("un", "une", "des", "un", "une"),
    ("my", "my"): ("mon", "ma", "mes", "mon", "mon"),
    ("our", "our"): ("notre", "notre", "nos", "notre", "notre"),
    ("this", "these"): ("ce", "cette", "ces", "cet", "cette"),
}
#: What *a* and *some* become behind *not*.
NEGATED = ("de", "de", "de", "d'", "d'")


def _noun(line: str) -> Noun:
    kind, gender, one, many, un, plusieurs = line.split()
    return Noun((one, many), (un, plusieurs), gender == "f", kind)


NOUNS = [
    _noun(line)
    for line in (
        "p m uncle uncles oncle oncles",
        "p f aunt aunts tante tantes",
        "p m child children enfant enfants",
        "p m boy boys garçon garçons",
        "p f girl girls fille filles",
        "p m king kings roi rois",
        "p f queen queens reine reines",
        "a m dog dogs chien chiens",
        "a m cat cats chat chats",
        "a m bird birds oiseau oiseaux",
        "a m horse horses cheval chevaux",
        "a f mouse mice souris souris",
        "a f cow cows vache vaches",
        "a f bee bees abeille abeilles",
        "t f house houses maison maisons",
        "t f car cars voiture voitures",
        "t m tree trees arbre arbres",
        "t m book books livre livres",
        "t f door doors porte portes",
        "t f school schools école écoles",
        "t f apple apples pomme pommes",
        "t f flower flowers fleur fleurs",
        "t m hat hats chapeau chapeaux",
        "t m boat boats bateau bateaux",
        "t f chair chairs chaise chaises",
        "t m coat coats manteau manteaux",
        "t f letter letters lettre lettres",
        "t f island islands île îles",
        "t m plane planes avion avions",
        "t f picture pictures image images",
    )
]


def _adjective(line: str, *, first: bool = False) -> Adjective:
    of, english, *forms = line.split()
    if len(forms) == 2:  # masculine and feminine; the plural takes an s
        forms += [f"{form}s" for form in forms]
    m, f, mp, fp, *vowel = forms
    return Adjective(english, (m, f, mp, fp), first, of, vowel[0] if vowel else m)


ADJECTIVES = [
    *(
        _adjective(line)
        for line in (
            "at white blanc blanche",
            "at black noir noire",
            "at red rouge rouge",
            "at green vert verte",
            "at blue bleu bleue",
            "at grey gris grise gris grises",
            "at heavy lourd lourde",
            "pat strange étrange étrange",
            "pat quiet tranquille tranquille",
            "pa happy heureux heureuse heureux heureuses",
            "pa clever intelligent intelligente",
            "t expensive cher chère",
            "t empty vide vide",
        )
    ),
    *(
        _adjective(line, first=True)
        for line in (
            "pat small petit petite",
            "pat big grand grande",
            "pat old vieux vieille vieux vieilles vieil",
            "pat beautiful beau belle beaux belles bel",
            "pa young jeune jeune",
            "t new nouveau nouvelle nouveaux nouvelles nouvel",
        )
    ),
]

VERBS = [
    Verb(("see", "sees"), ("vois", "vois", "voit", "voyons", "voyez", "voient")),
    Verb(("love", "loves"), ("aime", "aimes", "aime", "aimons", "aimez", "aiment")),
    Verb(
        ("choose", "chooses"),
        ("choisis", "choisis", "choisit", "choisissons", "choisissez", "choisissent"),
    ),
    Verb(("find", "finds"), ("trouve", "trouves", "trouve", "trouvons", "trouvez", "trouvent")),
    Verb(("follow", "follows"), ("suis", "suis", "suit", "suivons", "suivez", "suivent")),
    Verb(
        ("hear", "hears"),
        ("entends", "entends", "entend", "entendons", "entendez", "entendent"),
    ),
    Verb(
        ("know", "knows"),
        ("connais", "connais", "connaît", "connaissons", "connaissez", "connaissent"),
    ),
    Verb(("paint", "paints"), ("peins", "peins", "peint", "peignons", "peignez", "peignent")),
]
BE = Verb(("are", "is"), ("suis", "es", "est", "sommes", "êtes", "sont"))

PRONOUNS = [
    Pronoun("I", "je", 0),
    Pronoun("he", "il", 2),
    Pronoun("she", "elle", 2, feminine=True),
    Pronoun("we", "nous", 3),
    Pronoun("you", "vous", 4),
    Pronoun("they", "ils", 5),
]
#: Those that can be said to be something; the others' gender nobody knows.
SEEN = [PRONOUNS[1], PRONOUNS[2], PRONOUNS[5]]
OBJECTS = {"him": "le", "her": "la", "them": "les"}
