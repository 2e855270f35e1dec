"""Sentences and their translations: Tatoeba and Multi30k."""

from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path
from zipfile import ZipFile

from glassbox.data.components import deal
from glassbox.data.reading import check_split, decoded, find_lines, two_texts
from glassbox.data.store import FILES, find
from glassbox.data.text import plain_spaces

SIZE = 2_000  # pairs to validate with, and as many to test with


def tatoeba(split: str) -> list[tuple[str, str]]:
    """Return sentence pairs of Tatoeba, English and French.

    No sentence, in either language, is in two splits, however it is capitalised and punctuated: all
    translations of a sentence are in the same split, together with all other sentences that they
    translate.

    Parameters
    ----------
    split : str
        ``"train"`` (138,612 pairs), ``"valid"`` (2,000) or ``"test"`` (2,000).

    Returns
    -------
    list of (str, str)
        Distinct pairs after :func:`plain_spaces`, in an effectively random order, except that pairs
        which share sentences follow each other.

    Raises
    ------
    ValueError
        If there is no such split, or a line cannot be read, or from :func:`glassbox.data.find`.

    Notes
    -----
    English–French pairs of tatoeba.org as manythings.org/anki published them on 29 September 2017
    (CC BY 2.0). The 142,612 distinct ones fall into 92,839 connected components, 63,324 of them a
    single pair and the largest 72 pairs, which are dealt as ``glassbox.data.components`` describes.
    Each component, and so each pair, is equally likely to be in the test split: the sentences of
    train, valid and test are alike, with 6.17, 6.16 and 6.00 English words on average. Drawing
    single pairs would give the same averages, but more than half of the pairs share a sentence with
    another, which a model would have memorised; scores on such splits are not comparable with ours.
    Translations come together: the 2,000 test pairs have 1,355 English sentences and 1,874 French
    ones (see :func:`references`).
    """
    check_split("Tatoeba", split, ("train", "valid", "test"))
    name = "tatoeba_eng_fra/fra-eng.zip"
    path = find(name)
    return list(_deal(path, FILES[name].sha256)[split])


@lru_cache(maxsize=1)  # training also validates: read and deal only once
def _deal(path: Path, digest: str) -> dict[str, list[tuple[str, str]]]:
    """Read the pairs of the archive with this digest, and split them."""
    with ZipFile(path) as archive:
        text = plain_spaces(decoded(archive.read("fra.txt"), path / "fra.txt"))
    expected = "an English sentence, a tab and a French sentence"
    lines = enumerate(text.removesuffix("\n").split("\n"), start=1)
    pairs = {two_texts(path / "fra.txt", number, line, expected) for number, line in lines}
    return deal(pairs, {"test": SIZE, "valid": SIZE}, rest="train")


LANGUAGES = ("en", "de", "fr")
MULTI30K = {
    "train": "train",
    "valid": "val",
    "test_2016": "test_2016_flickr",
    "test_2017": "test_2017_flickr",
    "test_2018": "test_2018_flickr",
}


def multi30k(split: str, *languages: str) -> list[tuple[str, ...]]:
    """Return captions of photographs in one to three languages, each tuple of one photograph.

    Parameters
    ----------
    split : str
        ``"train"`` (29,000 captions), ``"valid"`` (1,014), ``"test_2016"``, ``"test_2017"``
        (1,000 each) or ``"test_2018"`` (1,071).
    *languages : str
        Some of ``"en"``, ``"de"`` and ``"fr"``, in the order of the captions in each tuple.

    Returns
    -------
    list of tuple of str
        The captions as published, except for leading and trailing spaces.

    Raises
    ------
    ValueError
        If there is no such split or language, or the languages have different numbers of
        captions, or from :func:`glassbox.data.find`.

    Notes
    -----
    Task 1 of Multi30k. Professionals translated the English captions into German (Elliott et al.,
    2016), crowd workers into French (Elliott et al., 2017).
    """
    check_split("Multi30k", split, MULTI30K)
    if not languages or len({*map(str, languages)} & {*LANGUAGES}) < len(languages):
        raise ValueError(
            f"Multi30k in {languages}: expected different ones of: {', '.join(LANGUAGES)}"
        )
    columns = dict(find_lines(f"multi30k/{MULTI30K[split]}.{name}.gz") for name in languages)
    if len({len(captions) for captions in columns.values()}) > 1:
        counts = ", ".join(f"{len(captions)} in {path}" for path, captions in columns.items())
        raise ValueError(f"expected a caption for each photograph in each language, got {counts}")
    return [tuple(map(str.strip, captions)) for captions in zip(*columns.values(), strict=True)]


def references(pairs: Iterable[tuple[str, str]]) -> dict[str, list[str]]:
    """Gather all translations of each sentence, the references for BLEU.

    A sentence has several right translations, ``tu`` or ``vous``, ``content`` or ``contente``. A
    model that finds one of them is right, so a test has each sentence once and accepts them all.
    The splits of :func:`tatoeba` keep all translations of a sentence together.

    Parameters
    ----------
    pairs : iterable of (str, str)
        Sentences and their translations. For the other direction, swap them:
        ``references((french, english) for english, french in pairs)``.

    Returns
    -------
    dict of str to list of str
        The distinct translations of each sentence; both in the order of the pairs.
    """
    gathered: dict[str, dict[str, None]] = {}
    for source, target in pairs:
        gathered.setdefault(source, {})[target] = None
    return {source: list(targets) for source, targets in gathered.items()}
