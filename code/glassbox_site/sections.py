"""Show how long a section takes, and fold sections that go deeper.

Minutes are counted as for a whole chapter (`times`). A part that can be skipped on a first reading
begins, below its heading, with the directive `{deeper}`, whose body says in a sentence what the
part adds; the rest of its section folds, and opens when a link leads to it.
"""

from collections.abc import Iterable

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.errors import ExtensionError
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util.docutils import SphinxDirective
from sphinx_exercise.nodes import exercise_enumerable_node, exercise_node

from glassbox_site.folding import details, summary
from glassbox_site.levels import is_cell, is_solution, kind
from glassbox_site.numbers import chapter_number
from glassbox_site.times import MINUTES_AN_EXERCISE, minutes


class Deeper(SphinxDirective):
    """Mark the section around it as one that goes deeper."""

    has_content = True

    def run(self) -> list[nodes.Node]:
        """Keep its body in a container, for `Times`."""
        said = nodes.container(classes=["gb-why"], deeper=True)
        self.state.nested_parse(self.content, self.content_offset, said)
        return [said]


def count(section: nodes.section, leave_out: Iterable[nodes.Element] = ()) -> int:
    """Return the minutes that a section takes, without some of the nodes below it."""
    exercises = sum(
        isinstance(node, exercise_node | exercise_enumerable_node) for node in section.findall()
    )
    if exercises:
        return exercises * MINUTES_AN_EXERCISE
    skipped = {id(node) for part in leave_out if part is not section for node in part.findall()}
    cells = [cell for cell in section.findall(is_cell) if id(cell) not in skipped]
    skipped |= {id(text) for cell in cells for text in cell.findall(nodes.Text)}
    words = sum(
        len(text.split())
        for text in section.findall(nodes.Text)
        if id(text) not in skipped and not isinstance(text.parent, nodes.raw)  # no drawings
    )
    kinds = [
        kind(cell[0].astext(), cell["cell_metadata"])
        for cell in cells
        if not is_solution(cell["cell_metadata"])
    ]
    return max(1, round(minutes(words, kinds)))


class Times(SphinxPostTransform):
    """Show the time below the headings of a chapter, and fold what goes deeper."""

    default_priority = 380  # before any code is folded
    formats = ("html",)

    def run(self, **kwargs: object) -> None:
        """Act on this document."""
        told = [said for said in self.document.findall(nodes.container) if said.get("deeper")]
        if chapter_number(self.env.docname) is not None:
            for section in list(self.document.findall(nodes.section)):
                above = section.parent
                is_second = isinstance(above, nodes.section) and above.parent is self.document
                time = count(section, [said.parent for said in told])
                if is_second and time > 1 and not any(said.parent is section for said in told):
                    section.insert(1, nodes.paragraph("", f"{time} min", classes=["gb-minutes"]))
        for said in told:
            section = said.parent
            rest = section.children[section.index(said) + 1 :]
            if not isinstance(section, nodes.section) or not rest:
                raise ExtensionError(
                    f"{self.env.docname}: {{deeper}} stands below a heading, before what it folds"
                )
            head = summary("", nodes.Text(f"Going deeper, {count(section)} min"))
            for node in rest:
                section.remove(node)
            section += details("", head, *rest, classes=["gb-deeper"])


def setup(app: Sphinx) -> None:
    """Register the directive and the transform."""
    app.add_directive("deeper", Deeper)
    app.add_post_transform(Times)
