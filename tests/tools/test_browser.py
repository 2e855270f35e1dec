"""Tests in a browser: found where it is, said so where it is not, and never past this machine."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests import conftest
from tests.conftest import Open, do_without_browser, find_chromium, is_local
from tools.firefox import firefox


@pytest.fixture
def no_browser(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A machine without any Chromium, and a folder on its path."""
    monkeypatch.delenv("CHROMIUM", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(conftest, "ON_MACOS", ())
    return tmp_path


def executable(path: Path) -> str:
    path.write_text("#!/bin/sh\n")
    path.chmod(0o755)
    return str(path)


def test_without_a_browser_none_is_found(no_browser: Path) -> None:
    assert find_chromium() is None


@pytest.mark.parametrize("name", conftest.NAMES)
def test_an_installed_browser_is_found(no_browser: Path, name: str) -> None:
    installed = executable(no_browser / name)
    assert find_chromium() == installed


def test_the_browser_that_is_named_comes_first(
    no_browser: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    executable(no_browser / "chromium")
    monkeypatch.setenv("CHROMIUM", executable(no_browser / "mine"))
    assert find_chromium() == str(no_browser / "mine")


def test_a_firefox_that_ends_at_once_is_reported(no_browser: Path) -> None:
    program = executable(no_browser / "firefox")
    with pytest.raises(SystemExit, match=f"{program} ended before it listened"), firefox():
        pass


def test_a_missing_browser_skips_and_says_how_to_mend_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CI", raising=False)
    with pytest.raises(pytest.skip.Exception, match="apt-get install chromium"):
        do_without_browser()


def test_a_missing_browser_fails_where_ci_is_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CI", "true")
    with pytest.raises(pytest.fail.Exception, match="apt-get install chromium"):
        do_without_browser()


@pytest.mark.parametrize(
    ("url", "local"),
    [
        ("http://127.0.0.1:8000/x.js", True),
        ("http://localhost/x.js", True),
        ("data:text/plain,x", True),
        ("about:srcdoc", True),
        ("https://cdn.example/x.js", False),
        ("http://127.0.0.1.example/x.js", False),
        ("//cdn.example/x.js", False),
    ],
)
def test_only_this_machine_is_local(url: str, local: bool) -> None:
    assert is_local(url) is local


def test_a_page_that_asks_another_host_is_blocked_and_seen(
    visit: Open, serve: Callable[[Path], str], tmp_path: Path
) -> None:
    (tmp_path / "index.html").write_text(
        '<link rel="icon" href="data:,"><script src="https://cdn.example/x.js"></script>'
        '<img src="http://203.0.113.7/x.png" alt="">'
    )
    seen = visit(serve(tmp_path))
    assert sorted(seen.foreign) == ["http://203.0.113.7/x.png", "https://cdn.example/x.js"]
    assert all("ERR_NAME_NOT_RESOLVED" in problem for problem in seen.problems)


def test_an_error_on_a_page_is_seen(
    visit: Open, serve: Callable[[Path], str], tmp_path: Path
) -> None:
    page = (
        '<link rel="icon" href="data:,"><script>console.error("one"); throw Error("two")</script>'
    )
    (tmp_path / "index.html").write_text(page)
    seen = visit(serve(tmp_path))
    assert {"one", "two"} <= set(seen.problems)
