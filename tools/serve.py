"""Serve a folder of the built site on this machine, compressed as a web host would."""

import argparse
import gzip
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import lru_cache, partial
from http import HTTPStatus
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from tools.build_site import INDEX

TEXT = {".css", ".html", ".js", ".json", ".mjs", ".svg", ".txt", ".xml"}


@lru_cache(maxsize=256)
def compressed(path: Path, changed: int) -> bytes:
    """Return the contents of a file that was last changed at this time, compressed."""
    return gzip.compress(path.read_bytes(), compresslevel=6)


class Handler(SimpleHTTPRequestHandler):
    """Serves the files of one folder in full; text is compressed for clients that accept it."""

    def do_GET(self) -> None:
        del self.headers["If-Modified-Since"]  # what it refers to may be an older site's
        path = Path(self.translate_path(self.path))
        if path.is_dir() and self.path.endswith("/"):
            path /= "index.html"
        accepts = "gzip" in self.headers.get("Accept-Encoding", "")
        if not (accepts and path.suffix in TEXT and path.is_file()):
            return super().do_GET()
        body = compressed(path, path.stat().st_mtime_ns)
        self.send_response(HTTPStatus.OK)
        self.send_header("Content-Type", self.guess_type(str(path)))
        self.send_header("Content-Encoding", "gzip")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Do not log requests."""


class Server(ThreadingHTTPServer):
    """A server on the loopback address; `port` 0 takes a free one."""

    def __init__(self, folder: Path, port: int = 0) -> None:
        super().__init__(("127.0.0.1", port), partial(Handler, directory=str(folder)))

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/"

    def handle_error(self, request: object, client_address: object) -> None:
        """Ignore a browser that disconnects in the middle of a file; report anything else."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)  # type: ignore[arg-type]


@contextmanager
def serving(folder: Path) -> Iterator[str]:
    """Serve a folder meanwhile, and give its address."""
    with Server(folder) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield server.url
        finally:
            server.shutdown()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", type=int, default=8000)
    port = parser.parse_args().port
    if not INDEX.is_file():
        sys.exit("There is no site yet. Build it: make book")
    try:
        server = Server(INDEX.parent, port)
    except OSError:
        server = Server(INDEX.parent)  # the port is in use
    with server, suppress(KeyboardInterrupt):
        print(f"The book is at {server.url} (Ctrl+C ends this).", flush=True)
        server.serve_forever()


if __name__ == "__main__":
    main()
