"""The machine in the page: its files beside the site's own, and the place where it stands."""

from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

FOLDER = "machine"


class Machine(SphinxDirective):
    """The directive `machine`: the sentence that is worked out, and what a script makes of it.

    With an argument it is a piece for a chapter: one of `glassbox_book.machine.scene.PIECES`.
    """

    optional_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Put it into the page, and make the page again when one of its files has changed."""
        from glassbox_book.machine import assets, scene

        for file in (*assets.page_files(), *assets.model_files(), Path(scene.__file__)):
            self.env.note_dependency(str(file))
        try:
            drawn = scene.html(*self.arguments)
        except ValueError as wrong:
            raise self.error(str(wrong)) from None
        return [nodes.raw("", drawn, format="html")]


def write_files(app: Sphinx) -> None:
    """Write scripts, model and first scene before the pages, which name their versions."""
    if app.builder.format == "html":
        from glassbox_book import machine  # pulls in torch

        machine.write(Path(app.outdir) / "_static" / FOLDER)


def ask_for_them(
    app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: nodes.document | None
) -> None:
    """Link script and style from a page with a machine."""
    if '<div class="gb-machine"' in context.get("body", ""):
        app.add_css_file(f"{FOLDER}/machine.css", priority=900)
        app.add_js_file(f"{FOLDER}/machine.js", type="module")


def setup(app: Sphinx) -> None:
    """Register the directive; act before the first page and on each."""
    app.add_directive("machine", Machine)
    app.connect("builder-inited", write_files)
    app.connect("html-page-context", ask_for_them)
