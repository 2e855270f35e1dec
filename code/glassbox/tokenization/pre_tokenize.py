r"""From raw text to the words that a vocabulary then splits into pieces.

There are three schools. GPT-2 cuts with one pattern and keeps every byte; BERT cleans, lower-cases
and cuts at punctuation, which cannot be undone; SentencePiece turns spaces into a visible character
and cuts in front of it.
"""

import unicodedata

from glassbox.tokenization import characters
from glassbox.tokenization.characters import compile_pattern

#: GPT-2's pattern of a word: a contraction, or letters, digits or other characters with at most one
#: space in front, or white space (all of it at the end of the text, elsewhere all but the last
#: character, which joins the next word).
GPT2_PATTERN = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"

#: The character of a space in SentencePiece's vocabularies: U+2581.
METASPACE = "\u2581"

#: BERT's pattern of a word: a punctuation character, or all characters up to one or to a space.
BERT_PATTERN = rf"{characters.PUNCTUATION}|[[^\s]--{characters.PUNCTUATION}]+"
#: SentencePiece's pattern of a word: its ``▁``, and all characters up to the next.
METASPACE_PATTERN = rf"{METASPACE}?[^{METASPACE}]+|{METASPACE}"


def byte_alphabet() -> dict[int, str]:
    """Return a printable character for each of the 256 bytes.

    Bytes that are printable in Latin-1 map to that character; the other 68 map to U+0100, U+0101, …
    in order. A space (byte 32) is therefore shown as ``Ġ`` and a line feed as ``Ċ``.

    Returns
    -------
    dict of int to str
        256 entries, sorted by the character.

    Notes
    -----
    Radford et al. (2019), section 2.2, and the code published with it. Chapter 2.
    """
    shown = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    hidden = [byte for byte in range(256) if byte not in shown]
    alphabet = {byte: chr(byte) for byte in shown}
    return alphabet | {byte: chr(0x100 + n) for n, byte in enumerate(hidden)}


def split_gpt2(text: str) -> list[str]:
    """Cut text into GPT-2's words; joined, they are the text again.

    Notes
    -----
    Radford et al. (2019), section 2.2: merges never cross category boundaries, except that a space
    may join the word after it. Chapter 2.
    """
    return [*compile_pattern(GPT2_PATTERN).findall(text)]


def normalize_bert(text: str, *, lowercase: bool = True, strip_accents: bool | None = None) -> str:
    """Clean text as BERT does, irreversibly.

    Control characters are dropped, any white space character becomes a space, and spaces around
    each Chinese character make it a word of its own.

    Parameters
    ----------
    text : str
        Any text.
    lowercase : bool, optional
        ``False`` for the models called *cased*.
    strip_accents : bool, optional
        Whether to decompose characters and drop the marks; defaults to ``lowercase``.

    Returns
    -------
    str
        The cleaned text.

    Notes
    -----
    Devlin et al. (2019), in the code published with it. Chapter 2.
    """
    for kind, instead in ((characters.CONTROL, ""), (r"\s", " "), (characters.CHINESE, r" \g<0> ")):
        text = compile_pattern(kind).sub(instead, text)
    if lowercase if strip_accents is None else strip_accents:
        text = compile_pattern(characters.MARK).sub("", unicodedata.normalize("NFD", text))
    if lowercase:
        # Python lower-cases a capital sigma at the end of a word to the final form; the reference
        # looks at one character at a time.
        text = text.replace("\u03a3", "\u03c3").lower().translate(characters.LATER_SMALL_LETTERS)
    return text


def split_bert(text: str) -> list[str]:
    """Cut normalized text at white space, and make each punctuation character a word.

    Notes
    -----
    Devlin et al. (2019), in the code published with it. Chapter 2.
    """
    return [*compile_pattern(BERT_PATTERN).findall(text)]


def split_metaspace(text: str, *, collapse: bool = True) -> list[str]:
    """Cut text before each space, and write the space as ``▁``.

    The first word gets a ``▁`` too, so that it looks like the same word later in a text.

    Parameters
    ----------
    text : str
        Any text.
    collapse : bool, optional
        Whether any run of white space counts as one space, and is dropped at the ends, as in T5. If
        not, every single space is replaced and other white space is kept.

    Returns
    -------
    list of str
        The words, each with the ``▁`` of its space.

    Notes
    -----
    Kudo and Richardson (2018), section 3.1. Chapter 2.
    """
    parts = compile_pattern(r"\S+").findall(text) if collapse else [text.replace(" ", METASPACE)]
    marked = (x if x.startswith(METASPACE) else METASPACE + x for x in parts if x)
    return [*compile_pattern(METASPACE_PATTERN).findall("".join(marked))]
