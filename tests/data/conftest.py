"""A place that sends what a test tells it to, and a reader's machine that has nothing yet."""

import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from hashlib import sha256
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from glassbox.data import FILES, store
from glassbox.data.store import DataFile

CONTENT = b"Now is the winter of our discontent\n" * 8_000  # more than one chunk
Answer = Callable[[BaseHTTPRequestHandler], None]


def whole(request: BaseHTTPRequestHandler) -> None:
    """Send the published file."""
    send(request, CONTENT)


def send(request: BaseHTTPRequestHandler, content: bytes, *, announced: int | None = None) -> None:
    """Send these bytes, and hang up."""
    request.send_response(HTTPStatus.OK)
    request.send_header("Content-Length", str(len(content) if announced is None else announced))
    request.end_headers()
    request.wfile.write(content)


class Publisher(ThreadingHTTPServer):
    """A server on the loopback address that answers as it is told."""

    answer: Answer = staticmethod(whole)
    asked = 0

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/"

    def handle_error(self, request: object, client_address: object) -> None:
        """Say nothing when the reader hangs up, which some tests make it do."""


class Handler(BaseHTTPRequestHandler):
    server: Publisher

    def do_GET(self) -> None:
        self.server.asked += 1
        self.server.answer(self)

    def log_message(self, format: str, *args: object) -> None:
        """Keep quiet about each request."""


@pytest.fixture
def publisher(monkeypatch: pytest.MonkeyPatch) -> Iterator[Publisher]:
    """Serve the published file, until a test gives another `answer`."""
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    with Publisher() as server:
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        yield server
        server.shutdown()


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine without data: its cache, empty and not even made. It asks for a file once."""
    monkeypatch.setattr(store, "RETRIES", 0)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("GLASSBOX_DATA", raising=False)
    return tmp_path / "cache" / "glassbox"


@pytest.fixture
def published(publisher: Publisher, machine: Path, monkeypatch: pytest.MonkeyPatch) -> DataFile:
    """The one file of a table, which the publisher has."""
    file = DataFile(
        name="plays/richard.txt",
        address=f"{publisher.url}richard.txt",
        bytes=len(CONTENT),
        sha256=sha256(CONTENT).hexdigest(),
        licence="public domain",
        credit="William Shakespeare",
    )
    monkeypatch.setitem(FILES, file.name, file)
    return file


@pytest.fixture
def put(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str, bytes], Path]:
    """Return a function that puts another content in a file of the table, as if published so."""
    monkeypatch.setenv("GLASSBOX_DATA", str(tmp_path))

    def put(name: str, content: bytes) -> Path:
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(content)
        digest = sha256(content).hexdigest()
        file = replace(FILES[name], bytes=len(content), sha256=digest)
        monkeypatch.setitem(FILES, name, file)
        return path

    return put
