"""Sentences that come with the package, to measure a model on (chapter 5)."""

from importlib.resources import files


def everyday() -> list[str]:
    """Return 120 sentences of everyday English, written for this book.

    Statements, questions and requests about home, work, food, travel and weather, of 6 to 18 words.
    They come in pairs: sentences ``2 * k`` and ``2 * k + 1`` say nearly the same in other words, so
    a model of meaning should find each of them closest to its partner.

    Returns
    -------
    list of str
        Each with its punctuation. Nothing is fetched.

    Notes
    -----
    Chapter 5.
    """
    text = files("glassbox.data").joinpath("everyday.txt").read_text(encoding="utf-8")
    return [line for line in text.splitlines() if line]
