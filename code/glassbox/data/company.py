"""A text in which pairs of words keep the same company (chapter 2)."""

from importlib.resources import files


def company() -> list[str]:
    """Return 36 short sentences about drinks, animals and vehicles, written for this book.

    *Coffee* and *tea* have the same neighbours but never occur in the same sentence; the same holds
    for *dog* and *cat*, *bus* and *train*.

    Returns
    -------
    list of str
        In lower case, without punctuation. Nothing is downloaded.

    Notes
    -----
    Chapter 2.
    """
    text = files("glassbox.data").joinpath("company.txt").read_text(encoding="utf-8")
    return text.splitlines()
