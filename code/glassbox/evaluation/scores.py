"""BLEU and chrF as sacreBLEU computes them, with the signatures that make them comparable."""

from collections.abc import Sequence
from itertools import zip_longest
from typing import NamedTuple

from glassbox.checks import need
from glassbox.evaluation.checks import References, check_text_corpora


class TranslationScores(NamedTuple):
    """BLEU and chrF of translations, with their signatures.

    Attributes
    ----------
    bleu, chrf : float
        0 to 100.
    bleu_signature, chrf_signature : str
        Everything that must agree when scores are compared: number of references, case, tokens,
        smoothing, version.
    """

    bleu: float
    chrf: float
    bleu_signature: str
    chrf_signature: str


def score_translations(
    hypotheses: Sequence[str], references: References, *, lowercase: bool = False
) -> TranslationScores:
    """Score translations with sacreBLEU, which splits ordinary text into tokens itself.

    Parameters
    ----------
    hypotheses : sequence of str
        The translations.
    references : sequence of str or of sequence of str
        One or several human translations for each.
    lowercase : bool, optional
        Whether to ignore case; the signatures say so.

    Returns
    -------
    TranslationScores
        BLEU (4-grams, tokens of mteval-v13a, exponential smoothing) and chrF2 (n-grams of 1 to 6
        characters, recall weighted twice).

    Raises
    ------
    ValueError
        If there is no translation, one has no reference, or there are more or fewer of these.
    TypeError
        If anything but strings is given.
    ModuleNotFoundError
        If ``sacrebleu`` is not installed.

    Notes
    -----
    Post (2018); Popović (2015) on chrF. :func:`~glassbox.evaluation.corpus_bleu` is the same BLEU
    without its tokens and its smoothing. Chapter 9.
    """
    several = check_text_corpora(hypotheses, references)
    metrics = need("sacrebleu", "scoring translations").metrics
    # One list for all first, second, ... references; sacreBLEU ignores those that are None.
    columns = [list(column) for column in zip_longest(*several)]
    bleu, chrf = metrics.BLEU(lowercase=lowercase), metrics.CHRF(lowercase=lowercase)
    return TranslationScores(
        bleu=bleu.corpus_score(hypotheses, columns).score,
        chrf=chrf.corpus_score(hypotheses, columns).score,
        bleu_signature=str(bleu.get_signature()),
        chrf_signature=str(chrf.get_signature()),
    )
