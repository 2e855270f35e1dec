"""The local server: the right bytes, compressed for whoever accepts it, on this machine alone."""

import gzip
from collections.abc import Callable
from email.utils import formatdate
from pathlib import Path
from time import time
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest

Serve = Callable[[Path], str]


@pytest.fixture
def site(tmp_path: Path, serve: Serve) -> str:
    (tmp_path / "index.html").write_text("<h1>Book</h1>" * 100)
    (tmp_path / "a.png").write_bytes(bytes(range(256)))
    return serve(tmp_path)


@pytest.mark.parametrize("path", ["", "index.html"])
def test_text_is_compressed_for_whoever_accepts_it(site: str, path: str) -> None:
    with urlopen(Request(site + path, headers={"Accept-Encoding": "gzip"})) as answer:
        body = answer.read()
        assert answer.headers["Content-Encoding"] == "gzip"
        assert answer.headers.get_content_type() == "text/html"
    assert gzip.decompress(body) == b"<h1>Book</h1>" * 100
    assert len(body) < 200


def test_text_is_plain_for_whoever_does_not(site: str) -> None:
    with urlopen(site) as answer:
        assert answer.headers["Content-Encoding"] is None
        assert answer.read() == b"<h1>Book</h1>" * 100


def test_pictures_are_left_as_they_are(site: str) -> None:
    with urlopen(Request(site + "a.png", headers={"Accept-Encoding": "gzip"})) as answer:
        assert answer.headers["Content-Encoding"] is None
        assert answer.read() == bytes(range(256))


def test_what_a_browser_may_have_kept_is_sent_again(site: str) -> None:
    tomorrow = formatdate(time() + 86_400, usegmt=True)
    with urlopen(Request(site + "a.png", headers={"If-Modified-Since": tomorrow})) as answer:
        assert answer.status == 200
        assert answer.read() == bytes(range(256))


@pytest.mark.parametrize("path", ["none.html", "../conftest.py", "%2e%2e/conftest.py"])
def test_nothing_outside_the_folder_is_served(site: str, path: str) -> None:
    with pytest.raises(HTTPError) as error:
        urlopen(site + path)
    assert error.value.code == 404
    error.value.close()


def test_only_this_machine_is_served(site: str) -> None:
    assert site.startswith("http://127.0.0.1:")
