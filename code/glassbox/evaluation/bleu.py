"""BLEU: the share of a translation's n-grams that occur in reference translations."""

import math
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from glassbox.checks import check_at_least
from glassbox.evaluation.checks import check_corpora, check_tokens


class CorpusBleu(NamedTuple):
    """BLEU and its components.

    Attributes
    ----------
    score : float
        0 to 100.
    precisions : tuple of float
        For n-grams of 1, 2, ... tokens, 0 to 100.
    brevity_penalty : float
        0 to 1; 1 if the translations are at least as long as the references.
    hypothesis_length, reference_length : int
        Number of tokens in all translations, and in the references closest to them in length.
    """

    score: float
    precisions: tuple[float, ...]
    brevity_penalty: float
    hypothesis_length: int
    reference_length: int


def count_ngrams(tokens: Sequence[str], n: int) -> Counter[tuple[str, ...]]:
    """Count the n-grams of a sentence.

    Parameters
    ----------
    tokens : sequence of str
        A sentence.
    n : int
        Number of tokens in an n-gram.

    Returns
    -------
    Counter of tuple of str
        How often each occurs; empty if the sentence is shorter than ``n``.

    Raises
    ------
    ValueError
        If ``n`` is not positive.
    TypeError
        If the sentence is a text that is not split.
    """
    check_at_least("n", n, 1)
    if isinstance(tokens, str):
        raise TypeError(f"{tokens!r:.60} is text; expected a list of tokens, as text.split() gives")
    return Counter(tuple(tokens[i : i + n]) for i in range(len(tokens) - n + 1))


def clipped_matches(
    hypothesis: Sequence[str], references: Sequence[Sequence[str]], n: int
) -> tuple[int, int]:
    """Count the n-grams of a translation that are in a reference.

    Each counts at most as often as it occurs in one reference, so repeating a correct word gains
    nothing.

    Parameters
    ----------
    hypothesis : sequence of str
        The tokens of the translation.
    references : sequence of sequence of str
        The tokens of each reference.
    n : int
        Number of tokens in an n-gram.

    Returns
    -------
    tuple of int
        Number of matching n-grams, and of all n-grams.

    Raises
    ------
    ValueError, TypeError
        As :func:`count_ngrams`, also for a reference that is not in a list of references.

    Notes
    -----
    Papineni et al. (2002), section 2.1, the numerator and denominator of the modified precision.
    """
    counts = count_ngrams(hypothesis, n)
    most: Counter[tuple[str, ...]] = Counter()
    for reference in references:
        most |= count_ngrams(reference, n)
    return (counts & most).total(), counts.total()


def brevity_penalty(hypothesis_length: int, reference_length: int) -> float:
    r"""Return the factor that penalises translations shorter than their references.

    .. math::
        \min\left(1, e^{1 - r / c}\right)

    Parameters
    ----------
    hypothesis_length : int
        Number of tokens in all translations, :math:`c`.
    reference_length : int
        Number of tokens in the references, :math:`r`.

    Returns
    -------
    float
        0 to 1.

    Notes
    -----
    Papineni et al. (2002), section 2.2.
    """
    if hypothesis_length >= reference_length:
        return 1.0
    return math.exp(1 - reference_length / hypothesis_length) if hypothesis_length else 0.0


def corpus_bleu(
    hypotheses: Sequence[Sequence[str]],
    references: Sequence[Sequence[Sequence[str]]],
    max_n: int = 4,
) -> CorpusBleu:
    r"""Return the BLEU of a corpus of translations.

    .. math::
        \text{BLEU} = \min\left(1, e^{1 - r / c}\right)
        \exp\left(\frac{1}{N} \sum_{n=1}^N \log p_n\right)

    Matches and n-grams are summed over the corpus before dividing, so the score is not a mean over
    sentences. Nothing is smoothed: without a single match of ``max_n`` tokens, it is 0.

    Parameters
    ----------
    hypotheses : sequence of sequence of str
        The tokens of each translation.
    references : sequence of sequence of sequence of str
        For each translation, the tokens of one or several references. The reference length used is
        the closest to the translation's, the shorter one on a tie.
    max_n : int, optional
        Number of tokens in the longest n-gram, :math:`N`.

    Returns
    -------
    CorpusBleu
        The score, 0 to 100, and its parts.

    Raises
    ------
    ValueError
        If there is no translation, one has no reference, there are more or fewer of these, or
        ``max_n`` is not positive.
    TypeError
        If anything but tokens is given, such as a text that is not split.

    Notes
    -----
    Papineni et al. (2002), section 2.3. How text is split into tokens changes the score: compare
    only scores with the same tokenization. Chapter 9, equation ``eq-bleu``.
    """
    check_corpora(hypotheses, references, check_tokens)
    check_at_least("max_n", max_n, 1)
    hypothesis_length = sum(map(len, hypotheses))
    pairs = list(zip(hypotheses, references, strict=True))
    reference_length = sum(
        min(map(len, several), key=lambda length: (abs(length - len(hypothesis)), length))
        for hypothesis, several in pairs
    )
    precisions = []
    for n in range(1, max_n + 1):
        counts = [clipped_matches(hypothesis, several, n) for hypothesis, several in pairs]
        matches, ngrams = map(sum, zip(*counts, strict=True))
        precisions.append(matches / ngrams if ngrams else 0.0)
    penalty = brevity_penalty(hypothesis_length, reference_length)
    mean = math.exp(sum(map(math.log, precisions)) / max_n) if all(precisions) else 0.0
    percent = tuple(100 * precision for precision in precisions)
    return CorpusBleu(100 * penalty * mean, percent, penalty, hypothesis_length, reference_length)
