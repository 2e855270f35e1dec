"""A file or a folder is written completely or not at all, and a folder is one process's alone."""

import errno
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from glassbox import files
from glassbox.files import atomic_update, atomic_write, lock, remove, sweep


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


@contextmanager
def folder_at(place: Path) -> Iterator[Path]:
    """Give a folder to write in, which is to be at a place."""
    with atomic_write(place) as part:
        part.mkdir()
        yield part


def test_a_folder_is_replaced_by_a_whole_one_or_not_at_all(tmp_path: Path) -> None:
    place = tmp_path / "place"
    with folder_at(place) as part:
        (part / "a").write_text("1")
        assert not place.exists()
    with pytest.raises(UnicodeEncodeError), folder_at(place) as part:
        (part / "a").write_text("2\ud800")  # fails in between
    assert (place / "a").read_text() == "1"
    with folder_at(place) as part:
        assert not any(part.iterdir())
        (part / "b").write_text("3")
        (part / "deeper").mkdir()
    assert names(place) == ["b", "deeper"]
    assert names(tmp_path) == ["place"]


def test_a_folder_is_in_its_place_before_the_one_it_replaces_is_deleted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = tmp_path / "place"
    with folder_at(place) as part:
        (part / "a").write_text("1")

    def interrupt(folder: Path, **_: object) -> None:
        if Path(folder).exists():
            raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("glassbox.files.shutil.rmtree", interrupt)
        with pytest.raises(KeyboardInterrupt), folder_at(place) as part:
            (part / "a").write_text("2")
    assert (place / "a").read_text() == "2"


def test_a_folder_that_cannot_be_replaced_is_put_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = tmp_path / "place"
    with folder_at(place) as part:
        (part / "a").write_text("1")

    def refuse(path: Path, target: Path) -> None:
        raise PermissionError(target)

    with monkeypatch.context() as patch:
        patch.setattr(Path, "replace", refuse)
        with pytest.raises(PermissionError), folder_at(place) as part:
            (part / "a").write_text("2")
    assert (place / "a").read_text() == "1"
    assert names(tmp_path) == ["place"]


def test_a_file_is_replaced_by_a_whole_one_or_not_at_all(tmp_path: Path) -> None:
    place = tmp_path / "folder" / "place"
    with atomic_write(place) as part:
        part.write_text("1")
        assert not place.exists()
    with pytest.raises(UnicodeEncodeError), atomic_write(place) as part:
        part.write_text("2\ud800")  # fails in between
    assert place.read_text() == "1"
    with atomic_write(place) as one, atomic_write(place) as two:  # by two programs
        one.write_text("one")
        two.write_text("two")
    assert place.read_text() == "one"  # which ends last
    assert names(place.parent) == ["place"]


def test_a_file_in_the_place_of_a_folder_stays(tmp_path: Path) -> None:
    place = tmp_path / "place"
    place.write_text("mine")
    with pytest.raises(FileExistsError, match=f"{place} is a file"), folder_at(place):
        pass
    assert place.read_text() == "mine"
    assert names(tmp_path) == ["place"]


def test_what_a_kill_has_left_is_swept_away_and_nothing_else(tmp_path: Path) -> None:
    (tmp_path / ".step-00000001.part").mkdir()
    (tmp_path / ".step-00000002.old").mkdir()
    (tmp_path / ".step-00000002.old" / "model").touch()
    kept = ["mine.part", ".git", "step-00000002", ".x.part"]
    for name in kept[:3]:
        (tmp_path / name).mkdir()
    (tmp_path / kept[3]).touch()  # a file
    sweep(tmp_path)
    assert names(tmp_path) == sorted(kept)
    sweep(tmp_path / "missing")


def test_what_files_are_written_in_can_be_swept_away(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError), atomic_update(tmp_path):
        sweep(tmp_path)
    assert names(tmp_path) == []


@pytest.mark.parametrize(
    ("written", "kept"),
    [
        ("config.json", ["config.json", "vocab.txt"]),
        ("generation_config.json", ["config.json", "generation_config.json", "vocab.txt"]),
        ("tokenizer.json", ["config.json", "generation_config.json", "tokenizer.json"]),
    ],
)
def test_what_describes_an_older_model_or_tokenizer_goes(
    tmp_path: Path, written: str, kept: list[str]
) -> None:
    for name in ("config.json", "generation_config.json", "vocab.txt"):
        (tmp_path / name).touch()
    with atomic_update(tmp_path) as beside:
        (beside / written).touch()
    assert names(tmp_path) == kept


def test_only_a_folder_is_removed(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        remove(tmp_path / "missing")
    (tmp_path / "file").touch()
    with pytest.raises(FileExistsError, match="file is a file"):
        remove(tmp_path / "file")


def test_one_process_at_a_time_is_in_a_folder(tmp_path: Path) -> None:
    with (
        lock(tmp_path),
        pytest.raises(ValueError, match=f"another process is training in {tmp_path}"),
        lock(tmp_path),
    ):
        pass
    with lock(tmp_path):
        assert names(tmp_path) == []


def test_where_there_are_no_locks_one_trains_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr("fcntl.flock", refuse)
    with lock(tmp_path):
        pass


def test_a_file_that_is_replaced_keeps_its_mode(tmp_path: Path) -> None:
    place = tmp_path / "place"
    place.touch(0o600)
    with atomic_write(place) as part:
        part.touch(0o644)
    assert place.stat().st_mode & 0o777 == 0o600
    with atomic_update(tmp_path) as beside:
        (beside / "place").touch(0o644)
    assert place.stat().st_mode & 0o777 == 0o600


def test_a_folder_that_is_replaced_keeps_its_mode_and_that_of_its_files(tmp_path: Path) -> None:
    place = tmp_path / "place"
    place.mkdir(0o700)
    (place / "old").touch(0o600)
    with folder_at(place) as part:
        part.chmod(0o755)
        for name in ("old", "new"):
            (part / name).touch()
            (part / name).chmod(0o644)
    modes = [path.stat().st_mode & 0o777 for path in (place, place / "old", place / "new")]
    assert modes == [0o700, 0o600, 0o644]


def test_a_link_stays_one_and_what_it_names_is_written(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    target, link = tmp_path / "out" / "real.json", tmp_path / "link.json"
    target.write_text("old")
    link.symlink_to(target)
    with atomic_write(link) as part:
        part.write_text("new")
    assert link.is_symlink()
    assert target.read_text() == "new"


def test_a_link_to_a_folder_that_is_not_there_yet_stays_one(tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to(tmp_path / "real")
    with atomic_update(link) as part:
        (part / "new").touch()
    assert link.is_symlink()
    assert (tmp_path / "real" / "new").exists()


def test_an_error_names_the_folder_that_was_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(**_options: object) -> None:
        raise PermissionError(13, "Permission denied", "a name that nobody asked for")

    monkeypatch.setattr(files, "TemporaryDirectory", refused)
    with pytest.raises(PermissionError, match=f"'{tmp_path}'"), atomic_update(tmp_path):
        pass


def test_an_error_names_the_file_that_was_asked_for(tmp_path: Path) -> None:
    place = tmp_path / ("x" * 250)  # one beside it would have too long a name
    with pytest.raises(OSError, match=f"'{place}'"), atomic_write(place):
        pass
