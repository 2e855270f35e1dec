"""BLEU as two published runs on Multi30k computed it: on lower-cased words, each in its own way.

Only these are comparable with their figures. Both are computed on ordinary text, with sub-words
joined, so the model's own vocabulary plays no part.
"""

from collections.abc import Callable, Sequence
from functools import cache

from glassbox.checks import check_kind, need
from glassbox.evaluation.bleu import CorpusBleu, corpus_bleu
from glassbox.evaluation.checks import References, check_text_corpora

#: The languages of Multi30k that both tokenizers have rules for.
LANGUAGES = ("de", "en", "fr")


def spacy_tokens(text: str, language: str = "en") -> list[str]:
    """Split text by spaCy's rules, and lower-case the tokens.

    Parameters
    ----------
    text : str
        A sentence.
    language : {"de", "en", "fr"}, optional
        The language whose rules to use.

    Returns
    -------
    list of str
        The tokens. They are lower-cased last, because some rules depend on case.

    Raises
    ------
    ValueError
        If the language is unknown.
    ModuleNotFoundError
        If ``spacy`` is not installed.
    """
    return [token.text.lower() for token in _spacy_tokenizer(language)(text)]


def moses_tokens(text: str, language: str) -> list[str]:
    """Split text as in Multi30k's own tokenized files: lower case, plain punctuation, Moses.

    Parameters
    ----------
    text : str
        A sentence.
    language : {"de", "en", "fr"}
        The language whose rules to use.

    Returns
    -------
    list of str
        The tokens. Hyphens stay inside words; some characters are escaped, such as ``&apos;``.

    Raises
    ------
    ValueError
        If the language is unknown.
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
    hypotheses: Sequence[str], references: References, language: str = "en"
) -> CorpusBleu:
    """Return the BLEU of lower-cased tokens, split by spaCy's rules.

    This is the measure of Ben Trevett's tutorials on sequence-to-sequence models, whose sixth
    reports 36.52 for German to English on Multi30k, test set of 2016: a Transformer of words with
    9.04 million parameters, ten epochs, decoded greedily with at most 50 tokens. There, words that
    occur once in the training text are ``<unk>`` in the model's output and count as wrong; the
    references keep theirs.

    Parameters
    ----------
    hypotheses : sequence of str
        The translations.
    references : sequence of str or of sequence of str
        One or several references for each; the tutorial has one.
    language : {"de", "en", "fr"}, optional
        The language of the translations.

    Returns
    -------
    CorpusBleu
        The score, 0 to 100, and its parts.

    Raises
    ------
    ValueError, TypeError
        As :func:`~glassbox.evaluation.score_translations`, or if the language is unknown.
    ModuleNotFoundError
        If ``spacy`` is not installed.

    Notes
    -----
    github.com/bentrevett/pytorch-seq2seq at 7faa64a, *6 - Attention is All You Need*; its
    ``torchtext.data.metrics.bleu_score`` is :func:`~glassbox.evaluation.corpus_bleu`. It split text
    by the rules of spaCy 2, which differ in a few cases from those of later versions. Chapter 9.
    """
    return _bleu(hypotheses, references, lambda text: spacy_tokens(text, language))


def moses_bleu(hypotheses: Sequence[str], references: References, language: str) -> CorpusBleu:
    """Return the BLEU of lower-cased Moses tokens, as ``multi-bleu.perl`` and fairseq compute it.

    This is the measure of Wu et al. (2021), who report 41.02 for English to German on Multi30k,
    test set of 2016, with a Transformer without pictures: 4 + 4 layers of width 128, sub-words of
    both languages in one vocabulary, weights averaged over the last ten checkpoints, 5 beams.

    Parameters
    ----------
    hypotheses : sequence of str
        The translations.
    references : sequence of str or of sequence of str
        One or several references for each; the paper has one.
    language : {"de", "en", "fr"}
        The language of the translations.

    Returns
    -------
    CorpusBleu
        The score, 0 to 100, and its parts.

    Raises
    ------
    ValueError, TypeError
        As :func:`~glassbox.evaluation.score_translations`, or if the language is unknown.
    ModuleNotFoundError
        If ``sacremoses`` is not installed.

    Notes
    -----
    Wu et al. (2021); github.com/LividWo/Revisit-MMT at 29bf6b5, ``README-baseline.md`` and
    ``evaluate.sh``. There the model writes tokens; here its output is text and is split like the
    reference. Chapter 9.
    """
    return _bleu(hypotheses, references, lambda text: moses_tokens(text, language))


def _bleu(
    hypotheses: Sequence[str], references: References, tokenize: Callable[[str], list[str]]
) -> CorpusBleu:
    several = check_text_corpora(hypotheses, references)
    written = [tokenize(text) for text in hypotheses]
    return corpus_bleu(written, [[tokenize(text) for text in texts] for texts in several])


@cache
def _spacy_tokenizer(language: str) -> Callable:
    check_kind("language", language, LANGUAGES)
    return need("spacy", "BLEU on spaCy's tokens").blank(language).tokenizer


@cache
def _moses(language: str) -> tuple[Callable[[str], str], Callable[[str], list[str]]]:
    check_kind("language", language, LANGUAGES)
    moses = need("sacremoses", "BLEU on Moses tokens")
    return moses.MosesPunctNormalizer(language).normalize, moses.MosesTokenizer(language).tokenize
