"""Start a chapter: copy the template under its number and name, and enter it in `_toc.yml`."""

import os
import re
import shutil
import sys
from pathlib import Path
from typing import Any

import nbformat
import yaml

from tools.notebooks import CHAPTERS, ROOT, normalise, write

#: The last chapter of each part.
PARTS = {
    2: "Part I — The idea",
    6: "Part II — Attention",
    8: "Part III — The model",
    10: "Part IV — Learning and generating",
    14: "Part V — Beyond the paper",
}
#: The quiz that the template shows.
BORROWED = "scaled_dot_product"


def start(number: int, name: str, title: str, root: Path = ROOT) -> Path:
    """Write the notebook and the entry; return the notebook's path."""
    if not re.fullmatch(r"[a-z][a-z0-9_]*", name):
        sys.exit(
            f"NAME={name!r} has to be lower-case words joined by _, such as positional_encoding."
        )
    if not 1 <= number <= max(PARTS):
        sys.exit(f"NUMBER={number} is not a chapter of the book, which has 1 to {max(PARTS)}.")
    folder = root / "chapters"
    if taken := sorted(folder.glob(f"{number:02d}_*")):
        sys.exit(f"Chapter {number} is there already: {taken[0].name}.")
    questions = root / "code" / "glassbox_book" / "quiz" / f"{name}.toml"
    if questions.exists():
        sys.exit(f"NAME={name} is taken: its quiz is {questions.relative_to(root)}.")
    path = folder / f"{number:02d}_{name}.ipynb"
    notebook = nbformat.read(CHAPTERS / "_template.ipynb", as_version=4)
    label = name.replace("_", "-")
    for cell in notebook.cells:
        cell.source = renamed(cell.source, label)
        cell.source = cell.source.replace(f'quiz("{BORROWED}")', f'quiz("{name}")')
        figure = cell.metadata.get("mystnb", {}).get("figure", {})
        if "name" in figure:
            figure["name"] = renamed(figure["name"], label)
    first = notebook.cells[0]
    first.source = first.source.replace("# Title in sentence case", f"# {title}", 1)
    write(normalise(notebook), path)
    questions.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(CHAPTERS / "_template_quiz.toml", questions)
    enter(f"chapters/{path.stem}", part_of(number), root / "_toc.yml")
    return path


def renamed(text: str, label: str) -> str:
    """Rename the template's labels after the chapter: `eq-template-x` becomes `eq-name-x`."""
    return re.sub(r"\b(ch|eq|ex|fig|lst|sec)-template\b", rf"\1-{label}", text)


def part_of(number: int) -> str:
    """Return the caption of the part that a chapter belongs to."""
    return next(caption for last, caption in PARTS.items() if number <= last)


def enter(file: str, caption: str, toc: Path) -> None:
    """Insert a chapter into its part by its number; create the part if it is the first."""
    text = toc.read_text(encoding="utf-8")
    contents = yaml.safe_load(text)
    parts: list[dict[str, Any]] = contents["parts"]
    part = next((part for part in parts if part["caption"] == caption), None)
    if part is None:
        part = {"caption": caption, "chapters": []}
        later = [*list(PARTS.values())[list(PARTS.values()).index(caption) + 1 :], "Back matter"]
        places = [i for i, other in enumerate(parts) if other["caption"] in later]
        parts.insert(places[0] if places else len(parts), part)
    part["chapters"] = sorted([*part["chapters"], {"file": file}], key=lambda entry: entry["file"])
    comments = "".join(line for line in text.splitlines(keepends=True) if line.startswith("#"))
    body = yaml.dump(contents, Dumper=Indented, sort_keys=False, allow_unicode=True)
    toc.write_text(comments + body, encoding="utf-8")


class Indented(yaml.SafeDumper):
    """Indents lists further than their parent, as the file does."""

    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:
        super().increase_indent(flow, False)


def main() -> None:
    # make passes its variables in the environment, where a title may contain any quotes.
    number, name, title = (os.environ.get(key, "") for key in ("NUMBER", "NAME", "TITLE"))
    if not (number.isdecimal() and name and title):
        sys.exit('Say which: make new-chapter NUMBER=13 NAME=vision TITLE="..."')
    path = start(int(number), name, title)
    print(f"{path.relative_to(ROOT)} is there and entered in _toc.yml. Write it: make lab")


if __name__ == "__main__":
    main()
