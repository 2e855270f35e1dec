"""The training loop, and ``train``, which adds what a long run needs (chapter 9)."""

import json
import math
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import torch
from torch import nn
from torch.optim import AdamW, Optimizer

from glassbox.checks import check_type
from glassbox.training.batches import stream
from glassbox.training.config import TrainingConfig, defining
from glassbox.training.distributed import Processes, distribute, full_tensor, no_sync
from glassbox.training.metrics import Metrics, progress_bar
from glassbox.training.resuming import locked_folder, resume, save_if_due, write_model
from glassbox.training.state import TrainingState
from glassbox.training.stopping import check_finite, stop_signals
from glassbox.training.task import Task, defining_task


def training_loop(
    training: TrainingState, after_step: Sequence[Callable[[TrainingState], None]] = ()
) -> None:
    """Take the remaining steps of a training.

    A step minimises the mean loss over all its tokens, so its gradients are the same for one large
    batch, for several in turn, and for several processes.

    Parameters
    ----------
    training : TrainingState
        The model, its optimiser and their progress; changed in place.
    after_step : sequence of callable, optional
        Callbacks, called in this order after each step. One that sets ``training.stopping`` ends
        the loop.

    Notes
    -----
    Gradients are clipped as in equation ``eq-clipping``. Chapter 9.
    """
    model, optimizer, config = training.model, training.optimizer, training.config
    training.wrapped.train()
    for progress, batches in training.steps():
        start, step = time.perf_counter(), progress.step
        torch.manual_seed(stream(config.seed, 1, step, training.group.rank))  # of dropout
        for parameters in optimizer.param_groups:
            parameters["lr"] = config.schedule(step)
        tokens = training.task.count(batches)
        losses = torch.zeros(2, dtype=torch.float64, device=training.group.device)
        for number, batch in enumerate(batches, 1):
            with no_sync(training.wrapped, number < len(batches)):
                loss = training.loss(batch)
                (loss.total / tokens).backward()
            losses += torch.stack([loss.total, loss.nll]).detach()
        norm = nn.utils.clip_grad_norm_(model.parameters(), config.clip or math.inf)
        optimizer.step()
        optimizer.zero_grad()
        grad_norm = full_tensor(norm).item()  # waits for a GPU
        training.record(progress, losses, grad_norm, time.perf_counter() - start)
        for callback in after_step:
            callback(training)
        if training.stopping:
            return


def train(
    task: Task,
    config: TrainingConfig,
    folder: str | Path,
    group: Processes | None = None,
    *,
    described: Mapping[str, object] | None = None,
    tensorboard: bool = False,
) -> bool:
    """Train a model, or resume training; the weights are the same as without a stop.

    ``folder`` receives ``metrics.jsonl``, ``checkpoints/``, and finally ``model/``. A signal to
    stop (Ctrl-C, or a machine that shuts down) causes a checkpoint after the current step; a second
    one of the same kind ends the process at once.

    Parameters
    ----------
    task : Task
        The task to train.
    config : TrainingConfig
        How to train. A finished run continues if ``config`` has more steps.
    folder : str or path
        Where everything is written; if it has checkpoints, training resumes from the last.
    group : Processes, optional
        The processes that train; this one alone, on the CPU, if left out.
    described : mapping, optional
        What else determines the weights. A checkpoint stores it together with ``config``, the
        task's own configuration and the digests of the files named there, and is rejected if
        anything differs.
    tensorboard : bool, optional
        Whether to write the metrics for TensorBoard as well.

    Returns
    -------
    bool
        Whether all steps are done, and ``model/`` exists.

    Raises
    ------
    TypeError
        If ``task`` or ``config`` is not what it should be.
    FloatingPointError
        If loss, gradients or weights are no longer finite. The last checkpoint is from before.
    CheckpointError
        If a checkpoint or the model cannot be written, or a checkpoint cannot be read.
    OSError
        If the log cannot be written.
    ValueError
        If the checkpoints in ``folder`` belong to another configuration or are of later steps, or
        another process is training into it.

    Notes
    -----
    Chapter 9. Initial weights and dropout are drawn from PyTorch's own generator, which is seeded
    anew in each step: what is drawn from it after the training depends on ``config``.
    """
    check_type("task", task, Task, "a Task")
    check_type("config", config, TrainingConfig, "a TrainingConfig")
    group, folder = group or Processes(0, 1, torch.device("cpu")), Path(folder).expanduser()
    # As in JSON: tuples become lists, and unsupported types fail before the first step.
    definition: dict[str, object] = {}
    for part in (described or {}, defining_task(task), defining(config)):
        if both := definition.keys() & part.keys():
            raise ValueError(f"task and training both define {sorted(both)}: rename the task's")
        definition |= json.loads(json.dumps(part))
    torch.manual_seed(stream(config.seed, 0))
    model = task.build().to(group.device)
    wrapped = distribute(model, group, config.sharding)
    optimizer = make_optimizer(model, config)
    if config.compile:
        wrapped.compile()
    training = TrainingState(task, config, group, model, wrapped, optimizer, folder, definition)
    with locked_folder(training):
        resume(training)
        done = training.progress.step
        with (
            Metrics(folder, resume_at=done, tensorboard=tensorboard, write=group.first) as log,
            progress_bar(config.steps, done, show=group.first) as advance,
            stop_signals() as stop_if_asked,
        ):
            callbacks = [check_finite, log.after_step, advance, stop_if_asked, save_if_due]
            training_loop(training, callbacks)
            if training.done:
                write_model(training)
    return training.done


def make_optimizer(model: nn.Module, config: TrainingConfig) -> Optimizer:
    """Return AdamW for a model: matrices decay, biases and norms do not.

    Parameters
    ----------
    model : nn.Module
        Its parameters with two or more axes decay, those with fewer do not, whatever their names.
    config : TrainingConfig
        The optimiser's settings. The learning rate is set before each step.

    Returns
    -------
    Optimizer

    Notes
    -----
    Loshchilov and Hutter (2019), algorithm 2. Chapter 9, equation ``eq-adamw``.
    """
    parameters = list(model.parameters())
    groups = [
        {"params": [p for p in parameters if p.dim() > 1], "weight_decay": config.weight_decay},
        {"params": [p for p in parameters if p.dim() <= 1], "weight_decay": 0.0},
    ]
    return AdamW(groups, lr=0.0, betas=config.betas, eps=config.eps, fused=True)
