"""The book's scripts and styles, which only pages that need them link.

They are written before the pages, which name their versions. Frames load the script of the
attention views themselves.
"""

from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx

from glassbox_site.cells import MARK

#: A piece of the HTML of pages that need a script and a style sheet; the path of both below
#: `_static`, without their suffixes; attributes of the script.
NEEDED: tuple[tuple[str, str, dict[str, Any]], ...] = (
    (MARK, "glassbox/cells", {"loading_method": "defer"}),
    ('<div class="gb-widget"', "glassbox/widgets", {"loading_method": "defer"}),
    ('<div class="gb-machine"', "machine/machine", {"type": "module"}),
)


def write_files(app: Sphinx) -> None:
    """Write scripts and styles, and the models that the machine reads."""
    if app.builder.format == "html":
        from glassbox_book import machine  # this and the others pull in torch
        from glassbox_book.viz import assets as views
        from glassbox_book.viz import cells
        from glassbox_book.widgets import assets as widgets

        static = Path(app.outdir) / "_static"
        for part in (views, cells, widgets):
            part.write(static / "glassbox")
        machine.write(static / "machine")


def link(
    app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: nodes.document | None
) -> None:
    """Link what a page needs."""
    for mark, files, script in NEEDED:
        if mark in context.get("body", ""):
            app.add_css_file(f"{files}.css", priority=900)
            app.add_js_file(f"{files}.js", **script)


def setup(app: Sphinx) -> None:
    """Act before the first page and on each."""
    app.connect("builder-inited", write_files)
    app.connect("html-page-context", link)
