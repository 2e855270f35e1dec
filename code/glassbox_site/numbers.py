"""Number chapters by their file names.

`chapters/04_scaled_dot_product.ipynb` is chapter 4, its first section 4.1, its second figure Figure
4.2, whatever other chapters exist. Sphinx would count in the order of the table of contents.
"""

import re
from collections.abc import Iterator

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.environment.collectors.toctree import TocTreeCollector

DEPTH = 2  # chapters and sections are numbered, deeper levels are not


def chapter_number(docname: str) -> int | None:
    """Return the number that a document's file name begins with, or None."""
    found = re.match(r"(\d+)_", docname.rpartition("/")[2])
    return int(found[1]) if found else None


def number_headings(
    siblings: nodes.Element, first: tuple[int, ...]
) -> Iterator[tuple[nodes.reference, tuple[int, ...] | None]]:
    """Yield the headings of a contents list, each with its number; None below `DEPTH`."""
    items = [child for child in siblings.children if isinstance(child, nodes.list_item)]
    for count, item in enumerate(items):
        number = (*first[:-1], first[-1] + count)
        for part in item.children:
            if isinstance(part, addnodes.compact_paragraph):
                yield part[0], number if len(number) <= DEPTH else None
            elif isinstance(part, nodes.bullet_list):
                yield from number_headings(part, (*number, 1))


def assign_section_numbers(self: TocTreeCollector, env: BuildEnvironment) -> list[str]:
    """Number the chapters; return the documents whose numbers changed."""
    before = env.toc_secnumbers
    env.toc_secnumbers = {}
    for docname, toc in env.tocs.items():
        chapter = chapter_number(docname)
        if chapter is None:
            continue
        numbers: dict[str, tuple[int, ...] | None] = {}
        env.toc_secnumbers[docname] = numbers  # type: ignore[assignment]
        for reference, number in number_headings(toc, (chapter,)):
            numbers[reference["anchorname"]] = number
            reference["secnumber"] = number
        env.titles[docname]["secnumber"] = (chapter,)
    changed = before.keys() ^ env.toc_secnumbers.keys()
    changed |= {d for d, n in env.toc_secnumbers.items() if n != before.get(d)}
    return sorted(changed)


def setup(app: Sphinx) -> None:
    """Replace Sphinx's own numbering, which has no event to hook into."""
    TocTreeCollector.assign_section_numbers = assign_section_numbers  # type: ignore[method-assign]
