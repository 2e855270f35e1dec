"""The site is built again when anything it is made of has changed, or it itself, and only then."""

from pathlib import Path
from subprocess import CompletedProcess

import pytest

from tools import build_site


@pytest.fixture
def builds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Make a book of a chapter and its test; list how often it is built."""
    (tmp_path / "chapters").mkdir()
    (tmp_path / "tests").mkdir()
    (tmp_path / "chapters" / "one.md").write_text("One")
    page = tmp_path / "_build" / "html" / "index.html"
    done: list[str] = []

    def build() -> CompletedProcess[str]:
        page.parent.mkdir(parents=True, exist_ok=True)
        page.write_text((tmp_path / "chapters" / "one.md").read_text())
        done.append("built")
        return CompletedProcess("", int("wrong" in page.read_text()), stdout="a warning")

    monkeypatch.setattr(build_site, "ROOT", tmp_path)
    monkeypatch.setattr(build_site, "INDEX", page)
    monkeypatch.setattr(build_site, "BUILT", tmp_path / "_build" / "built")
    monkeypatch.setattr(build_site, "build", build)
    return done


def test_an_unchanged_book_is_not_built_again(builds, capsys) -> None:
    for _ in range(2):
        build_site.main(["--if-changed"])
    assert len(builds) == 1
    assert "Nothing has changed" in capsys.readouterr().out
    build_site.main([])
    assert len(builds) == 2


@pytest.mark.parametrize(
    "path", ["chapters/one.md", "chapters/two.md", "_build/html/index.html", "_build/html/x.js"]
)
def test_a_file_that_has_changed_or_come_is_a_reason_to_build(builds, path: str) -> None:
    build_site.main(["--if-changed"])
    Path(build_site.ROOT, path).write_text("Two")
    build_site.main(["--if-changed"])
    assert len(builds) == 2


def test_another_release_of_a_package_is_a_reason_to_build(builds, monkeypatch) -> None:
    build_site.main(["--if-changed"])
    monkeypatch.setattr(build_site, "distributions", lambda: ())
    build_site.main(["--if-changed"])
    assert len(builds) == 2


def test_a_test_that_has_changed_is_none(builds) -> None:
    build_site.main(["--if-changed"])
    Path(build_site.ROOT, "tests", "test_one.py").write_text("Two")
    build_site.main(["--if-changed"])
    assert len(builds) == 1


def test_a_build_with_warnings_is_no_site(builds) -> None:
    Path(build_site.ROOT, "chapters", "one.md").write_text("wrong")
    for _ in range(2):
        with pytest.raises(SystemExit, match="not built"):
            build_site.main(["--if-changed"])
    assert len(builds) == 2
