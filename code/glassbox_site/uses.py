"""Show where the book uses the terms of its glossary and the works of its bibliography.

Both lists are divided by letter, and each entry links back: a term to the section that introduces
it, a work to every section that cites it.
"""

import re
from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import Any, NamedTuple

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment

from glassbox_site.definitions import GLOSSARY
from glassbox_site.numbers import chapter_number


class Place(NamedTuple):
    """A place in a chapter, and the section around it."""

    docname: str
    anchor: str
    number: str
    title: str


def singular(name: str) -> str:
    """Return a name in lower case, and in the singular as far as its spelling shows."""
    return re.sub(r"(?<=[a-z]{2})(ies|s)$", lambda end: "y" * (end[1] == "ies"), name.lower())


def uses(env: BuildEnvironment) -> Iterator[tuple[str, str, Place]]:
    """Yield all uses in the order of the chapters: kind, name, place.

    Parameters
    ----------
    env : BuildEnvironment
        The environment of a book that has been read.

    Yields
    ------
    tuple of str, str and Place
        ``bold``, ``term`` or ``cite``; a name in the singular, or a key of the bibliography.
    """
    for docname in sorted(filter(chapter_number, env.found_docs)):
        for node in env.get_doctree(docname).findall(nodes.Element):
            if isinstance(node, nodes.strong):
                yield "bold", singular(node.astext()), _place(env, docname, node)
            elif isinstance(node, addnodes.pending_xref):
                if node["reftype"] == "term":
                    yield "term", singular(node["reftarget"]), _place(env, docname, node)
                elif node["refdomain"] == "cite":
                    for key in node["reftarget"].split(","):
                        yield "cite", key.strip(), _place(env, docname, node)


def _place(env: BuildEnvironment, docname: str, node: nodes.Element) -> Place:
    anchor, heading, section = next(iter(node["ids"]), ""), env.titles[docname], node.parent
    numbers, name = env.toc_secnumbers[docname], ""
    while not isinstance(section.parent, nodes.document):
        if isinstance(section, nodes.section) and isinstance(section.parent, nodes.section):
            anchor = anchor or section["ids"][0]
            heading, name = section[0], f"#{section['ids'][0]}"
        section = section.parent
    return Place(docname, anchor, ".".join(map(str, numbers[name] or ())), heading.astext())


def introduction(found: list[tuple[str, Place]]) -> Place:
    """Return where a term is first set in bold, or else named, in the first chapter that has it."""
    first = [(kind, place) for kind, place in found if place.docname == found[0][1].docname]
    return next((place for kind, place in first if kind == "bold"), first[0][1])


def link(app: Sphinx, docname: str, place: Place, text: str) -> nodes.reference:
    """Return a link from a page to a place."""
    address = app.builder.get_relative_uri(docname, place.docname)
    anchor = f"#{place.anchor}" if place.anchor else ""
    return nodes.reference("", text, internal=True, refuri=address + anchor)


def letters(groups: Iterable[str]) -> nodes.paragraph:
    """Return a row of letters that link to their headings."""
    row = nodes.paragraph(classes=["gb-letters"])
    for letter in groups:
        row += nodes.reference("", letter, internal=True, refid=f"letter-{letter.lower()}")
        row += nodes.Text(" ")
    return row


def heading(letter: str) -> nodes.rubric:
    """Return the heading of a letter."""
    return nodes.rubric("", letter, ids=[f"letter-{letter.lower()}"], classes=["gb-letter"])


def divide_glossary(app: Sphinx, page: nodes.document, docname: str) -> None:
    """Divide the glossary by letter, and add to each term the section that introduces it."""
    if docname != GLOSSARY or app.builder.format != "html":
        return
    used: dict[str, list[tuple[str, Place]]] = {}
    for kind, name, place in uses(app.env):
        if kind != "cite":
            used.setdefault(name, []).append((kind, place))
    whole = next(page.findall(addnodes.glossary))
    entries = whole[0].children
    for entry in entries:
        names = (singular(term.astext()) for term in entry.findall(nodes.term))
        if found := next((used[name] for name in names if name in used), None):
            place = introduction(found)
            where = link(app, docname, place, f"{place.number} {place.title}")
            entry[-1] += nodes.paragraph("", "Introduced in ", where, classes=["gb-uses"])
    groups = _by_letter(entries)
    row = letters(letter for letter, _ in groups)
    parts = [part for letter, group in groups for part in (heading(letter), _glossary(group))]
    whole.replace_self([row, *parts])


def _by_letter(entries: Iterable[nodes.Element]) -> list[tuple[str, list[nodes.Element]]]:
    """Group entries by their first letter, in alphabetical order."""

    def letter(entry: nodes.Element) -> str:
        return entry[0].astext()[0].upper()

    return [(name, list(group)) for name, group in groupby(sorted(entries, key=letter), letter)]


def _glossary(entries: list[nodes.Node]) -> addnodes.glossary:
    return addnodes.glossary("", nodes.definition_list("", *entries, classes=["glossary"]))


def divide_bibliography(app: Sphinx, page: nodes.document, docname: str) -> None:
    """Divide the bibliography by letter, and add to each work the sections that cite it."""
    works = list(page.findall(nodes.citation))
    if not works or app.builder.format != "html":
        return
    citations: Any = app.env.get_domain("cite")
    keys = {found.citation_id: found.key for found in citations.citations}
    cited: dict[str, dict[str, Place]] = {}
    for kind, key, place in uses(app.env):
        if kind == "cite":
            cited.setdefault(key, {}).setdefault(place.number, place)
    # They are sorted by author, except for institutions, which come last.
    groups = _by_letter(works)
    parent, place = works[0].parent, min(work.parent.index(work) for work in works)
    for work in works:
        parent.remove(work)
    listed = [part for letter, group in groups for part in (heading(letter), *group)]
    parent.insert(place, [letters(letter for letter, _ in groups), *listed])
    for work in works:
        places = cited.get(keys[work["ids"][0]], {})
        if places:
            said = nodes.paragraph("", "Cited in ", classes=["gb-uses"])
            for number, place in places.items():
                if len(said) > 1:
                    said += nodes.Text(", ")
                said += link(app, docname, place, number)
            work += said


def setup(app: Sphinx) -> None:
    """Act after all references of a page are resolved."""
    app.connect("doctree-resolved", divide_glossary)
    app.connect("doctree-resolved", divide_bibliography)
