"""Checks of texts, ids, vocabularies, merges and pieces (chapter 2)."""

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from glassbox.checks import check_type, check_whole, wrong_shape, wrong_type


def check_text(text: Any) -> None:
    """Reject a text that is not a string of characters.

    Raises
    ------
    TypeError
        If it is not a string.
    ValueError
        If it holds half a surrogate pair, which is not a character and has no bytes.
    """
    check_type("text", text, str, "a string")
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise ValueError(
            f"the text has half a surrogate pair, U+{ord(text[error.start]):04X}, at position "
            f"{error.start}: that is not a character. Decode the source with errors='replace'"
        ) from error


def check_iterable(texts: object) -> None:
    """Reject a single string where several texts are expected: iteration would yield characters.

    Raises
    ------
    TypeError
        If ``texts`` is a string or is not iterable.
    """
    if isinstance(texts, str | bytes) or not isinstance(texts, Iterable):
        raise wrong_type("texts", texts, "several strings, such as a list of them: [text]")


def check_texts(texts: Iterable[str]) -> Iterator[str]:
    """Yield the texts one by one; raise at the first that is not a string.

    Raises
    ------
    TypeError, ValueError
        As :func:`check_iterable` and :func:`check_text`.
    """
    check_iterable(texts)
    for text in texts:
        check_text(text)
        yield text


def check_ids(ids: Any, vocab_size: int) -> list[int]:
    """Return the ids as a list; reject ids that are not in the vocabulary.

    Raises
    ------
    TypeError
        If they are not whole numbers.
    ValueError
        If one is not in the vocabulary, or a tensor has more than one axis.
    """
    if hasattr(ids, "ndim"):  # of PyTorch or NumPy
        if ids.ndim != 1:
            raise wrong_shape("ids", ids, "one axis: decode the rows of a batch one by one")
        ids = ids.tolist()
    if isinstance(ids, str) or not isinstance(ids, Iterable):
        raise wrong_type("ids", ids, "whole numbers")
    result = [number.tolist() if hasattr(number, "tolist") else number for number in ids]
    for place, number in enumerate(result):
        if isinstance(number, bool) or not hasattr(number, "__index__"):
            raise wrong_type(f"ids[{place}]", number, "a whole number")
        if not 0 <= number < vocab_size:
            raise ValueError(
                f"ids[{place}] is {number}; this vocabulary has {vocab_size} tokens, 0 to "
                f"{vocab_size - 1}. Do the ids come from another tokenizer?"
            )
    return [int(number) for number in result]


def check_vocabulary(vocabulary: Mapping[str, int]) -> None:
    """Reject a vocabulary that is empty, or whose ids are not 0 to n − 1, each once.

    Raises
    ------
    ValueError
        If it is; the message names the first id that is missing, or is used twice.
    TypeError
        If it is not a mapping of strings to whole numbers.
    """
    check_type("vocabulary", vocabulary, Mapping, "a mapping from tokens to ids")
    if not vocabulary:
        raise ValueError("the vocabulary is empty: expected at least one token")
    seen: dict[int, str] = {}
    for token, number in vocabulary.items():
        if not isinstance(token, str) or not isinstance(number, int) or isinstance(number, bool):
            raise TypeError(
                f"{token!r}: {number!r} in the vocabulary; expected string: whole number"
            )
        if number in seen:
            raise ValueError(f"the tokens {seen[number]!r} and {token!r} both have the id {number}")
        seen[number] = token
    if missing := {*range(len(vocabulary))} - seen.keys():
        raise ValueError(
            f"no token has the id {min(missing)}: a vocabulary of {len(vocabulary)} tokens has the "
            f"ids 0 to {len(vocabulary) - 1}, this one goes up to {max(seen)}"
        )


def check_roles(
    vocabulary: Mapping[str, int], special_tokens: Sequence[str], **roles: str | None
) -> None:
    """Reject special tokens, and tokens with a role, that are not in the vocabulary.

    Raises
    ------
    ValueError
        If one is not, which the message names, or if a special token is empty, or they have no
        order: those of a generator would be gone after this check.
    """
    ordered = isinstance(special_tokens, Sequence) and not isinstance(special_tokens, str)
    if not ordered or not all(special_tokens):
        raise ValueError(
            f"special_tokens={special_tokens!r}: expected a sequence of tokens, none of them empty"
        )
    for role, token in [*roles.items(), *(("special token", token) for token in special_tokens)]:
        if token is not None and token not in vocabulary:
            raise ValueError(
                f"{role}={token!r} is not in the vocabulary of {len(vocabulary)} tokens: add it, "
                "or name one that is there"
            )


def check_bytes(vocabulary: Mapping[str, int], tokens: Mapping[str, int], hint: str) -> None:
    """Reject a vocabulary that lacks any of the 256 byte ``tokens``; ``hint`` ends the message.

    Raises
    ------
    ValueError
        If one is missing; the message names the first.
    """
    if missing := [token for token in tokens if token not in vocabulary]:
        raise ValueError(
            f"the vocabulary lacks {len(missing)} of the 256 byte tokens, the first of them "
            f"{missing[0]!r} (byte {tokens[missing[0]]}): text with it would be lost. {hint}"
        )


def check_pieces(pieces: Sequence[tuple[str, float]]) -> None:
    """Reject pieces that are empty or listed twice, and scores that are not finite.

    Raises
    ------
    ValueError
        If there is one; the message names the piece.
    TypeError
        If they are not a sequence, such as a mapping.
    """
    check_type("pieces", pieces, Sequence, "a sequence of (token, score) pairs")
    counts = Counter(token for token, _ in pieces)
    for token, score in pieces:
        if not math.isfinite(score):
            raise ValueError(f"the piece {token!r} has the score {score}; expected a number")
        if not token or counts[token] > 1:
            raise ValueError(f"the piece {token!r} stands {counts[token]} times, or is empty")


def check_training(words: Mapping[Any, int], vocab_size: int, needed: int, what: str) -> None:
    """Reject texts without a word, and a vocabulary too small for its required tokens.

    Raises
    ------
    ValueError
        If there is no word, or ``vocab_size`` is less than ``needed``.
    TypeError
        If ``vocab_size`` is not an integer.
    """
    check_whole("vocab_size", vocab_size)
    if not words:
        raise ValueError("the texts hold no word: there is nothing to learn a vocabulary from")
    if vocab_size < needed:
        raise ValueError(f"vocab_size={vocab_size} is too small: {what} alone are {needed} tokens")


def check_merges(
    merges: Iterable[tuple[str, str]], vocabulary: Mapping[str, int]
) -> dict[tuple[str, str], int]:
    """Return the rank of each merge; reject non-pairs, duplicates, and what cannot be a token.

    Raises
    ------
    ValueError
        If a merge is not a pair, is listed twice, or its tokens are not in the vocabulary; the
        message names the merge and the missing token.
    """
    ranks: dict[tuple[str, str], int] = {}
    for rank, merge in enumerate(merges):
        if isinstance(merge, str) or len(merge) != 2:
            raise ValueError(f"merge {rank} is {merge!r}; expected two tokens: ('a', 'b')")
        left, right = pair = merge[0], merge[1]
        if ranks.setdefault(pair, rank) != rank:
            raise ValueError(f"the merge {pair} is listed twice")
        for token in (left, right, left + right):
            if token not in vocabulary:
                raise ValueError(
                    f"merge {rank}, {pair}, needs the token {token!r}, which is not among the "
                    f"{len(vocabulary)} of the vocabulary: do the two files belong together?"
                )
    return ranks
