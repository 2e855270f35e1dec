"""Text as a reader types it, and the plays of Shakespeare as one text."""

from pathlib import Path
from unicodedata import category, normalize

from glassbox.data.reading import check_split, decoded
from glassbox.data.store import find
from glassbox.files import StrPath

#: No-break, narrow and thin spaces become a space, the typographic apostrophe the typed one, and
#: zero-width characters (soft hyphen, zero-width space, word joiner, byte-order mark) are removed.
#: Joiners stay: Persian and emoji are spelled with them.
PLAIN = {
    **{code: " " for code in range(0x3001) if category(chr(code)) == "Zs"},
    0x2019: "'",
    **dict.fromkeys((0x00AD, 0x200B, 0x2060, 0xFEFF)),
}


def plain_spaces(text: str) -> str:
    r"""Convert a text to the space and the apostrophe of a keyboard, in Unicode's NFC.

    French puts a no-break or thin space before ``!`` and ``?``, and some writers use a curly
    apostrophe: otherwise a tokenizer would learn each sentence in several spellings, and meet
    spellings that it has not learned. Tabs, line breaks and runs of spaces stay.

    Parameters
    ----------
    text : str
        The text as written.

    Returns
    -------
    str
        A text that reads the same. Plain text is returned unchanged.

    Examples
    --------
    >>> plain_spaces("C\u2019est \u00e7a\u202f!")
    "C'est ça !"
    """
    if text.isascii():
        return text
    # composed last: a zero-width character may have separated a letter from its accent
    return normalize("NFC", text.translate(PLAIN))


def tiny_shakespeare(split: str) -> str:
    """Return the training or the validation part of the plays of Tiny Shakespeare.

    Parameters
    ----------
    split : str
        ``"train"``, the first nine tenths of the characters, or ``"valid"``, the rest.

    Returns
    -------
    str
        1,003,854 characters for training, or 111,540 for validation.

    Raises
    ------
    ValueError
        If there is no such split, or from :func:`glassbox.data.find`.

    Notes
    -----
    The text of Karpathy's char-rnn, split as in his nanoGPT, with which chapter 9 compares. There
    is no test split: a model chosen by its validation loss is not measured on other text.
    """
    check_split("Tiny Shakespeare", split, ("train", "valid"))
    return split_text(find("tinyshakespeare/input.txt"))[split]


def split_text(path: StrPath) -> dict[str, str]:
    """Read a text and split it: nine tenths for training, the rest for validation.

    Parameters
    ----------
    path : str or path
        A UTF-8 file. Windows line endings are accepted.

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
    file = Path(path).expanduser()
    text = decoded(file.read_bytes(), file).replace("\r\n", "\n")
    end = int(0.9 * len(text))
    return {"train": text[:end], "valid": text[end:]}
