"""Checks of translations and their references."""

from collections.abc import Callable, Sequence
from typing import Any

from glassbox.checks import check_type, wrong_type

#: One or several reference translations of each sentence.
References = Sequence[str | Sequence[str]]


def check_text_corpora(hypotheses: Sequence[str], references: References) -> list[list[str]]:
    """Reject translations and references that are not texts or do not match.

    Parameters
    ----------
    hypotheses : sequence of str
        The translations.
    references : sequence of str or of sequence of str
        For each, one reference or several.

    Returns
    -------
    list of list of str
        The references of each, in a list even if there is only one.

    Raises
    ------
    ValueError
        If there is none, their numbers differ, or one has no reference.
    TypeError
        If anything but strings is given.
    """
    _check_list("references", references, "a list with an entry for each translation")
    listed = [[several] if isinstance(several, str) else several for several in references]
    check_corpora(hypotheses, listed, _check_text)
    return [list(several) for several in listed]


def check_corpora(hypotheses: Any, references: Any, check: Callable[[str, object], None]) -> None:
    """Reject translations and lists of their references that do not match or ``check`` rejects.

    Raises
    ------
    ValueError
        If there is none, their numbers differ, or one has no reference.
    TypeError
        If they are not in lists, or from ``check``, such as :func:`check_tokens`.
    """
    for name, corpus in (("hypotheses", hypotheses), ("references", references)):
        _check_list(name, corpus, "a list with an entry for each translation")
    if len(hypotheses) != len(references):
        raise ValueError(
            f"{len(hypotheses)} translations and references for {len(references)}: each needs its "
            "own, in the same order"
        )
    if not hypotheses:
        raise ValueError("no translation: expected one at least")
    for number, (hypothesis, several) in enumerate(zip(hypotheses, references, strict=True)):
        name = f"translation {number}"
        check(name, hypothesis)
        _check_list(f"references[{number}]", several, "a list, even of a single reference")
        if not several:
            raise ValueError(f"{name} has no reference; expected one at least")
        for reference in several:
            check(f"a reference of {name}", reference)


def _check_list(what: str, given: object, expected: str) -> None:
    if isinstance(given, str | bytes) or not isinstance(given, Sequence):
        raise wrong_type(what, given, expected)


def check_tokens(what: str, tokens: Any) -> None:
    """Reject a text that is not split; ``what`` begins the message.

    Raises
    ------
    TypeError
        If it is not a list of strings.
    """
    _check_list(what, tokens, "a list of tokens, such as text.split() gives")
    for token in tokens:
        if not isinstance(token, str):
            raise TypeError(
                f"{what} has the token {token!r:.60}, {type(token).__name__}; expected strings. A "
                "translation has a list of references, each a list of tokens"
            )


def _check_text(what: str, text: object) -> None:
    check_type(what, text, str, "a string")
