"""Write the files of a folder: all of them beside it first, then each in its place."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory


@contextmanager
def replacing(folder: str | os.PathLike[str]) -> Iterator[Path]:
    """Give an empty folder to write in; what is in it at the end goes into ``folder``.

    Other files that are there stay. If the block raises, so do all.

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
