"""A text in which pairs of words keep the same company (chapter 2)."""

from importlib.resources import files


def company() -> list[str]:
    """Return 36 short sentences about drinks, animals and vehicles, written for this book.

    *Coffee* and *tea* have the same neighbours and never meet in a sentence, and so do *dog* and
    *cat*, *bus* and *train*.

    Returns
    -------
    list of str
        In small letters, without punctuation. Nothing is fetched.

    Notes
    -----
    Chapter 2.
    """
    text = files("glassbox.data").joinpath("company.txt").read_text(encoding="utf-8")
    return text.splitlines()
