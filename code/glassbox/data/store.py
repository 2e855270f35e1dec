"""Find a data file on this machine, or fetch it once (see the table, ``files.toml``)."""

import os
from difflib import get_close_matches
from pathlib import Path

from glassbox.data.download import check, download
from glassbox.data.table import FILES


def find(name: str) -> Path:
    """Return where a data file lies on this machine; fetch it if it is not there yet.

    It is looked for in the folder that the environment variable ``GLASSBOX_DATA`` names, if there
    is one, then in :func:`cache_folder`, and else downloaded into the latter. Its digest is
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
        If the table has no file of that name, or the copy here or what the address sent is not
        the published file.
    FileNotFoundError
        If ``GLASSBOX_DATA`` names no folder.
    ConnectionError
        If the file is not here and cannot be fetched.
    OSError
        If what is fetched cannot be written, such as on a full disk.
    """
    if name not in FILES:
        near = get_close_matches(str(name), FILES, n=3, cutoff=0.5) or FILES
        raise ValueError(f"no data file is called {name!r}; there are: {', '.join(near)}")
    file = FILES[name]
    cached = cache_folder() / name
    named = os.environ.get("GLASSBOX_DATA")
    if named and not Path(named).expanduser().is_dir():
        raise FileNotFoundError(
            f"GLASSBOX_DATA={named} is no folder; make it, or unset the variable to use "
            f"{cache_folder()}"
        )
    for path in ([Path(named).expanduser() / name] if named else []) + [cached]:
        if path.is_file():
            try:
                check(path, file, f"{path} is")
            except ValueError as error:
                error.add_note("Delete it, and it is fetched again.")
                raise
            return path
    try:
        download(file, cached)
    except ConnectionError as error:
        raise ConnectionError(
            f"{error}. Without a network, save that address elsewhere and bring it here as "
            f"{cached}, or as {name} in a folder that the variable GLASSBOX_DATA names"
        ) from error
    return cached


def cache_folder() -> Path:
    """Return where fetched files are kept: ``glassbox`` in the user's cache.

    That is ``$XDG_CACHE_HOME`` where the variable is set, and ``~/.cache`` where it is not.

    Returns
    -------
    Path
        The folder, whether it exists or not.
    """
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "glassbox"
