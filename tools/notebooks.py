"""The chapters: their list, their file format, and the environment they run in."""

import hashlib
import importlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nbformat
import yaml
from nbformat import NotebookNode

ROOT = Path(__file__).resolve().parent.parent
CHAPTERS = ROOT / "chapters"

NOTEBOOK_METADATA = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}
#: Metadata that frontends write into a cell about themselves or about the run.
FLEETING = ("ExecuteTime", "collapsed", "execution", "scrolled", "trusted")


def table_of_contents(root: Path = ROOT) -> list[Path]:
    """Return the files that `_toc.yml` lists, in its order, each with its suffix."""
    toc = yaml.safe_load((root / "_toc.yml").read_text(encoding="utf-8"))
    return [with_suffix(root / name) for name in entries(toc)]


def entries(node: Any) -> Iterator[str]:
    """Yield everything in a table of contents that names a file."""
    if isinstance(node, dict):
        yield from (node[key] for key in ("root", "file") if key in node)
        for key in ("parts", "chapters", "sections"):
            yield from entries(node.get(key, []))
    else:
        for item in node:
            yield from entries(item)


def with_suffix(stem: Path) -> Path:
    """Return the file for a name without suffix, or the name itself if there is none."""
    if stem.is_file():
        return stem
    found = [stem.with_name(stem.name + suffix) for suffix in (".ipynb", ".md")]
    return next((path for path in found if path.is_file()), stem)


def notebooks(root: Path = ROOT) -> list[Path]:
    """Return the chapters that are notebooks, in the book's order."""
    return [path for path in table_of_contents(root) if path.suffix == ".ipynb"]


def surroundings() -> dict[str, str]:
    """Return the environment variables a chapter runs in.

    They make every kernel import this tree. Committed outputs leave the scripts of the attention
    views to the site, and the user's settings of IPython or Matplotlib have no effect.
    """
    aside = str(ROOT / ".venv" / "share" / "glassbox")
    return dict(os.environ) | {
        "PYTHONPATH": os.pathsep.join(map(str, (ROOT / "code", ROOT))),
        "GLASSBOX_VIEW_SCRIPTS": "linked",
        "IPYTHONDIR": f"{aside}/ipython",
        "MPLCONFIGDIR": f"{aside}/matplotlib",
        "HF_HUB_OFFLINE": "1",
        "JUPYTER_PREFER_ENV_PATH": "1",
        "PYDEVD_DISABLE_FILE_VALIDATION": "1",
    }


def enter_surroundings() -> None:
    """Set these variables for this process and the kernels it starts."""
    os.environ.update(surroundings())
    # Matplotlib lists the machine's fonts once, and would report it in the first cell.
    importlib.import_module("matplotlib.font_manager")


def normalise(notebook: NotebookNode) -> NotebookNode:
    """Drop what differs between runs or machines, in place; return the notebook."""
    notebook.nbformat, notebook.nbformat_minor = 4, 5
    notebook.metadata = nbformat.from_dict(NOTEBOOK_METADATA)
    taken: set[str] = set()
    count = 0
    for position, cell in enumerate(notebook.cells):
        if not cell.get("id") or cell.id in taken:
            cell.id = hashlib.sha256(f"{position}\0{cell.source}".encode()).hexdigest()[:8]
        taken.add(cell.id)
        for key in FLEETING:
            cell.metadata.pop(key, None)
        if cell.cell_type == "code":
            if cell.execution_count is not None:
                count += 1
                cell.execution_count = count
            cell.outputs = merged(cell.outputs)
            for output in cell.outputs:
                if output.output_type == "execute_result":
                    output.execution_count = cell.execution_count
    return notebook


def merged(outputs: list[NotebookNode]) -> list[NotebookNode]:
    """Join adjacent pieces of one stream: where a kernel splits its output is random."""
    joined: list[NotebookNode] = []
    for output in outputs:
        last = joined[-1] if joined else None
        if last and output.output_type == last.output_type == "stream" and output.name == last.name:
            last.text += output.text
        else:
            joined.append(output)
    return joined


def write(notebook: NotebookNode, path: Path) -> None:
    """Write a notebook completely or not at all."""
    nbformat.validate(notebook)
    unfinished = path.with_name(f".{path.name}.unfinished")
    try:
        unfinished.write_text(nbformat.writes(notebook) + "\n", encoding="utf-8")
        unfinished.replace(path)
    finally:
        unfinished.unlink(missing_ok=True)
