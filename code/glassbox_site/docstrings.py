"""Turn docstrings in NumPy's style into definition lists: name, type, meaning.

Each section is a field that contains its entries; a narrow screen can wrap them, where it would
have to scroll a table.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx

from glassbox_site.objects import is_ours, look_up, modules

#: Sections whose entries are a line `name : type` and an indented description.
ENTRIES = ("Parameters", "Attributes", "Returns", "Yields", "Raises")
UNDERLINE = re.compile(r"-{3,}\s*$")
NAMED = re.compile(r"(?P<names>\*{0,2}\w+(?:, \*{0,2}\w+)*) : (?P<kind>.+)$")
CHAPTER = re.compile(
    r"\b(?P<word>[Cc]hapter)\s+(?P<number>\d+)(?P<equations>,\s+equations?\s+``eq-[\w-]+``"
    r"(?:(?:,|,?\s+and)\s+``eq-[\w-]+``)*)?|(?P<alone>``eq-[\w-]+``)"
)


def sections(lines: list[str]) -> Iterator[tuple[str, list[str]]]:
    """Yield the parts of a docstring, each with its heading; the first has none."""
    name, start = "", 0
    for place, line in enumerate(lines):
        if place and UNDERLINE.match(line) and lines[place - 1].strip():
            yield name, lines[start : place - 1]
            name, start = lines[place - 1].strip(), place + 1
    yield name, lines[start:]


def entries(body: list[str]) -> Iterator[str]:
    """Yield the lines of a section at which an entry begins."""
    yield from (line for line in body if line and not line[0].isspace())


def names(entry: str) -> list[str]:
    """Return the names that an entry describes: parameters, or exceptions."""
    return [name.strip(" *") for name in entry.partition(" : ")[0].split(",")]


def to_rst(lines: list[str], module: str) -> list[str]:
    """Turn a docstring into reStructuredText in which every section is a field."""
    text: list[str] = []
    for name, body in sections(lines):
        if not name:
            text += body
            continue
        begins = set(entries(body)) if name in ENTRIES else set()
        text += ["", f":{name}:"]
        for line, below in zip(body, [*body[1:], ""], strict=True):
            text.append(f"   {_entry(name, line, module) if line in begins else line}".rstrip())
            if line in begins and not below.startswith(" "):
                text.append("      ..")  # no description
    return [*text, ""]


def _entry(section: str, line: str, module: str) -> str:
    """Format the first line of an entry: names as code, followed by their type."""
    if section == "Raises":
        return ", ".join(f"``{name}``" for name in names(line))
    if found := NAMED.match(line):
        shown = ", ".join(f"``{name}``" for name in found["names"].split(", "))
        return f"{shown} : {_linked(found['kind'], module)}"
    if section in ("Returns", "Yields"):  # a type, and no name
        return _linked(line, module)
    return f"``{line}``"


def _linked(kind: str, module: str) -> str:
    """Link the package's own classes in the description of a type."""
    return re.sub(
        r"(?<![.\w])[A-Z]\w+\b",  # not the class of a module, as in nn.Linear
        lambda word: f":class:`{word[0]}`" if is_ours(look_up(word[0], module)) else word[0],
        kind.replace("*", r"\*"),
    )


def link_chapters(text: str, chapters: dict[int, str]) -> str:
    """Link "Chapter 4, equation ``eq-scores``" if the book has that chapter, and an equation."""

    def link(found: re.Match[str]) -> str:
        equations = found["alone"] or found["equations"] or ""
        equations = re.sub(r"``([\w-]+)``", r":eq:`\1`", equations)
        if found["alone"]:
            return equations
        document = chapters.get(int(found["number"]))
        if document is None:
            return found[0]
        return f":doc:`{found['word']} {found['number']} </{document}>`{equations}"

    return CHAPTER.sub(link, text)


def process(app: Sphinx, what: str, name: str, thing: Any, options: Any, lines: list[str]) -> None:
    """Rewrite a docstring before it is parsed."""
    module = max((path for path in modules() if f"{name}.".startswith(f"{path}.")), key=len)
    files = Path(app.srcdir, "chapters").glob("[0-9][0-9]_*.ipynb")
    chapters = {int(file.name[:2]): f"chapters/{file.stem}" for file in files}
    lines[:] = link_chapters("\n".join(to_rst(lines, module)), chapters).split("\n")


def setup(app: Sphinx) -> None:
    """Act on every docstring that autodoc reads."""
    app.setup_extension("sphinx.ext.autodoc")
    app.connect("autodoc-process-docstring", process)
