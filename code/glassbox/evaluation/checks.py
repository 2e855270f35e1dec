"""What evaluation refuses, and in which words."""

from collections.abc import Sequence
from importlib import import_module
from types import ModuleType


def check_token_corpora(hypotheses: object, references: object) -> None:
    """Refuse translations and references that are not split, or do not go together.

    Raises
    ------
    ValueError
        If there is none, their numbers differ, or one has no reference.
    TypeError
        If something else than tokens is given.
    """
    for number, (hypothesis, several) in enumerate(_pairs(hypotheses, references)):
        _check_tokens(f"translation {number}", hypothesis)
        _check_several(number, several)
        for reference in several:
            _check_tokens(f"a reference of translation {number}", reference)


def check_text_corpora(
    hypotheses: Sequence[str], references: Sequence[str | Sequence[str]]
) -> list[list[str]]:
    """Refuse translations and references that are no texts, or do not go together.

    Parameters
    ----------
    hypotheses : sequence of str
        The translations.
    references : sequence of str or of sequence of str
        For each, one reference or several.

    Returns
    -------
    list of list of str
        The references of each, in a list also where there is one.

    Raises
    ------
    ValueError
        If there is none, their numbers differ, or one has no reference.
    TypeError
        If something else than strings is given.
    """
    listed = []
    for number, (hypothesis, several) in enumerate(_pairs(hypotheses, references)):
        _check_text(f"translation {number}", hypothesis)
        several = [several] if isinstance(several, str) else several
        _check_several(number, several)
        for reference in several:
            _check_text(f"a reference of translation {number}", reference)
        listed.append(list(several))
    return listed


def need(module: str, purpose: str) -> ModuleType:
    """Import a library that only evaluation needs.

    Parameters
    ----------
    module : str
        Its name.
    purpose : str
        What it is needed for, as the message says it.

    Returns
    -------
    ModuleType
        The library.

    Raises
    ------
    ModuleNotFoundError
        If it is not installed, saying how it comes here.
    """
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        if error.name != module:
            raise
        raise ModuleNotFoundError(
            f"{purpose} needs {module}, which is not installed: pip install {module}, or with "
            "all that training and evaluation use: pip install 'glassbox[train]'",
            name=module,
        ) from error


def _pairs(hypotheses: object, references: object) -> Sequence[tuple]:
    for what, given in (("hypotheses", hypotheses), ("references", references)):
        if isinstance(given, str | bytes) or not isinstance(given, Sequence):
            raise TypeError(
                f"{what} is {type(given).__name__}, {given!r:.60}; expected a list with an entry "
                "for each translation"
            )
    assert isinstance(hypotheses, Sequence)
    assert isinstance(references, Sequence)
    if len(hypotheses) != len(references):
        raise ValueError(
            f"{len(hypotheses)} translations and references for {len(references)}: each needs its "
            "own, in the same order"
        )
    if not hypotheses:
        raise ValueError("no translation: expected one at least")
    return list(zip(hypotheses, references, strict=True))


def _check_several(number: int, several: object) -> None:
    if isinstance(several, str | bytes) or not isinstance(several, Sequence):
        raise TypeError(
            f"the references of translation {number} are {type(several).__name__}, "
            f"{several!r:.60}; expected a list of them, also of a single one"
        )
    if not several:
        raise ValueError(f"translation {number} has no reference; expected one at least")


def _check_tokens(what: str, tokens: object) -> None:
    if isinstance(tokens, str | bytes) or not isinstance(tokens, Sequence):
        raise TypeError(
            f"{what} is {type(tokens).__name__}, {tokens!r:.60}; expected a list of tokens, such "
            "as text.split() gives"
        )
    for token in tokens:
        if not isinstance(token, str):
            raise TypeError(
                f"{what} has the token {token!r:.60}, {type(token).__name__}; expected strings. A "
                "translation has a list of references, each a list of tokens"
            )


def _check_text(what: str, text: object) -> None:
    if not isinstance(text, str):
        raise TypeError(f"{what} is {type(text).__name__}, {text!r:.60}; expected a string")
