"""Text as a reader types it, and the plays of Shakespeare as one text."""

from pathlib import Path
from unicodedata import category, normalize

from glassbox.data.reading import check_split, decoded
from glassbox.data.store import find

#: No-break, narrow and thin spaces become a space, the typographic apostrophe the typed one, and
#: what has no width at all (soft hyphen, zero-width space, word joiner, byte-order mark) nothing.
#: Joiners stay: Persian and emoji are spelled with them.
PLAIN = {
    **{code: " " for code in range(0x3001) if category(chr(code)) == "Zs"},
    0x2019: "'",
    **dict.fromkeys((0x00AD, 0x200B, 0x2060, 0xFEFF)),
}


def plain_spaces(text: str) -> str:
    r"""Write a text with the one space and the one apostrophe of a keyboard, in Unicode's NFC.

    French sets a no-break or thin space before ``!`` and ``?``, and some writers an apostrophe
    that curls: without this a tokenizer learns each sentence in several spellings, and meets those
    that it has not learned. Tabs and line breaks stay, and so do several spaces in a row.

    Parameters
    ----------
    text : str
        As somebody wrote it.

    Returns
    -------
    str
        The same to the eye. What is plain already comes back as it is.

    Examples
    --------
    >>> plain_spaces("C\u2019est \u00e7a\u202f!")
    "C'est ça !"
    """
    if text.isascii():
        return text
    # composed last: between a letter and its accent there may have been a character without width
    return normalize("NFC", text.translate(PLAIN))


def tiny_shakespeare(split: str) -> str:
    """Return the plays of Tiny Shakespeare, or as much of them as a model may learn from.

    Parameters
    ----------
    split : str
        ``"train"``, the first nine tenths of the characters, or ``"valid"``, the rest.

    Returns
    -------
    str
        1,003,854 characters to learn from, or 111,540 to measure with.

    Raises
    ------
    ValueError
        If there is no such split, or from :func:`glassbox.data.find`.

    Notes
    -----
    The text of Karpathy's char-rnn, split as in his nanoGPT, with which chapter 9 compares. There
    is no test split: what is chosen by the validation loss is not measured anywhere else.
    """
    check_split("Tiny Shakespeare", split, ("train", "valid"))
    return split_text(find("tinyshakespeare/input.txt"))[split]


def split_text(path: Path) -> dict[str, str]:
    """Read a text and split it: nine tenths to learn from, the rest to measure with.

    Parameters
    ----------
    path : Path
        A file in UTF-8. Its lines may end as on Windows.

    Returns
    -------
    dict of str to str
        The first nine tenths of the characters as ``"train"``, the rest as ``"valid"``.

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    ValueError
        If it is not UTF-8, naming file and line.
    """
    text = decoded(path.read_bytes(), path).replace("\r\n", "\n")
    end = int(0.9 * len(text))
    return {"train": text[:end], "valid": text[end:]}
