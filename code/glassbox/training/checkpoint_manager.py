"""What makes a training survive: checkpoints to go on from, and of the last ones the model."""

from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path

from safetensors import SafetensorError

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
from glassbox.training.config import GROWS
from glassbox.training.state import TrainingState


class CheckpointManager:
    """A callback that writes the checkpoints of a training and deletes those no longer needed.

    Within ``with``, no other process can train into the folder.

    Parameters
    ----------
    folder : Path
        Of the run: the checkpoints are in ``checkpoints/``, the trained model in ``model/``.
    training : TrainingState
        What is kept.
    definition : mapping
        What the run is defined by, which a checkpoint remembers.
    """

    def __init__(
        self, folder: Path, training: TrainingState, definition: Mapping[str, object]
    ) -> None:
        self.folder, self.checkpoints = folder, folder / "checkpoints"
        self.training, self.definition = training, definition
        self._open = ExitStack()

    def resume(self) -> None:
        """Go on from the newest checkpoint, if there is one.

        Raises
        ------
        CheckpointError
            If it cannot be read.
        ValueError
            If it is of another run or a later step, or the processes see different ones.
        """
        training, config = self.training, self.training.config
        if found := checkpoints(self.checkpoints):
            training.progress = load_checkpoint(
                found[-1], training.model, training.optimizer, self.definition, free=GROWS
            )
        step = training.progress.step
        newest = f"the step of the newest checkpoint in {self.checkpoints}, which all must see"
        training.group.assert_equal(newest, step)
        if step > config.steps:
            raise ValueError(
                f"{self.checkpoints} is at step {step}, behind the last, steps={config.steps}: "
                "take at least as many, or another folder"
            )

    def __enter__(self) -> "CheckpointManager":
        """Make the folder, keep others out of it, and clear away what a kill has left there."""
        with self.training.group.barrier(), ExitStack() as stack:
            if self.training.group.first:
                self.folder.mkdir(parents=True, exist_ok=True)
                stack.enter_context(lock(self.folder))
                sweep(self.folder)
                sweep(self.checkpoints)
            self._open = stack.pop_all()
        return self

    def __exit__(self, *error: object) -> None:
        self._open.close()

    def after_step(self, training: TrainingState) -> None:
        """Write a checkpoint of the ``training`` if one is due, or if it stops.

        Raises
        ------
        CheckpointError
            If it cannot be written.
        FloatingPointError
            If a weight is no longer finite.
        """
        step = training.progress.step
        if training.stopping or self._is_due(step) or step in training.config.snapshots:
            model, optimizer = training.model, training.optimizer
            save_checkpoint(
                self.checkpoints,
                model,
                optimizer,
                training.progress,
                self.definition,
                training.group,
            )
            with training.group.barrier():
                if training.group.first:
                    self._tidy()

    def write_model(self) -> None:
        """Write the mean of the last checkpoints as the trained model.

        Raises
        ------
        CheckpointError
            If it cannot be written, or a checkpoint not be read.
        """
        with self.training.group.barrier():
            if not self.training.group.first:
                return
            self._tidy()  # a kill may have come between a checkpoint and this
            paths = self._last_due(self.training.config.average)
            model = self.training.task.build()
            weights = average(read_checkpoint(path, [MODEL]).tensors[MODEL] for path in paths)
            fill_weights(model, weights, paths[-1])
            place = self.folder / "model"
            try:
                with atomic_write(place) as part:
                    part.mkdir()
                    self.training.task.save(model.eval(), part)
            except (OSError, SafetensorError) as error:
                raise CheckpointError(
                    f"the model cannot be written to {place}: {error}. The checkpoints are "
                    "complete: the same command writes it, once it can"
                ) from error

    def _is_due(self, step: int) -> bool:
        """Whether there is a checkpoint after a step, stopped or not."""
        config = self.training.config
        return step % config.checkpoint_every == 0 or step == config.steps

    def _last_due(self, number: int) -> list[Path]:
        """Return the last checkpoints without those that a stop has left.

        So the model, which is their mean, is the same without a stop.
        """
        found = checkpoints(self.checkpoints)
        return [path for path in found if self._is_due(step_of(path))][-number:]

    def _tidy(self) -> None:
        """Delete the checkpoints no longer needed, even if one of the others should be damaged."""
        config, found = self.training.config, checkpoints(self.checkpoints)
        for path in {*found[:-1]} - {*self._last_due(config.average + 1)}:
            if step_of(path) not in config.snapshots:
                remove(path)
