"""`glassbox bench`: the benchmarks of the repository it is run in."""

import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from glassbox.cli import bench
from tests.cli.conftest import ROOT

FAKE = """import pathlib, sys
pathlib.Path("ran").write_text(" ".join(sys.argv[1:]))
sys.exit(3)
"""


@pytest.fixture
def elsewhere(tmp_path, monkeypatch):
    """A package that was installed somewhere, and a folder with nothing above it."""
    monkeypatch.setattr(bench.glassbox, "__file__", str(tmp_path / "lib/python/glassbox/x.py"))
    (tmp_path / "here" / "below").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "here" / "below")
    return tmp_path / "here"


def test_the_repository_of_this_package_has_them(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    assert bench.find_repository() == ROOT


def test_they_run_in_their_repository_with_the_seconds_given(elsewhere, glassbox):
    (elsewhere / "benchmarks").mkdir()
    (elsewhere / "benchmarks" / "run.py").write_text(FAKE)
    assert glassbox("bench", "--seconds", "0.5").status == 3
    assert (elsewhere / "ran").read_text() == "--seconds 0.5"


def test_ten_seconds_are_the_default_of_both(monkeypatch, glassbox):
    commands = []

    def run(command, **_):
        commands.append(command)
        return SimpleNamespace(returncode=0)

    monkeypatch.setattr(bench.subprocess, "run", run)
    assert glassbox("bench").status == 0
    assert commands == [[sys.executable, "-m", "benchmarks.run", "--seconds", "10.0"]]
    source = (ROOT / "benchmarks" / "run.py").read_text(encoding="utf-8")
    assert '"--seconds", type=float, default=10.0' in source


def test_help_says_what_it_writes_and_how_long_it_takes(glassbox):
    said = " ".join(glassbox("bench", "--help").out.split())
    assert "minutes" in said
    assert "replaces files of the repository: this machine's results in benchmarks/res" in said


def test_where_there_are_none_it_says_where_they_are_to_be_had(elsewhere, glassbox):
    answer = glassbox("bench")
    assert answer.status == 2
    assert str(elsewhere.parent) in answer.err
    assert str(Path.cwd()) in answer.err
    assert "part of the book's repository, not of the installed package" in answer.err


@pytest.mark.parametrize("seconds", ["0", "-1", "nan", "inf"])
def test_no_time_is_no_benchmark(seconds, glassbox):
    answer = glassbox("bench", f"--seconds={seconds}")
    assert answer.status == 2
    assert f"--seconds {seconds}: expected more than 0 and finite" in answer.err
