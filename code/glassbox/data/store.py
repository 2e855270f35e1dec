"""The table of data files (``files.toml``), and where each is on this machine."""

import hashlib
import os
import tomllib
from contextlib import suppress
from dataclasses import dataclass
from difflib import get_close_matches
from importlib.resources import files
from pathlib import Path

from glassbox.checks import need

CHUNK = 2**16  # bytes
PATIENCE = 30  # seconds without a byte
RETRIES = 2  # downloads after the first fails
IDENTITY = {"Accept-Encoding": "identity"}  # the file itself, not compressed in transit


@dataclass(frozen=True)
class DataFile:
    """A published file, and everything needed to verify a copy of it.

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
        The terms of use, and whom to credit.
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
    table = {}
    for collection in tomllib.loads(source)["collection"]:
        for file in collection["files"]:
            name = f"{collection['folder']}/{file['name']}"
            address = collection["source"] + file.get("there", file["name"])
            shared = {"licence": collection["licence"], "credit": collection["credit"]}
            table[name] = DataFile(name, address, file["bytes"], file["sha256"], **shared)
    return table


#: Every file that :func:`glassbox.data.find` knows, by name.
FILES = parse((files("glassbox.data") / "files.toml").read_text(encoding="utf-8"))


def find(name: str) -> Path:
    """Return the path of a data file on this machine, downloading it if necessary.

    The file is looked for in the folder named by the environment variable ``GLASSBOX_DATA``, if
    set, then in :func:`cache_folder`; otherwise it is downloaded to the latter. Its digest is
    checked every time.

    Parameters
    ----------
    name : str
        A key of :data:`glassbox.data.FILES`, such as ``"multi30k/train.en.gz"``.

    Returns
    -------
    Path
        The published file, unaltered.

    Raises
    ------
    ValueError
        If the table has no file of that name, or the local or downloaded copy is not the published
        file: truncated, too long, or altered.
    FileNotFoundError
        If ``GLASSBOX_DATA`` does not name a folder.
    ConnectionError
        If the file is missing and cannot be downloaded.
    OSError
        If the download cannot be written, such as on a full disk.
    ModuleNotFoundError
        If it has to be downloaded and ``pooch`` is not installed.
    """
    if name not in FILES:
        near = get_close_matches(str(name), FILES, n=3, cutoff=0.5) or FILES
        raise ValueError(f"no data file is called {name!r}; there are: {', '.join(near)}")
    folders = [cache_folder]  # called where it is needed: not every user has a home
    if named := os.environ.get("GLASSBOX_DATA"):
        folders.insert(0, Path(named).expanduser)
        if not folders[0]().is_dir():
            raise FileNotFoundError(
                f"GLASSBOX_DATA={named} is not a folder; make it, or unset the variable to use "
                f"{cache_folder()}"
            )
    for path in (folder() / name for folder in folders):
        if path.is_file():
            _check(path, FILES[name], f"{path} is", ". Delete it, and it is fetched again")
            return path
    return _download(FILES[name], cache_folder())


def cache_folder() -> Path:
    """Return the folder of downloaded files: ``glassbox`` in the user's cache.

    The cache is ``$XDG_CACHE_HOME`` if that variable is set, else ``~/.cache``.

    Returns
    -------
    Path
        The folder, whether it exists or not.
    """
    return Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache", "glassbox").expanduser()


def _check(path: Path, file: DataFile, what: str, hint: str = "") -> None:
    """Raise if a copy is not the published file, naming size and digest of both."""
    with path.open("rb") as stream:
        digest = hashlib.file_digest(stream, "sha256").hexdigest()
    if (size := path.stat().st_size) != file.bytes or digest != file.sha256:
        wrong = "truncated" if size < file.bytes else "too long" if size > file.bytes else "altered"
        raise ValueError(
            f"{what} a copy that is {wrong}: {size} bytes with sha256 {digest}; {file.name} as "
            f"published at {file.address} has {file.bytes} bytes with sha256 {file.sha256}{hint}"
        )


def _download(file: DataFile, folder: Path) -> Path:
    """Download a file to a temporary place, and move it once it is verified."""
    pooch, requests, tqdm = (need(name, "fetching data") for name in ("pooch", "requests", "tqdm"))

    def receive(address: str, part: str, _: object) -> None:
        shown = {"desc": file.name, "total": file.bytes, "unit": "B", "unit_scale": True}
        with (
            tqdm.tqdm(**shown, leave=False, disable=None) as bar,  # None: unless on a terminal
            requests.get(address, stream=True, timeout=PATIENCE, headers=IDENTITY) as response,
            open(part, "wb") as stream,
            suppress(requests.exceptions.ChunkedEncodingError),  # truncated: its digest will differ
        ):
            response.raise_for_status()
            response.raw.enforce_content_length = False  # the digest covers truncation
            for chunk in response.iter_content(CHUNK):
                stream.write(chunk)
                bar.update(len(chunk))
                if stream.tell() > file.bytes:
                    break
        _check(Path(part), file, f"{file.address} sent")

    pooch.get_logger().setLevel("WARNING")  # otherwise each download prints a line in a notebook
    registry, addresses = {file.name: file.sha256}, {file.name: file.address}
    store = pooch.Pooch(folder, "", registry, addresses, retry_if_failed=RETRIES)
    path = folder / file.name
    try:
        store.fetch(file.name, downloader=receive)
    except requests.RequestException as error:
        raise ConnectionError(
            f"{file.address} cannot be fetched: {error}. Without a network, save that address "
            f"elsewhere and bring it here as {path}, or as {file.name} in a folder that the "
            "variable GLASSBOX_DATA names"
        ) from error
    except OSError as error:
        if error.errno is not None:  # otherwise the library has put it into words
            error.filename = error.filename or str(path)  # a full disk does not name the file
        raise
    return path
