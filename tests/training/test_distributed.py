"""Several processes train as one does: the same losses, the same weights, the same files.

On the CPU, and on GPUs where there are two: a GPU of its own for each process.
"""

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file
from torch import nn
from torch.distributed.fsdp import FSDPModule
from torch.distributed.tensor import DTensor

from glassbox.training import Processes, distribute, make_optimizer, processes, read_metrics
from glassbox.training.checkpoint import MODEL, OPTIMIZER, STATE, checkpoints
from glassbox.training.distributed import no_sync
from glassbox.training.loss import Loss
from glassbox.training.runs import read_run
from tests.training.several import (
    TRAINING,
    Watched,
    answers,
    empty_disk,
    fill_disk,
    spoil,
    start,
    stop,
    train_here,
)

pytestmark = pytest.mark.slow

ALONE = Processes(0, 1, torch.device("cpu"))
DEVICES = ["cpu", "cuda"] if torch.cuda.device_count() > 1 else ["cpu"]
SHARDING = ["none", "full"]


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Path]:
    """Return a function that trains in one process, without a stop, and returns the folder."""
    done: dict[str, Path] = {}

    def alone(dtype: torch.dtype = torch.float32, **changes: Any) -> Path:
        key = f"{dtype} {changes}"
        if key not in done:
            done[key] = tmp_path_factory.mktemp("alone")
            assert train_here(ALONE, done[key], Watched(), dtype, **changes)
        return done[key]

    return alone


def assert_same_log(folder: Path, expected: Path, rel: float) -> None:
    """Losses, gradients' norms and measurements on held-out text: every number of every step."""
    lines = read_metrics(folder / "metrics.jsonl")
    for line, other in zip(lines, read_metrics(expected / "metrics.jsonl"), strict=True):
        assert line.pop("split") == other.pop("split")
        assert line == pytest.approx(other, rel=rel)


def weights(folder: Path) -> dict[str, torch.Tensor]:
    return load_file(folder / "model" / MODEL)


# The same as one process.


def learn(group: Processes, folder: Path) -> list[int]:
    """Train both ways; return what dropout would be drawn from at three batches."""
    seeds = []

    def note(loss: Loss) -> Loss:
        seeds.append(torch.initial_seed())
        return loss

    for sharding, at in zip(SHARDING, (1, 3), strict=True):
        train_here(group, folder / sharding, Watched(at, note), sharding=sharding)
    half = Watched(1, note)
    train_here(group, folder / "bfloat16", half, sharding="full", precision="bfloat16")
    return seeds


@pytest.fixture(scope="module", params=DEVICES)
def learned(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What two processes have learned, each way."""
    folder = tmp_path_factory.mktemp("learned")
    first, second = answers(start(learn, folder, device=request.param))
    (folder / "seeds.json").write_text(json.dumps([first, second]))
    return folder


def test_the_batches_are_of_every_kind() -> None:
    """What the tests below rest on: shares that are equal, that differ, and that are empty."""
    task = Watched()
    steps = [step for epoch in (0, 1) for step in task.epoch(epoch)][: TRAINING.steps]
    sizes = {len(batch) for step in steps for batch in step}
    assert {1, 2, 3, 4} <= sizes
    assert all(len(step) > 1 for step in steps)  # accumulated


@pytest.mark.parametrize("sharding", SHARDING)
def test_two_processes_have_the_loss_of_one_at_every_step(
    learned: Path, alone: Callable[..., Path], sharding: str
) -> None:
    assert_same_log(learned / sharding, alone(), rel=1e-5)
    norms = [line["norm"] for line in read_metrics(alone() / "metrics.jsonl") if "norm" in line]
    assert max(norms) > 1.3 > min(norms)  # the clip shortens some and leaves others


@pytest.mark.parametrize("sharding", SHARDING)
def test_two_processes_end_with_the_weights_of_one(
    learned: Path, alone: Callable[..., Path], sharding: str
) -> None:
    mine, expected = weights(learned / sharding), weights(alone())
    assert mine.keys() == expected.keys()
    for name in mine:
        # Adding the same number to all scores changes nothing: the gradient of a key's bias is
        # rounding noise, which AdamW enlarges to whole steps.
        if not name.endswith("key.bias"):
            torch.testing.assert_close(mine[name], expected[name], rtol=1e-5, atol=1e-6)


def test_a_sharded_model_learns_in_half_precision(
    learned: Path, alone: Callable[..., Path]
) -> None:
    def losses(folder: Path) -> list[float]:
        return [line["loss"] for line in read_metrics(folder / "metrics.jsonl") if "loss" in line]

    half = losses(learned / "bfloat16")
    assert half == pytest.approx(losses(alone(precision="bfloat16")), rel=5e-3)
    assert half[0] != pytest.approx(losses(learned / "full")[0], rel=5e-6)  # it is half precision


@pytest.mark.parametrize("sharding", SHARDING)
def test_files_do_not_show_how_many_processes_there_were(
    learned: Path, alone: Callable[..., Path], sharding: str
) -> None:
    def content(folder: Path) -> list[Any]:
        path = checkpoints(folder / "checkpoints")[-1]
        state = json.loads((path / STATE).read_text())
        state["progress"]["seconds"] = state["sha256"] = None
        tensors = [
            {name: (x.shape, x.dtype) for name, x in load_file(path / file).items()}
            for file in (MODEL, OPTIMIZER)
        ]
        return [path.name, sorted(file.name for file in path.iterdir()), state, *tensors]

    assert content(learned / sharding) == content(alone())
    assert {path.name for path in (learned / sharding).iterdir()} == {
        path.name for path in alone().iterdir()
    }


def test_each_process_drops_values_of_its_own(learned: Path) -> None:
    first, second = json.loads((learned / "seeds.json").read_text())
    assert first[0] == first[2] != first[1]  # of the step, whatever the run
    assert not {*first} & {*second}


# What each holds.


def hold(group: Processes) -> dict[str, float]:
    """Learn from two batches in turn; return the share of the model that this process has."""
    task = Watched()
    model = task.build().to(group.device)
    size = sum(parameter.numel() for parameter in model.parameters())
    call = distribute(model, group, "full")
    optimizer = make_optimizer(model, TRAINING)

    def share(tensors: Any) -> float:
        return sum(x.to_local().numel() for x in tensors if isinstance(x, DTensor)) / size

    shares = {}
    with no_sync(call, True):
        task.loss(call, [0, 1]).total.backward()
    shares["gradients that are added up"] = share(p.grad for p in model.parameters())
    with no_sync(call, False):
        task.loss(call, [2]).total.backward()
    optimizer.step()
    shares["gradients"] = share(p.grad for p in model.parameters())
    for kind in ("exp_avg", "exp_avg_sq"):
        shares[kind] = share(state[kind] for state in optimizer.state.values())
    shares["parameters"] = share(model.parameters())
    with torch.no_grad():
        task.loss(call, [0])
    shares["parameters after a validation"] = share(model.parameters())
    gathered = [module for module in model.modules() if isinstance(module, FSDPModule)]
    assert len(gathered) == 3  # the layer of each stack by itself, and what is outside of them
    return shares


@pytest.mark.parametrize("place", DEVICES)
def test_of_a_sharded_model_each_process_holds_half_of_everything(place: str) -> None:
    first, second = answers(start(hold, device=place))
    for what, share in first.items():
        assert share + second[what] == 1, what
        assert share == pytest.approx(0.5, abs=0.01), what


# Stopping, and going on in other numbers.


def until_stopped(group: Processes, folder: Path, rank: int, at: int, sharding: str) -> bool:
    task = Watched(at, stop if group.rank == rank else None)
    return train_here(group, folder, task, torch.float64, sharding=sharding)


@pytest.mark.parametrize("place", DEVICES)
def test_checkpoints_move_between_numbers_of_processes(
    alone: Callable[..., Path], tmp_path: Path, place: str
) -> None:
    """One, two that are sharded, two that are not, one; each stopped by a signal to one alone."""

    def newest() -> str:
        return checkpoints(tmp_path / "checkpoints")[-1].name

    assert not until_stopped(ALONE, tmp_path, 0, 3, "none")
    assert newest() == "step-00000002"
    for rank, sharding, name in ((1, "full", "step-00000004"), (0, "none", "step-00000006")):
        outcomes = start(until_stopped, tmp_path, rank, 4, sharding, device=place)
        assert answers(outcomes) == [False, False]
        assert newest() == name
    assert until_stopped(ALONE, tmp_path, 0, 0, "none")
    assert_same_log(tmp_path, alone(torch.float64), rel=2e-9)  # it has nine digits
    for name, weight in weights(alone(torch.float64)).items():
        torch.testing.assert_close(weights(tmp_path)[name], weight, rtol=1e-10, atol=1e-9)


# When one cannot go on.


def fail(group: Processes, folder: Path) -> list[str]:
    """Let something go wrong in one process, several times; return what this one meets with."""

    def meets(name: str, task: Watched, **changes: Any) -> str:
        try:
            train_here(group, folder / name, task, **changes)
        except Exception as error:
            return f"{type(error).__name__}: {error}"
        finally:
            empty_disk()
        return "nothing"

    if group.first:
        (folder / "model").mkdir()
        (folder / "model" / "model").touch()  # no folder can be made there
    return [
        meets("none", Watched(5, None if group.first else spoil), sharding="none"),
        meets("full", Watched(5, None if group.first else spoil), sharding="full"),
        meets("disk", Watched(5, fill_disk if group.first else None), checkpoint_every=2),
        meets("model", Watched(), steps=1),
        meets("model" if group.first else "elsewhere", Watched(), steps=1),
    ]


@pytest.fixture(scope="module", params=DEVICES)
def failed(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Path, dict[str, tuple[str, str]]]:
    """What both processes met with, where one of them could not go on."""
    folder = tmp_path_factory.mktemp("failed")
    first, second = answers(start(fail, folder, device=request.param))
    names = ("none", "full", "disk", "model", "elsewhere")
    return folder, dict(zip(names, zip(first, second, strict=True), strict=True))


OTHER = "OtherProcessError: process 1 of 2 stops because another has failed"


@pytest.mark.parametrize("sharding", SHARDING)
def test_a_loss_in_one_process_that_is_no_number_ends_all_with_an_error(
    failed: tuple[Path, dict[str, tuple[str, str]]], sharding: str
) -> None:
    first, second = failed[1][sharding]
    assert first == second
    assert first.startswith("FloatingPointError: step 3: the loss is nan")


def test_a_full_disk_ends_all_processes_and_leaves_the_last_checkpoint(
    failed: tuple[Path, dict[str, tuple[str, str]]],
) -> None:
    folder, met = failed
    first, second = met["disk"]
    assert first.startswith("CheckpointError: the checkpoint of step 4 cannot be written")
    assert second == OTHER
    (kept,) = (folder / "disk" / "checkpoints").iterdir()
    assert kept.name == "step-00000002"


def test_a_model_that_cannot_be_written_ends_all_processes(
    failed: tuple[Path, dict[str, tuple[str, str]]],
) -> None:
    first, second = failed[1]["model"]
    assert first.startswith("CheckpointError: the model cannot be written")
    assert second == OTHER


def test_processes_that_see_different_checkpoints_do_not_begin(
    failed: tuple[Path, dict[str, tuple[str, str]]],
) -> None:
    for met, folder in zip(failed[1]["elsewhere"], ("model", "elsewhere"), strict=True):
        assert met == (
            "ValueError: the processes differ in the step of the newest checkpoint in "
            f"{failed[0] / folder / 'checkpoints'}, which all must see: [1, 0]"
        )


def break_down(group: Processes, folder: Path, rank: int, sharding: str) -> bool:
    """Run out of memory in one process, or of disk for the log: what no other expects."""

    def run_out(loss: Loss) -> Loss:
        if group.first:
            return fill_disk(loss, room=0)
        raise MemoryError("no memory")

    task = Watched(3, run_out if group.rank == rank else None)
    return train_here(group, folder, task, sharding=sharding)


@pytest.mark.parametrize(
    ("rank", "sharding", "error"),
    [(0, "none", "OSError: [Errno 27] File too large"), (1, "full", "MemoryError: no memory")],
)
def test_an_error_that_nobody_expects_ends_the_others(
    tmp_path: Path, rank: int, sharding: str, error: str
) -> None:
    """They wait for it in the middle of an exchange, and its end breaks the connection."""
    outcomes = start(break_down, tmp_path, rank, sharding)
    assert error in outcomes[rank].error
    other = outcomes[1 - rank].error
    assert re.search("^RuntimeError: .*(remote worker|closed|reset)", other, re.MULTILINE)


# The command.

RUN = """
[training]
steps = 6
checkpoint_every = 2
validate_every = 3
average = 2
schedule.kind = "constant"
schedule.peak = 1e-3

[language_model]
block_len = 16
batch_size = 3
accumulate = 2
model = {d_model = 16, n_heads = 2, n_layers = 1, d_ff = 32, dropout = 0.0, embedding_dropout = 0.0}
"""


def test_the_launcher_of_pytorch_trains_with_two_processes_of_which_one_speaks(
    tmp_path: Path, data: Callable[[str], Path]
) -> None:
    data("tinyshakespeare/input.txt")
    run = tmp_path / "run.toml"
    run.write_text(RUN)
    command = "-m torch.distributed.run --standalone --nproc-per-node 2 -m glassbox train"
    options = [f"{run}", "--folder", f"{tmp_path / 'two'}", "--device", "cpu"]
    done = subprocess.run(
        [sys.executable, *command.split(), *options],
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
        env=os.environ | {"OMP_NUM_THREADS": "1", "PYTHONWARNINGS": "error"},
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == f"The model is in {tmp_path / 'two' / 'model'}.\n"
    assert read_run(run).start(tmp_path / "one")
    assert_same_log(tmp_path / "two", tmp_path / "one", rel=1e-5)
    assert sorted(p.name for p in (tmp_path / "two" / "model").iterdir()) == sorted(
        p.name for p in (tmp_path / "one" / "model").iterdir()
    )


# Without a second process.


def test_every_example_is_computed_once() -> None:
    for count, size in ((1, 3), (2, 1), (2, 5), (3, 2), (4, 9)):
        batch = list(range(10, 10 + size))
        shares = [Processes(i, count, torch.device("cpu")).shard(batch) for i in range(count)]
        assert sorted(example for share in shares for example in share) == batch
        assert max(map(len, shares)) - min(map(len, shares)) <= 1


def test_one_process_that_is_to_shard_trains_the_same(
    alone: Callable[..., Path], tmp_path: Path
) -> None:
    model = nn.Linear(2, 2)
    assert distribute(model, ALONE, "full") is model
    assert train_here(ALONE, tmp_path, Watched(), sharding="full")
    for name, weight in weights(alone()).items():
        torch.testing.assert_close(weights(tmp_path)[name], weight, rtol=0, atol=0)


def test_alone_an_error_is_the_error_and_everybody_agrees() -> None:
    with pytest.raises(KeyError, match="mine"), ALONE.barrier():
        raise KeyError("mine")
    with ALONE.barrier():
        ALONE.assert_equal("a number", 5)
    assert ALONE.all_reduce(torch.tensor(2)).item() == 2


@pytest.mark.usefixtures("as_a_reader")
def test_a_sharding_that_is_not_known_is_refused() -> None:
    for group in (ALONE, Processes(0, 2, torch.device("cpu"))):
        with pytest.raises(ValueError, match=r"sharding='half' is not known.*'full', 'none'"):
            distribute(nn.Linear(2, 2), group, "half")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("asked", "gpus", "message"),
    [
        ("cuda", 1, "process 3 of 4 is to use GPU 1, counted from 0, but there are 1"),
        ("cuda", 0, "process 3 of 4 is to use GPU 1, counted from 0, but there are 0"),
        ("cuda:0", 4, "4 processes cannot share 'cuda:0'"),
    ],
)
def test_processes_without_a_gpu_of_their_own_are_refused(
    monkeypatch: pytest.MonkeyPatch, asked: str, gpus: int, message: str
) -> None:
    """Two machines with two processes each, seen from the last."""
    for name, value in (("RANK", "3"), ("LOCAL_RANK", "1"), ("WORLD_SIZE", "4")):
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: gpus)
    with pytest.raises(ValueError, match=message), processes(asked):
        pytest.fail("it has begun")


def test_a_process_alone_is_on_the_device_that_is_asked_for(device: str) -> None:
    with processes(device) as group:
        assert (group.rank, group.count, group.device.type) == (0, 1, device)
        assert group.first
