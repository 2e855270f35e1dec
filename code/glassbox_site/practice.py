"""Offer ways to do each exercise below its stub, here or elsewhere.

In the page itself, if it needs only arithmetic on small tensors; in Colab; in the notebook. The
files for the first are next to the page, and are loaded on request.
"""

import html
import re
from hashlib import sha256
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.transforms.post_transforms import SphinxPostTransform

from glassbox_site.notebooks import FOLDER as NOTEBOOKS
from glassbox_site.notebooks import colab_address

FOLDER = "glassbox/exercises"
STUB = re.compile(r'^def (\w+)\(.*\):\s+\.\.\.\n+check\("([\w.]+)", \w+\)$', re.DOTALL)


class Cards(SphinxPostTransform):
    """Put a card below each function to be written."""

    default_priority = 400
    formats = ("html",)

    def run(self, **kwargs: object) -> None:
        """Act on the cells of this document."""
        for cell in list(self.document.findall(nodes.container)):
            if cell.get("nb_element") != "cell_code":
                continue
            source = next(cell.findall(nodes.literal_block), None)
            if source is None or not (stub := STUB.match(source.astext().strip())):
                continue
            outputs = [
                part for part in cell.children if part.get("nb_element") == "cell_code_output"
            ]
            state = " ".join(" ".join(part.astext() for part in outputs).split())
            for part in outputs:
                cell.remove(part)
            cell["classes"].append("gb-stub")
            cell += nodes.raw("", self._card(stub[2], stub[1], state), format="html")

    def _card(self, exercise: str, function: str, state: str) -> str:
        page = self.env.docname
        notebook = f"{'../' * page.count('/')}{NOTEBOOKS}/{page.rpartition('/')[2]}.ipynb"
        ways = [f'<a href="{notebook}" download>Download the notebook</a>']
        if address := colab_address(self.app, page):
            ways.insert(0, f'<a href="{address}">Open in Colab</a>')
        if exercise in self.app.glassbox_playable:  # type: ignore[attr-defined]
            ways.insert(0, '<button type="button" hidden>Try it here</button>')
        return (
            f'<div class="gb-try" data-exercise="{exercise}" data-function="{function}">\n'
            f'<p class="gb-state">{html.escape(state)}</p>\n'
            f'<p class="gb-ways">{" ".join(ways)}</p>\n</div>'
        )


def write_files(app: Sphinx) -> None:
    """Write the files that an exercise loads, and remember which exercises are playable."""
    from glassbox_book.exercises import in_page  # pulls in torch

    app.glassbox_playable = in_page.playable()  # type: ignore[attr-defined]
    if app.builder.format == "html":
        in_page.write(Path(app.outdir) / "_static" / FOLDER)


def ask_for_script(
    app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: nodes.document | None
) -> None:
    """Link the script from a page that has exercises or a quiz."""
    body = context.get("body", "")
    if '<div class="gb-try"' in body or '<section class="gb-quiz"' in body:
        files = sorted((Path(app.outdir) / "_static" / FOLDER).iterdir())
        version = sha256(b"".join(file.read_bytes() for file in files)).hexdigest()[:8]
        options: dict[str, Any] = {"loading_method": "defer", "data-version": version}
        app.add_js_file("practice.js", **options)


def setup(app: Sphinx) -> None:
    """Write the files before the first page; act on each."""
    app.connect("builder-inited", write_files)
    app.connect("html-page-context", ask_for_script)
    app.add_post_transform(Cards)
