"""Fold solutions and anything with the class `dropdown` with `<details>`, without a script."""

from collections.abc import Callable

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.locale import admonitionlabels
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.writers.html5 import HTML5Translator
from sphinx_exercise.nodes import solution_node

Visitor = Callable[[HTML5Translator, nodes.Element], None]


class details(nodes.General, nodes.Element):
    """A block that opens and closes."""


class summary(nodes.General, nodes.Element):
    """The line of a folded block that stays visible."""


class Fold(SphinxPostTransform):
    """Turn solutions and dropdowns into folded blocks."""

    default_priority = 400  # after sphinx-exercise has resolved the titles
    formats = ("html",)

    def run(self, **kwargs: object) -> None:
        """Fold them in this document."""
        for node in list(self.document.findall(nodes.Element)):
            if not (isinstance(node, solution_node) or _is_dropdown(node)):
                continue
            title, *content = node.children
            if node.tagname in admonitionlabels:  # a hint, a note: titled by what it is
                title = nodes.title("", admonitionlabels[node.tagname])
                content = node.children
            for link in list(title.findall(nodes.reference)):  # a summary is a button already
                link.replace_self(link.children)
            head = summary("", nodes.inline("", "", *title.children))
            # sphinx-exercise puts gated content into a section, whose id would not be unique
            body = [c for part in content for c in (part.children if _is_section(part) else [part])]
            classes = [c for c in " ".join(node["classes"]).split() if c != "dropdown"]
            node.replace_self(
                details("", head, *body, classes=["gb-fold", *classes], ids=node["ids"])
            )
        for section in list(self.document.findall(_is_gated_content)):
            section["ids"] = []
            section.replace_self(section.children)


def _is_dropdown(node: nodes.Element) -> bool:
    return "dropdown" in " ".join(node.get("classes", ())).split()


def _is_section(node: nodes.Node) -> bool:
    return isinstance(node, nodes.section)


def _is_gated_content(node: nodes.Node) -> bool:
    return _is_section(node) and node["ids"] in (["exercise-content"], ["solution-content"])


def _visit(name: str) -> tuple[Visitor, Visitor]:
    def visit(translator: HTML5Translator, node: nodes.Element) -> None:
        translator.body.append(translator.starttag(node, name))

    def depart(translator: HTML5Translator, node: nodes.Element) -> None:
        translator.body.append(f"</{name}>\n")

    return visit, depart


def setup(app: Sphinx) -> None:
    """Register the nodes and the transform."""
    app.add_node(details, html=_visit("details"))
    app.add_node(summary, html=_visit("summary"))
    app.add_post_transform(Fold)
