"""``glassbox train`` says where the model is, goes on where it stopped, and fails in one line."""

import io
import re
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file

from glassbox.cli.train import find_run
from glassbox.results import RUNS
from glassbox.training import checkpoints
from glassbox.training.loss import Loss
from glassbox.training.tasks import TASKS
from tests.cli.conftest import Command
from tests.training.toy import Interrupted, Toy, ToyConfig, spoil

pytestmark = pytest.mark.slow

RUN = """
[toy]

[training]
steps = 6
validate_every = 3
checkpoint_every = 2
schedule.kind = "constant"
schedule.warmup = 0
"""


@pytest.fixture
def tasks(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """The tasks that there are: the toy alone."""
    tasks: dict[str, Any] = {"toy": (Toy, ToyConfig)}
    monkeypatch.setattr("glassbox.training.runs.TASKS", tasks)
    return tasks


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tasks: dict[str, Any]) -> str:
    """A run's file in a folder of its own, named from where we are."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "run.toml").write_text(RUN)
    return "mine/run.toml"


def interrupted(step: int, event: Callable[..., Any]) -> tuple[Any, Any]:
    return (lambda config, seed: Interrupted(step, event, seed)), ToyConfig


def test_it_trains_into_a_folder_named_like_the_one_of_the_run(glassbox: Command, run: str) -> None:
    answer = glassbox("train", run, "--device", "cpu")
    assert answer.out == f"The model is in {Path('runs/mine/model')}.\n"
    assert (answer.status, answer.err) == (0, "")  # no bar, where nobody looks at a terminal
    assert {path.name for path in Path("runs/mine").iterdir()} == {
        "checkpoints",
        "metrics.jsonl",
        "model",
    }


def test_a_run_in_the_folder_where_we_are_has_its_name(
    glassbox: Command, run: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir("mine")
    assert "runs/mine/model" in glassbox("train", "run.toml").out.replace("\\", "/")


def test_folder_entries_and_tensorboard_can_be_chosen(glassbox: Command, run: str) -> None:
    options = ["--folder", "there/deep", "--set", "training.steps=3", "--set", "toy.width=6"]
    answer = glassbox("train", run, *options, "--tensorboard")
    assert answer.out == f"The model is in {Path('there/deep/model')}.\n"
    assert [path.name for path in checkpoints(Path("there/deep/checkpoints"))] == [
        "step-00000002",
        "step-00000003",
    ]
    assert load_file("there/deep/model/model.safetensors")["out.weight"].shape == (40, 6)
    assert any(Path("there/deep/tensorboard").iterdir())


def test_the_folder_may_be_in_the_home_folder(
    glassbox: Command, run: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    answer = glassbox("train", run, "--folder=~/there")  # in which no shell replaces the tilde
    assert answer.out == f"The model is in {tmp_path / 'there' / 'model'}.\n"
    assert not Path("~").exists()


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_terminal_sees_tokens_per_second_and_the_time_left(
    glassbox: Command, run: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    glassbox("train", run)
    last = terminal.getvalue().split("\r")[-1]
    assert re.search(r"100%\|.*\| step 6 of 6, loss \d\.\d{3}, [\d,]+ tokens/s, 00:00 left", last)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_stopped_it_says_so_and_the_same_command_goes_on(
    glassbox: Command, run: str, tasks: dict[str, Any], number: int
) -> None:
    glassbox("train", run, "--folder", "whole")

    def ask(loss: Loss) -> Loss:
        signal.raise_signal(number)
        return loss

    toy, tasks["toy"] = tasks["toy"], interrupted(3, ask)
    answer = glassbox("train", run)
    kept = Path("runs/mine/checkpoints")
    assert answer.out == f"Stopped. The same command resumes from {kept}.\n"
    assert (answer.status, answer.err) == (130, "")
    assert checkpoints(kept)[-1].name == "step-00000003"
    tasks["toy"] = toy
    answer = glassbox("train", run)
    assert answer.status == 0
    assert answer.err.startswith("Resumed at step 3 of 6.\n")
    whole = load_file("whole/model/model.safetensors")
    for name, weight in load_file("runs/mine/model/model.safetensors").items():
        assert torch.equal(weight, whole[name]), name


def test_a_second_ctrl_c_ends_it_at_once(
    glassbox: Command, run: str, tasks: dict[str, Any]
) -> None:
    def twice(loss: Any) -> None:
        signal.raise_signal(signal.SIGINT)
        signal.raise_signal(signal.SIGINT)

    tasks["toy"] = interrupted(3, twice)
    answer = glassbox("train", run)
    assert (answer.status, answer.out, answer.err) == (130, "", "")
    assert checkpoints(Path("runs/mine/checkpoints"))[-1].name == "step-00000002"


def test_a_loss_that_is_no_number_is_told_in_one_line(
    glassbox: Command, run: str, tasks: dict[str, Any]
) -> None:
    tasks["toy"] = interrupted(5, spoil)
    answer = glassbox("train", run)
    assert (answer.status, answer.out) == (2, "")
    assert answer.err.startswith("glassbox: step 5: the loss is nan")
    assert (
        "step-00000004; a lower rate, a longer warm-up or a smaller clip may help\n" in answer.err
    )
    assert answer.err.count("\n") == 1


def test_a_damaged_checkpoint_is_told_in_one_line(glassbox: Command, run: str) -> None:
    glassbox("train", run)
    path = Path("runs/mine/checkpoints/step-00000006")
    (path / "optimizer.safetensors").write_bytes(b"")
    answer = glassbox("train", run)
    assert (answer.status, answer.out) == (2, "")
    assert answer.err.startswith(f"glassbox: {path} cannot be read: optimizer.safetensors has sha")
    assert answer.err.count("\n") == 1


def test_a_missing_text_is_told_before_a_folder_is_made(
    glassbox: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    train = ("train", "shakespeare-llama", "--set", "language_model.text='mine.txt'")
    answer = glassbox(*train)
    assert answer.err == "glassbox: language_model.text: no such file: 'mine.txt'\n"
    assert (answer.status, [*tmp_path.iterdir()]) == (2, [])

    (tmp_path / "mine.txt").write_text("ROMEO:")  # a file that exists is not reported missing
    answer = glassbox(*train, "--device", "tpux")
    assert answer.err.startswith("glassbox: --device tpux: expected cpu")
    monkeypatch.setenv("RANK", "0")  # as one of several processes
    assert glassbox(*train, "--device", "tpux") == answer


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["missing.toml"], "no file 'missing.toml', and no run of the book has that name: bert, "),
        (["mine"], "there is no file 'mine', and no run of the book has that name"),
        (
            ["mine/run.toml", "--set", "training.step=5"],
            "[training] has no entry 'step'; there are",
        ),
        (["mine/run.toml", "--set", "training.steps"], "expected TABLE.NAME=VALUE"),
        (
            ["mine/run.toml", "--device", "tpux"],
            "--device tpux: expected cpu, or another device on this machine",
        ),
        (
            ["mine/run.toml", "--folder", "mine/run.toml"],
            "folder mine/run.toml cannot be made: File e",
        ),
        (
            ["mine/run.toml", "--folder", "mine/run.toml/x"],
            "Not a directory. Name one that can with --f",
        ),
    ],
)
def test_what_can_be_mended_is_told_in_one_line_before_anything_is_read(
    glassbox: Command, run: str, tasks: dict[str, Any], options: list[str], message: str
) -> None:
    def build(*_: object) -> None:
        raise AssertionError("the data have been read")

    tasks["toy"] = (build, ToyConfig)
    answer = glassbox("train", *options)
    assert (answer.status, answer.out) == (2, "")
    assert answer.err.startswith("glassbox: ")
    assert message in answer.err
    assert answer.err.count("\n") == 1


def test_another_configuration_is_told_in_one_line(glassbox: Command, run: str) -> None:
    glassbox("train", run)
    answer = glassbox("train", run, "--set", "training.seed=1")
    assert answer.status == 2
    assert "seed was 0 and is 1. Train into another folder" in answer.err
    assert answer.err.count("\n") == 1


def test_a_run_of_the_book_is_found_by_its_name() -> None:
    assert find_run(Path("tatoeba")).samefile(RUNS / "tatoeba" / "run.toml")


def test_a_pipe_sees_how_far_the_training_is_before_it_ends(
    glassbox: Command, run: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("glassbox.training.metrics.SECONDS_BETWEEN_LINES", 0.0)
    lines = glassbox("train", run).err.splitlines()
    assert [line.partition(",")[0] for line in lines] == [f"step {n} of 6" for n in range(1, 7)]
    assert re.fullmatch(r"step 6 of 6, loss \d\.\d{3}, [\d,]+ tokens/s", lines[-1])


def test_help_says_how_to_learn_from_data_of_ones_own(glassbox: Command) -> None:
    text = " ".join(glassbox("train", "--help").out.split())
    assert "[language_model] the entry text names a text file" in text
    assert 'corpus = "pairs" learns from them alone' in text


def test_the_package_has_its_tasks() -> None:
    assert TASKS.keys() == {
        "classification",
        "language_model",
        "masked_language_model",
        "translation",
    }


def test_a_folder_that_admits_no_file_is_named_before_the_data_are_read(
    glassbox: Command, run: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("os.access", lambda path, mode: False)  # root may write everywhere
    answer = glassbox("train", run, "--folder", tmp_path / "here")
    assert (answer.status, answer.out) == (2, "")
    assert "here cannot be written to: name one with --folder" in answer.err
    assert [*(tmp_path / "here").iterdir()] == []
