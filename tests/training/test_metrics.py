"""The log has each step once, whatever happens, and what it says is read back as it was."""

import errno
import io
import json
import math
import os
import resource
import signal
import struct
import subprocess
import sys
import time
from unittest import TestCase
from unittest.mock import Mock

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

from glassbox.training import metrics
from glassbox.training.metrics import Metrics, progress_bar, read_metrics
from glassbox.training.state import Progress, TrainingState


def log(folder, steps, **options):
    """Train for a while: each step measures on training data, each third on held-out data."""
    with Metrics(folder, **options) as writer:
        for step in steps:
            writer.write(step, "train", {"loss": 1 / step, "tokens": 100 * step})
            if step % 3 == 0:
                writer.write(step, "valid", {"nll": 2 / step})


def steps(folder, split="train"):
    entries = read_metrics(folder / "metrics.jsonl")
    return [entry["step"] for entry in entries if entry["split"] == split]


def test_a_line_is_an_object_that_any_program_reads(tmp_path):
    with Metrics(tmp_path / "runs" / "one") as writer:
        writer.write(7, "train", {"loss": 0.5, "tokens": 1200})
        writer.write(7, "valid", {"nll": 0.25})
    path = tmp_path / "runs" / "one" / "metrics.jsonl"
    assert path.read_text() == (
        '{"step": 7, "split": "train", "loss": 0.5, "tokens": 1200}\n'
        '{"step": 7, "split": "valid", "nll": 0.25}\n'
    )
    assert read_metrics(path) == [json.loads(line) for line in path.read_text().splitlines()]


def test_a_line_is_there_when_write_returns(tmp_path):
    with Metrics(tmp_path) as writer:
        for step in range(1, 4):
            writer.write(step, "train", {"loss": 1.0})
            assert steps(tmp_path) == list(range(1, step + 1))


@given(st.floats(width=32), st.floats(), st.integers())
def test_numbers_are_read_back_as_they_were(tmp_path_factory, single, double, whole):
    """Those in float32 to the last bit; no line has the words NaN or Infinity, which JSON lacks."""
    folder = tmp_path_factory.mktemp("log")
    with Metrics(folder) as writer:
        writer.write(1, "train", {"single": single, "double": double, "whole": whole})

    def refuse(word):
        raise AssertionError(word)

    json.loads((folder / "metrics.jsonl").read_text(), parse_constant=refuse)
    (entry,) = read_metrics(folder / "metrics.jsonl")
    if math.isnan(single):
        assert math.isnan(entry["single"])
    else:
        assert struct.pack("f", entry["single"]) == struct.pack("f", single)
    assert entry["double"] == pytest.approx(double, rel=1e-8, nan_ok=True)
    assert entry["whole"] == whole
    assert type(entry["whole"]) is int


@pytest.mark.parametrize("done", [1, 3, 4, 6])
def test_going_on_from_a_checkpoint_leaves_each_step_once(tmp_path, done):
    log(tmp_path / "whole", range(1, 11))
    log(tmp_path / "stopped", range(1, 8))
    log(tmp_path / "stopped", range(done + 1, 11), resume_at=done)
    logs = [(tmp_path / name / "metrics.jsonl").read_bytes() for name in ("whole", "stopped")]
    assert logs[0] == logs[1]
    assert os.listdir(tmp_path / "stopped") == ["metrics.jsonl"]


def test_a_run_that_begins_has_nothing_done(tmp_path):
    with Metrics(tmp_path) as writer:
        writer.write(0, "valid", {"nll": 9.0})
    log(tmp_path, range(1, 5))
    with Metrics(tmp_path) as writer:
        writer.write(0, "valid", {"nll": 8.0})
    assert read_metrics(tmp_path / "metrics.jsonl") == [{"step": 0, "split": "valid", "nll": 8.0}]


@pytest.mark.parametrize("cut", range(1, 56))
def test_a_last_line_that_was_cut_off_is_left_out_and_removed(tmp_path, cut):
    log(tmp_path, range(1, 5))
    path = tmp_path / "metrics.jsonl"
    content = path.read_bytes()
    path.write_bytes(content[:-cut])
    last = 4 if cut == 1 else 3  # what lacks only its newline is whole
    assert steps(tmp_path) == list(range(1, last + 1))
    log(tmp_path, range(last + 1, 5), resume_at=last)
    assert path.read_bytes() == content


def test_an_empty_log_is_one(tmp_path):
    (tmp_path / "metrics.jsonl").touch()
    assert read_metrics(tmp_path / "metrics.jsonl") == []
    log(tmp_path, range(1, 3), resume_at=5)
    assert steps(tmp_path) == [1, 2]


WRITER = """
import sys
from pathlib import Path
from glassbox.training.metrics import Metrics
with Metrics(Path(sys.argv[1])) as writer:
    for step in range(1, 10**9):
        writer.write(step, "train", {f"loss {i}": 1 / step for i in range(100)})
"""


@pytest.mark.slow
def test_killed_while_it_writes_it_leaves_a_log_to_go_on_with(tmp_path):
    process = subprocess.Popen([sys.executable, "-c", WRITER, str(tmp_path)])
    path = tmp_path / "metrics.jsonl"
    deadline = time.monotonic() + 300
    while not (path.exists() and path.stat().st_size > 100_000) and time.monotonic() < deadline:
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    process.wait()
    found = steps(tmp_path)
    assert found == list(range(1, len(found) + 1))
    assert len(found) > 10
    log(tmp_path, range(11, 14), resume_at=10)
    assert steps(tmp_path) == list(range(1, 14))


def test_a_removal_that_is_interrupted_leaves_the_log_as_it_was(tmp_path, monkeypatch):
    log(tmp_path, range(1, 8))
    before = (tmp_path / "metrics.jsonl").read_bytes()
    monkeypatch.setattr(metrics.Path, "replace", interrupt)
    with pytest.raises(KeyboardInterrupt):
        Metrics(tmp_path, resume_at=3)
    assert (tmp_path / "metrics.jsonl").read_bytes() == before
    monkeypatch.undo()
    log(tmp_path, range(4, 5), resume_at=3)
    assert steps(tmp_path) == [1, 2, 3, 4]
    assert os.listdir(tmp_path) == ["metrics.jsonl"]


def interrupt(*paths):
    raise KeyboardInterrupt


def test_on_a_full_disk_the_log_stays_as_it_was(tmp_path):
    """A limit on the size of files stands in for the disk: part of the line still goes in."""
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    with Metrics(tmp_path) as writer:
        writer.write(1, "train", {"loss": 1.0})
        before = (tmp_path / "metrics.jsonl").read_bytes()
        resource.setrlimit(resource.RLIMIT_FSIZE, (len(before) + 10, limits[1]))
        try:
            with pytest.raises(OSError, match="cannot write the log") as caught:
                writer.write(2, "train", {"loss": 0.5})
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        assert caught.value.errno == errno.EFBIG
        assert "metrics.jsonl" in str(caught.value)
        assert (tmp_path / "metrics.jsonl").read_bytes() == before
        writer.write(2, "train", {"loss": 0.5})
    assert steps(tmp_path) == [1, 2]


def test_a_process_that_does_not_write_leaves_nothing(tmp_path):
    log(tmp_path / "run", range(1, 4), write=False, tensorboard=True)
    assert list(tmp_path.iterdir()) == []


def scalars(folder):
    board = EventAccumulator(str(folder / "tensorboard"), size_guidance={"scalars": 0}).Reload()
    return {
        tag: [(event.step, event.value) for event in board.Scalars(tag)]
        for tag in board.Tags()["scalars"]
    }


@pytest.mark.parametrize("done", [0, 4])
def test_tensorboard_shows_the_same_and_each_step_once(tmp_path, done):
    log(tmp_path, range(1, 8), tensorboard=True)
    log(tmp_path, range(done + 1, 10), tensorboard=True, resume_at=done)
    shown = scalars(tmp_path)
    assert shown.keys() == {"loss/train", "tokens/train", "nll/valid"}
    assert [step for step, _ in shown["loss/train"]] == steps(tmp_path) == list(range(1, 10))
    for entry in read_metrics(tmp_path / "metrics.jsonl"):
        for name in entry.keys() - {"step", "split"}:
            values = dict(shown[f"{name}/{entry['split']}"])
            assert values[entry["step"]] == pytest.approx(entry[name], rel=1e-6)


def test_what_tensorboard_has_is_there_when_write_returns(tmp_path):
    """A run that is killed goes on from its checkpoint, and nobody writes what came before."""
    with Metrics(tmp_path, tensorboard=True) as writer:
        for step in (1, 2):
            writer.write(step, "train", {"loss": 1.0})
            assert [found for found, _ in scalars(tmp_path)["loss/train"]] == [1, step][:step]


def test_without_tensorboard_installed_it_says_so_and_leaves_everything(tmp_path, monkeypatch):
    log(tmp_path, range(1, 4))
    monkeypatch.setitem(sys.modules, "tensorboard", None)
    with pytest.raises(ModuleNotFoundError, match="TensorBoard needs tensorboard, which is not"):
        Metrics(tmp_path, tensorboard=True)
    assert steps(tmp_path) == [1, 2, 3]


WORDS = {
    "no JSON": b"step 3",
    "no object": b"3",
    "no step": b'{"split": "train"}',
    "no number of a step": b'{"step": "three", "split": "train"}',
    "no split": b'{"step": 3}',
    "a word for a number": b'{"step": 3, "split": "train", "loss": "low"}',
    "no text": b'{"step": 3, "split": "\xff"}',
    "an empty line": b"",
}


@pytest.mark.parametrize("line", WORDS.values(), ids=WORDS)
def test_a_damaged_line_is_named_and_nothing_is_removed(tmp_path, line):
    log(tmp_path, range(1, 3))
    path = tmp_path / "metrics.jsonl"
    content = path.read_bytes() + line + b"\n" + path.read_bytes()
    path.write_bytes(content)
    for read in (read_metrics, lambda path: Metrics(path.parent, resume_at=1)):
        with pytest.raises(ValueError, match=r"metrics\.jsonl, line 3: .* is not a measurement"):
            read(path)
    assert path.read_bytes() == content


def test_a_missing_log_is_named(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"metrics\.jsonl"):
        read_metrics(tmp_path / "metrics.jsonl")


REFUSED = {
    "a step": ({"step": 3.0}, ValueError, "['step'] among the numbers"),
    "a split": ({"loss": 1.0, "split": 3.0}, ValueError, "['split'] among the numbers"),
    "a text": ({"loss": "low"}, TypeError, "loss is of type str, 'low'; expected a number"),
    "nothing": ({"loss": None}, TypeError, "loss is of type NoneType, None"),
    "a list": (
        {"loss": [1.0]},
        TypeError,
        "loss is of type list, [1.0]; expected a number, such as tensor.item()",
    ),
}


@pytest.mark.usefixtures("as_a_reader")
@pytest.mark.parametrize(("numbers", "error", "says"), REFUSED.values(), ids=REFUSED)
def test_what_is_no_number_is_refused_and_not_written(tmp_path, numbers, error, says):
    with Metrics(tmp_path) as writer, pytest.raises(error) as caught:
        writer.write(1, "train", numbers)
    assert says in str(caught.value)
    assert (tmp_path / "metrics.jsonl").read_bytes() == b""


class Terminal(io.StringIO):
    def isatty(self):
        return True


def shown(monkeypatch, stream, **options):
    """What a bar leaves on a stream after two steps of ten seconds."""
    now = 100.0
    monkeypatch.setattr(metrics.time, "perf_counter", lambda: now)
    monkeypatch.setattr(sys, "stderr", stream)
    with progress_bar(10, **options) as advance:
        for step, loss in enumerate((3.5, 2.25), options.get("done", 0) + 1):
            now += 10
            figures = {"loss": loss}
            progress = Progress(step=step)
            advance(Mock(TrainingState, tokens=12_345, figures=figures, progress=progress))
    return stream.getvalue()


def test_a_terminal_sees_steps_loss_tokens_per_second_and_the_time_left(monkeypatch):
    last = shown(monkeypatch, Terminal(), done=4).split("\r")[-1]
    assert " 60%|" in last
    assert "step 6 of 10, loss 2.250, 1,234 tokens/s, " in last
    assert last.rstrip().endswith(" left")


@pytest.mark.parametrize(("stream", "show"), [(io.StringIO(), True), (Terminal(), False)])
def test_without_a_terminal_or_in_another_process_there_is_nothing_to_see(
    monkeypatch, stream, show
):
    assert shown(monkeypatch, stream, show=show) == ""


def test_without_a_terminal_the_logger_is_told_every_ten_seconds(monkeypatch):
    with TestCase().assertLogs("glassbox.training", "INFO") as told:
        shown(monkeypatch, io.StringIO(), done=4)
        monkeypatch.setattr(metrics, "SECONDS_BETWEEN_LINES", 20.0)
        shown(monkeypatch, io.StringIO())
    assert [record.getMessage() for record in told.records] == [
        "step 5 of 10, loss 3.500, 1,234 tokens/s",
        "step 6 of 10, loss 2.250, 1,234 tokens/s",
        "step 2 of 10, loss 2.250, 1,234 tokens/s",
    ]
