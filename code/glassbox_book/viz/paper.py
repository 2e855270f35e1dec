"""Draw a figure for a page and for a phone, and write both as one small SVG."""

import re
import xml.etree.ElementTree as ET
from collections.abc import Callable
from contextvars import ContextVar
from functools import partial, wraps
from io import StringIO
from typing import ParamSpec
from weakref import WeakKeyDictionary

import matplotlib.pyplot as plt
from matplotlib.figure import Figure

from glassbox_book.viz.style import FONTS, PAGE_WIDTH, PHONE_WIDTH, SVG_METADATA

Drawn = ParamSpec("Drawn")

_WIDTH = ContextVar("width", default=PAGE_WIDTH)
#: For each figure, a function that draws it again, as narrow as a phone.
_AGAIN: WeakKeyDictionary[Figure, Callable[[], Figure]] = WeakKeyDictionary()
_SVG, _LINK = "http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"
_NUMBER = re.compile(r"-?\d+\.\d+(?:e-?\d+)?")
_FONT = re.compile(r"font-family: [^;]*(; |$)")
_NO_TURN = re.compile(r"rotate\(-?0 [^)]*\)$")


def width() -> float:
    """Return the maximum width in inches of the figure being drawn."""
    return _WIDTH.get()


def is_narrow() -> bool:
    """Return whether the figure being drawn is for a phone."""
    return width() < PAGE_WIDTH


def in_two_widths(draw: Callable[Drawn, Figure]) -> Callable[Drawn, Figure]:
    """Decorate a function whose figures are drawn twice when displayed: wide and narrow.

    The text of a chart scaled down to a phone is too small to read, and a chart for a phone
    leaves half a page empty. The function gets its width from :func:`width`.

    Parameters
    ----------
    draw : callable
        A function that returns a figure.

    Returns
    -------
    callable
        A function of the same arguments.
    """

    @wraps(draw)
    def remembered(*args: Drawn.args, **kwargs: Drawn.kwargs) -> Figure:
        fig = draw(*args, **kwargs)
        _AGAIN[fig] = partial(draw, *args, **kwargs)
        return fig

    return remembered


def svg(fig: Figure) -> str:
    """Return a figure as SVG, which contains a hidden version for a phone that a page can show.

    Parameters
    ----------
    fig : Figure
        The figure, from a function of this package.

    Returns
    -------
    str
        One SVG element.
    """
    again = _AGAIN.get(fig)
    root = _small(fig, kept="" if again else "figure_1")
    if again:
        token = _WIDTH.set(PHONE_WIDTH)
        try:
            narrow = again()
        finally:
            _WIDTH.reset(token)
        plt.close(narrow)
        if narrow.get_figwidth() < fig.get_figwidth():  # some keep their width and scroll
            inside = _small(narrow)
            inside.attrib |= {"class": "gb-narrow", "display": "none"}
            root.append(inside)
    ET.register_namespace("", _SVG)
    ET.register_namespace("xlink", _LINK)
    return ET.tostring(root, encoding="unicode")


def _small(fig: Figure, kept: str = "") -> ET.Element:
    """Return matplotlib's SVG without invisible elements and unused ids, except ``kept``."""
    written = StringIO()
    fig.savefig(written, format="svg", metadata=SVG_METADATA)
    root = ET.fromstring(written.getvalue())
    used = set(re.findall(r"#([\w-]+)", written.getvalue()))
    for element in root.iter():
        for child in list(element):
            if child.tag in (f"{{{_SVG}}}metadata", f"{{{_SVG}}}title"):
                element.remove(child)
        for name, value in list(element.attrib.items()):
            if name == "id" and value not in used and value != kept:
                del element.attrib[name]
            elif name in ("d", "x", "y", "width", "height"):
                element.set(name, _rounded(value, 1))
            elif name == "style":
                element.set(name, _rounded(_FONT.sub("", value), 2))
            elif _NO_TURN.match(value):
                del element.attrib[name]
        element.text = (element.text or "").strip() or None
        element.tail = None
    _unwrap(root)
    root.set("font-family", FONTS)
    return root


def _rounded(value: str, places: int) -> str:
    return _NUMBER.sub(lambda m: f"{round(float(m[0]), places) + 0.0:g}", " ".join(value.split()))


def _unwrap(element: ET.Element) -> None:
    """Replace each group without attributes by its contents."""
    for place in reversed(range(len(element))):
        child = element[place]
        _unwrap(child)
        if child.tag == f"{{{_SVG}}}g" and not child.attrib:
            element[place : place + 1] = list(child)
