"""The scripts and the style sheet of the widgets, and where they come from."""

from importlib.resources import files
from pathlib import Path

from glassbox_book import outputs
from glassbox_book.outputs import read

#: The files that :func:`write` creates and the pages of the site load.
SCRIPT_NAME = "widgets.js"
STYLE_NAME = "widgets.css"


def write(folder: str | Path) -> list[Path]:
    """Write the script and the style sheet of all widgets into ``folder`` and return their paths.

    The site build calls this for ``_static/glassbox/``; a server of notebooks with committed
    outputs can do the same for ``static/glassbox/``.
    """
    style = read("widgets/page/widgets.css")
    return outputs.write(folder, {SCRIPT_NAME: script(*kinds()), STYLE_NAME: style})


def kinds() -> list[str]:
    """Return all kinds of widgets: the names of their scripts."""
    names = (file.name for file in files("glassbox_book.widgets").joinpath("page").iterdir())
    return sorted({name[:-3] for name in names if name.endswith(".js")} - {"base", "lab"})


def script(*kinds: str) -> str:
    """Return the scripts of some kinds of widgets and their common base, as one script."""
    return "\n".join(read(f"widgets/page/{name}.js") for name in ("base", *kinds))
