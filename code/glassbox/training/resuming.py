"""Checkpoints to resume from, and the final model, which is the mean of the last ones."""

import logging
import shutil
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from glassbox.files import atomic_write, lock, remove, sweep
from glassbox.training.averaging import average
from glassbox.training.checkpoint import (
    MODEL,
    CheckpointError,
    checkpoints,
    fill_weights,
    load_checkpoint,
    read_checkpoint,
    save_checkpoint,
    step_of,
)
from glassbox.training.config import TrainingConfig
from glassbox.training.state import TrainingState

_LOGGER = logging.getLogger("glassbox.training")


def resume(training: TrainingState) -> None:
    """Resume from the newest checkpoint of a training, if there is one.

    Parameters
    ----------
    training : TrainingState
        Its model, optimiser and progress are changed in place.

    Raises
    ------
    CheckpointError
        If it cannot be read.
    ValueError
        If it belongs to another run or a later step, or the processes see different ones.
    """
    kept, config = training.checkpoints, training.config
    if found := checkpoints(kept):
        load_checkpoint(found[-1], training)
    step = training.progress.step
    newest = f"the step of the newest checkpoint in {kept}, which all must see"
    training.group.assert_equal(newest, step)
    if step > config.steps:
        raise ValueError(
            f"{kept} is at step {step}, past the last, steps={config.steps}: take at least as "
            "many, or another folder"
        )
    if step and training.group.first:
        _LOGGER.info("Resumed at step %d of %d.", step, config.steps)


@contextmanager
def locked_folder(training: TrainingState) -> Iterator[None]:
    """Create the folder of a training, lock other processes out of it, and tidy it up.

    Raises
    ------
    ValueError
        If another process is training into it.
    OSError
        If it cannot be created.
    """
    with ExitStack() as stack:
        with training.group.barrier():
            if training.group.first:
                training.folder.mkdir(parents=True, exist_ok=True)
                stack.enter_context(lock(training.folder))
                sweep(training.folder)
                sweep(training.checkpoints)
        yield


def save_if_due(training: TrainingState) -> None:
    """Write a checkpoint if one is due or the training stops, and delete those no longer needed.

    Parameters
    ----------
    training : TrainingState
        The training after a step: this is a callback of the loop.

    Raises
    ------
    CheckpointError
        If it cannot be written.
    FloatingPointError
        If a weight is no longer finite.
    """
    step, config = training.progress.step, training.config
    if training.stopping or step in config.snapshots or _is_due(step, config):
        save_checkpoint(training)
        with training.group.barrier():
            if training.group.first:
                _tidy(training.checkpoints, config)


def write_model(training: TrainingState) -> None:
    """Write the mean of a training's last checkpoints as the trained model.

    Parameters
    ----------
    training : TrainingState
        A training whose steps are all done.

    Raises
    ------
    CheckpointError
        If the model cannot be written, or a checkpoint cannot be read.
    """
    task, config, place = training.task, training.config, training.folder / "model"
    with training.group.barrier():
        if not training.group.first:
            return
        _tidy(training.checkpoints, config)  # a run may be killed between a checkpoint and this
        paths = _last_due(training.checkpoints, config, config.average)
        model = task.build()
        weights = average(read_checkpoint(path, [MODEL]).tensors[MODEL] for path in paths)
        fill_weights(model, weights, paths[-1])
        try:
            with atomic_write(place) as part:
                if place.is_dir():  # the user's own files stay
                    shutil.copytree(place, part, symlinks=True)
                else:
                    part.mkdir()
                task.save(model.eval(), part)
        except OSError as error:
            raise CheckpointError(
                f"the model cannot be written to {place}: {error}. The checkpoints are complete: "
                "the same command writes it, once it can"
            ) from error


def _is_due(step: int, config: TrainingConfig) -> bool:
    """Return whether a checkpoint is due after a step, even without a stop."""
    return step % config.checkpoint_every == 0 or step == config.steps


def _last_due(kept: Path, config: TrainingConfig, number: int) -> list[Path]:
    """Return the last checkpoints, except those written because of a stop.

    The model, which is their mean, is therefore the same as without a stop.
    """
    return [path for path in checkpoints(kept) if _is_due(step_of(path), config)][-number:]


def _tidy(kept: Path, config: TrainingConfig) -> None:
    """Delete checkpoints that are not needed even if one of the others is damaged."""
    for path in {*checkpoints(kept)[:-1]} - {*_last_due(kept, config, config.average + 1)}:
        if step_of(path) not in config.snapshots:
            remove(path)
