"""The search: an index of sections, built with the pages and fetched on the first search.

A hit is a section, a term of the glossary, a work of the bibliography or a name of the package. The
index is their text without code, outputs and drawings; `search.js` looks through all of it. It is a
script that sets a variable, because a page opened from a folder can load only scripts.
"""

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx

from glassbox_site.definitions import GLOSSARY
from glassbox_site.folding import summary
from glassbox_site.numbers import chapter_number

#: Anchor in its page; number or kind; title; text; of a term, the section that introduces it.
Part = tuple[str, ...]

#: A page of links only.
LINKS = "chapters/play"
#: Nodes that are not running text, or are separate parts.
LEFT_OUT = (
    *(nodes.literal_block, nodes.raw, nodes.comment, nodes.title, nodes.image, nodes.Invisible),
    *(nodes.section, nodes.citation, addnodes.desc, addnodes.glossary),
)
#: Text of LaTeX commands; the others are their names, and those of layout are dropped.
SIGNS: dict[str, str] = dict(
    re.findall(
        r"(\w+) (\S+)",
        "cdot · times × top ᵀ in ∈ infty ∞ approx ≈ le ≤ ge ≥ dots … ldots … cdots … sum Σ to → "
        "mid | ell ℓ sqrt √ lVert ‖ rVert ‖ propto ∝ partial ∂ cap ∩ alpha α beta β gamma γ "
        "delta δ epsilon ε theta θ lambda λ mu μ sigma σ omega ω pi π",
    )
)
LAYOUT = r"\\(left|right|quad|qquad|operatorname|text|frac|mathbb|mathbf|mathcal|mathrm)\b"
#: The content of braces, with nested braces to a depth of two.
GROUP = r"(?:[^{}]|\{(?:[^{}]|\{[^{}]*\})*\})*"
#: The title of a work: what comes after its authors, the last of whom ends with a whole word.
TITLE = re.compile(r"(?<=[^\W\d_]{2})\. (?P<title>.+?)[.?!] ")


def in_a_line(latex: str) -> str:
    r"""Return a formula as a line of text: `\frac{QK^\top}{\sqrt{d_k}}` is `QKᵀ/√d_k`."""
    latex = re.sub(r"\\(begin|end)\{\w+\*?\}|\\[,;:! \\]|&", " ", latex)
    latex = re.sub(rf"\\frac\{{({GROUP})\}}", r"\1/", latex)
    latex = re.sub(rf"\^\{{({GROUP}[ +-]{GROUP})\}}", r"^(\1)", latex)
    latex = re.sub(LAYOUT, "", latex)
    latex = re.sub(r"\\([A-Za-z]+)", lambda name: SIGNS.get(name[1], name[1]), latex)
    return re.sub(r"[{}\\]", "", latex).replace("^ᵀ", "ᵀ")


def text_of(node: nodes.Node) -> str:
    """Return the text of a part of a page, without what is not running text."""

    def words(node: nodes.Node) -> Iterator[str]:
        if isinstance(node, nodes.Text):
            yield node.astext()
        elif isinstance(node, nodes.math | nodes.math_block):
            yield in_a_line(node.astext())
        elif isinstance(node, nodes.Element) and "cell" in node["classes"]:
            for caption in node.findall(nodes.caption):
                yield f"{caption.astext()} "
        elif isinstance(node, nodes.Element) and not _says_nothing(node):
            for child in node.children:
                if not isinstance(child, LEFT_OUT):
                    yield from words(child)
            if not isinstance(node, nodes.Inline):
                yield " "

    return re.sub(r" (?=[,.;:?)])", "", " ".join("".join(words(node)).split()))


def _says_nothing(node: nodes.Element) -> bool:
    """Return whether a node is a citation in brackets, a list of uses, or a number in a table or of
    minutes.
    """
    classes = node["classes"]
    if isinstance(node, nodes.entry):
        return not re.search(r"[^\W\d_]", node.astext())
    if isinstance(node, summary):
        return "gb-deeper" in node.parent["classes"]
    cited = "bibtex-citation" in classes and node.astext()[0] == "["
    return cited or "gb-uses" in classes or "gb-minutes" in classes


def parts_of(page: nodes.document, numbers: Mapping[str, Any], *, terms: bool) -> Iterator[Part]:
    """Yield the searchable parts of a page.

    Parameters
    ----------
    page : nodes.document
        The page, its references resolved.
    numbers : mapping
        The numbers of its sections, by their anchors.
    terms : bool
        Whether its definitions are those of the glossary.

    Yields
    ------
    tuple of str
        Anchor, number or kind, title, text, and the address of the section that introduces a term.
    """
    for part in page.findall(nodes.Element):
        if isinstance(part, nodes.section):
            path = _path(part)
            number = numbers.get(f"#{path[0]['ids'][0]}" if path else "") or ()
            title = " › ".join(text_of(nodes.inline("", "", *s[0].children)) for s in path)
            said = (text_of(child) for child in part.children if not isinstance(child, LEFT_OUT))
            anchor = part["ids"][0] if path else ""
            yield anchor, ".".join(map(str, number)), title, " ".join(filter(None, said))
        elif isinstance(part, addnodes.desc):
            signature, meaning = part.children[0], part.children[-1].next_node(nodes.paragraph)
            if signature["ids"] and meaning:
                yield signature["ids"][0], "name", signature["fullname"], text_of(meaning)
        elif isinstance(part, nodes.citation):
            text = " ".join(text_of(child) for child in part.children[1:])
            text = re.sub(r"\$(.+?)\$", lambda formula: in_a_line(formula[1]), text)
            found = TITLE.search(text)
            yield part["ids"][0], "work", found["title"] if found else text[:60], text
        elif isinstance(part, nodes.definition_list_item) and terms:
            places = [link["refuri"] for link in part.findall(_is_use)]
            for term in part.findall(nodes.term):
                text = text_of(part.children[-1])
                yield term["ids"][0], "term", term.astext(), text, *places


def _is_use(node: nodes.Node) -> bool:
    return isinstance(node, nodes.reference) and "gb-uses" in node.parent["classes"]


def _path(section: nodes.Element) -> list[nodes.Element]:
    """Return the sections around a section and itself, without the page."""
    path: list[nodes.Element] = []
    while isinstance(section.parent, nodes.section):
        path.insert(0, section)
        section = section.parent
    return path


class Index:
    """The content of the pages, collected one by one and written at the end."""

    def __init__(self) -> None:
        self.pages: dict[str, list[Part]] = {}

    def note(self, app: Sphinx, page: nodes.document, docname: str) -> None:
        """Add a page, once its references are resolved; a list of links has no text."""
        if docname == LINKS:
            return
        numbers = app.env.toc_secnumbers.get(docname, {})
        self.pages[docname] = list(parts_of(page, numbers, terms=docname == GLOSSARY))

    def write(self, app: Sphinx, error: Exception | None) -> None:
        """Write the index: address, chapter and title of each page, and its parts."""
        if error is not None or app.builder.format != "html":
            return
        index = [
            [f"{name}.html", chapter_number(name), app.env.titles[name].astext(), parts]
            for name, parts in self.pages.items()
        ]
        text = json.dumps(index, ensure_ascii=False, separators=(",", ":"))
        target = Path(app.outdir, "_static", "search-index.js")
        target.write_text(f"glassboxIndex={text}", encoding="utf-8")


def make_no_other(app: Sphinx) -> None:
    """Keep Sphinx from writing its own index and search page."""
    app.builder.search = False  # type: ignore[attr-defined]


def page(app: Sphinx) -> Iterator[tuple[str, dict[str, Any], str]]:
    """Add the page of search results."""
    yield "search", {}, "search.html"


def setup(app: Sphinx) -> None:
    """Add the pages once their uses of terms and works are known."""
    index = Index()
    app.connect("builder-inited", make_no_other)
    app.connect("doctree-resolved", index.note, priority=600)
    app.connect("html-collect-pages", page)
    app.connect("build-finished", index.write)
