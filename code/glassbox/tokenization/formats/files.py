"""Read, check and write vocabularies and merges (chapter 2)."""

import os
from collections.abc import Sequence
from pathlib import Path

from glassbox.files import read_text

VOCAB_TXT, VOCAB_JSON, MERGES_TXT = "vocab.txt", "vocab.json", "merges.txt"
TOKENIZER_JSON, TOKENIZER_MODEL = "tokenizer.json", "tokenizer.model"
CONFIG_JSON, MAP_JSON = "tokenizer_config.json", "special_tokens_map.json"
ADDED_JSON = "added_tokens.json"


def find_folder(folder: str | os.PathLike[str], *names: str) -> Path:
    """Return the folder, which must hold at least one of the named files.

    Raises
    ------
    FileNotFoundError
        If the folder is missing, or holds none of them.
    """
    path, expected = Path(folder).expanduser(), " or ".join(names)
    if not path.is_dir():
        raise FileNotFoundError(f"no folder {str(folder)!r}: expected one with {expected}")
    if not any((path / name).is_file() for name in names):
        raise FileNotFoundError(f"{path} holds no {expected}: is a tokenizer saved there?")
    return path


def read_lines(file: Path) -> list[str]:
    """Read the lines of a UTF-8 text file; Windows line endings are accepted, too.

    Raises
    ------
    FileNotFoundError, ValueError
        If there is no such file, or it is not text.
    """
    # not splitlines(), which also breaks at characters that a token may contain
    lines = read_text(file).removesuffix("\n").split("\n")
    return [line.removesuffix("\r") for line in lines]


def read_vocab_txt(file: Path) -> dict[str, int]:
    """Read a vocabulary with one token per line; the line number, from 0, is its id.

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    ValueError
        If it is not text or is empty, a token is on two lines, or a line is empty.
    """
    vocabulary: dict[str, int] = {}
    for number, token in enumerate(read_lines(file)):
        if not token:
            raise ValueError(f"{file}: line {number + 1} is empty; expected a token on each line")
        if token in vocabulary:
            raise ValueError(
                f"{file}: the token {token!r} stands on line {vocabulary[token] + 1} and again on "
                f"line {number + 1}"
            )
        vocabulary[token] = number
    return vocabulary


def write_vocab_txt(file: Path, tokens: Sequence[str]) -> None:
    """Write one token per line.

    Raises
    ------
    ValueError
        If a token is empty or contains a line break.
    """
    for token in tokens:
        if not token or "\n" in token or "\r" in token:
            raise ValueError(f"the token {token!r} does not fit on a line of {file.name}")
    file.write_text("\n".join(tokens) + "\n", encoding="utf-8", newline="\n")


def read_merges(file: Path) -> list[tuple[str, str]]:
    """Read the merges of a byte-pair encoding, one pair per line, in the order learned.

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    ValueError
        If it is not text, or a line is not a pair.
    """
    merges = []
    for number, line in enumerate(read_lines(file), 1):
        if line.startswith("#version") or (number == 1 and not line):
            continue
        pair = tuple(line.split(" "))
        if len(pair) != 2 or not all(pair):
            expected = "two tokens with a space between"
            raise ValueError(f"{file}: line {number} is {line!r}; expected {expected}")
        merges.append(pair)
    return merges


def write_merges(file: Path, merges: Sequence[tuple[str, str]]) -> None:
    """Write the merges of a byte-pair encoding, one pair per line.

    Raises
    ------
    ValueError
        If a token contains white space.
    """
    for pair in merges:
        if any(part.split() != [part] for part in pair):
            raise ValueError(f"the merge {pair} holds white space, which {file.name} cannot hold")
    lines = ["#version: 0.2", *(" ".join(pair) for pair in merges)]
    file.write_text("\n".join(lines) + "\n", encoding="utf-8", newline="\n")
