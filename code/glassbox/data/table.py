"""The table of files: where each comes from, what it must be, whose it is (``files.toml``)."""

import tomllib
from dataclasses import dataclass
from importlib.resources import files


@dataclass(frozen=True)
class DataFile:
    """A file that somebody published, and everything needed to tell whether a copy is that file.

    Parameters
    ----------
    name : str
        Its name here, such as ``"multi30k/train.en.gz"``.
    address : str
        Where it is published, at a fixed revision.
    bytes : int
        Its size.
    sha256 : str
        Its digest, in hexadecimal.
    licence, credit : str
        On what terms it may be used, and whom to name.
    """

    name: str
    address: str
    bytes: int
    sha256: str
    licence: str
    credit: str


def parse(source: str) -> dict[str, DataFile]:
    """Read a table in TOML: collections of files that share a source, a licence and a credit.

    Parameters
    ----------
    source : str
        The text of a file such as ``files.toml``.

    Returns
    -------
    dict of str to DataFile
        The files by name, in the order of the table.
    """
    return {
        name: DataFile(
            name=name,
            address=collection["source"] + file.get("there", file["name"]),
            bytes=file["bytes"],
            sha256=file["sha256"],
            licence=collection["licence"],
            credit=collection["credit"],
        )
        for collection in tomllib.loads(source)["collection"]
        for file in collection["files"]
        for name in [f"{collection['folder']}/{file['name']}"]
    }


#: Every file that :func:`glassbox.data.find` knows, by name.
FILES = parse((files("glassbox.data") / "files.toml").read_text(encoding="utf-8"))
