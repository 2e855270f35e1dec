"""Test sets by name, with their source files."""

from typing import NamedTuple

from glassbox.checks import check_kind
from glassbox.data import FILES, multi30k, references, tatoeba
from glassbox.data.parallel import MULTI30K

#: The languages of each corpus of translations.
CORPORA = {"tatoeba": ("en", "fr"), "multi30k": ("de", "en", "fr")}


class ParallelTest(NamedTuple):
    """Sentences to translate, and their human translations.

    Attributes
    ----------
    corpus, split : str
        The names of corpus and split.
    source, to : str
        The source and the target language.
    sources : list of str
        The sentences to translate.
    references : list of list of str
        One or several translations of each sentence.
    files : dict of str to str
        The digest (sha256) of each file it was read from, by its name.
    """

    corpus: str
    split: str
    source: str
    to: str
    sources: list[str]
    references: list[list[str]]
    files: dict[str, str]

    def first(self, number: int | None) -> "ParallelTest":
        """Return the first ``number`` sentences, or all of them if it is None."""
        return self._replace(sources=self.sources[:number], references=self.references[:number])

    @property
    def pairs(self) -> list[tuple[str, str]]:
        """Each sentence with each of its translations."""
        return [
            (source, target)
            for source, several in zip(self.sources, self.references, strict=True)
            for target in several
        ]


def parallel_test(corpus: str, split: str, source: str, to: str) -> ParallelTest:
    """Return a test set for translators.

    Parameters
    ----------
    corpus : {"tatoeba", "multi30k"}
        In Tatoeba, each sentence appears once, with all its translations: any of them is right. In
        Multi30k, each line is used as it is, with its single translation.
    split : str
        As in :func:`glassbox.data.tatoeba` and :func:`glassbox.data.multi30k`; ``"test"`` of the
        latter is ``"test_2016"``, to which most published figures refer.
    source, to : str
        The source and the target language.

    Returns
    -------
    ParallelTest
        The sentences.

    Raises
    ------
    ValueError
        If the corpus is unknown or has no such split or language.
    """
    check_kind("corpus", corpus, tuple(CORPORA))
    if len({source, to} & {*CORPORA[corpus]}) != 2:
        raise ValueError(
            f"{corpus} from {source!r} to {to!r}: expected two different languages of "
            f"{', '.join(CORPORA[corpus])}"
        )
    if corpus == "tatoeba":
        pairs = [(en, fr) if source == "en" else (fr, en) for en, fr in tatoeba(split)]
        gathered = references(pairs)
        sources, targets = [*gathered], [*gathered.values()]
        names = ["tatoeba_eng_fra/fra-eng.zip"]
    else:
        split = "test_2016" if split == "test" else split
        captions = multi30k(split, source, to)
        sources, targets = [pair[0] for pair in captions], [[pair[1]] for pair in captions]
        names = [f"multi30k/{MULTI30K[split]}.{language}.gz" for language in (source, to)]
    digests = {name: FILES[name].sha256 for name in names}
    return ParallelTest(corpus, split, source, to, sources, targets, digests)
