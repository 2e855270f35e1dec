"""How pytest runs the chapters: as a notebook does, and compared as `tools/same_output.py` says."""

import os
from tempfile import TemporaryDirectory

import nbval.plugin
import pytest
from nbval.kernel import RunningKernel
from nbval.plugin import IPyNbCell, IPyNbFile

from tools.notebooks import ROOT, enter_surroundings
from tools.same_output import Output

# Drawn, not printed: each figure has numbers beside it, which are compared. nbval skips PNG itself.
DRAWN = ("image/svg+xml",)

nbvals_setup, nbvals_sanitize = IPyNbFile.setup, IPyNbCell.sanitize


class Kernel(RunningKernel):
    """A kernel in an empty folder, as for a reader who has downloaded the notebook alone."""

    def __init__(self, name: str, cwd: str | None = None, startup_timeout: int = 60) -> None:
        self.folder = TemporaryDirectory(ignore_cleanup_errors=True)
        super().__init__(name, cwd=self.folder.name, startup_timeout=startup_timeout)
        # While libraries are imported, the garbage collector walks through them again and again
        # and finds nothing to free.
        self.kc.execute_interactive("__import__('gc').set_threshold(100_000)", silent=True)
        if salt := os.environ.get("GLASSBOX_SHAKEN"):
            enter = f"import sys; sys.path.append({str(ROOT)!r}); import tools.shaken as shaken"
            self.kc.execute_interactive(f"{enter}; shaken.enter({salt})", store_history=False)

    def execute_cell_input(self, source: str, allow_stdin: bool | None = None) -> str:
        """Send a cell with its history, where IPython sees the `;` that silences a result."""
        identity: str = self.kc.execute(source, allow_stdin=allow_stdin, stop_on_error=False)
        return identity

    def stop(self) -> None:
        super().stop()
        self.folder.cleanup()


def setup(file: IPyNbFile) -> None:
    nbvals_setup(file)
    file.skip_compare += DRAWN


def sanitize(cell: IPyNbCell, output: object) -> object:
    clean = nbvals_sanitize(cell, output)
    return Output(clean) if isinstance(clean, str) else clean


def pytest_configure(config: pytest.Config) -> None:
    IPyNbFile.setup, IPyNbCell.sanitize = setup, sanitize
    nbval.plugin.RunningKernel = Kernel
    if config.option.nbval:
        enter_surroundings()
