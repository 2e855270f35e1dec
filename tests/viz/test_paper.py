"""A figure is a small file, which holds a second one for telephones."""

import re
import xml.etree.ElementTree as ET
from collections.abc import Callable
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import matplotlib.pyplot as plt
import pytest
from fontTools.ttLib import TTFont
from matplotlib.figure import Figure
from matplotlib.font_manager import findfont

from glassbox_book import viz
from glassbox_book.viz import style
from glassbox_book.viz.paper import svg
from glassbox_site.drawings import COLOURS, MEANING

SVG = "{http://www.w3.org/2000/svg}"
CHARTS: dict[str, Callable[[], Figure]] = {
    "curves": lambda: viz.curves(
        range(99),
        {t: {n: range(i, 99 + i) for i, n in enumerate("abc")} for t in "xy"},
        x_label="x",
    ),
    "line charts": lambda: viz.line_charts([1, 2, 4], {"a": {"b": [1, 2, 4]}}, x_label="x"),
    "spread": lambda: viz.spread_chart([1, 2], {"a": [[1.0, 2.0]]}, x_label="x", y_label="y"),
    "bars": lambda: viz.bar_chart(["Ġa", "b"], {"c": [1, 2], "d": [2, 1]}, value_label="n"),
    "upright bars": lambda: viz.bar_chart(["a"], [1.0], value_label="n", upright=True),
    "dots": lambda: viz.dot_charts({t: {"Ġa": [1, 2, 3], "b": [-1]} for t in "xy"}),
    "points": lambda: viz.scatters({t: ([[0, 1], [1, 0]], ["a", "b"], None) for t in "xyz"}),
    "trade-off": lambda: viz.trade_off({"a": [(1, 2, "b"), (2, 1, "")]}, x_label="x", y_label="y"),
    "vectors": lambda: viz.vectors({t: {"a": (0, 1)} for t in "wxyz"}),
    "reshaped": lambda: viz.reshaped(["a", "b"], [0.5, 0.5], {t: [1.0, 0.0] for t in "xyz"}),
    "tree": lambda: viz.search_tree([viz.Node(None, "<s>", 0), viz.Node(0, "Ġa", -1)]),
}
each_chart = pytest.mark.parametrize("kind", CHARTS)


@pytest.fixture(autouse=True)
def _style(book_style: None) -> None:
    """Every figure is drawn in the style of the book."""


@cache
def drawn(kind: str) -> str:
    """A chart of this kind as a file, drawn once for all tests."""
    return svg(CHARTS[kind]())


def sizes(element: ET.Element) -> list[float]:
    """The size in CSS pixels of each text that stands directly in a drawing."""
    own = element.iter(f"{SVG}text")
    found = [re.search(r"font-size: ([\d.]+)px", text.attrib["style"]) for text in own]
    return [float(size[1]) * 4 / 3 for size in found if size]


@each_chart
def test_a_chart_is_as_wide_as_the_column_and_its_second_as_a_telephone(kind) -> None:
    root = ET.fromstring(drawn(kind))
    (narrow,) = root.findall(f"{SVG}svg")
    widths = [float(each.attrib["width"].removesuffix("pt")) * 4 / 3 for each in (root, narrow)]
    assert widths == pytest.approx([672, 358], abs=0.5)
    assert narrow.attrib["display"] == "none"  # where no page knows what to do with it
    assert not plt.get_fignums()[1:]  # a notebook would display the second one as well


@each_chart
def test_no_letter_is_small_and_none_is_turned(kind) -> None:
    root = ET.fromstring(drawn(kind))
    assert sizes(root)
    assert min(sizes(root)) >= 12
    assert not [text for text in root.iter(f"{SVG}text") if "rotate" in text.get("transform", "")]


@each_chart
def test_colours_of_queries_keys_and_values_mean_nothing_else(kind) -> None:
    assert not [c for c in (style.QUERY, style.KEY, style.VALUE) if c in drawn(kind).lower()]


@each_chart
def test_every_colour_of_a_chart_follows_the_theme(kind) -> None:
    assert set(re.findall(r"#[0-9a-f]{6}\b", drawn(kind).lower())) <= set(COLOURS)


def test_the_palette_of_the_site_has_the_colours_of_charts() -> None:
    series = [look["color"] for look in style.SERIES[:5]]
    assert [COLOURS[c] for c in series] == [f"var(--gb-series-{i})" for i in range(1, 6)]
    projections = (style.QUERY, style.KEY, style.VALUE)
    assert [COLOURS[c] for c in projections] == [
        f"var(--gb-{n})" for n in ("query", "key", "value")
    ]
    assert COLOURS[style.PAPER] == "var(--gb-paper)"
    assert COLOURS[style.TEXT] == "currentColor"
    assert len(set(COLOURS.values())) == MEANING.count("|") + 1 + 4 + 1  # five series, and the text


def test_a_file_holds_nothing_that_nobody_sees() -> None:
    file = drawn("curves")
    assert svg(CHARTS["curves"]()) == file  # the same figure is the same file
    assert "metadata" not in file
    assert not re.search(r"\d\.\d{3}", file)
    ids = set(re.findall(r' id="([^"]+)"', file))
    assert ids <= set(re.findall(r"#([\w-]+)", file))


@pytest.mark.skipif(
    find_spec("font_source_sans_pro") is None, reason="the site's font is not installed"
)
def test_text_is_measured_with_the_letters_of_the_site() -> None:
    assert Path(findfont("Book Sans")).name == "SourceSansPro-Regular.ttf"
    fig = plt.figure()
    text = fig.text(0, 0, "learning", size=10.5)
    font = TTFont(findfont("Book Sans"))
    names, advances = font.getBestCmap(), font["hmtx"]
    units = sum(advances[names[ord(letter)]][0] for letter in "learning")
    pixels = units / font["head"].unitsPerEm * 10.5 * fig.dpi / 72
    assert text.get_window_extent().width == pytest.approx(pixels, rel=0.05)
