"""The book's Sphinx extension: what turns the chapters into this website.

One idea per file: numbers by file name (`numbers`), formulas as MathML (`mathematics`), drawings
inside the page (`drawings`), source in cells as listings (`listings`), folded solutions
(`folding`), definitions where a term is used (`definitions`), the bibliography (`citations`),
versions out of `requirements.txt` (`versions`), the time a chapter takes (`times`), the reference
of the package (`api`) out of its signatures (`signatures`) and docstrings (`docstrings`) with what
their names mean (`objects`), fonts (`fonts`), colours of code (`highlighting`), the script of the
widgets (`widgets`), the translator in the page (`machine`), the chapters to take along
(`notebooks`, `plain`), no more bytes than the pages use (`slim`), and nothing worked out twice
(`remembered`).
"""

from pathlib import Path
from typing import Any

from sphinx.application import Sphinx
from sphinx.config import Config

from glassbox_site import (
    api,
    citations,
    definitions,
    docstrings,
    drawings,
    folding,
    fonts,
    highlighting,
    listings,
    machine,
    mathematics,
    notebooks,
    numbers,
    objects,
    remembered,
    signatures,
    slim,
    times,
    versions,
    widgets,
)

HERE = Path(__file__).parent
PARTS = (
    *(numbers, mathematics, drawings, listings, folding, definitions, citations),
    *(versions, times, objects, signatures, docstrings, api, highlighting, fonts, widgets),
    *(machine, notebooks, slim, remembered),
)
STYLES = ("palette", "type", "layout", "code", "blocks", "figures", "api", "front", "print")


def use_our_files(app: Sphinx, config: Config) -> None:
    """Put our templates before the theme's and our static files behind them."""
    config.templates_path.insert(0, str(HERE / "templates"))
    config.html_static_path.append(str(HERE / "static"))


def write_view_scripts(app: Sphinx, error: Exception | None) -> None:
    """Write the scripts that the frames of the attention views load."""
    if error is None and app.builder.format == "html":
        from glassbox_book.viz import assets  # pulls in torch, which no other step needs

        assets.write(Path(app.outdir) / "_static" / "glassbox")


def setup(app: Sphinx) -> dict[str, Any]:
    """Register every part with Sphinx."""
    app.connect("config-inited", use_our_files)
    app.connect("build-finished", write_view_scripts)
    for style in STYLES:
        app.add_css_file(f"{style}.css", priority=900)  # behind the theme's
    app.add_js_file("book.js", loading_method="defer")
    for part in PARTS:
        part.setup(app)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
