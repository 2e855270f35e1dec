"""The reader's own text, tokenised with any number of byte-pair merges."""

import json
from collections.abc import Sequence

from glassbox.tokenization.merges import bpe_word
from glassbox.tokenization.pre_tokenize import byte_alphabet, split_gpt2
from glassbox_book.templates import fill
from glassbox_book.viz.tokens import visible
from glassbox_book.widgets.checks import check_integer
from glassbox_book.widgets.widget import Widget

#: Positions of the slider after the first; it moves on a logarithmic scale.
STOPS = 50
_BYTES = 256


def vocabulary_slider(
    merges: Sequence[tuple[str, str]], text: str, *, start: int = STOPS
) -> Widget:
    r"""Show the tokens of a text, with a slider for the number of merges and a field for the text.

    The text is split into words as in GPT-2, each word is spelled in bytes, and the first merges
    are applied: at position :math:`p`, from 0 to 50, the number :math:`(N + 1)^{p/50} - 1`,
    rounded, or :math:`p` if that is larger, but never more than all :math:`N`.

    Parameters
    ----------
    merges : sequence of pairs of str
        The merges of a byte-level tokenizer, in the order in which they were learned, such as
        ``tokenizer.bpe.merges``.
    text : str
        The initial text.
    start : int, optional
        The initial position of the slider, from 0 to 50.

    Returns
    -------
    Widget
        A cell displays it.

    Raises
    ------
    TypeError
        If the text is not a string.
    ValueError
        If there are no merges, or ``start`` is not a position of the slider.

    Notes
    -----
    Chapter 2.
    """
    if not isinstance(text, str):
        raise TypeError(f"the text {text!r} is of type {type(text).__name__}; pass a string")
    if not merges:
        raise ValueError("merges is empty; pass those of a trained byte-level tokenizer")
    for merge in merges:
        if isinstance(merge, str) or len(merge) != 2:
            raise ValueError(f"{merge!r} is not a merge; expected pairs of tokens, like ('a', 'b')")
    check_integer("start", start, 0, STOPS)
    used = merges_at(start, len(merges))
    tokens = cut(text, merges[:used])
    data = json.dumps("\n".join(map(" ".join, merges)), ensure_ascii=False).replace("<", "\\u003c")
    size = f"{_BYTES + used:,}"
    body = fill(
        "widgets/page/vocabulary_slider.html",
        text=text,
        tokens=tokens,
        size=size,
        start=start,
        stops=STOPS,
        used=f"{used:,}",
        merges=data,
    )
    said = f"{used:,} merges, a vocabulary of {size}, {len(tokens)} tokens: {' '.join(tokens)}"
    return Widget("vocabulary_slider", "Your text, cut by a growing vocabulary", body, said)


def merges_at(place: int, count: int) -> int:
    """Return the number of merges, out of ``count``, at a position of the slider."""
    return max(min(place, count), round((count + 1) ** (place / STOPS)) - 1)


def cut(text: str, merges: Sequence[tuple[str, str]]) -> list[str]:
    """Return the tokens of a text as displayed: space as ``␣``, parts of characters in hex."""
    alphabet = byte_alphabet()
    ranks = {pair: rank for rank, pair in enumerate(merges)}
    words = split_gpt2(f" {text}") if text else []
    spelled = ([alphabet[byte] for byte in word.encode()] for word in words)
    return [_drawn(token) for symbols in spelled for token in bpe_word(symbols, ranks)]


def _drawn(token: str) -> str:
    numbers = {character: byte for byte, character in byte_alphabet().items()}
    raw = bytes(numbers[character] for character in token)
    try:
        return visible(raw.decode(), raw=True)
    except UnicodeDecodeError:
        return f"⟨{raw.hex(' ')}⟩"
