"""A checkpoint is whole or not there, and what is damaged is found out and named."""

import errno
import hashlib
import json
import os
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file
from torch import Tensor, nn

from glassbox.files import remove
from glassbox.training import Processes, checkpoints, make_optimizer
from glassbox.training.checkpoint import (
    MODEL,
    OPTIMIZER,
    STATE,
    CheckpointError,
    load_checkpoint,
    read_checkpoint,
    save_checkpoint,
)
from glassbox.training.state import Progress, TrainingState
from tests.training.toy import TRAINING, Follows, Toy, ToyConfig, learn, weights

CONFIG: dict[str, object] = {"seed": 3, "betas": [0.9, 0.98], "clip": None}
PROGRESS = Progress(step=12, epoch=1, position=3, tokens=456, seconds=7.5)


def training(
    model: nn.Module, folder: Path, device: str = "cpu", progress: Progress = PROGRESS
) -> TrainingState:
    """Return a training of a model that has not taken a step yet."""
    group, optimizer = Processes(0, 1, torch.device(device)), make_optimizer(model, TRAINING)
    return TrainingState(Toy(), TRAINING, group, model, model, optimizer, folder, CONFIG, progress)


def trained(folder: Path, device: str = "cpu", step: int = 12) -> TrainingState:
    """Return a training whose optimiser has taken a step."""
    state = training(Toy().build().to(device), folder, device, Progress(step))
    state.optimizer.param_groups[0]["lr"] = 0.1
    state.model(torch.arange(10, device=device).view(2, 5)).square().sum().backward()
    state.optimizer.step()
    return state


def save(folder: Path, step: int = 12) -> Path:
    return save_checkpoint(trained(folder, step=step))


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


# What is in it.


def test_model_optimiser_and_progress_come_back_to_the_last_bit(
    tmp_path: Path, device: str
) -> None:
    one = trained(tmp_path, device)
    one.progress = PROGRESS
    two = training(Follows(ToyConfig()).to(device), tmp_path, device, Progress())
    load_checkpoint(save_checkpoint(one), two)
    assert two.progress == PROGRESS

    for name, tensor in one.model.state_dict().items():
        assert torch.equal(two.model.state_dict()[name], tensor), name
    assert two.model.state_dict()["seen"] == 1  # a buffer
    for mine, other in zip(one.model.parameters(), two.model.parameters(), strict=True):
        kept: dict[str, Tensor] = one.optimizer.state[mine]
        read: dict[str, Tensor] = two.optimizer.state[other]
        assert kept.keys() == read.keys() == {"step", "exp_avg", "exp_avg_sq"}
        for kind, tensor in kept.items():
            assert torch.equal(read[kind], tensor), kind
            assert read[kind].device == tensor.device
            assert read[kind].dtype == tensor.dtype


def test_a_parameter_that_never_had_a_gradient_has_no_moments(tmp_path: Path) -> None:
    used, unused = nn.Linear(2, 2), nn.Linear(2, 2)
    model = nn.Sequential(used, unused)
    state = training(model, tmp_path)
    used(torch.ones(1, 2)).sum().backward()
    state.optimizer.step()
    path, fresh = save_checkpoint(state), training(model, tmp_path)
    load_checkpoint(path, fresh)
    assert fresh.optimizer.state[used.weight].keys() == {"step", "exp_avg", "exp_avg_sq"}
    assert fresh.optimizer.state[unused.weight] == {}
    model(torch.ones(1, 2)).sum().backward()
    fresh.optimizer.step()  # which makes what is missing


def test_tied_weights_are_written_once_and_stay_tied(tmp_path: Path) -> None:
    def tied() -> nn.Sequential:
        model = nn.Sequential(nn.Linear(3, 3, bias=False), nn.Linear(3, 3, bias=False))
        model[1].weight = model[0].weight
        return model

    model, other = tied(), tied()
    path = save_checkpoint(training(model, tmp_path))
    assert load_file(path / MODEL).keys() == {"0.weight"}
    load_checkpoint(path, training(other, tmp_path))
    assert torch.equal(other.state_dict()["1.weight"], model.state_dict()["0.weight"])
    assert other[1].weight is other[0].weight


def test_the_files_are_these_and_nothing_is_pickled(tmp_path: Path) -> None:
    path = save(tmp_path)
    assert path == tmp_path / "checkpoints" / "step-00000012"
    assert names(path) == [MODEL, OPTIMIZER, STATE]
    state = json.loads((path / STATE).read_text())
    assert state["progress"] == {"step": 12, "epoch": 0, "position": 0, "tokens": 0, "seconds": 0.0}
    assert state["config"] == CONFIG
    assert state["sha256"] == {
        name: hashlib.sha256((path / name).read_bytes()).hexdigest() for name in (MODEL, OPTIMIZER)
    }


def test_a_checkpoint_of_the_first_version_is_still_read(tmp_path: Path) -> None:
    """Written by hand, in the words that it had: real runs go on from such."""
    folder = tmp_path / "step-00000007"
    folder.mkdir()
    save_file({"weight": torch.full((1, 2), 5.0)}, folder / MODEL)
    moments = {
        "step": torch.tensor(7.0),
        "exp_avg": torch.ones(1, 2),
        "exp_avg_sq": torch.ones(1, 2),
    }
    save_file({f"{kind}/weight": tensor for kind, tensor in moments.items()}, folder / OPTIMIZER)
    digests = ", ".join(
        f'"{name}": "{hashlib.sha256((folder / name).read_bytes()).hexdigest()}"'
        for name in (MODEL, OPTIMIZER)
    )
    (folder / STATE).write_text(
        '{"progress": {"step": 7, "epoch": 1, "position": 2, "tokens": 99, "seconds": 0.25}, '
        '"config": {"task": "translation", "directions": [["en", "fr"]], "steps": 44, "clip": 1.0},'
        f'"sha256": {{{digests}}}}}'
    )
    model = nn.Linear(2, 1, bias=False)
    state = training(model, tmp_path)
    config = {"task": "translation", "directions": [["en", "fr"]], "steps": 50, "clip": 1.0}
    state.definition = config
    load_checkpoint(folder, state)
    assert state.progress == Progress(7, 1, 2, 99, 0.25)
    assert model.weight.tolist() == [[5.0, 5.0]]
    assert state.optimizer.state[model.weight]["step"] == 7


@pytest.mark.parametrize(
    ("number", "message"),
    [({"step": -1}, "step is -1"), ({"epoch": 1.5}, "epoch is 1.5; expected int"),
     ({"seconds": "1"}, "seconds is '1'; expected float"), ({"tokens": None}, "tokens is None")],
)  # fmt: skip
@pytest.mark.usefixtures("as_a_reader")
def test_progress_is_numbers(number: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Progress(**number)


# Which checkpoints there are.


def test_the_newest_is_the_one_of_the_highest_step(tmp_path: Path) -> None:
    for name in ("step-00000900", "step-100000000", "step-00001000"):
        (tmp_path / name).mkdir()
    assert [path.name for path in checkpoints(tmp_path)] == [
        "step-00000900",
        "step-00001000",
        "step-100000000",
    ]


def test_no_other_folder_is_taken_for_a_checkpoint(tmp_path: Path) -> None:
    for name in (".step-00000001.part", ".step-00000001.old", "step-1", "step-00000001.part", "x"):
        (tmp_path / name).mkdir()
    assert checkpoints(tmp_path) == []
    assert checkpoints(tmp_path / "missing") == []


# Damage.


def truncate(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-10])


def alter(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


def edit(**entries: Any) -> Callable[[Path], None]:
    """Return a function that changes entries of a state; None deletes one."""

    def change(path: Path) -> None:
        state = json.loads(path.read_text()) | entries
        kept = {name: entry for name, entry in state.items() if entry is not None}
        path.write_text(json.dumps(kept))

    return change


def spoil_a_byte(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[5] = 0xFF
    path.write_bytes(content)


DAMAGES: dict[str, tuple[str, Callable[[Path], object], str]] = {
    "a model cut off": (MODEL, truncate, "model.safetensors has sha256 .*, and was written with"),
    "an altered model": (MODEL, alter, "model.safetensors has sha256 .*, and was written with"),
    "an altered optimiser": (OPTIMIZER, alter, "optimizer.safetensors has sha256"),
    "no model": (MODEL, Path.unlink, "No such file or directory: '.*step-00000008/model.safe"),
    "no state": (STATE, Path.unlink, "No such file or directory: '.*step-00000008/state.json"),
    "a state cut off": (STATE, truncate, "state.json is not as it was written .JSONDecodeError"),
    "an empty state": (STATE, lambda path: path.write_bytes(b""), "state.json is not as it was"),
    "a byte that is no text": (STATE, spoil_a_byte, r"n \(UnicodeDecodeError: [^{]{,80}\)\. The"),
    "a list": (STATE, lambda path: path.write_text("[]"), "state.json is not as it was written"),
    "no progress": (STATE, edit(progress=None), "state.json is not .*KeyError: 'progress'"),
    "no config": (STATE, edit(config=None), "state.json is not .*KeyError: 'config'"),
    "no digests": (STATE, edit(sha256={}), "state.json is not .*KeyError: 'model.safetensors'"),
    "a wrong digest": (STATE, edit(sha256={MODEL: "0", OPTIMIZER: "0"}), "was written with 0"),
    "another step": (STATE, edit(progress={"step": 4}), "state.json is of step 4"),
    "no number": (STATE, edit(progress={"step": 8, "epoch": -1}), "epoch is -1; expected int"),
    "unknown progress": (STATE, edit(progress={"step": 8, "x": 1}), "state.json is not .*'x'"),
}  # fmt: skip


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What a training that nothing happened to has left."""
    folder = tmp_path_factory.mktemp("whole")
    assert learn(folder)
    return folder


@pytest.fixture
def half(tmp_path: Path, whole: Path) -> Path:
    """A training that has come to step 8 of 9, with checkpoints of the steps 4, 6 and 8."""
    learn(tmp_path, steps=8)
    assert names(tmp_path / "checkpoints") == [f"step-0000000{step}" for step in (4, 6, 8)]
    return tmp_path


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_checkpoint_is_named_with_the_last_good_one_and_can_be_deleted(
    half: Path, whole: Path, damage: str
) -> None:
    file, hurt, message = DAMAGES[damage]
    newest = half / "checkpoints" / "step-00000008"
    hurt(newest / file)
    log = (half / "metrics.jsonl").read_text()
    with pytest.raises(CheckpointError, match=message) as caught:
        learn(half)
    text = str(caught.value)
    assert text.startswith(f"{newest} cannot be read: ")
    assert f"The last good checkpoint is {newest.parent / 'step-00000006'}: delete the" in text
    assert (half / "metrics.jsonl").read_text() == log  # nothing has been touched

    shutil.rmtree(newest)
    assert learn(half)
    assert_same(half, whole)


def assert_same(folder: Path, whole: Path) -> None:
    expected = weights(whole)
    assert weights(folder).keys() == expected.keys()
    for name, weight in weights(folder).items():
        assert torch.equal(weight, expected[name]), name


def test_both_digests_are_named(half: Path) -> None:
    path = half / "checkpoints" / "step-00000008" / MODEL
    written_with = hashlib.sha256(path.read_bytes()).hexdigest()
    alter(path)
    found = hashlib.sha256(path.read_bytes()).hexdigest()
    with pytest.raises(CheckpointError, match=f"{found}, and was written with {written_with}"):
        learn(half)


def test_a_checkpoint_that_is_damaged_too_is_not_called_good(half: Path, whole: Path) -> None:
    for step, hurt in ((8, truncate), (6, alter), (4, alter)):
        hurt(half / "checkpoints" / f"step-0000000{step}" / OPTIMIZER)
    with pytest.raises(CheckpointError, match="The last good state is the beginning: delete the"):
        learn(half)
    shutil.rmtree(half / "checkpoints")
    assert learn(half)
    assert_same(half, whole)


def test_a_damaged_checkpoint_is_not_averaged(half: Path, whole: Path) -> None:
    """One that is not the newest is found out when it is needed, and can be taken once more."""
    hurt = half / "checkpoints" / "step-00000008"

    class Damaging(Toy):
        def validate(self, model: nn.Module, group: Processes) -> dict[str, float]:
            alter(hurt / MODEL)  # in the last step, after it was read
            return super().validate(model, group)

    (half / "model" / MODEL).write_text("the model before")
    with pytest.raises(CheckpointError, match="step-00000008 cannot be read") as caught:
        learn(half, Damaging())
    assert "step-00000006: delete the newer checkpoints" in str(caught.value)
    assert (half / "model" / MODEL).read_text() == "the model before"
    for path in checkpoints(half / "checkpoints")[1:]:
        shutil.rmtree(path)
    assert names(half / "checkpoints") == ["step-00000006"]
    assert learn(half)
    assert_same(half, whole)


def test_weights_of_another_model_are_refused_naming_the_first_that_differs(tmp_path: Path) -> None:
    path = save(tmp_path)
    wider = Follows(ToyConfig(width=9))
    with pytest.raises(
        ValueError,
        match=re.escape("embedding.weight is (40, 8) there, and (40, 9) here"),
    ):
        load_checkpoint(path, training(wider, tmp_path))
    other = nn.Linear(2, 2)
    with pytest.raises(ValueError, match=r"bias is missing there, and \(2,\) here"):
        load_checkpoint(path, training(other, tmp_path))


def test_a_model_is_left_as_it_was_by_weights_that_are_not_its_own(tmp_path: Path) -> None:
    path = save(tmp_path)
    longer = Follows(ToyConfig())
    longer.zoom = nn.Linear(2, 2)  # all others fit
    before = {name: tensor.clone() for name, tensor in longer.state_dict().items()}
    with pytest.raises(ValueError, match=r"zoom.bias is missing there, and \(2,\) here"):
        load_checkpoint(path, training(longer, tmp_path))
    assert all(torch.equal(longer.state_dict()[name], before[name]) for name in before)


# What cannot be written.


def full(*_: object, **__: object) -> Any:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def half_of_it(path: Path, content: bytes) -> int:
    with path.open("wb") as file:
        file.write(content[: len(content) // 2])
    return int(full())


@pytest.mark.parametrize(
    ("owner", "name", "instead"),
    [
        (Path, "mkdir", full),
        (Path, "write_bytes", half_of_it),
        (os, "fsync", full),
        (Path, "replace", full),
    ],
    ids=["mkdir", "write", "fsync", "replace"],
)
def test_a_full_disk_is_named_and_leaves_what_was_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, owner: Any, name: str, instead: Any
) -> None:
    folder = tmp_path / "checkpoints"
    good = save(tmp_path, 10)
    with monkeypatch.context() as patch:
        patch.setattr(owner, name, instead)
        with pytest.raises(CheckpointError) as caught:
            save(tmp_path, 12)
    assert str(caught.value) == (
        f"the checkpoint of step 12 cannot be written to {folder}: No space left on device. "
        f"The last good checkpoint is {good}"
    )
    assert names(folder) == [good.name]
    read_checkpoint(good)
    assert names(save(tmp_path, 12).parent) == [good.name, "step-00000012"]


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(
        CheckpointError, match=r"cannot be written to .*file/checkpoints: Not a dir"
    ):
        save(tmp_path / "file")


@pytest.mark.parametrize("file", ["weight", "moment"])
@pytest.mark.parametrize("number", [torch.nan, torch.inf])
def test_what_is_not_finite_is_not_kept(tmp_path: Path, file: str, number: float) -> None:
    state = trained(tmp_path, step=10)
    good = save_checkpoint(state)
    state.progress = Progress(12)
    parameter = dict(state.model.named_parameters())["norm.weight"]
    tensor = parameter.data if file == "weight" else state.optimizer.state[parameter]["exp_avg_sq"]
    tensor[3] = number
    with pytest.raises(FloatingPointError, match=f"step 12: .*norm.weight is no.*good.* {good}"):
        save_checkpoint(state)
    assert names(good.parent) == [good.name]


# On the disk.


def test_everything_is_on_the_disk_before_a_name_leads_to_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After a loss of power, too: each file, the folder's names, and only then the renaming."""
    events: list[str] = []
    fsync, replace = os.fsync, Path.replace

    def synced(descriptor: int) -> None:
        events.append(str(Path(f"/proc/self/fd/{descriptor}").readlink().relative_to(tmp_path)))
        fsync(descriptor)

    def replaced(path: Path, target: Path) -> Path:
        events.append(f"{path.relative_to(tmp_path)} -> {target.relative_to(tmp_path)}")
        return replace(path, target)

    monkeypatch.setattr(os, "fsync", synced)
    monkeypatch.setattr(Path, "replace", replaced)
    save(tmp_path)
    *files, part, renaming, folder = events
    assert re.fullmatch(r"checkpoints/\.step-00000012-\w+\.part/step-00000012", part)
    assert sorted(files) == [f"{part}/{name}" for name in (MODEL, OPTIMIZER, STATE)]
    assert renaming == f"{part} -> checkpoints/step-00000012"
    assert folder == "checkpoints"


def test_what_is_being_deleted_is_no_checkpoint_from_the_first_moment_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = save(tmp_path)
    seen = []
    monkeypatch.setattr(shutil, "rmtree", lambda *_, **__: seen.append(checkpoints(path.parent)))
    remove(path)
    assert seen[-1] == []
