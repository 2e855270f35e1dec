"""Write a file or a folder completely or not at all."""

import os
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

if sys.platform != "win32":
    import fcntl

#: How the names end of hidden folders in which something is written, and of those being deleted.
PART, OLD = ".part", ".old"


@contextmanager
def atomic_write(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Give a path for writing a file or a folder, and move it to ``path`` once it is on the disk.

    Other programs find the old content or the new one, both complete, even after a power failure.

    Parameters
    ----------
    path : str or path
        The destination, which is replaced; the folders above it are made if they are missing.

    Yields
    ------
    Path
        Where to write: nothing is there yet, not even the folder if it is to be one. If the block
        raises, what it has written is deleted and the destination stays as it was.

    Raises
    ------
    FileExistsError
        If a folder was written and the destination is a file.
    OSError
        If something cannot be written, such as on a full disk.
    """
    path = Path(path).expanduser()
    path.parent.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(dir=path.parent, prefix=f".{path.name}-", suffix=PART) as beside:
        part = Path(beside, path.name)
        yield part
        for written in (*part.rglob("*"), part):
            _sync(written)
        if part.is_dir() and path.exists():
            remove(path)
        part.replace(path)
        _sync(path.parent)


@contextmanager
def atomic_update(folder: str | os.PathLike[str]) -> Iterator[Path]:
    """Give an empty folder for writing files, and move them to ``folder`` once all are written.

    Files already there are kept, and if the block raises nothing is changed.

    Parameters
    ----------
    folder : str or path
        Made if it is missing.

    Yields
    ------
    Path
        On the same disk, so that moving a file is one step.

    Raises
    ------
    FileExistsError
        If ``folder`` is a file.
    """
    path = Path(folder).expanduser()
    if path.exists() and not path.is_dir():
        raise FileExistsError(f"{path} is a file; expected a folder to write to")
    path.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(dir=path, prefix=".writing-") as beside:
        yield Path(beside)
        for file in sorted(Path(beside).iterdir()):
            file.replace(path / file.name)


def remove(folder: Path) -> None:
    """Delete a folder in such an order that it is never found half deleted.

    Raises
    ------
    FileExistsError
        If it is a file.
    """
    if not folder.is_dir():
        raise FileExistsError(f"{folder} is a file, and a folder is to be there: move it away")
    old = folder.with_name(f".{folder.name}{OLD}")
    shutil.rmtree(old, ignore_errors=True)
    folder.rename(old)
    shutil.rmtree(old, ignore_errors=True)  # what another program still reads goes with `sweep`


def sweep(folder: Path) -> None:
    """Delete what a killed process left in a folder, half written or half deleted."""
    for path in folder.glob(".*"):
        if path.suffix in (PART, OLD) and path.is_dir():
            shutil.rmtree(path, ignore_errors=True)


@contextmanager
def lock(folder: Path) -> Iterator[None]:
    """Keep every other process out of a folder until the block or this process ends.

    Where there are no locks, as on some network file systems and on Windows, the block runs
    without one.

    Raises
    ------
    ValueError
        If another process has locked the folder.
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


def _sync(path: Path) -> None:
    """Wait until a file, or the list of files in a folder, is on the disk."""
    if path.is_dir() and os.name != "posix":
        return  # Windows opens no folders
    descriptor = os.open(path, os.O_RDONLY if path.is_dir() else os.O_RDWR)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
