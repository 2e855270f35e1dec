"""Save and load tokenizers in the layouts of the reference libraries (chapter 2).

``layouts`` knows the files of each class. ``files`` reads and writes vocabularies and merges,
``tokenizer_json`` whole tokenizers, ``spaces`` the parts of these that mark spaces, and
``sentencepiece`` that library's model files.
"""

import os

from glassbox.checks import check_kind
from glassbox.files import atomic_update, read_json, write_json
from glassbox.tokenization.formats import files
from glassbox.tokenization.formats.layouts import READERS, WRITERS
from glassbox.tokenization.formats.tokenizer_json import added_token
from glassbox.tokenization.tokenizer import Kind, Tokenizer

__all__ = ["load", "save"]

KINDS = tuple(kind.__name__ for kind in READERS)


def save(tokenizer: Tokenizer, folder: str | os.PathLike[str]) -> None:
    """Write a tokenizer into a folder, whose old files stay until all new ones are written.

    Parameters
    ----------
    tokenizer : Tokenizer
        One of this package.
    folder : str or path
        Created if it is missing.

    Raises
    ------
    FileExistsError
        If ``folder`` is a file.
    ValueError
        If a file holds one token per line and a token does not fit on a line, or if the class of
        the tokenizer is not in :data:`WRITERS`.
    """
    check_kind("the class", type(tokenizer).__name__, KINDS)
    ids, special = tokenizer.vocabulary, tokenizer.special_tokens
    added = {str(ids[token]): added_token(token) for token in special}
    with atomic_update(folder) as beside:
        config = WRITERS[type(tokenizer)](tokenizer, beside)
        config |= {"pad_token": tokenizer.pad_token, "added_tokens_decoder": added}
        write_json(beside / files.CONFIG_JSON, config, indent=2)


def load(kind: type[Kind], folder: str | os.PathLike[str]) -> Kind:
    """Read a tokenizer from a folder.

    Parameters
    ----------
    kind : type
        The class of the tokenizer.
    folder : str or path
        Holds at least one of the files in :data:`READERS`, of which the first found is read.

    Returns
    -------
    Tokenizer
        An instance of ``kind``.

    Raises
    ------
    FileNotFoundError
        If the folder or a file is missing.
    ValueError
        If a file is truncated or belongs to another kind of tokenizer, or if ``kind`` is not in
        :data:`READERS`.
    """
    check_kind("the class", kind.__name__, KINDS)
    readers = READERS[kind]
    path = files.find_folder(folder, *readers)
    file = path / files.CONFIG_JSON
    config = read_json(file) if file.is_file() else {}
    name = next(name for name in readers if (path / name).is_file())
    return readers[name](path / name, config)
