"""Make the bibliography a list of its entries, for screen readers too.

docutils gives each entry a role that the standard has withdrawn, inside a list that allows only
list items.
"""

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.writers.html5 import HTML5Translator


def visit_citation(translator: HTML5Translator, node: nodes.citation) -> None:
    """Begin an entry, and before the first one the list."""
    if not isinstance(node.previous_sibling(), nodes.citation):
        translator.body.append('<div role="list" class="citation-list">\n')
    translator.body.append(translator.starttag(node, "div", classes=["citation"], role="listitem"))


def depart_citation(translator: HTML5Translator, node: nodes.citation) -> None:
    """End an entry, and after the last one the list."""
    translator.body.append("</div>\n")
    if not isinstance(node.next_node(descend=False, siblings=True), nodes.citation):
        translator.body.append("</div>\n")


def setup(app: Sphinx) -> None:
    """Write citations this way."""
    app.add_node(nodes.citation, override=True, html=(visit_citation, depart_citation))
