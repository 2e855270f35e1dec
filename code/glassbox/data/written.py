"""Short texts that come with the package; all but one were written for this book."""

from glassbox.data.reading import carried, carried_rows


def company() -> list[str]:
    """Return 36 short sentences about drinks, animals and vehicles, written for this book.

    *Coffee* and *tea* have mostly the same neighbours but never occur in the same sentence; the
    same holds for *dog* and *cat*, *bus* and *train*.

    Returns
    -------
    list of str
        In lower case, without punctuation. Nothing is downloaded.

    Notes
    -----
    Chapter 2.
    """
    return carried("company.txt").splitlines()


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
    Chapters 5, 11 and others.
    """
    return [line for line in carried("everyday.txt").splitlines() if line]


def play() -> str:
    """Return the first 15,360 characters of Tiny Shakespeare's last tenth.

    They are from *The Taming of the Shrew*. The package's models of Shakespeare were trained on the
    first nine tenths.

    Returns
    -------
    str
        With the line breaks of the corpus. Nothing is fetched.

    Notes
    -----
    Tiny Shakespeare by Andrej Karpathy, public domain. Chapters 6 and 10.
    """
    return carried("play.txt")


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
    Chapters 2 and 7.

    Examples
    --------
    >>> list(senses()["bank"])
    ['shore', 'money']
    """
    found: dict[str, dict[str, list[str]]] = {}
    for word, sense, sentence in carried_rows("senses.txt"):
        found.setdefault(word, {}).setdefault(sense, []).append(sentence)
    return found
