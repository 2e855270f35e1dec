"""What `find` returns is the published file, whole and unaltered, or nothing at all."""

import contextlib
import re
import resource
import signal
import socket
import sys
import threading
import time
from dataclasses import replace
from hashlib import sha256
from http import HTTPStatus
from pathlib import Path

import pytest

from glassbox.data import FILES, find, store
from tests.data.conftest import CONTENT, send, whole


def left(folder):
    """Every file below a folder, hidden ones too."""
    return [path for path in folder.rglob("*") if path.is_file()]


def test_a_file_is_fetched_once_and_found_from_then_on(publisher, published, machine):
    path = find(published.name)
    assert path == machine / published.name
    assert path.read_bytes() == CONTENT
    assert find(published.name) == path
    assert publisher.asked == 1
    assert left(machine) == [path]
    assert list(path.parent.iterdir()) == [path]  # no folder of its own is left either


def test_the_named_folder_comes_first_then_the_cache(
    publisher, published, machine, tmp_path, monkeypatch
):
    cached = find(published.name)
    named = tmp_path / "named"
    named.mkdir()
    monkeypatch.setenv("GLASSBOX_DATA", str(named))
    assert find(published.name) == cached
    (named / "plays").mkdir()
    (named / published.name).write_bytes(CONTENT)
    assert find(published.name) == named / published.name
    assert publisher.asked == 1


def test_an_empty_variable_names_no_folder(published, machine, monkeypatch):
    monkeypatch.setenv("GLASSBOX_DATA", "")
    assert find(published.name) == machine / published.name


def test_who_has_no_home_folder_needs_none_for_a_file_in_the_named_one(
    published, machine, tmp_path, monkeypatch
):
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setenv("HOME", "~")
    monkeypatch.setenv("GLASSBOX_DATA", str(tmp_path))
    (tmp_path / "plays").mkdir()
    (tmp_path / published.name).write_bytes(CONTENT)
    assert find(published.name) == tmp_path / published.name


def test_without_a_cache_of_the_user_s_choice_it_is_in_the_home_folder(monkeypatch, tmp_path):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    assert store.cache_folder() == tmp_path / ".cache" / "glassbox"
    monkeypatch.setenv("XDG_CACHE_HOME", "~/elsewhere")
    assert store.cache_folder() == tmp_path / "elsewhere" / "glassbox"


ALTERED = CONTENT[:-2] + b"!\n"
SENT = {
    "cut off": (CONTENT[:-1000], None, "truncated"),
    "cut off after fewer bytes than announced": (CONTENT[:-1000], len(CONTENT), "truncated"),
    "empty": (b"", None, "truncated"),
    "altered in one place": (ALTERED, None, "altered"),
    "longer": (CONTENT + b"\n", None, "too long"),
}


@pytest.mark.parametrize(("content", "announced", "verdict"), SENT.values(), ids=SENT)
def test_what_is_not_the_published_file_is_refused_and_leaves_nothing(
    publisher, published, machine, content, announced, verdict
):
    publisher.answer = lambda request: send(request, content, announced=announced)
    with pytest.raises(ValueError, match=verdict) as caught:
        find(published.name)
    for part in (
        published.address,
        f"{len(content)} bytes with sha256 {sha256(content).hexdigest()}",
        f"{len(CONTENT)} bytes with sha256 {sha256(CONTENT).hexdigest()}",
    ):
        assert part in str(caught.value)
    assert left(machine) == []


def test_what_follows_the_last_whole_chunk_is_seen(publisher, published, machine, monkeypatch):
    monkeypatch.setattr(store, "CHUNK", len(CONTENT) // 2)
    publisher.answer = lambda request: send(request, CONTENT + b"and more")
    with pytest.raises(ValueError, match="too long"):
        find(published.name)
    assert left(machine) == []


def test_an_endless_answer_is_not_read_to_its_end(publisher, published, machine):
    sent = 0

    def flood(request):
        nonlocal sent
        request.send_response(HTTPStatus.OK)
        request.end_headers()
        while True:  # until the reader hangs up
            sent += request.wfile.write(bytes(2**20))

    publisher.answer = flood
    with pytest.raises(ValueError, match="too long"):
        find(published.name)
    assert left(machine) == []
    assert sent < 2**26


def test_chunks_that_stop_are_a_file_cut_off(publisher, published, machine):
    def stop(request):
        request.protocol_version = "HTTP/1.1"
        request.send_response(HTTPStatus.OK)
        request.send_header("Transfer-Encoding", "chunked")
        request.send_header("Connection", "close")
        request.end_headers()
        request.wfile.write(b"1000\r\n" + CONTENT[:0x1000] + b"\r\n2000\r\n" + CONTENT[:0x100])

    publisher.answer = stop
    with pytest.raises(ValueError, match=f"truncated.*{published.sha256}"):
        find(published.name)
    assert left(machine) == []


def test_a_download_that_fails_once_is_tried_again(publisher, published, machine, monkeypatch):
    monkeypatch.setattr(store, "RETRIES", 1)

    def mend(request):
        publisher.answer = whole
        send(request, CONTENT[:-1000])

    publisher.answer = mend
    assert find(published.name).read_bytes() == CONTENT
    assert publisher.asked == 2


def test_a_file_at_hand_needs_nothing_that_downloads(published, machine, monkeypatch):
    monkeypatch.setitem(sys.modules, "pooch", None)
    with pytest.raises(ModuleNotFoundError, match=r"pip install 'glassbox\[train\]'"):
        find(published.name)
    copy = machine / published.name
    copy.parent.mkdir(parents=True)
    copy.write_bytes(CONTENT)
    assert find(published.name) == copy


@pytest.mark.parametrize("where", ["cached", "named"])
def test_an_altered_copy_on_this_machine_is_refused_and_not_touched(
    publisher, published, machine, monkeypatch, tmp_path, where
):
    copy = (machine if where == "cached" else tmp_path / "named") / published.name
    copy.parent.mkdir(parents=True)
    copy.write_bytes(ALTERED)
    if where == "named":
        monkeypatch.setenv("GLASSBOX_DATA", str(tmp_path / "named"))
    with pytest.raises(ValueError, match="altered") as caught:
        find(published.name)
    for part in (
        str(copy),
        published.address,
        sha256(ALTERED).hexdigest(),
        sha256(CONTENT).hexdigest(),
    ):
        assert part in str(caught.value)
    assert str(caught.value).endswith(". Delete it, and it is fetched again")
    assert copy.read_bytes() == ALTERED
    assert publisher.asked == 0
    copy.unlink()
    assert find(published.name).read_bytes() == CONTENT


def says_how_to_go_on(error, published, machine):
    return all(
        part in str(error)
        for part in (
            published.address,
            "GLASSBOX_DATA",
            str(machine / published.name),
            "Without a network",
        )
    )


def test_without_a_network_the_error_names_the_address_the_variable_and_the_folder(
    published, machine, monkeypatch
):
    with socket.socket() as closed:  # bound and not listening: nobody answers there
        closed.bind(("127.0.0.1", 0))
        elsewhere = replace(published, address=f"http://127.0.0.1:{closed.getsockname()[1]}/a")
        monkeypatch.setitem(FILES, published.name, elsewhere)
        with pytest.raises(ConnectionError, match="refused") as caught:
            find(published.name)
    assert says_how_to_go_on(caught.value, elsewhere, machine)
    assert left(machine) == []


def test_an_address_that_has_gone_is_named(publisher, published, machine):
    publisher.answer = lambda request: request.send_error(HTTPStatus.NOT_FOUND)
    with pytest.raises(ConnectionError, match="404") as caught:
        find(published.name)
    assert says_how_to_go_on(caught.value, published, machine)
    assert left(machine) == []


def test_an_address_that_falls_silent_is_given_up(publisher, published, machine, monkeypatch):
    def fall_silent(request):
        send(request, CONTENT[:100], announced=len(CONTENT))
        request.rfile.read(1)  # until the reader hangs up

    publisher.answer = fall_silent
    monkeypatch.setattr(store, "PATIENCE", 0.2)
    with pytest.raises(ConnectionError, match="timed out") as caught:
        find(published.name)
    assert says_how_to_go_on(caught.value, published, machine)
    assert left(machine) == []


def test_an_answer_that_is_no_http_is_refused(publisher, published, machine):
    publisher.answer = lambda request: request.wfile.write(b"220 smtp.example.org\r\n\r\n")
    with pytest.raises(ConnectionError, match="220"):
        find(published.name)
    assert left(machine) == []


def test_a_download_that_is_interrupted_leaves_nothing(publisher, published, machine):
    halfway: list[Path] = []

    def interrupt(request):
        send(request, CONTENT[:100_000], announced=len(CONTENT))
        deadline = time.monotonic() + 120
        while not halfway and time.monotonic() < deadline:
            halfway.extend(path for path in left(machine) if path.stat().st_size)
        main = threading.main_thread().ident or 0  # the reader, whose waiting the signal ends
        signal.pthread_kill(main, signal.SIGINT)  # what Ctrl+C does
        with contextlib.suppress(OSError):
            request.rfile.read(1)  # until the reader hangs up

    publisher.answer = interrupt
    with pytest.raises(KeyboardInterrupt):
        find(published.name)
    assert halfway
    assert machine / published.name not in halfway
    assert list((machine / published.name).parent.iterdir()) == []


def test_an_unknown_name_lists_what_is_near():
    with pytest.raises(ValueError, match=r"tokenizers/gpt2_vocab\.json") as caught:
        find("tokenizers/gpt2-vocab.json")
    assert "'tokenizers/gpt2-vocab.json'" in str(caught.value)
    assert "multi30k" not in str(caught.value)


@pytest.mark.usefixtures("as_a_reader")
@pytest.mark.parametrize("name", ["", "../secrets", "/etc/passwd", "multi30k/", None])
def test_only_what_is_in_the_table_is_looked_for(name, publisher, machine):
    with pytest.raises(ValueError, match=re.escape(f"no data file is called {name!r}")):
        find(name)
    assert publisher.asked == 0


def test_a_variable_that_names_no_folder_is_an_error(published, monkeypatch, tmp_path):
    monkeypatch.setenv("GLASSBOX_DATA", str(tmp_path / "nowhere"))
    with pytest.raises(FileNotFoundError, match="nowhere is not a folder"):
        find(published.name)


def test_a_terminal_sees_how_far_it_is_and_a_notebook_sees_nothing(
    published, machine, capsys, monkeypatch
):
    path = find(published.name)
    assert capsys.readouterr().err == ""
    path.unlink()
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    find(published.name)
    assert f"{published.name}:   0%" in capsys.readouterr().err


def test_a_disk_that_has_no_room_is_not_taken_for_a_missing_network(published, machine):
    """A limit on the size of files stands in for the disk: the system refuses the same call."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)  # an error is to come, not the end
    resource.setrlimit(resource.RLIMIT_FSIZE, (len(CONTENT) // 2, before[1]))
    try:
        with pytest.raises(OSError, match="too large") as caught:
            find(published.name)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, handler)
    assert not isinstance(caught.value, ConnectionError)
    assert caught.value.filename == str(machine / published.name)
    assert left(machine) == []
    assert find(published.name).read_bytes() == CONTENT


def test_what_the_library_says_of_a_folder_is_kept(published, machine, monkeypatch):
    """It puts a folder that admits no file into words, without a number."""

    def refuse(*_, **__):
        raise PermissionError("the cache cannot be created: define another")

    monkeypatch.setattr("pooch.Pooch.fetch", refuse)
    with pytest.raises(PermissionError, match=r"^the cache cannot be created: define another$"):
        find(published.name)
