"""Outputs of notebooks are compared as `tools/same_output.py` says."""

import pytest
from nbval.plugin import IPyNbCell, IPyNbFile

from tools.same_output import Output

# Drawn, not printed: each figure has numbers beside it, which are compared. nbval skips PNG itself.
DRAWN = ("image/svg+xml",)

nbvals_setup, nbvals_sanitize = IPyNbFile.setup, IPyNbCell.sanitize


def setup(file: IPyNbFile) -> None:
    nbvals_setup(file)
    file.skip_compare += DRAWN


def sanitize(cell: IPyNbCell, output: object) -> object:
    clean = nbvals_sanitize(cell, output)
    return Output(clean) if isinstance(clean, str) else clean


def pytest_configure(config: pytest.Config) -> None:
    IPyNbFile.setup, IPyNbCell.sanitize = setup, sanitize
