"""Link the script and style of widgets only from pages that have widgets."""

from pathlib import Path

from sphinx.application import Sphinx

from glassbox_site.on_demand import asked_for

FOLDER = "glassbox"


def write_files(app: Sphinx) -> None:
    """Write both before the pages, which name their versions."""
    if app.builder.format == "html":
        from glassbox_book.widgets import assets  # pulls in torch

        assets.write(Path(app.outdir) / "_static" / FOLDER)


def setup(app: Sphinx) -> None:
    """Act before the first page and on each."""
    app.connect("builder-inited", write_files)
    link = asked_for('<div class="gb-widget"', f"{FOLDER}/widgets", loading_method="defer")
    app.connect("html-page-context", link)
