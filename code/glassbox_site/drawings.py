"""Put SVG into the page itself, so that it follows light and dark, and its text is accessible.

This applies to the figures that cells draw and to the diagrams in `images/`. Their neutral colour
becomes that of the surrounding text, meaningful colours become those of the palette, and their ids
become unique in the page. A chart includes a second drawing for phones.
"""

import re
import xml.etree.ElementTree as ET
from pathlib import Path

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.config import Config
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util import logging

logger = logging.getLogger(__name__)

SVG = "http://www.w3.org/2000/svg"
XLINK = "http://www.w3.org/1999/xlink"
MATPLOTLIB_STYLE = "*{stroke-linejoin: round; stroke-linecap: butt}"
PALETTE = Path(__file__).parent / "static" / "palette.css"
MEANING = r"query|key|value|attention|feed-forward|norm|embedding|memory|series-\d|paper|amber-ink"
#: Colours in a drawing, and their replacements in the page; the palette has the light ones first.
COLOURS = {
    hexadecimal: f"var(--gb-{name})"
    for name, hexadecimal in reversed(
        re.findall(rf"--gb-({MEANING}): (#[0-9a-f]{{6}});", PALETTE.read_text(encoding="utf-8"))
    )
} | {"#333333": "currentColor", "#333": "currentColor"}
COLOUR = re.compile(r"#(?:[0-9a-f]{6}|[0-9a-f]{3})\b", re.IGNORECASE)


def inline_svg(source: str, prefix: str, alt: str, width: str = "") -> str:
    """Return one `<svg>` element that can be in a page with others.

    Parameters
    ----------
    source
        The text of the SVG file.
    prefix
        Put before every id.
    alt
        The text alternative: the accessible name. A drawing that contains links keeps them
        reachable, so it is a group and not an image.
    width
        Width in the page, in any CSS unit; its own width, at most the column's, if empty.
    """
    root = ET.fromstring(source)
    ids = {element.get("id") for element in root.iter()} - {None}
    for element in list(root.iter()):
        for child in list(element):
            if child.tag == f"{{{SVG}}}metadata":
                element.remove(child)
        element.tag = element.tag.removeprefix(f"{{{SVG}}}")
        for name, value in list(element.attrib.items()):
            element.set(name, _local(COLOUR.sub(_themed, value), ids, prefix))
        if (link := element.attrib.pop(f"{{{XLINK}}}href", None)) is not None:
            element.set("href", link)
        if not (element.text or "").strip():
            element.text = None
        if not (element.tail or "").strip():
            element.tail = None
    # Matplotlib's universal rule would apply to the whole page; lines inherit the same.
    for style in root.iter("style"):
        if style.text != MATPLOTLIB_STYLE:
            raise ValueError(f"a style sheet in a drawing holds for the whole page: {style.text}")
        style.text = None
    linked = any(element.tag == "a" for element in root.iter())
    size = (root.attrib.pop("width", ""), root.attrib.pop("height", ""))
    root.attrib.pop("display", None)
    if "viewBox" not in root.attrib:
        root.set("viewBox", f"0 0 {float(size[0])} {float(size[1])}")
    root.set("class", f"gb-drawing {root.get('class', '')}".strip())
    root.set("role", "group" if linked else "img")
    root.set("aria-label", alt)
    root.set("style", f"stroke-linejoin: round; width: {width or _pixels(root, size[0])}")
    return ET.tostring(root, encoding="unicode")


def inline_both(source: str, prefix: str, alt: str, width: str = "") -> str:
    """Return a drawing, followed by its version for phones, if it has one.

    Parameters
    ----------
    source, prefix, alt, width
        As for `inline_svg`.
    """
    root = ET.fromstring(source)
    narrow = root.find(f"{{{SVG}}}svg[@class='gb-narrow']")
    if narrow is None:
        return inline_svg(source, prefix, alt, width)
    root.remove(narrow)
    root.set("class", "gb-broad")
    return inline_svg(ET.tostring(root, "unicode"), prefix, alt, width) + inline_svg(
        ET.tostring(narrow, "unicode"), f"{prefix}n-", alt
    )


def _themed(colour: re.Match[str]) -> str:
    return COLOURS.get(colour[0].lower(), colour[0])


def in_a_scroller(svg: str) -> str:
    """Put a drawing of fixed size into a box that scrolls if the column is narrower."""
    return f'<div class="gb-wide" tabindex="0" role="region" aria-label="Drawing">{svg}</div>'


def _local(value: str, ids: set[str | None], prefix: str) -> str:
    """Prefix the ids in an attribute, both definitions and uses."""
    if value in ids:
        return prefix + value
    return re.sub(r"#([\w.:-]+)", lambda m: f"#{prefix}{m[1]}" if m[1] in ids else m[0], value)


def _pixels(root: ET.Element, width: str) -> str:
    """Return a drawing's width in CSS pixels, from its width in points or its view box."""
    if width.endswith("pt"):
        return f"{float(width[:-2]) * 4 / 3:.0f}px"
    return f"{float(root.attrib['viewBox'].split()[2]):.0f}px"


class InlineDrawings(SphinxPostTransform):
    """Replace every image that is an SVG file with the drawing itself."""

    default_priority = 350
    formats = ("html",)

    def run(self, **kwargs: object) -> None:
        """Replace them in this document."""
        images = [i for i in self.document.findall(nodes.image) if i["uri"].endswith(".svg")]
        for count, image in enumerate(images, start=1):
            if not image.get("alt"):
                logger.warning("a drawing without a text alternative", location=image)
            source = Path(self.env.srcdir, image["uri"]).read_text(encoding="utf-8")
            width = str(image.get("width", ""))
            svg = inline_both(source, f"d{count}-", image.get("alt", ""), width)
            if "wide" in image["classes"]:
                svg = in_a_scroller(svg)
            image.replace_self(nodes.raw("", svg, format="html"))


def draw_logo(app: Sphinx, config: Config) -> None:
    """Offer the logo to the templates, as a decoration: the book's name is next to it."""
    source = Path(app.srcdir, "images", "logo.svg").read_text(encoding="utf-8")
    svg = inline_svg(source, "logo-", "", "3rem")
    config.html_context["gb_logo"] = svg.replace('role="img" aria-label=""', 'aria-hidden="true"')


def setup(app: Sphinx) -> None:
    """Register the transform and the logo."""
    app.add_post_transform(InlineDrawings)
    app.connect("config-inited", draw_logo)
