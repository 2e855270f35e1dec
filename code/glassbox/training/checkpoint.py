"""Checkpoints: all that is needed to resume training, in a folder that is complete or absent."""

import hashlib
import json
import re
from collections.abc import Collection, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from safetensors import SafetensorError
from safetensors.torch import load, save
from torch import Tensor, nn

from glassbox.files import atomic_write
from glassbox.training.config import GROWS
from glassbox.training.distributed import Processes, copy_full_tensor, full_tensor
from glassbox.training.state import Progress, TrainingState

MODEL, OPTIMIZER, STATE = "model.safetensors", "optimizer.safetensors", "state.json"
_FOLDER = re.compile(r"step-(\d{8,})")


@dataclass(frozen=True)
class Checkpoint:
    """The contents of a checkpoint.

    Parameters
    ----------
    progress : Progress
        The progress of training.
    config : mapping
        The entries that define the run.
    tensors : mapping
        The tensors of each file that was read, by name.
    """

    progress: Progress
    config: Mapping[str, Any]
    tensors: Mapping[str, Mapping[str, Tensor]]


class CheckpointError(OSError):
    """A checkpoint cannot be written or read; the message says which, why, and what is left."""


def checkpoints(folder: str | Path) -> list[Path]:
    """Return the checkpoints in a folder, the oldest first."""
    folder = Path(folder).expanduser()
    if not folder.is_dir():
        return []
    found = (path for path in folder.iterdir() if _FOLDER.fullmatch(path.name))
    return sorted(found, key=step_of)


def step_of(path: Path) -> int:
    """Return the step after which a checkpoint was written, from its name."""
    return int(path.name.removeprefix("step-"))


def save_checkpoint(training: TrainingState) -> Path:
    """Write a checkpoint, completely or not at all.

    A collective: every process must call it, because each may hold a shard of the tensors. The
    first writes, and the files do not depend on the number of processes.

    Parameters
    ----------
    training : TrainingState
        Its model's parameters and buffers and its optimiser's moments are stored by name, together
        with its progress and definition.

    Returns
    -------
    Path
        The checkpoint, ``step-00001000`` in the folder of the checkpoints.

    Raises
    ------
    CheckpointError
        If it cannot be written, as on a full disk. Earlier checkpoints stay as they were.
    FloatingPointError
        If a tensor is no longer finite, so that training could not resume from it.
    OtherProcessError
        In the other processes, if the first cannot write.
    """
    folder, config = training.checkpoints, training.definition
    progress, group = training.progress, training.group
    place = folder / f"step-{progress.step:08d}"
    files = {
        MODEL: _gathered(_tensors(training.model), group),
        OPTIMIZER: _gathered(_moments(training), group),
    }
    with group.barrier():
        for name, tensor in (files[MODEL] | files[OPTIMIZER]).items():
            if not tensor.isfinite().all():
                raise FloatingPointError(
                    f"step {progress.step}: {name} is no longer finite, and is not kept. "
                    f"{last_good(folder)}"
                )
        if group.first:
            try:
                with atomic_write(place) as part:
                    part.mkdir()
                    digests = {name: _write(part / name, save(x)) for name, x in files.items()}
                    state = {"progress": asdict(progress), "config": config, "sha256": digests}
                    _write(part / STATE, json.dumps(state, indent=1).encode())
            except OSError as error:
                raise CheckpointError(
                    f"the checkpoint of step {progress.step} cannot be written to {folder}: "
                    f"{error.strerror or error}. {last_good(folder)}"
                ) from error
    return place


def load_checkpoint(path: Path, training: TrainingState) -> None:
    """Read a checkpoint into a training, by any number of processes.

    Parameters
    ----------
    path : Path
        A folder that :func:`save_checkpoint` wrote.
    training : TrainingState
        Its model, optimiser and progress are changed in place.

    Raises
    ------
    CheckpointError
        If a file is missing or damaged, naming it and the last checkpoint that is not.
    ValueError
        If it belongs to another run or another model, naming what differs.
    """
    checkpoint = read_checkpoint(path)
    kept, config = checkpoint.config, training.definition
    differing = []
    for name in sorted({*kept, *config} - GROWS):
        what, was, now = name, kept.get(name), config.get(name)
        if isinstance(was, Mapping) and isinstance(now, Mapping) and "sha256" in {*was} & {*now}:
            what, was, now = f"the sha256 of {now['path']}", was["sha256"], now["sha256"]
        if was != now:
            differing.append(f"{what} was {was!r} and is {now!r}")
    if differing:
        raise ValueError(
            f"{path} is from a run with another configuration: {'; '.join(differing)}. Train into "
            "another folder, or continue with its configuration"
        )
    fill_weights(training.model, checkpoint.tensors[MODEL], path)
    moments = checkpoint.tensors[OPTIMIZER]
    for name, parameter in training.model.named_parameters():
        if f"step/{name}" in moments:  # absent if the parameter never had a gradient
            state = {kind: parameter.detach().clone() for kind in ("exp_avg", "exp_avg_sq")}
            for kind, tensor in state.items():
                copy_full_tensor(tensor, moments[f"{kind}/{name}"])
            state["step"] = moments[f"step/{name}"].to(parameter.device)  # as `fused` needs
            training.optimizer.state[parameter] = state
    training.progress = checkpoint.progress


def fill_weights(model: nn.Module, weights: Mapping[str, Tensor], path: Path) -> None:
    """Copy a checkpoint's weights into a model, which may be sharded.

    Raises
    ------
    ValueError
        If the weights at ``path`` are not this model's, naming one that differs. The model is left
        as it was.
    """
    tensors = _tensors(model)
    for name in sorted({*tensors, *weights}):
        kept, given = (
            tuple(owner[name].shape) if name in owner else "missing" for owner in (weights, tensors)
        )
        if kept != given:
            raise ValueError(
                f"{path} is of another model: {name} is {kept} there, and {given} here. Have the "
                "data changed? Train into another folder"
            )
    for name, tensor in tensors.items():
        copy_full_tensor(tensor, weights[name])


def read_checkpoint(path: Path, files: Collection[str] = (MODEL, OPTIMIZER)) -> Checkpoint:
    """Read a checkpoint, and verify that each file is unchanged.

    Parameters
    ----------
    path : Path
        A folder that :func:`save_checkpoint` wrote.
    files : collection of str, optional
        The files whose tensors are read.

    Returns
    -------
    Checkpoint

    Raises
    ------
    CheckpointError
        If a file is missing or damaged, naming it and the last checkpoint that is not.
    """
    try:
        return _read(path, files)
    except _DAMAGE as error:
        raise CheckpointError(
            f"{path} cannot be read: {error}. {last_good(path.parent, before=path)}: delete the "
            "newer checkpoints to resume from it"
        ) from error


def last_good(folder: Path, before: Path | None = None) -> str:
    """Name the last checkpoint in a folder that can be read, or the last ``before`` one."""
    for path in reversed(checkpoints(folder)):
        if before is None or step_of(path) < step_of(before):
            with suppress(*_DAMAGE):
                _read(path, (MODEL, OPTIMIZER))
                return f"The last good checkpoint is {path}"
    return "The last good state is the beginning"


#: Errors that reading a damaged file can raise.
_DAMAGE = (OSError, ValueError, SafetensorError)


def _read(path: Path, files: Collection[str]) -> Checkpoint:
    try:
        state = json.loads((path / STATE).read_bytes())
        progress, config = Progress(**state["progress"]), dict(state["config"])
        digests = {name: str(state["sha256"][name]) for name in files}
    except (ValueError, TypeError, KeyError) as error:
        reason = f"{type(error).__name__}: {error}"  # its repr would contain the whole file
        raise ValueError(f"{STATE} is not as it was written ({reason})") from error
    if progress.step != step_of(path):
        raise ValueError(f"{STATE} is of step {progress.step}")
    tensors: dict[str, dict[str, Tensor]] = {}
    for name, digest in digests.items():
        content = (path / name).read_bytes()
        if (found := hashlib.sha256(content).hexdigest()) != digest:
            raise ValueError(f"{name} has sha256 {found}, and was written with {digest}")
        tensors[name] = load(content)
    return Checkpoint(progress, config, tensors)


def _tensors(model: nn.Module) -> dict[str, Tensor]:
    """Return parameters and persistent buffers by name; tied ones by their first name."""
    kept: dict[str, Tensor] = dict(model.named_parameters())
    persistent = model.state_dict(keep_vars=True)
    return kept | {name: x for name, x in model.named_buffers() if name in persistent}


def _moments(training: TrainingState) -> dict[str, Tensor]:
    return {
        f"{kind}/{name}": tensor
        for name, parameter in training.model.named_parameters()
        for kind, tensor in training.optimizer.state[parameter].items()
    }


def _gathered(tensors: Mapping[str, Tensor], group: Processes) -> dict[str, Tensor]:
    """Return full tensors in the process that writes them, and none in the others."""
    full = ((name, full_tensor(tensor.detach())) for name, tensor in tensors.items())
    return {name: tensor.cpu().contiguous() for name, tensor in full if group.first}


def _write(path: Path, content: bytes) -> str:
    """Write a file and return its digest."""
    path.write_bytes(content)
    return hashlib.sha256(content).hexdigest()
