"""Fetch a published file whole and unaltered, or not at all."""

import hashlib
from collections.abc import Generator
from contextlib import closing, suppress
from http.client import HTTPException, IncompleteRead
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import urlopen

from tqdm import tqdm

from glassbox.data.table import DataFile
from glassbox.files import atomic_write

CHUNK = 2**16  # bytes
PATIENCE = 30  # seconds without a byte


def download(file: DataFile, destination: Path) -> None:
    """Fetch a file, and put it in its place once it is known to be the published one.

    It is written in a folder of its own beside its place, which is gone in the end, whatever
    happens: what stands under the file's name is whole at any moment. A terminal shows how far
    it is; a notebook or a log shows nothing.

    Parameters
    ----------
    file : DataFile
        What to fetch, and what it must be.
    destination : Path
        Where to put it; the folder is made if it is missing.

    Raises
    ------
    ConnectionError
        If its address cannot be reached, does not have it, or falls silent.
    ValueError
        If what came is cut off, longer, or altered: the message names the address, both sizes and
        both digests.
    OSError
        If it cannot be written, such as on a full disk.
    """
    with atomic_write(destination) as part:
        try:
            _receive(file, part)
        except ConnectionError:
            raise
        except OSError as error:  # a full disk, which does not say what it was too full for
            raise OSError(error.errno, error.strerror, str(destination)) from error
        check(part, file, f"{file.address} sent")


def check(path: Path, file: DataFile, what: str) -> None:
    """Refuse a copy that is not the published file.

    Parameters
    ----------
    path : Path
        The copy.
    file : DataFile
        What it must be.
    what : str
        How the message begins: where the copy stands or came from, and a verb.

    Raises
    ------
    ValueError
        If size or digest differ, naming both of each.
    """
    with path.open("rb") as stream:
        digest = hashlib.file_digest(stream, "sha256").hexdigest()
    if (size := path.stat().st_size) != file.bytes or digest != file.sha256:
        difference = (size > file.bytes) - (size < file.bytes)
        verdict = {-1: "cut off", 0: "altered", 1: "too long"}[difference]
        raise ValueError(
            f"{what} a copy that is {verdict}: {size} bytes with sha256 {digest}; {file.name} as "
            f"published at {file.address} has {file.bytes} bytes with sha256 {file.sha256}"
        )


def _receive(file: DataFile, part: Path) -> None:
    """Write what the address sends, and not a chunk more than the file is long."""
    with (
        closing(_chunks(file)) as chunks,
        part.open("wb") as stream,
        # disable=None: only where a terminal shows it
        tqdm(
            desc=file.name, total=file.bytes, unit="B", unit_scale=True, disable=None, leave=False
        ) as bar,
    ):
        for chunk in chunks:
            stream.write(chunk)
            bar.update(len(chunk))
            if stream.tell() > file.bytes:
                break


def _chunks(file: DataFile) -> Generator[bytes, None, None]:
    """Give what the address sends, piece by piece."""
    try:
        with (
            urlopen(file.address, timeout=PATIENCE) as response,
            suppress(IncompleteRead),  # cut off, which its digest will say
        ):
            while chunk := response.read(CHUNK):
                yield chunk
    except (OSError, HTTPException) as error:
        if isinstance(error, HTTPError):
            error.close()  # it is the answer as well
        raise ConnectionError(f"{file.address} cannot be fetched: {error}") from error
