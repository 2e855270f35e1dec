"""Show the definition of a glossary term where the term is used.

Every page carries, hidden at its end, the definitions of the terms it links to; the link is
described by its definition (`aria-describedby`), and `preview.js` shows it on hover, focus and tap.
"""

from functools import cache

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment

GLOSSARY = "chapters/glossary"


@cache
def glossary(env: BuildEnvironment) -> dict[str, nodes.definition]:
    """Return the glossary's definitions by the ids of their terms."""
    if GLOSSARY not in env.found_docs:
        return {}
    entries = {}
    for item in env.get_doctree(GLOSSARY).findall(nodes.definition_list_item):
        definition = item.next_node(nodes.definition)
        for term in item.findall(nodes.term):
            entries.update(dict.fromkeys(term["ids"], definition))
    return entries


def without_links(definition: nodes.definition) -> list[nodes.Node]:
    """Return a copy of a definition with cross-references as plain text and without ids."""
    copy = definition.deepcopy()
    for link in list(copy.findall(addnodes.pending_xref)):
        link.replace_self(nodes.inline("", link.astext()))
    for element in copy.findall(nodes.Element):
        element["ids"] = []
    return copy.children


def add_definitions(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    """Add the definition of each term that a page links to, as its description."""
    if app.builder.format != "html" or docname == GLOSSARY:
        return
    used: dict[str, nodes.definition] = {}
    for link in doctree.findall(nodes.reference):
        inner = link.next_node(nodes.inline)
        if inner is None or "std-term" not in inner["classes"]:
            continue
        known = glossary(app.env)
        anchor = link.get("refuri", "").partition("#")[2]
        if anchor in known:
            used[anchor] = known[anchor]
    if used:
        doctree += nodes.raw("", '<div class="gb-definitions" hidden>', format="html")
        for anchor, definition in used.items():
            doctree += nodes.container(
                "", *without_links(definition), ids=[f"def-{anchor}"], classes=["gb-definition"]
            )
        doctree += nodes.raw("", "</div>", format="html")


def setup(app: Sphinx) -> None:
    """Act after all references of a page are resolved."""
    app.connect("doctree-resolved", add_definitions)
