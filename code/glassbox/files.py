"""Write a file or a folder completely or not at all; read text and JSON."""

import fcntl
import json
import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

#: A path, as a text or as an object.
StrPath = str | os.PathLike[str]

#: Files in which the reference library and this package keep tokenizers, each kind in some.
OF_A_TOKENIZER = frozenset(
    {"vocab.txt", "vocab.json", "merges.txt", "tokenizer.json", "tokenizer.model", "spiece.model"}
    | {"added_tokens.json", "special_tokens_map.json"}
)
#: The file that describes a model, and the one in which the reference library says how it writes.
OF_A_MODEL = frozenset({"config.json", "generation_config.json"})

#: Suffixes of hidden folders that are being written and of those that are being deleted.
PART, OLD = ".part", ".old"


@contextmanager
def atomic_write(path: StrPath) -> Iterator[Path]:
    """Yield a path for writing a file or folder, and move it to ``path`` once it is on the disk.

    Other programs see either the old or the new content, complete, even after a power failure; a
    folder that is replaced is missing for the instant between two renames.

    Parameters
    ----------
    path : str or path
        The destination, which is replaced, or what it links to; missing parent folders are created.

    Yields
    ------
    Path
        Where to write. Nothing exists there yet; if it is to be a folder, create it. If the block
        raises, everything it wrote is deleted and the destination is left unchanged.

    Raises
    ------
    FileExistsError
        If a folder was written and the destination is a file.
    OSError
        If something cannot be written, for example because the disk is full or the destination of
        a file is a folder, or if nothing was.
    """
    path = _destination(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    with _temporary(path, path.parent, f".{path.name}-") as beside:
        part = Path(beside, path.name)
        yield part
        for written in (*part.rglob("*"), part):
            _sync(written)
            _keep_mode(path / written.relative_to(part), written)
        old = _set_aside(path) if part.is_dir() and path.exists() else None
        try:
            part.replace(path)
        except OSError:
            if old is not None:
                old.rename(path)
            raise
        _sync(path.parent)
    if old is not None:
        shutil.rmtree(old, ignore_errors=True)


@contextmanager
def atomic_update(folder: StrPath) -> Iterator[Path]:
    """Yield an empty folder for writing files, and move them to ``folder`` once all are written.

    Files already there are kept, and nothing changes if the block raises. Where a tokenizer is
    written, though, the older one's files of :data:`OF_A_TOKENIZER` go, because another kind has
    files of other names. Where a ``config.json`` is written, an older model's
    ``generation_config.json`` goes too.

    Parameters
    ----------
    folder : str or path
        Created if it is missing.

    Yields
    ------
    Path
        A folder on the same disk, so moving a file is one step.

    Raises
    ------
    FileExistsError
        If ``folder`` is a file.
    OSError
        If something cannot be written, for example because a folder has a file's name.
    """
    path = _destination(folder)
    if path.exists() and not path.is_dir():
        raise FileExistsError(f"{path} is a file; expected a folder to write to")
    path.mkdir(parents=True, exist_ok=True)
    with _temporary(path, path, ".writing-") as beside:
        yield Path(beside)
        files = sorted(Path(beside).iterdir())
        for file in files:
            _keep_mode(path / file.name, file)
            file.replace(path / file.name)
        names = {file.name for file in files}
        for new, old in ((OF_A_TOKENIZER, OF_A_TOKENIZER), ({"config.json"}, OF_A_MODEL)):
            for name in () if names.isdisjoint(new) else old - names:
                (path / name).unlink(missing_ok=True)


def remove(folder: Path) -> None:
    """Delete a folder, renaming it first so that it never appears half deleted.

    What cannot be deleted now, because another program reads it, is left to :func:`sweep`.

    Raises
    ------
    FileExistsError
        If it is a file.
    FileNotFoundError
        If it does not exist.
    """
    shutil.rmtree(_set_aside(folder), ignore_errors=True)


def sweep(folder: Path) -> None:
    """Delete the hidden folders (``.*.part``, ``.*.old``) a killed process left in ``folder``."""
    for path in folder.glob(".*"):
        if path.suffix in (PART, OLD) and path.is_dir():
            shutil.rmtree(path, ignore_errors=True)


@contextmanager
def lock(folder: Path) -> Iterator[None]:
    """Keep every other process out of a folder until the block or this process ends.

    On systems without such locks, such as some network file systems, the block runs without one.

    Raises
    ------
    ValueError
        If the folder is locked already.
    FileNotFoundError
        If it does not exist.
    """
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise ValueError(
                f"another process is training in {folder}: wait for it, stop it, or choose "
                "another folder"
            ) from error
        except OSError:
            pass
        yield
    finally:
        os.close(descriptor)


def read_text(file: Path) -> str:
    """Read a UTF-8 text file with its line endings.

    Raises
    ------
    FileNotFoundError, ValueError
        If there is no such file, or it is not UTF-8 text.
    OSError
        If it is a folder, or may not be read.
    """
    try:
        return file.read_bytes().decode()  # not read_text, which treats \\r as a line end
    except FileNotFoundError as error:
        raise FileNotFoundError(f"{file} is missing") from error
    except UnicodeDecodeError as error:
        raise ValueError(f"{file} is not UTF-8 text ({error}): is it another file?") from error


def read_json(file: Path) -> dict[str, Any]:
    """Read a JSON object.

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    ValueError
        If it is not JSON, is truncated, or does not hold an object.
    OSError
        If it is a folder, or may not be read.
    """
    try:
        content = json.loads(read_text(file))
    except (json.JSONDecodeError, RecursionError) as error:
        raise ValueError(f"{file} is not JSON, or truncated: {error}") from error
    if not isinstance(content, dict):
        raise ValueError(f"{file} holds a {type(content).__name__}; expected a JSON object")
    return content


def write_json(file: Path, content: Mapping[str, Any], **options: Any) -> None:
    """Write ``content`` to a ``file`` as JSON in UTF-8; ``json.dumps`` is given ``options``."""
    file.write_text(json.dumps(content, ensure_ascii=False, **options) + "\n", encoding="utf-8")


def _destination(path: StrPath) -> Path:
    """Return where to write: ``~`` is the home, and a link stands for what it names."""
    path = Path(os.path.expanduser(path))  # before it is a Path, which would drop ./ before ~
    return path.resolve() if path.is_symlink() else path


def _temporary(path: Path, folder: Path, prefix: str) -> TemporaryDirectory[str]:
    """Make a hidden folder for writing, whose name begins with ``prefix``, in ``folder``."""
    try:
        return TemporaryDirectory(dir=folder, prefix=prefix, suffix=PART)
    except OSError as error:  # which names a file that nobody asked for
        raise OSError(error.errno, error.strerror, str(path)) from error


def _keep_mode(old: Path, new: Path) -> None:
    """Give a file or folder the mode of what it replaces, which perhaps only its owner may read."""
    if (old.is_file() and new.is_file()) or (old.is_dir() and new.is_dir()):
        shutil.copymode(old, new)


def _set_aside(folder: Path) -> Path:
    """Rename a folder that is to be deleted, and return its new path."""
    if folder.exists() and not folder.is_dir():
        raise FileExistsError(f"{folder} is a file, and a folder is to be there: move it away")
    old = folder.with_name(f".{folder.name}{OLD}")
    shutil.rmtree(old, ignore_errors=True)
    return folder.rename(old)


def _sync(path: Path) -> None:
    """Wait until a file, or the list of files in a folder, is on the disk."""
    descriptor = os.open(path, os.O_RDONLY if path.is_dir() else os.O_RDWR)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
