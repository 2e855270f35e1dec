"""Figures of the chapters on other pages: the tour, and a list of everything playable.

Both are taken from the notebooks when the site is built. A widget or view, which a cell displays as
HTML under the label of a figure, is playable, and so is a piece of the machine.
"""

import json
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from html import escape, unescape
from pathlib import Path

from docutils import nodes
from docutils.statemachine import StringList
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from glassbox_site.drawings import in_a_scroller, inline_both, inline_svg
from glassbox_site.machine import PIECES
from glassbox_site.numbers import chapter_number
from glassbox_site.sketches import sketch
from glassbox_site.thumbnails import thumbnail
from glassbox_site.times import chapters, count

DRAWING = re.compile(r"\{figure\} \.\./(?P<path>\S+\.svg)\n(?P<options>(?::.*\n)*)")
MACHINE = re.compile(r"^```\{machine\} ([\w-]+)$", re.MULTILINE)
OPTION = re.compile(r"^:(\w+): (.+)$", re.MULTILINE)
BREAK = re.compile(r"(?<=[.:?]) ")


@dataclass(frozen=True)
class Piece:
    """A figure of a chapter.

    Attributes
    ----------
    label : str
        The label for references, such as ``fig-loop``.
    html : str
        The figure itself, without the caption.
    caption : str
        The caption in Markdown; empty for a drawing.
    plays : bool
        Whether the figure is interactive.
    """

    label: str
    html: str
    caption: str
    plays: bool

    @property
    def name(self) -> str:
        """The name of the widget, or else the first sentence of its caption."""
        widget = re.search(r'class="gb-widget"[^>]*aria-label="([^"]+)"', self.html)
        if widget:
            return unescape(widget[1]).rstrip(".")
        return self.first

    @property
    def first(self) -> str:
        """The first sentence of its caption, or what comes before a colon in it."""
        return BREAK.split(self.caption)[0].replace("*", "").rstrip(".:")

    def after(self, name: str) -> str:
        """The caption, without the name if it begins with it."""
        if name != self.first:
            return self.caption
        return "".join(x[:1].upper() + x[1:] for x in BREAK.split(self.caption, maxsplit=1)[1:])


@cache
def pieces(notebook: Path) -> tuple[Piece, ...]:
    """Return the labelled figures of a chapter: what cells display, and drawings."""
    return tuple(labelled(notebook))


def labelled(notebook: Path) -> Iterator[Piece]:
    """Yield the labelled outputs of cells."""
    for cell in json.loads(notebook.read_text(encoding="utf-8"))["cells"]:
        source = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            yield from drawings(source, notebook.parent.parent)
            for name in MACHINE.findall(source):
                yield Piece(f"machine-{name}", "", PIECES[name], plays=True)
            continue
        look = cell["metadata"].get("mystnb", {})
        figure, image = look.get("figure", {}), look.get("image", {})
        if "name" not in figure:
            continue
        label, caption = figure["name"], figure.get("caption", "")
        for output in cell["outputs"]:
            data = {kind: "".join(text) for kind, text in output.get("data", {}).items()}
            if html := data.get("text/html"):
                yield Piece(label, html, caption, plays=True)
            elif svg := data.get("image/svg+xml"):
                drawn = inline_both(svg, f"{label}-", image.get("alt", ""))
                if "wide" in image.get("classes", ""):
                    drawn = in_a_scroller(drawn)
                yield Piece(label, drawn, caption, plays=False)


def drawings(text: str, root: Path) -> Iterator[Piece]:
    """Yield the drawings of a Markdown cell."""
    for drawing in DRAWING.finditer(text):
        options = dict(OPTION.findall(drawing["options"]))
        if "name" not in options:
            continue
        svg = (root / drawing["path"]).read_text(encoding="utf-8")
        drawn = inline_svg(svg, f"{options['name']}-", options.get("alt", ""))
        if "wide" in options.get("class", ""):
            drawn = in_a_scroller(drawn)
        yield Piece(options["name"], drawn, "", plays=False)


def drawn(piece: Piece) -> str:
    """Return the HTML of a figure, or of a piece of the machine, which the notebook only names."""
    from glassbox_book import machine  # pulls in torch

    return piece.html or machine.html(piece.label.removeprefix("machine-"))


class FromChapter(SphinxDirective):
    """``{from-chapter} fig-loop``: a figure of a chapter, with a link to where it is explained."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Find the figure, in whatever chapter."""
        label = self.arguments[0]
        for notebook in chapters(Path(self.env.srcdir)):
            self.env.note_dependency(str(notebook))
            for piece in pieces(notebook):
                if piece.label == label:
                    html = f'<div class="gb-piece">{piece.html}</div>'
                    return [nodes.raw("", html, format="html")]
        raise self.error(f"no chapter has a figure {label}")


class Playable(SphinxDirective):
    """``{playable}``: all interactive figures of the chapters, and where they are."""

    def run(self) -> list[nodes.Node]:
        """Write the list in Markdown, and parse it."""
        box = nodes.container(classes=["gb-playable"])
        found = {
            notebook: [piece for piece in pieces(notebook) if piece.plays]
            for notebook in chapters(Path(self.env.srcdir))
        }
        shared = Counter(piece.name for playable in found.values() for piece in playable)
        for notebook, playable in found.items():
            self.env.note_dependency(str(notebook))
            if not playable:
                continue
            title, number = escape(count(notebook)[0]), chapter_number(notebook.stem)
            picture = f'<div class="gb-thumbnail">{thumbnail(notebook)}</div>'
            heading = f'{picture}<h2 class="rubric">{number} {title}</h2>'
            box += nodes.raw("", heading, format="html")
            # What several widgets are called says less than the first sentence about each.
            named = [(p.name if shared[p.name] == 1 else p.first, p) for p in playable]
            lines = [f"- {{ref}}`{name} <{p.label}>` {p.after(name)}" for name, p in named]
            each = nodes.container()
            self.state.nested_parse(StringList(lines, "playable"), 0, each)
            for item, piece in zip(each.findall(nodes.list_item), playable, strict=True):
                item.insert(0, nodes.raw("", sketch(drawn(piece)), format="html"))
            box += each.children
        return [box]


def setup(app: Sphinx) -> None:
    """Register both directives."""
    app.add_directive("from-chapter", FromChapter)
    app.add_directive("playable", Playable)
