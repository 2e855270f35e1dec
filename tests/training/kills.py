"""Trains the toy over and over in processes that do not live long, and says what is left.

    python -m tests.training.kills FOLDER

writes FOLDER/report.json. The processes are forked from this one, which has imported everything and
has no threads, so that a start takes a hundredth of a second.
"""

import json
import os
import random
import resource
import shutil
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, ClassVar

import torch
from torch import nn

from glassbox.cli import main
from glassbox.training import checkpoints, read_metrics
from glassbox.training.checkpoint import CheckpointError, read_checkpoint, step_of
from glassbox.training.loss import Loss
from glassbox.training.tasks import TASKS
from tests.training.toy import MODEL, Toy, ToyConfig

RUN = """
[toy]
width = 48

[training]
steps = 60
seed = 3
weight_decay = 0.1
validate_every = 3
checkpoint_every = 3
average = 3
schedule = {kind = "inverse_sqrt", peak = 1e-2, warmup = 10}
"""
WRITING = os.O_WRONLY | os.O_RDWR
CHANGES = {"os.mkdir", "os.rename", "os.remove", "os.rmdir", "shutil.rmtree", "os.truncate"}


def glassbox_train(folder: Path, *changes: str) -> int:
    """Run the command in this process; its words go into a file beside the folder."""
    with folder.with_suffix(".txt").open("w") as words:
        sys.stdout = sys.stderr = words
        options = [word for change in changes for word in ("--set", change)]
        run = str(folder.parent / "run.toml")
        try:
            return main(["train", run, "--folder", str(folder), "--device", "cpu", *options])
        finally:
            sys.stdout, sys.stderr = sys.__stdout__, sys.__stderr__


def fork(function: Callable[[], int]) -> int:
    """Call a function in another process; return its number."""
    if process := os.fork():
        return process
    status = 99
    try:
        status = function()
    finally:
        os._exit(status)


def status_of(process: int) -> int:
    """Wait for a process; return its exit status, or less than 0 if a signal has ended it."""
    return os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])


@contextmanager
def killed_at(event: int) -> Iterator[None]:
    """Kill this process just before it changes something on the disk for the n-th time.

    Files are written in two halves, so that one may be cut off.
    """
    count = 0

    def change() -> None:
        nonlocal count
        count += 1
        if count == event:
            os.kill(os.getpid(), signal.SIGKILL)

    def hook(name: str, arguments: tuple[Any, ...]) -> None:
        if name in CHANGES or (name == "open" and arguments[2] & WRITING):
            change()

    def write_halves(path: Path, content: bytes) -> int:
        with path.open("wb") as file:
            file.write(content[: len(content) // 2])
            file.flush()
            change()
            return file.write(content[len(content) // 2 :])

    write_bytes, Path.write_bytes = Path.write_bytes, write_halves  # type: ignore[assignment,method-assign]
    sys.addaudithook(hook)  # there is no way to take it away: the process ends soon
    yield
    Path.write_bytes = write_bytes  # type: ignore[method-assign]


def is_whole(folder: Path) -> bool:
    """Whether everything that is called a checkpoint is one, and the log can be read."""
    try:
        for path in checkpoints(folder / "checkpoints"):
            read_checkpoint(path)
    except CheckpointError:
        return False
    with suppress(FileNotFoundError):
        steps = [e["step"] for e in read_metrics(folder / "metrics.jsonl") if e["split"] == "train"]
        return steps == list(range(1, len(steps) + 1))
    return True


def result(folder: Path) -> dict[str, Any]:
    """What a training has left: its weights and its log to the last bit, and the files' names."""
    return {
        "model": (folder / "model" / MODEL).read_bytes().hex(),
        "log": (folder / "metrics.jsonl").read_text(),
        "files": sorted(str(path.relative_to(folder)) for path in folder.rglob("*")),
    }


def at_random_moments(parent: Path, kills: int, seconds: float) -> list[dict[str, Any]]:
    """Kill a training at random moments, and start it again, until it is done; then another."""
    draw = random.Random(0)
    results: list[dict[str, Any]] = []
    while kills > 0:
        folder, steps, whole, status = parent / f"random-{len(results)}", [], [], -1
        while status:
            process = fork(lambda folder=folder: glassbox_train(folder))  # type: ignore[misc]
            if kills > 0:
                time.sleep(draw.uniform(0, 0.5 * seconds))
                os.kill(process, signal.SIGKILL)
            if status := status_of(process):
                assert status == -signal.SIGKILL
                kills -= 1
                steps.append(newest(folder))
                whole.append(is_whole(folder))
        results.append({"killed after": steps, "whole": whole, **result(folder)})
    return results


def at_every_change(base: Path, folder: Path) -> list[dict[str, Any]]:
    """Kill what is left of a training at every change on the disk, each time from the same base."""
    results: list[dict[str, Any]] = []

    def killed() -> int:
        with killed_at(len(results) + 1):
            return glassbox_train(folder)

    while True:
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(base, folder)
        if (status := status_of(fork(killed))) == 0:
            return results
        assert status == -signal.SIGKILL
        whole = is_whole(folder)
        assert glassbox_train(folder) == 0
        results.append({"whole": whole, **result(folder)})


def newest(folder: Path) -> int:
    """Return the step of the newest checkpoint, or 0."""
    kept = checkpoints(folder / "checkpoints")
    return step_of(kept[-1]) if kept else 0


class Waiting(Toy):
    """The toy, which takes a few batches, and further ones only when a file is there."""

    file: ClassVar[Path]
    taken = 0

    def loss(self, model: nn.Module, examples: list[int]) -> Loss:
        self.taken += 1
        while self.taken > 20 and not self.file.exists():
            time.sleep(0.005)
        return super().loss(model, examples)


def by_signals(folder: Path) -> dict[str, Any]:
    """Ask a training to stop, by one kind of signal and then another; let it go on."""
    statuses, kept, asked = [], [], folder.with_suffix(".asked")

    def waits() -> int:
        Waiting.file, TASKS["toy"] = asked, (Waiting, ToyConfig)
        return glassbox_train(folder)

    for number in (signal.SIGTERM, signal.SIGINT):
        begun = len(log(folder))
        process = fork(waits)
        while len(log(folder)) < begun + 5:
            time.sleep(0.005)
        os.kill(process, number)
        asked.touch()
        statuses.append(status_of(process))
        asked.unlink()
        kept.append((newest(folder), log(folder)[-1]["step"]))
    statuses.append(glassbox_train(folder))
    return {"statuses": statuses, "kept": kept, **result(folder)}


def log(folder: Path) -> list[dict[str, Any]]:
    path = folder / "metrics.jsonl"
    return read_metrics(path) if path.exists() else []


def on_a_full_disk(folder: Path) -> dict[str, Any]:
    """Let a process write no file beyond some bytes; then let another go on."""
    assert glassbox_train(folder, "training.steps=12") == 0

    def limited() -> int:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)  # an error is to come, not the end
        resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, resource.RLIM_INFINITY))
        return glassbox_train(folder)

    status = status_of(fork(limited))
    error = folder.with_suffix(".txt").read_text()
    left = sorted(path.name for path in (folder / "checkpoints").iterdir())
    assert glassbox_train(folder) == 0
    return {"status": status, "error": error, "left": left, **result(folder)}


def work(folder: Path) -> None:
    torch.set_num_threads(1)
    TASKS["toy"] = (Toy, ToyConfig)
    (folder / "run.toml").write_text(RUN)
    assert glassbox_train(folder / "first") == 0  # which imports what is imported when it is used
    begin = time.perf_counter()
    assert glassbox_train(folder / "whole") == 0
    seconds = time.perf_counter() - begin
    assert glassbox_train(folder / "base", "training.steps=57") == 0
    report = {
        "first": result(folder / "first"),
        "whole": result(folder / "whole"),
        "random": at_random_moments(folder, 20, seconds),
        "changes": at_every_change(folder / "base", folder / "changes"),
        "signals": by_signals(folder / "signals"),
        "disk": on_a_full_disk(folder / "disk"),
        "seconds": seconds,
    }
    (folder / "report.json").write_text(json.dumps(report))


if __name__ == "__main__":
    work(Path(sys.argv[1]))
