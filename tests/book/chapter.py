"""A chapter as the rules see it: its cells, its prose, its directives."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import nbformat
from nbformat import NotebookNode

from tools.notebooks import ROOT

FENCE = re.compile(
    r"^(?P<fence>`{3,}|~{3,}|:{3,})[ ]*(?:\{(?P<name>[\w-]+)\})?(?P<argument>[^\n]*)\n"
    r"(?P<body>.*?)^(?P=fence)[ ]*$",
    re.MULTILINE | re.DOTALL,
)
OPTION = re.compile(r"^:(?P<key>[\w-]+):[ ]*(?P<value>.*)$")


@dataclass(frozen=True)
class Directive:
    """A fenced block such as ```` ```{figure} image.svg ````; `name` is empty for plain code."""

    name: str
    argument: str
    options: dict[str, str]
    body: str


@dataclass(frozen=True)
class Chapter:
    """A notebook and where it lies."""

    path: Path
    notebook: NotebookNode

    @classmethod
    def read(cls, path: Path) -> "Chapter":
        return cls(path, nbformat.read(path, as_version=4))

    @property
    def name(self) -> str:
        return self.path.relative_to(ROOT).as_posix()

    @property
    def code(self) -> list[NotebookNode]:
        return [cell for cell in self.notebook.cells if cell.cell_type == "code"]

    @property
    def markdown(self) -> list[str]:
        return [cell.source for cell in self.notebook.cells if cell.cell_type == "markdown"]

    @property
    def text(self) -> str:
        return "\n\n".join(self.markdown)

    @property
    def prose(self) -> str:
        """The words: markdown without code, formulas, addresses, labels and options."""
        text = FENCE.sub(lambda found: found["body"] if found["name"] in WORDED else "", self.text)
        text = re.sub(r"^:[\w-]+:.*$|^\([\w-]+\)=$", "", text, flags=re.MULTILINE)
        return re.sub(r"`[^`]*`|\$[^$]*\$|\]\([^)]*\)|!(?=\[)", " ", text)

    def outputs(self) -> Iterator[tuple[NotebookNode, NotebookNode]]:
        """Every output with its cell."""
        for cell in self.code:
            for output in cell.outputs:
                yield cell, output

    def directives(self, *names: str) -> list[Directive]:
        """The directives of these names, in the order of the text."""
        return [d for text in self.markdown for d in directives(text) if d.name in names]

    def sections(self) -> list[tuple[int, str]]:
        """Level and title of every heading."""
        text = FENCE.sub("", self.text)
        return [(len(m[1]), m[2].strip()) for m in re.finditer(r"^(#+) (.+)$", text, re.MULTILINE)]

    def section(self, title: str) -> str:
        """The markdown from a second-level heading to the next one."""
        found = re.search(rf"^## {re.escape(title)}$(.*?)(?=^## |\Z)", self.text, re.M | re.S)
        return found[1] if found else ""


#: Directives whose body is prose.
WORDED = {
    "deeper",
    "epigraph",
    "figure",
    "note",
    "important",
    "warning",
    "seealso",
    "exercise",
    "exercise-start",
}


def directives(text: str) -> Iterator[Directive]:
    """Find the fenced blocks of a piece of markdown."""
    for found in FENCE.finditer(text):
        options, lines = {}, found["body"].splitlines()
        while lines and (option := OPTION.match(lines[0])):
            options[option["key"]] = option["value"].strip()
            lines.pop(0)
        body = "\n".join(lines).strip()
        yield Directive(found["name"] or "", found["argument"].strip(), options, body)


def texts(output: NotebookNode) -> dict[str, str]:
    """The parts of an output that are text, by their kind."""
    if output.output_type == "stream":
        return {output.name: output.text}
    if output.output_type == "error":
        return {"error": "\n".join(output.traceback)}
    return {kind: part for kind, part in output.data.items() if isinstance(part, str)}
