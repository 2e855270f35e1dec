"""Imports between the modules of the package point up the list that it begins with."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import glassbox

FOLDER = Path(glassbox.__file__).parent


def listed() -> list[str]:
    """The modules and packages in the order of the docstring."""
    lists = re.findall(r"^- [^:]+: (.+)$", str(glassbox.__doc__), re.MULTILINE)
    return [name for line in lists for name in line.split(", ")]


def imported(file: Path) -> Iterator[str]:
    """The modules and packages of the first rank that a file imports anywhere in it."""
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("glassbox."):
            yield str(node.module).split(".")[1]


def test_the_list_names_every_module_and_package_once():
    there = {path.stem for path in FOLDER.glob("*.py")}
    there |= {path.parent.name for path in FOLDER.glob("*/__init__.py")}
    assert sorted(listed()) == sorted(there - {"__init__", "__main__"})


def test_imports_point_up_the_list():
    places = {name: place for place, name in enumerate(listed())}
    files = {name: [*FOLDER.glob(f"{name}.py"), *(FOLDER / name).rglob("*.py")] for name in places}
    down = {
        f"{file.relative_to(FOLDER)} imports {other}"
        for name, found in files.items()
        for file in found
        for other in imported(file)
        if places[other] > places[name]
    }
    assert down == set()
