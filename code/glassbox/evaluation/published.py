"""BLEU as two published runs on Multi30k computed it: on lower-cased words, each in its own way.

Their figures compare with these alone. Sub-words are joined and text is as people read it before
either is computed, so that the model's own vocabulary plays no part.
"""

from collections.abc import Callable, Sequence
from functools import cache

from glassbox.checks import check_kind, need
from glassbox.evaluation.bleu import CorpusBleu, corpus_bleu
from glassbox.evaluation.checks import check_text_corpora

#: The languages of Multi30k that both tokenizers have rules for.
LANGUAGES = ("de", "en", "fr")


def spacy_tokens(text: str, language: str = "en") -> list[str]:
    """Split text as spaCy's rules do, and put the tokens into small letters.

    Parameters
    ----------
    text : str
        A sentence.
    language : {"de", "en", "fr"}, optional
        Whose rules.

    Returns
    -------
    list of str
        The tokens. The case is taken away last, since some rules look at it.

    Raises
    ------
    ValueError
        If the language is another one.
    ModuleNotFoundError
        If ``spacy`` is not installed.
    """
    return [token.text.lower() for token in _spacy_tokenizer(language)(text)]


def moses_tokens(text: str, language: str) -> list[str]:
    """Split text as Multi30k's own tokenized files are: small letters, plain punctuation, Moses.

    Parameters
    ----------
    text : str
        A sentence.
    language : {"de", "en", "fr"}
        Whose rules.

    Returns
    -------
    list of str
        The tokens. Hyphens stay inside words; some signs are escaped, such as ``&apos;``.

    Raises
    ------
    ValueError
        If the language is another one.
    ModuleNotFoundError
        If ``sacremoses`` is not installed.

    Notes
    -----
    Koehn et al. (2007); Elliott et al. (2016) on Multi30k. On the German side of the test set of
    2016 these are 12,103 tokens, the number that Wu et al. (2021) state in their log.
    """
    normalize, tokenize = _moses(language)
    return tokenize(normalize(text.strip().lower()))


def spacy_bleu(
    hypotheses: Sequence[str], references: Sequence[str | Sequence[str]], language: str = "en"
) -> CorpusBleu:
    """Return the BLEU of the tokens that spaCy's rules give, in small letters.

    This is the measure of Ben Trevett's tutorials on sequence-to-sequence models, whose sixth
    states 36.52 for German to English on Multi30k, test set of 2016: a Transformer of words with
    9.04 million parameters, ten epochs, decoded greedily with at most 50 tokens. There, words that
    occur once in the training text are ``<unk>`` on the model's side and count as wrong; the
    references keep theirs.

    Parameters
    ----------
    hypotheses : sequence of str
        The translations.
    references : sequence of str or of sequence of str
        For each, one reference or several; the tutorial has one.
    language : {"de", "en", "fr"}, optional
        The language of the translations.

    Returns
    -------
    CorpusBleu
        The score, 0 to 100, and its parts.

    Raises
    ------
    ValueError, TypeError
        As :func:`~glassbox.evaluation.score_translations`, or if the language is another one.
    ModuleNotFoundError
        If ``spacy`` is not installed.

    Notes
    -----
    github.com/bentrevett/pytorch-seq2seq at 7faa64a, *6 - Attention is All You Need*; its
    ``torchtext.data.metrics.bleu_score`` is :func:`~glassbox.evaluation.corpus_bleu`. It split text
    by the rules of spaCy 2, which differ in a few cases from those installed here. Chapter 9.
    """
    return _bleu(hypotheses, references, lambda text: spacy_tokens(text, language))


def moses_bleu(
    hypotheses: Sequence[str], references: Sequence[str | Sequence[str]], language: str
) -> CorpusBleu:
    """Return the BLEU of lower-cased Moses tokens, as ``multi-bleu.perl`` and fairseq count it.

    This is the measure of Wu et al. (2021), who state 41.02 for English to German on Multi30k, test
    set of 2016, by a Transformer without pictures: 4 + 4 layers of width 128, sub-words of both
    languages in one vocabulary, weights averaged over the last ten checkpoints, 5 beams.

    Parameters
    ----------
    hypotheses : sequence of str
        The translations.
    references : sequence of str or of sequence of str
        For each, one reference or several; there it is one.
    language : {"de", "en", "fr"}
        The language of the translations.

    Returns
    -------
    CorpusBleu
        The score, 0 to 100, and its parts.

    Raises
    ------
    ValueError, TypeError
        As :func:`~glassbox.evaluation.score_translations`, or if the language is another one.
    ModuleNotFoundError
        If ``sacremoses`` is not installed.

    Notes
    -----
    Wu et al. (2021); github.com/LividWo/Revisit-MMT at 29bf6b5, ``README-baseline.md`` and
    ``evaluate.sh``. There the model writes tokens; here what it wrote is text and is split as the
    reference is. Chapter 9.
    """
    return _bleu(hypotheses, references, lambda text: moses_tokens(text, language))


def _bleu(
    hypotheses: Sequence[str],
    references: Sequence[str | Sequence[str]],
    tokenize: Callable[[str], list[str]],
) -> CorpusBleu:
    several = check_text_corpora(hypotheses, references)
    return corpus_bleu(
        [tokenize(text) for text in hypotheses],
        [[tokenize(text) for text in texts] for texts in several],
    )


@cache
def _spacy_tokenizer(language: str) -> Callable:
    check_kind("language", language, LANGUAGES)
    return need("spacy", "BLEU on spaCy's tokens").blank(language).tokenizer


@cache
def _moses(language: str) -> tuple[Callable[[str], str], Callable[[str], list[str]]]:
    check_kind("language", language, LANGUAGES)
    moses = need("sacremoses", "BLEU on Moses tokens")
    return moses.MosesPunctNormalizer(language).normalize, moses.MosesTokenizer(language).tokenize
