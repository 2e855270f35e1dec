"""What cells display: HTML, text where there is none, and scripts that are included or linked."""

import os
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from pathlib import Path

#: Environment variable that decides whether outputs include their scripts or load the site's.
SCRIPTS_VARIABLE = "GLASSBOX_VIEW_SCRIPTS"


class Output:
    """An object that a notebook, or anything else that shows HTML, can display.

    Attributes
    ----------
    text : str
        The plain-text fallback.
    """

    text: str

    def __repr__(self) -> str:
        return self.text

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        return {"text/html": self.html(), "text/plain": repr(self)}

    def html(self) -> str:
        """Return the HTML.

        Returns
        -------
        str
            With style and script, unless they are linked.
        """
        raise NotImplementedError


def are_linked() -> bool:
    """Return whether outputs leave scripts and style sheets to the site or the JupyterLab server.

    Returns
    -------
    bool
        False, the default, if ``GLASSBOX_VIEW_SCRIPTS`` is ``inline``; True if it is ``linked``.

    Raises
    ------
    ValueError
        If the environment variable has another value.
    """
    mode = os.environ.get(SCRIPTS_VARIABLE, "inline")
    if mode not in ("inline", "linked"):
        raise ValueError(
            f"{SCRIPTS_VARIABLE} is {mode!r}; it can be 'inline' (outputs carry their scripts) "
            "or 'linked' (the site holds them)"
        )
    return mode == "linked"


@cache
def read(name: str) -> str:
    """Return the text of a file of this package.

    Parameters
    ----------
    name : str
        Its path in the package, such as ``"widgets/page/widgets.css"``.

    Returns
    -------
    str
        The text.
    """
    return files("glassbox_book").joinpath(name).read_text(encoding="utf-8")


def write(folder: str | Path, texts: Mapping[str, str]) -> list[Path]:
    """Write files into a folder.

    Parameters
    ----------
    folder : str or path
        Created if it is missing.
    texts : mapping of str to str
        The texts of the files by their names.

    Returns
    -------
    list of path
        The files.
    """
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8")
    return [folder / name for name in texts]
