"""One attention view as notebook output: its own frame, and a table below it."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

import numpy as np
from jinja2.utils import htmlsafe_json_dumps

from glassbox_book.outputs import Output, are_linked, read
from glassbox_book.viz import assets

#: Notebooks remove the triangle, and the style sheet as well if an output is not trusted.
_SUMMARY = "display:list-item;list-style:inside disclosure-closed;cursor:pointer"


@dataclass(frozen=True, repr=False)
class View(Output):
    """An attention view that a notebook, or anything else that shows HTML, can display.

    Attributes
    ----------
    text : str
        What the view shows, in one line: the frame's name and the plain-text fallback.
    data : dict
        The data for the scripts; see ``frame/draw.js``.
    static : str
        HTML with the same content without scripts.
    summary : str
        Label of the folded ``static`` part.
    heights : pair of str
        CSS heights of the frame in a wide and in a narrow column.
    title : str or None
        Shown above the view, and part of the frame's name for screen readers.
    said : str or None
        A sentence between title and frame; a separate line in plain text.
    """

    text: str
    data: dict[str, Any]
    static: str
    summary: str
    heights: tuple[str, str]
    title: str | None = None
    said: str | None = None

    def __repr__(self) -> str:
        return "\n".join(filter(None, (self.text, self.said)))

    def html(self) -> str:
        """Return the HTML of the view: style, title, frame, and the version without scripts."""
        name = f"{self.title}: {self.text}" if self.title else self.text
        title = f'<p class="glassbox-title">{escape(self.title)}</p>' if self.title else ""
        said = f'<p class="glassbox-said">{escape(self.said)}</p>' if self.said else ""
        wide, narrow = self.heights
        return (
            f'<div class="glassbox-view"><style>{read("viz/frame/page.css")}</style>'
            f"{title}{said}"
            f'<iframe loading="lazy" title="{escape(name)}" '
            f'style="--glassbox-height:{wide};--glassbox-height-narrow:{narrow}" '
            f"srcdoc='{_attribute(self._document(name))}'></iframe>"
            f'<details><summary style="{_SUMMARY}">{escape(self.summary)}</summary>'
            f"{self.static}</details></div>"
        )

    def _document(self, name: str) -> str:
        mode, packed = "linked", ""
        if not are_linked():
            mode = "inline"
            packed = f'<script type="text/plain" id="packed">{assets.packed_bundle()}</script>'
        data = htmlsafe_json_dumps(self.data, dumps=_json)  # ends no element, whatever its tokens
        boot = "".join(read(f"viz/frame/{name}.js") for name in ("theme", "seen", f"boot_{mode}"))
        return (
            '<!DOCTYPE html><html lang="en" style="color-scheme:light dark"><head>'
            f'<meta charset="utf-8"><title>{escape(name)}</title><style>'
            "body{margin:0;background:Canvas;color:CanvasText}"
            "#note{margin:1em;font:14px/1.4 sans-serif}</style></head><body>"
            f'<p id="note"></p>'
            f'<script type="application/json" id="data">{data}</script>{packed}'
            f"<script>{boot}</script></body></html>"
        )


class _Raw(str):
    """Text that is JSON already."""


def numbers(array: np.ndarray, digits: int) -> _Raw:
    """Return an array as compact JSON with a fixed number of decimals.

    With a fixed number, the same cell run on another processor differs at most in the last decimal.
    """
    rounded = array.round(digits) + 0.0  # turns -0.00 into 0.00
    written = np.char.mod(f"%.{digits}f", rounded).tolist()
    return _Raw(json.dumps(written, separators=(",", ":")).replace('"', ""))


def _json(value: Any) -> str:
    if isinstance(value, _Raw):
        return value
    if isinstance(value, dict):
        items = (f"{json.dumps(key)}:{_json(item)}" for key, item in value.items())
        return "{" + ",".join(items) + "}"
    if isinstance(value, Sequence) and not isinstance(value, str):
        return "[" + ",".join(map(_json, value)) + "]"
    return json.dumps(value)


def _attribute(document: str) -> str:
    """Escape a document for a single-quoted attribute, because JSON is full of double quotes."""
    return document.replace("&", "&amp;").replace("'", "&#39;").replace("<", "&lt;")
