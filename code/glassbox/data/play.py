"""A passage of Shakespeare that the model of his plays was not trained on (chapter 6)."""

from importlib.resources import files


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
    Tiny Shakespeare by Andrej Karpathy, public domain. Chapter 6.
    """
    return files("glassbox.data").joinpath("play.txt").read_text(encoding="utf-8")
