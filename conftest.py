"""How pytest runs the chapters: as a notebook does, and compared as `tools/same_output.py` says."""

import os

import pytest
from nbval.kernel import RunningKernel
from nbval.plugin import IPyNbCell, IPyNbFile

from tools.notebooks import ROOT, enter_surroundings
from tools.same_output import Output

# Drawn, not printed: each figure has numbers beside it, which are compared. nbval skips PNG itself.
DRAWN = ("image/svg+xml",)

nbvals_setup, nbvals_sanitize = IPyNbFile.setup, IPyNbCell.sanitize


def setup(file: IPyNbFile) -> None:
    nbvals_setup(file)
    file.skip_compare += DRAWN
    if salt := os.environ.get("GLASSBOX_SHAKEN"):
        enter = (
            f"import sys; sys.path.append({str(ROOT)!r}); import tools.shaken as s; s.enter({salt})"
        )
        kernel = file.kernel.kc
        kernel.execute_interactive(enter, store_history=False, output_hook=print)


def sanitize(cell: IPyNbCell, output: object) -> object:
    clean = nbvals_sanitize(cell, output)
    return Output(clean) if isinstance(clean, str) else clean


def execute(kernel: RunningKernel, source: str, allow_stdin: bool | None = None) -> str:
    """Send a cell with its history, which IPython reads to see the `;` that silences a result."""
    return kernel.kc.execute(source, allow_stdin=allow_stdin, stop_on_error=False)


def pytest_configure(config: pytest.Config) -> None:
    IPyNbFile.setup, IPyNbCell.sanitize = setup, sanitize
    RunningKernel.execute_cell_input = execute
    if config.option.nbval:
        enter_surroundings()
