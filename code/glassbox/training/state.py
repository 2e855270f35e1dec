"""The state of a training: what the loop changes at each step, and its callbacks read."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

import torch
from torch import Tensor, nn
from torch.optim import Optimizer

from glassbox.modes import evaluating
from glassbox.training.batches import Step
from glassbox.training.config import TrainingConfig
from glassbox.training.distributed import Processes
from glassbox.training.loss import Loss
from glassbox.training.task import Task, sharded_loss


@dataclass(frozen=True)
class Progress:
    """The progress of a training: all of its state except the tensors.

    The learning rate, the order of the examples and every random stream are functions of the seed
    and these numbers.

    Parameters
    ----------
    step : int
        Steps of the optimiser taken.
    epoch, position : int
        The epoch of the next step, and the number of steps done in this epoch.
    tokens : int
        Tokens learned from so far.
    seconds : float
        Time that the steps have taken so far, on any machine.

    Raises
    ------
    ValueError
        If one is not of its type, an ``int`` as ``seconds`` included, or is negative.
    """

    step: int = 0
    epoch: int = 0
    position: int = 0
    tokens: int = 0
    seconds: float = 0.0

    def __post_init__(self) -> None:
        for name, number in vars(self).items():
            kind = float if name == "seconds" else int
            if not isinstance(number, kind) or not number >= 0:
                raise ValueError(f"{name} is {number!r}; expected {kind.__name__}, at least 0")


@dataclass
class TrainingState:
    """A training in progress.

    Parameters
    ----------
    task : Task
        The task that is trained.
    config : TrainingConfig
        How it is trained.
    group : Processes
        The processes that train.
    model : nn.Module
        The model itself, whose parameters are updated.
    wrapped : nn.Module
        The model to call, which :func:`~glassbox.training.distributed.distribute` returned.
    optimizer : Optimizer
        The optimiser of these parameters.
    folder : Path
        Where checkpoints, metrics and the trained model are written.
    definition : mapping, optional
        The entries that define the run, as in JSON: a checkpoint stores them, and one with others
        is rejected. A data file is a mapping of its ``path`` and its ``sha256``, of which only the
        latter is compared.
    progress : Progress, optional
        The progress of the training.
    tokens : int, optional
        Tokens the last step learned from.
    figures : dict of str to float, optional
        Loss, negative log-likelihood, gradients' norm and learning rate of the last step.
    stopping : bool, optional
        Whether the loop ends after this step; a callback sets it, in all processes alike.
    """

    task: Task
    config: TrainingConfig
    group: Processes
    model: nn.Module
    wrapped: nn.Module
    optimizer: Optimizer
    folder: Path
    definition: Mapping[str, object] = field(default_factory=dict)
    progress: Progress = Progress()
    tokens: int = 0
    figures: dict[str, float] = field(default_factory=dict)
    stopping: bool = False

    @property
    def checkpoints(self) -> Path:
        """The folder of the checkpoints."""
        return self.folder / "checkpoints"

    @property
    def done(self) -> bool:
        """Whether all steps are taken."""
        return self.progress.step == self.config.steps

    def steps(self) -> Iterator[tuple[Progress, Step]]:
        """Yield the remaining steps, each with the training's progress after it.

        Raises
        ------
        ValueError
            If an epoch has fewer steps than have been taken in it.
        """
        done, last = self.progress, self.config.steps
        while done.step < last:
            steps = self.task.epoch(done.epoch)
            if not steps:
                raise ValueError(f"epoch {done.epoch} has no steps: task.epoch must return some")
            if done.position >= len(steps):
                raise ValueError(
                    f"epoch {done.epoch} has {len(steps)} steps, of which {done.position} are "
                    "done, and there should be more: the data are not those that training began "
                    "with"
                )
            for batches in steps[done.position : done.position + last - done.step]:
                tokens = done.tokens + self.task.count(batches)
                done = Progress(done.step + 1, done.epoch, done.position + 1, tokens)
                if done.position == len(steps):
                    done = replace(done, epoch=done.epoch + 1, position=0)
                yield done, batches

    def loss(self, batch: list[int]) -> Loss:
        """Return the loss of this process's examples in a batch, times the number of processes.

        Like gradients, it is averaged over the processes, which gives the loss of the whole batch.
        """
        with self._autocast():
            loss = sharded_loss(batch, partial(self.task.loss, self.wrapped), self.group)
        return replace(loss, total=self.group.count * loss.total, nll=self.group.count * loss.nll)

    def validate(self) -> dict[str, float]:
        """Return the task's figures on held-out data."""
        with torch.no_grad(), evaluating(self.wrapped), self._autocast():
            return self.task.validate(self.wrapped, self.group)

    def record(self, progress: Progress, losses: Tensor, norm: float, seconds: float) -> None:
        """Record the results of a step.

        Parameters
        ----------
        progress : Progress
            The progress of the training after it.
        losses : Tensor
            The sums of its losses and negative log-likelihoods in this process.
        norm : float
            The norm of its gradients.
        seconds : float
            The time it took.
        """
        self.tokens = progress.tokens - self.progress.tokens
        self.progress = replace(progress, seconds=self.progress.seconds + seconds)
        loss, nll = (self.group.all_reduce(losses) / self.group.count / self.tokens).tolist()
        rate = self.config.schedule(progress.step)
        self.figures = {"loss": loss, "nll": nll, "norm": norm, "rate": rate}

    def _autocast(self) -> torch.autocast:
        half = self.config.precision == "bfloat16"
        return torch.autocast(self.group.device.type, torch.bfloat16, enabled=half)
