"""Run chapters again and keep their outputs: `refresh.py 04` one, `refresh.py all` every one."""

import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError
from nbformat import NotebookNode

from tools.notebooks import CHAPTERS, enter_surroundings, normalise, notebooks, surroundings, write

CELL_SECONDS = 600


def chosen(which: str, folder: Path = CHAPTERS) -> list[Path]:
    """Return the chapters selected by `04`, `4`, a file's name or `all`."""
    if which == "all":
        return notebooks()
    name = Path(which).stem
    number = f"{int(name):02d}" if name.isdecimal() else None
    every = sorted(path for path in folder.glob("*.ipynb") if not path.name.startswith("."))
    found = [p for p in every if p.stem == name or (number and p.name.startswith(f"{number}_"))]
    if not found:
        names = ", ".join(path.stem for path in every) or "none yet"
        sys.exit(f"There is no chapter {which}. The chapters are: {names}.")
    return found


def run(notebook: NotebookNode) -> NotebookNode:
    """Execute a notebook in place, from top to bottom, in a fresh kernel and an empty folder.

    A chapter that needs a file next to it fails here, as it would for a reader who has downloaded
    only the notebook.
    """
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
    with TemporaryDirectory() as folder:
        client = NotebookClient(
            notebook,
            kernel_name="python3",
            timeout=CELL_SECONDS,
            record_timing=False,
            store_widget_state=False,
            coalesce_streams=True,
            extra_arguments=["--log-level=ERROR"],  # hide the kernel's own messages
            resources={"metadata": {"path": folder}},
        )
        client.execute(env=surroundings())
    return notebook


def refresh(path: Path) -> None:
    """Run one chapter and replace it with the result; if a cell fails, leave it unchanged."""
    notebook = nbformat.read(path, as_version=4)
    write(normalise(run(notebook)), path)


def main(which: str) -> None:
    enter_surroundings()
    for path in chosen(which):
        start = time.perf_counter()
        print(f"Running {path.name} ...", end=" ", flush=True)
        try:
            refresh(path)
        except CellExecutionError as error:
            sys.exit(f"a cell failed, and the chapter is left as it was:\n{error}")
        print(f"{time.perf_counter() - start:.0f} s", flush=True)


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "all")
