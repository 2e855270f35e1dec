"""Code is marked up only where it is coloured: most of it is names, which have the text's colour.

A page of listings is a third as heavy for it, and a browser has a fifth of the elements to lay out.
A line that is wider than the column is marked: it goes on below itself, indented (see code.css).
"""

import re
from collections.abc import Iterable, Iterator
from html import unescape
from typing import Any

from pygments.formatters import HtmlFormatter
from pygments.token import Name, Operator, Punctuation, Text, Token
from sphinx.application import Sphinx
from sphinx.highlighting import PygmentsBridge

#: Kinds of words without a colour of their own (see code.css), and those among them that have one.
PLAIN = (Name, Operator, Punctuation, Text)
COLOURED = (Name.Class, Name.Decorator, Name.Exception, Name.Function, Operator.Word)
#: Characters of a line that the column holds.
COLUMNS = 84


class Formatter(HtmlFormatter):
    """Pygments' own, without a class for what has no colour."""

    def wrap(self, source: Iterable[tuple[int, str]]) -> Iterator[tuple[int, str]]:
        """Mark the lines that are too long."""
        return super().wrap(map(_marked, source))

    def _get_css_classes(self, kind: Any) -> str:
        plain = any(kind in plain for plain in PLAIN) or kind is Token
        coloured = any(kind in coloured for coloured in COLOURED)
        return "" if plain and not coloured else super()._get_css_classes(kind)


def _marked(line: tuple[int, str]) -> tuple[int, str]:
    is_code, html = line
    text = unescape(re.sub(r"<[^>]*>", "", html)).rstrip("\n")
    if not is_code or len(text) <= COLUMNS:
        return line
    indent = len(text) - len(text.lstrip())
    return is_code, f'<span class="gb-long" style="--in: {indent}">{html}</span>'


def setup(app: Sphinx) -> None:
    """Take the place of Sphinx's formatter, which is not to be configured."""
    PygmentsBridge.html_formatter = Formatter
