"""Chapters are re-executed in strict mode: a wrong digit, word or picture count fails."""

import subprocess
import sys
from pathlib import Path

import nbformat
from nbformat import v4

from tools.notebooks import ROOT

DRAW = "from IPython.display import SVG\nSVG('<svg xmlns=\"http://www.w3.org/2000/svg\"/>')"


def printed(text: str) -> list:
    return [v4.new_output("stream", name="stdout", text=text + "\n")]


def result(**data: str) -> list:
    kinds = {kind.replace("_", "/"): part for kind, part in data.items()}
    return [v4.new_output("execute_result", kinds, execution_count=1)]


PICTURE = "from IPython.display import HTML\nHTML('<img src=\"data:image/png;base64,AAAA\"> 0.50')"

LINES = '{} <div class="gb-lines"><svg>\n<path d="{}"/>\n</svg>\n</div>'
CHART = f"from IPython.display import HTML\nHTML({LINES.format('0.50', 'M 1.2 3.4')!r})"


def picture(html: str) -> list:
    return result(text_html=html, text_plain="<IPython.core.display.HTML object>")


SVG = {"image/svg+xml": "<svg/>", "text/plain": "<IPython.core.display.SVG object>"}

CELLS = [  # source, the output that the notebook holds, whether that passes
    ("print(0.1234)", printed("0.1234"), True),
    ("print(0.1234)", printed("0.1235"), True),
    ("print(0.1234)", printed("0.1236"), False),
    ("print(7)", printed("8"), False),
    ("print('flies', 0.5)", printed("arrow 0.5"), False),
    ("(1, 5, 768)", result(text_plain="(1, 5, 768)"), True),
    ("(1, 5, 768)", result(text_plain="(1, 5, 769)"), False),
    ("print('more')", [], False),
    ("pass", printed("less"), False),
    ("5;", [], True),
    (DRAW, [v4.new_output("execute_result", SVG, execution_count=1)], True),
    (DRAW, [], False),
    (PICTURE, picture('<img src="data:image/png;base64,AAB="> 0.50'), True),
    (PICTURE, picture('<img src="data:image/png;base64,AAAA"> 0.70'), False),
    (PICTURE, picture("0.50"), False),
    (CHART, picture(LINES.format("0.50", "M 1.25 3.5")), True),
    (CHART, picture(LINES.format("0.70", "M 1.2 3.4")), False),
    ("import os\nos.environ['GLASSBOX_VIEW_SCRIPTS']", result(text_plain="'linked'"), True),
    ("print(os.listdir())", printed("[]"), True),  # a notebook that was downloaded is alone
    ("import warnings\nwarnings.warn('careful')", [], False),
    ("1 / 0", [], False),
]


def test_cells_pass_and_fail_as_their_outputs_deserve(tmp_path: Path) -> None:
    notebook = v4.new_notebook()
    for count, (source, outputs, _) in enumerate(CELLS, start=1):
        notebook.cells.append(v4.new_code_cell(source, execution_count=count, outputs=outputs))
    path = tmp_path / "cells.ipynb"
    nbformat.write(notebook, path)
    options = ["--nbval", "--nbval-current-env", "-p", "conftest", "-rA", "-p", "no:cacheprovider"]
    options += ["--nbval-sanitize-with=tests/book/sanitize.cfg"]
    run = subprocess.run(
        [sys.executable, "-m", "pytest", *options, str(path), f"--rootdir={ROOT}"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    passed = {
        int(line.split("::Cell ")[1].split()[0]): line.startswith("PASSED")
        for line in run.stdout.splitlines()
        if line.startswith(("PASSED", "FAILED")) and "::Cell " in line
    }
    assert passed == {number: good for number, (_, _, good) in enumerate(CELLS)}, run.stdout
