"""A translator in a folder, and the command line as a shell would meet it."""

import io
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from glassbox.cli import main
from tests.translation import toy

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A folder with a translator that knows the toy language."""
    path = tmp_path_factory.mktemp("translator")
    toy.trained().save_pretrained(path)
    return str(path)


@dataclass
class Answer:
    """What a command printed, and its exit status."""

    status: int
    out: str
    err: str


Command = Callable[..., Answer]


@pytest.fixture
def glassbox(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Command:
    """Return a function that runs a command in this process."""

    def run(*arguments: object, stdin: str | bytes = "") -> Answer:
        given = stdin.encode() if isinstance(stdin, str) else stdin
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(given), encoding="ascii"))
        try:
            status = main([str(argument) for argument in arguments])
        except SystemExit as end:  # what argparse ends with
            status = int(end.code or 0)
        return Answer(status, *capsys.readouterr())

    return run


@contextmanager
def started(*arguments: str) -> Iterator[subprocess.Popen[bytes]]:
    """Start `python -m glassbox` with pipes, in a locale that knows nothing but ASCII."""
    path = os.pathsep.join([str(ROOT / "code"), *filter(None, [os.environ.get("PYTHONPATH")])])
    locale = {"LC_ALL": "C", "LANG": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    buffered = {"PYTHONUNBUFFERED": ""}  # or what is never flushed would come all the same
    with subprocess.Popen(
        [sys.executable, "-m", "glassbox", *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": path, **locale, **buffered},
    ) as process:
        patience = threading.Timer(300, process.kill)  # an answer that never comes is none
        patience.start()
        try:
            yield process
        finally:
            patience.cancel()
            process.kill()
