"""Matrices as coloured cells: HTML that follows light and dark and responds to pointer and keys.

A cell holds its number as text and, as a share of the scale, in the property ``--v``. The style
sheet mixes the cell's colour from it, so zero has the colour of the paper in every theme. A matrix
with many cells becomes a picture: one PNG for each sign, through which the same colours show.
"""

import base64
import io
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from glassbox_book import outputs
from glassbox_book.outputs import Output, are_linked, read
from glassbox_book.templates import fill

_MOST_CELLS = 30  # rows or columns beyond which a matrix is a picture
_WIDTHS = {"": 672.0, "-narrow": 340.0}  # pixels of a map on a page and on a phone
_BETWEEN = 24  # pixels between two panels
_LETTER, _AROUND = 6.4, 9  # pixels for a letter of a label, and around the label
_DIGIT = 5.8  # minimum pixels for a digit
_LONGEST = 0.3  # maximum share of the width for names of rows
_MOST_STAIRS = 5  # maximum number of lines for names of columns
_MOST_MARKS = 8  # maximum number of marks next to a picture

Names = Sequence[str] | None


@dataclass(frozen=True, repr=False)
class Cells(Output):
    """Coloured cells that a notebook, or anything else that shows HTML, can display.

    Attributes
    ----------
    body : str
        HTML without style and script.
    text : str
        The plain-text fallback.
    """

    body: str
    text: str

    def html(self) -> str:
        """Return the HTML, which loads style and script from the site or includes them."""
        if are_linked():
            return f"{self.body}\n<script>\n{read('viz/cells_lab.js')}</script>"
        style, script = read("viz/cells.css"), read("viz/cells.js")
        return f"<style>{style}</style>{self.body}\n<script>\n{script}</script>"


def write(folder: str | Path) -> None:
    """Write script and style sheet into ``folder``, for example the site's ``_static/glassbox``."""
    outputs.write(folder, {name: read(f"viz/{name}") for name in ("cells.js", "cells.css")})


def maps(
    matrices: Sequence[tuple[str, NDArray[np.float64]]],
    scale: tuple[float, float],
    labels: tuple[str, str, str],
    names: tuple[Names, Names] = (None, None),
    *,
    annotate: str | None = None,
    across: int = 1,
) -> Cells:
    """Return matrices of one shape on one scale, each below its title.

    Parameters
    ----------
    matrices : sequence of pairs of str and array, shape (rows, columns)
        The titles and the matrices.
    scale : pair of float
        The numbers of the deepest colours; either may be 0.
    labels : triple of str
        What the rows, the columns and the numbers are.
    names : pair of sequence of str
        A name for each row and each column. Defaults to numbers from 0.
    annotate : str, optional
        The format of a number in its cell. Without it, or without room, cells show only their
        colour.
    across : int
        Number of panels side by side, if there is room.

    Returns
    -------
    Cells
        A cell of a notebook displays it.
    """
    low, high = scale
    limit = max(-low, high)
    # A limit of nearly 1 gets as many decimals as 1, however a processor rounds.
    digits = max(1, 2 - math.floor(math.log10(float(f"{limit:.3g}"))))
    shape = matrices[0][1].shape
    number = annotate or f"{{:.{digits}f}}"
    panels = [(title, _written(matrix, number), matrix / limit) for title, matrix in matrices]
    ends = [low, 0.0, high] if low < 0 < high else [low, high]
    bar = "<i></i>".join(f"<span>{_short(end, digits)}</span>" for end in ends)
    what = f"{len(matrices)} maps" if len(matrices) > 1 else "Map"
    name = f"{what}, {shape[0]} rows ({labels[0]}) by {shape[1]} columns ({labels[1]})"
    below = f'<p class="gb-scale">{bar} {escape(labels[2])}</p>'
    kinds = "gb-map gb-signed" if low < 0 else "gb-map"
    axes, shown = labels[:2], annotate is not None
    body = frame(kinds, panels, axes, names, name, below, numbers=shown, across=across, scale=scale)
    return Cells(body, name)


def _written(matrix: NDArray[np.float64], number: str) -> list[list[str]]:
    """Return the numbers of a matrix as text, or nothing if it has too many for cells."""
    if max(matrix.shape) > _MOST_CELLS:
        return []
    return [[re.sub("^-(?=[0.]+$)", "", number.format(x)) for x in row] for row in matrix]


def _short(number: float, digits: int) -> str:
    """Return a number without trailing zeros, except for one decimal, which shows rounding."""
    whole, _, decimals = f"{number:.{digits}f}".partition(".")
    return f"{whole}.{decimals[0]}{decimals[1:].rstrip('0')}" if number else "0"


def frame(
    kinds: str,
    panels: Sequence[tuple[str, Sequence[Sequence[str]], NDArray[np.float64]]],
    labels: Sequence[str],
    names: tuple[Names, Names],
    name: str,
    below: str,
    *,
    numbers: bool = True,
    across: int = 1,
    scale: tuple[float, float] = (-1, 1),
) -> str:
    """Return panels of cells with everything around them.

    Parameters
    ----------
    kinds : str
        Classes for the style sheet. A ``gb-tensor`` is as wide as its numbers and names, anything
        else as wide as the page.
    panels : sequence of (title, texts, shares)
        The texts of the cells of each panel, and their numbers as shares of the scale; colours are
        clipped at its ends. Without texts, a panel is a picture.
    labels : pair of str
        What the rows and columns are.
    names : pair of sequence of str
        The names of the rows and columns.
    name : str
        A description of the whole for screen readers.
    below : str
        HTML to put below.
    numbers : bool
        Whether cells show their texts, if there is room.
    across : int
        Number of panels side by side, if there is room.
    scale : pair of float
        The numbers of the deepest colours.

    Returns
    -------
    str
        HTML.

    Raises
    ------
    ValueError
        If there are not as many names as rows or columns.
    """
    shape = panels[0][2].shape
    for what, given, number in zip(("row", "column"), names, shape, strict=True):
        if given is not None and len(given) != number:
            raise ValueError(f"there are {len(given)} {what}_names for {number} {what}s")
    count = shape[1]
    half = [(_LETTER * len(each) + _AROUND) / 2 for each in names[1] or [""]]
    beside = max(_LETTER * len(each) + _AROUND for each in names[0] or [str(shape[0] - 1)])
    beside = max(beside, half[0])
    texts = [text for _, rows, _ in panels for row in rows for text in row]
    longest = max((len(text.lstrip("-")) for text in texts), default=0)
    letters = longest if numbers and texts else 1
    if kinds == "gb-tensor":
        letters = max(letters, *map(len, names[1] or [""]))
    style: dict[str, Any] = {"n": count, "m": shape[0], "across": across, "letters": letters}
    style["names"] = f"{beside:.0f}px"
    levels, quiet = [], ""
    for kind, width in _WIDTHS.items():
        if not kind:
            width = (width - _BETWEEN * (across - 1)) / across
        wide = (width - min(beside, _LONGEST * width)) / count
        lines, least = (1, 0.0) if kinds == "gb-tensor" else _stairs(half, wide)
        wide = max(wide, least)
        beyond = max(each - (place + 0.5) * wide for place, each in enumerate(reversed(half)))
        style |= {f"lines{kind}": lines, f"least{kind}": f"{least:.0f}px"}
        style[f"beyond{kind}"] = f"{max(beyond, 0):.0f}px"
        levels.append([place % lines for place in range(count)])
        if not numbers or wide < _DIGIT * longest:
            quiet += f" gb-quiet{kind}"
    return fill(
        "viz/cells.html",
        kinds=kinds,
        quiet=quiet,
        name=name,
        labels=labels,
        style=style,
        panels=[(title, _rows(rows, shares, names[0])) for title, rows, shares in panels],
        head=_head(names[1], shape, levels),
        shape=shape,
        pictures=None if texts else _pictures([part for *_, part in panels], scale, names[0]),
        below=below,
    )


def _rows(texts: Sequence[Sequence[str]], shares: NDArray[np.float64], names: Names) -> list[Any]:
    """Return the name of each row, and the text and share of each of its cells."""
    shown = zip(names or range(len(texts)), texts, np.clip(shares, -1, 1), strict=False)
    return [(name, zip(*cells, strict=True)) for name, *cells in shown]


def _stairs(half: Sequence[float], wide: float) -> tuple[int, float]:
    """Return the number of lines for the names of columns, and the column width this needs.

    Names that would overlap alternate between several lines, as few as possible.
    """
    for lines in range(1, _MOST_STAIRS + 1):
        pairs = zip(half, half[lines:], strict=False)
        least = max((a + b for a, b in pairs), default=0.0) / lines
        if least <= wide:
            return lines, 0.0
    return lines, least


def _head(
    names: Names, shape: tuple[int, ...], levels: Sequence[Sequence[int]]
) -> list[tuple[str, Any]]:
    """Return the attributes and names of the columns, or numbers that fit on a phone."""
    count = shape[1]
    if names:
        steps = zip(names, *levels, strict=True)
        return [(f'scope=col style="--a:{a};--b:{b}"', name) for name, a, b in steps]
    if max(shape) > _MOST_CELLS:
        marks = _marks(count)
        ends = pairwise([*marks, count])
        return [(f'scope=colgroup colspan="{end - mark}"', mark) for mark, end in ends]
    every = 1 if count <= 16 else 2
    return [("scope=col", i if i % every == 0 else "") for i in range(count)]


def _marks(count: int) -> range:
    """Return the marks next to ``count`` pixels: few, and round."""
    units = (unit * 10**power for power in range(9) for unit in (1, 2, 5))
    return range(0, count, next(unit for unit in units if count <= unit * _MOST_MARKS))


def _pictures(
    panels: Sequence[NDArray[np.float64]], scale: tuple[float, float], names: Names
) -> dict[str, Any]:
    """Return what replaces the cells of large matrices: one picture for each sign, and marks."""
    count, columns = panels[0].shape
    signs = {"more": (1, scale[1]), "less": (-1, scale[0])}
    marks = range(count) if names else _marks(count)
    return {
        "marks": [(100 * (mark + 0.5) / count, names[mark] if names else mark) for mark in marks],
        "layers": [
            [(kind, _png(sign * x)) for kind, (sign, end) in signs.items() if end] for x in panels
        ],
        "limit": max(-scale[0], scale[1]),
        "steep": min(max(count / columns, 0.3), 0.75),
    }


def _png(shares: NDArray[np.float64]) -> str:
    """Return a PNG with numbers from 0 to 1 as opacity; negative ones are transparent."""
    levels = np.rint(255 * np.clip(shares, 0, 1)).astype(np.uint8)
    data = png(levels, bytes(range(256)), bytes(3))
    return "data:image/png;base64," + base64.b64encode(data).decode("ascii")


def png(levels: NDArray[np.uint8], opacity: bytes, colour: bytes) -> bytes:
    """Return a picture in one colour.

    Parameters
    ----------
    levels : array, shape (rows, columns)
        A level for each pixel.
    opacity : bytes
        The opacity of each level.
    colour : bytes
        Red, green and blue.

    Returns
    -------
    bytes
        A PNG.
    """
    picture = Image.fromarray(levels)
    picture.putpalette(colour * len(opacity))
    file = io.BytesIO()
    picture.save(file, "PNG", transparency=opacity, optimize=True)
    return file.getvalue()
