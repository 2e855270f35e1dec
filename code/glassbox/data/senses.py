"""Sentences in which one word means one of two things (chapter 7)."""

from importlib.resources import files


def senses() -> dict[str, dict[str, list[str]]]:
    """Return eight sentences for each of two senses of six English words, written for this book.

    The word occurs once in each sentence, in the singular, and its context shows which sense is
    meant: *She bit into a sweet red apple* or *The shares of Apple rose*.

    Returns
    -------
    dict of str to dict of str to list of str
        Word to sense to sentences. Nothing is fetched.

    Notes
    -----
    Chapter 7.

    Examples
    --------
    >>> list(senses()["bank"])
    ['shore', 'money']
    """
    text = files("glassbox.data").joinpath("senses.txt").read_text(encoding="utf-8")
    found: dict[str, dict[str, list[str]]] = {}
    for line in text.splitlines():
        word, sense, sentence = line.split(" | ")
        found.setdefault(word, {}).setdefault(sense, []).append(sentence)
    return found
