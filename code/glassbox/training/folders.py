"""Folders that are whole or not there, whatever happens while they are written."""

import os
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

if sys.platform != "win32":
    import fcntl

#: How the names end of folders that are being written, and of those that are being deleted.
PART, OLD = ".part", ".old"


@contextmanager
def written(place: Path) -> Iterator[Path]:
    """Give an empty folder to write into, and put it in its place once it is on the disk.

    Whoever looks there finds all of it or what was there before, if anything; also after a loss
    of power, since a file is on the disk before a name leads to it.

    Parameters
    ----------
    place : Path
        Where the folder is to be; what is there is replaced.

    Yields
    ------
    Path
        The folder to write into. If that fails, nothing of it stays.

    Raises
    ------
    FileExistsError
        If a file is in the place.
    OSError
        If something cannot be written, such as on a full disk.
    """
    if place.exists() and not place.is_dir():
        raise FileExistsError(f"{place} is a file, and a folder is to be there: move it away")
    part = _beside(place, PART)
    shutil.rmtree(part, ignore_errors=True)
    try:
        part.mkdir(parents=True)
        yield part
        for path in (*part.rglob("*"), part):
            _sync(path)
        if place.exists():
            remove(place)
        part.rename(place)
        _sync(place.parent)
    finally:
        shutil.rmtree(part, ignore_errors=True)


def remove(folder: Path) -> None:
    """Delete a folder, which from the first moment on cannot be taken for a whole one."""
    old = _beside(folder, OLD)
    shutil.rmtree(old, ignore_errors=True)
    folder.rename(old)
    shutil.rmtree(old, ignore_errors=True)  # what somebody still reads goes with the next sweep


def sweep(folder: Path) -> None:
    """Delete what a process that was killed has left in a folder, half written or half deleted."""
    for path in folder.glob(".*"):
        if path.suffix in (PART, OLD) and path.is_dir():
            shutil.rmtree(path, ignore_errors=True)


@contextmanager
def alone(folder: Path) -> Iterator[None]:
    """Keep every other process out of a folder, for as long as this one lives.

    The system ends the lock with the process, however that ends. Where there are no locks, as on
    some networks' file systems and on Windows, nobody is kept out.

    Raises
    ------
    ValueError
        If another process is there.
    """
    if sys.platform == "win32":
        yield
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise ValueError(
                f"another process trains into {folder}: wait until it is done, stop it, or take "
                "another folder"
            ) from error
        except OSError:
            pass
        yield
    finally:
        os.close(descriptor)


def _beside(folder: Path, ending: str) -> Path:
    """Return a hidden name in the same folder, from which a renaming is a single step."""
    return folder.with_name(f".{folder.name}{ending}")


def _sync(path: Path) -> None:
    """Return when a file, or the names in a folder, are on the disk."""
    if path.is_dir() and os.name != "posix":
        return  # Windows opens no folders
    descriptor = os.open(path, os.O_RDONLY if path.is_dir() else os.O_RDWR)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
