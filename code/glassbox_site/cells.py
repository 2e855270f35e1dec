"""Coloured cells in the page: tensors as grids, and maps with their descriptions.

PyTorch's printout of a small tensor becomes a grid with the same numbers; the notebook keeps the
text. A map takes the alternative text of its figure as its name, and a chart below it follows the
theme like any drawing.
"""

import re
from html import escape

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.transforms.post_transforms import SphinxPostTransform

from glassbox_site.drawings import inline_both

MARK = 'class="gb-cells'
SCRIPT = re.compile(r"\n<script>.*?</script>", re.DOTALL)
NAME = re.compile(r'(?<=role="group" )aria-label="[^"]*"')
MINUS = re.compile(r"(?<=>)-(?=[\d.]|inf)")
DRAWING = re.compile(r"<svg\b.*</svg>", re.DOTALL)


class Cells(SphinxPostTransform):
    """Turn tensors into cells, and fit maps into the page."""

    default_priority = 360  # after the form of each output is chosen
    formats = ("html",)

    def run(self, **kwargs: object) -> None:
        """Turn all outputs of this document."""
        for block in list(self.document.findall(nodes.literal_block)):
            if "output" in block["classes"]:
                place = block.parent.index(block)
                block.parent[place : place + 1] = in_pieces(block)
        grids = [raw for raw in self.document.findall(nodes.raw) if MARK in raw.astext()]
        for count, raw in enumerate(grids, start=1):
            raw.replace_self(nodes.raw("", fitted(raw, f"c{count}-"), format="html"))


def in_pieces(block: nodes.literal_block) -> list[nodes.Element]:
    """Return a grid for each tensor printed on its own lines, and the text around it."""
    from glassbox_book.viz.tensors import PRINTED, drawn  # pulls in torch

    pieces: list[nodes.Element] = []
    text, done = block.astext(), 0

    def keep(words: str) -> None:
        if words.strip():
            kept = block.copy()
            kept.rawsource = words.strip("\n")
            kept += nodes.Text(kept.rawsource)
            pieces.append(kept)

    for found in PRINTED.finditer(text):
        if html := drawn(found[1]):
            keep(text[done : found.start()])
            pieces.append(nodes.raw("", html, format="html"))
            done = found.end()
    if not pieces:
        return [block]
    keep(text[done:])
    return pieces


def fitted(raw: nodes.raw, prefix: str) -> str:
    """Return the HTML of cells, adapted to a page."""
    html = SCRIPT.sub("", raw.astext())
    html = DRAWING.sub(lambda found: inline_both(found[0], prefix, "The chart below"), html)
    cell: nodes.Node | None = raw
    while cell is not None and not (isinstance(cell, nodes.Element) and "cell_metadata" in cell):
        cell = cell.parent
    options = cell["cell_metadata"].get("mystnb", {}) if cell is not None else {}
    if alternative := options.get("image", {}).get("alt"):
        html = NAME.sub(lambda _: f'aria-label="{escape(alternative)}"', html, count=1)
    return MINUS.sub("\N{MINUS SIGN}", html)


def setup(app: Sphinx) -> None:
    """Register the transform."""
    app.add_post_transform(Cells)
