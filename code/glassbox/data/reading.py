"""Helpers shared by the readers of all corpora: checks of split names, and lines of text."""

from collections.abc import Iterable, Iterator
from gzip import decompress
from importlib.resources import files
from itertools import groupby
from pathlib import Path

from glassbox.data.store import find


def carried(name: str) -> str:
    """Return a text that comes with this package."""
    return files("glassbox.data").joinpath(name).read_text(encoding="utf-8")


def carried_rows(name: str) -> Iterator[list[str]]:
    """Yield the fields of each line of a table that comes with the package."""
    return (line.split(" | ") for line in carried(name).splitlines())


def check_split(corpus: str, split: str, known: Iterable[str]) -> None:
    """Reject a split that a corpus does not have.

    Parameters
    ----------
    corpus : str
        The name of the corpus, for the message.
    split : str
        The requested split.
    known : iterable of str
        The splits that exist.

    Raises
    ------
    ValueError
        If it is none of them.
    """
    if split not in (known := tuple(known)):
        raise ValueError(f"{corpus} has no split {split!r}; it has: {', '.join(map(repr, known))}")


def decoded(content: bytes, path: Path) -> str:
    """Read bytes as UTF-8.

    Parameters
    ----------
    content : bytes
        The content of a file.
    path : Path
        The file, for the message.

    Returns
    -------
    str
        Its text, with line breaks unchanged, without a byte-order mark.

    Raises
    ------
    ValueError
        If they are not UTF-8, naming the line.
    """
    try:
        return content.decode("utf-8-sig")  # some editors put a byte-order mark first
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        raise malformed(path, line, "UTF-8", error.object[error.start : error.end]) from error


def malformed(path: Path, line: int, expected: str, got: str | bytes) -> ValueError:
    """Create the error for a line of a file that cannot be read.

    Parameters
    ----------
    path : Path
        The file.
    line : int
        The number of the line, from 1.
    expected : str
        The form that the line should have.
    got : str or bytes
        The line, or the part of it that is wrong.

    Returns
    -------
    ValueError
        To be raised.
    """
    return ValueError(f"{path}, line {line}: expected {expected}, got {got!r}")


def two_texts(path: Path, number: int, line: str, expected: str) -> tuple[str, str]:
    """Return the two texts of a line, which a tab separates.

    Parameters
    ----------
    path, number : Path, int
        The line's file, and its place there, from 1.
    line : str
        The line.
    expected : str
        What it should be, in words.

    Returns
    -------
    tuple of (str, str)
        Without spaces around them.

    Raises
    ------
    ValueError
        If there are more or fewer texts, or one is blank; as :func:`malformed` says.
    """
    texts = tuple(map(str.strip, line.split("\t")))
    if len(texts) != 2 or not all(texts):
        raise malformed(path, number, expected, line)
    return texts


def find_lines(name: str) -> tuple[Path, list[str]]:
    """Find a data file and read its lines.

    Parameters
    ----------
    name : str
        A key of :data:`glassbox.data.FILES`. A file that ends with ``.gz`` is unpacked.

    Returns
    -------
    path : Path
        The file, for messages.
    lines : list of str
        Its lines, without their line feeds.

    Raises
    ------
    ValueError
        If a line is not UTF-8, or from :func:`glassbox.data.find`.
    """
    path = find(name)
    content = path.read_bytes()
    text = decoded(decompress(content) if path.suffix == ".gz" else content, path)
    # not splitlines(), which also breaks at characters within a sentence, such as U+0085
    return path, text.removesuffix("\n").split("\n")


def blocks(lines: Iterable[str]) -> Iterator[list[tuple[int, str]]]:
    """Group the lines between blank ones, such as a sentence with one word per line.

    Parameters
    ----------
    lines : iterable of str
        The lines of a file.

    Yields
    ------
    list of (int, str)
        The lines of a block and their numbers, from 1.
    """
    for blank, block in groupby(enumerate(lines, start=1), lambda line: not line[1].strip()):
        if not blank:
            yield list(block)
