"""The book's Sphinx extension, which turns the chapters into this website.

One idea per file, in the order in which they act; each file's first line says what it does.
"""

from pathlib import Path
from typing import Any

from sphinx.application import Sphinx
from sphinx.config import Config

from glassbox_site import (
    api,
    cells,
    citations,
    definitions,
    docstrings,
    drawings,
    folding,
    fonts,
    front,
    head,
    highlighting,
    levels,
    listings,
    lookup,
    machine,
    mathematics,
    miniature,
    notebooks,
    numbers,
    objects,
    on_demand,
    pieces,
    practice,
    remembered,
    search,
    sections,
    signatures,
    slim,
    times,
    units,
    uses,
    versions,
)

HERE = Path(__file__).parent
PARTS = (
    *(numbers, mathematics, drawings, cells, listings, folding, levels, sections, definitions),
    *(units, citations, uses, versions, times, objects, signatures, docstrings, api),
    *(highlighting, fonts, on_demand, machine, front, miniature, pieces, lookup, search, notebooks),
    *(practice, head, slim, remembered),
)
STYLES = (
    *("palette", "type", "layout", "code", "blocks", "path", "preview", "figures", "practice"),
    *("api", "reference", "front", "print"),
)
#: Classic scripts: a browser does not load modules for a page opened from a folder.
SCRIPTS = ("memory", "code", "preview", "header", "path")


def use_our_files(app: Sphinx, config: Config) -> None:
    """Put our templates before the theme's and our static files after them."""
    config.templates_path.insert(0, str(HERE / "templates"))
    config.html_static_path.append(str(HERE / "static"))


def setup(app: Sphinx) -> dict[str, Any]:
    """Register every part with Sphinx."""
    app.connect("config-inited", use_our_files)
    for style in STYLES:
        app.add_css_file(f"{style}.css", priority=900)  # after the theme's
    for script in SCRIPTS:
        app.add_js_file(f"book/{script}.js", loading_method="defer")
    for part in PARTS:
        part.setup(app)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
