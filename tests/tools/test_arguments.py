"""Programs that write files of the book do so only where nothing else is asked of them."""

import runpy
import sys
from pathlib import Path

import pytest

WRITERS = (
    *("benchmarks.diversity", "benchmarks.page"),
    *("tools.constraints", "tools.phrases", "tools.scenes"),
)


@pytest.mark.filterwarnings("ignore:.*found in sys.modules:RuntimeWarning")  # other tests import it
@pytest.mark.parametrize(("argument", "status"), [("--help", 0), ("--dry-run", 2), ("all", 2)])
@pytest.mark.parametrize("program", WRITERS)
def test_an_argument_is_answered_and_nothing_is_written(program, argument, status, monkeypatch):
    written: list[Path] = []
    monkeypatch.setattr(Path, "write_text", lambda path, *_, **__: written.append(path))
    monkeypatch.setattr(sys, "argv", [program, argument])
    with pytest.raises(SystemExit) as end:
        runpy.run_module(program, run_name="__main__")
    assert (end.value.code, written) == (status, [])
