"""Pages that have widgets ask for their script and style; other pages do not."""

from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx

FOLDER = "glassbox"


def write_files(app: Sphinx) -> None:
    """Write both before the pages, which say what version of them they ask for."""
    if app.builder.format == "html":
        from glassbox_book.widgets import assets  # pulls in torch

        assets.write(Path(app.outdir) / "_static" / FOLDER)


def ask_for_them(
    app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: nodes.document | None
) -> None:
    """Link them from a page with a widget."""
    if '<div class="gb-widget"' in context.get("body", ""):
        app.add_css_file(f"{FOLDER}/widgets.css", priority=900)
        app.add_js_file(f"{FOLDER}/widgets.js", loading_method="defer")


def setup(app: Sphinx) -> None:
    """Act before the first page and on each."""
    app.connect("builder-inited", write_files)
    app.connect("html-page-context", ask_for_them)
