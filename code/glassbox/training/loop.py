"""The loop: forward, loss, backward, update, and surviving whatever happens (chapter 9)."""

import json
import math
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path

import torch
from safetensors import SafetensorError
from torch import Tensor, nn
from torch.optim import AdamW, Optimizer

from glassbox.modes import evaluating
from glassbox.training.averaging import average
from glassbox.training.batches import Step, stream
from glassbox.training.checkpoint import (
    MODEL,
    CheckpointError,
    Progress,
    checkpoints,
    fill_weights,
    last_good,
    load_checkpoint,
    read_checkpoint,
    save_checkpoint,
    step_of,
)
from glassbox.training.config import GROWS, TrainingConfig, defining
from glassbox.training.distributed import Processes, distribute, gradients_stay, whole
from glassbox.training.folders import alone, remove, sweep, written
from glassbox.training.metrics import Metrics, ProgressBar
from glassbox.training.stopping import Stop, stop_signals
from glassbox.training.task import Task


def train(
    task: Task,
    config: TrainingConfig,
    folder: Path,
    group: Processes | None = None,
    *,
    described: Mapping[str, object] | None = None,
    tensorboard: bool = False,
) -> bool:
    """Train a model, or go on where it stopped; the weights are the same as without a stop.

    ``folder`` receives ``metrics.jsonl``, ``checkpoints/``, and in the end ``model/``. A signal
    to stop (Ctrl-C, or a machine that shuts down) is answered with a checkpoint after the step
    that is being taken; a second one of the same kind ends the process at once.

    Parameters
    ----------
    task : Task
        What is trained.
    config : TrainingConfig
        How. A run that is done goes on if there are to be more steps.
    folder : Path
        Where everything is written; where there are checkpoints, training goes on from the last.
    group : Processes, optional
        Who trains; this process alone, on the CPU, if left out.
    described : mapping, optional
        What else the weights follow from, such as the sizes of the model: a checkpoint remembers
        it, and is refused where it differs.
    tensorboard : bool, optional
        Whether the metrics are written for TensorBoard as well.

    Returns
    -------
    bool
        Whether all steps are done, and ``model/`` is there.

    Raises
    ------
    FloatingPointError
        If loss, gradients or weights are no longer finite. The last checkpoint is from before.
    CheckpointError
        If a checkpoint or the model cannot be written, or a checkpoint not be read.
    OSError
        If the log cannot be written.
    ValueError
        If the checkpoints in ``folder`` belong to another configuration or are of later steps, or
        another process trains into it.

    Notes
    -----
    Gradients are those of the loss of all tokens in a step, divided by their number: the same for
    one large batch, for several in turn, and for several processes. They are clipped as in
    equation ``eq-clipping``. Chapter 9.
    """
    group = group or Processes(0, 1, torch.device("cpu"))
    # As JSON has it: tuples are lists, and what it does not know is refused before the first step.
    definition = json.loads(json.dumps({**(described or {}), **defining(config)}))
    kept = folder / "checkpoints"

    torch.manual_seed(stream(config.seed, 0))
    inner = task.build().to(group.device)
    model = distribute(inner, group, config.sharding)
    optimizer = make_optimizer(inner, config)
    if config.compile:
        model.compile()
    progress = Progress()
    if found := checkpoints(kept):
        progress = load_checkpoint(found[-1], inner, optimizer, definition, free=GROWS)
    group.agree(f"the step of the newest checkpoint in {kept}, which all must see", progress.step)
    if progress.step > config.steps:
        raise ValueError(
            f"{kept} is at step {progress.step}, behind the last, steps={config.steps}: take at "
            "least as many, or another folder"
        )

    with (
        _entered(folder, group),
        Metrics(folder, resume_at=progress.step, tensorboard=tensorboard, write=group.first) as log,
        ProgressBar(config.steps, progress.step, show=group.first) as bar,
        stop_signals() as stop,
    ):
        for after, batches in _steps(task, progress, config.steps):
            begin, step = time.perf_counter(), after.step
            rate = config.schedule(step)
            for parameters in optimizer.param_groups:
                parameters["lr"] = rate
            torch.manual_seed(stream(config.seed, 1, step, group.rank))  # of dropout
            sums, norm = _learn(task, model, optimizer, batches, config, group, stop)
            tokens = after.tokens - progress.tokens
            loss, stopping = sums[0].item() / tokens, sums[2].item() > 0
            if not math.isfinite(loss) or not math.isfinite(norm):
                raise FloatingPointError(
                    f"step {step}: the loss is {loss:.4g} and the gradients' norm {norm:.4g}, at a "
                    f"learning rate of {rate:.3g}. {last_good(kept)}; a lower rate, a longer "
                    "warm-up or a smaller clip may help"
                )
            progress = replace(after, seconds=progress.seconds + time.perf_counter() - begin)
            numbers = {"loss": loss, "nll": sums[1].item() / tokens, "norm": norm, "rate": rate}
            log.write(step, "train", {**numbers, "tokens": progress.tokens})
            bar.update(tokens, loss)

            last = step == config.steps
            if last or step % config.validate_every == 0:
                with torch.no_grad(), evaluating(model), _precision(config, group.device):
                    log.write(step, "valid", task.validate(model, group))
            if stopping or _is_due(step, config) or step in config.snapshots:
                save_checkpoint(kept, inner, optimizer, progress, definition, group)
                with group.together():
                    if group.first:
                        _tidy(kept, config)
            if stopping and not last:
                return False

        with group.together():
            if group.first:
                _tidy(kept, config)  # a kill may have come between a checkpoint and this
                _write_model(task, _last_due(kept, config, config.average), folder / "model")
    return True


def make_optimizer(model: nn.Module, config: TrainingConfig) -> Optimizer:
    """Return AdamW for a model: matrices decay, biases and norms do not.

    Parameters
    ----------
    model : nn.Module
        Its parameters are found by name.
    config : TrainingConfig
        The optimiser's numbers. The learning rate is set before each step.

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


def _steps(task: Task, done: Progress, last: int) -> Iterator[tuple[Progress, Step]]:
    """Yield the steps that are to be done, each with how far training is after it."""
    number, epoch, position, tokens = done.step, done.epoch, done.position, done.tokens
    while number < last:
        steps = task.epoch(epoch)
        if position >= len(steps):
            raise ValueError(
                f"epoch {epoch} has {len(steps)} steps, of which {position} are done, and there "
                "should be more: the data are not those that training began with"
            )
        for batches in steps[position : position + last - number]:
            number, position, tokens = number + 1, position + 1, tokens + task.count(batches)
            over = position == len(steps)
            yield Progress(number, epoch + over, 0 if over else position, tokens), batches
        epoch, position = epoch + 1, 0


def _learn(
    task: Task,
    model: nn.Module,
    optimizer: Optimizer,
    batches: Step,
    config: TrainingConfig,
    group: Processes,
    stop: Stop,
) -> tuple[Tensor, float]:
    """Take a step; return its summed losses over all processes, and the gradients' norm."""
    model.train()
    tokens = task.count(batches)
    sums = torch.zeros(3, dtype=torch.float64, device=group.device)
    for number, batch in enumerate(batches, 1):
        mine = group.share(batch)
        with gradients_stay(model, number < len(batches)):
            with _precision(config, group.device):
                # Who has no example takes part all the same: the others wait for its gradients.
                loss = task.loss(model, mine or batch[:1])
            part = 1.0 if mine else 0.0
            # Gradients are averaged over the processes, and are to be added up.
            (loss.total * (part * group.count / tokens)).backward()
        sums[:2] += part * torch.stack([loss.total, loss.nll]).detach()
    limit = math.inf if config.clip is None else config.clip
    norm = whole(nn.utils.clip_grad_norm_(model.parameters(), limit)).item()
    optimizer.step()
    optimizer.zero_grad()
    sums[2] = stop.wanted  # all of them stop after the same step
    return group.total(sums), norm


def _is_due(step: int, config: TrainingConfig) -> bool:
    """Whether there is a checkpoint after a step, stopped or not."""
    return step % config.checkpoint_every == 0 or step == config.steps


def _last_due(kept: Path, config: TrainingConfig, number: int) -> list[Path]:
    """Return the last checkpoints but for those that a stop has left.

    So the model, which is their mean, is the same without a stop.
    """
    return [path for path in checkpoints(kept) if _is_due(step_of(path), config)][-number:]


def _tidy(kept: Path, config: TrainingConfig) -> None:
    """Delete the checkpoints that nobody needs, even if one of the others should be damaged."""
    found = checkpoints(kept)
    for path in {*found[:-1]} - {*_last_due(kept, config, config.average + 1)}:
        if step_of(path) not in config.snapshots:
            remove(path)


def _write_model(task: Task, paths: list[Path], place: Path) -> None:
    """Write the mean of checkpoints as the trained model."""
    model = task.build()
    weights = average(read_checkpoint(path, [MODEL]).tensors[MODEL] for path in paths)
    fill_weights(model, weights, paths[-1])
    try:
        with written(place) as part:
            task.save(model.eval(), part)
    except (OSError, SafetensorError) as error:
        raise CheckpointError(
            f"the model cannot be written to {place}: {error}. The checkpoints are complete: the "
            "same command writes it, once it can"
        ) from error


@contextmanager
def _entered(folder: Path, group: Processes) -> Iterator[None]:
    """Make a run's folder, keep others out of it, and clear away what a kill has left there."""
    with ExitStack() as stack:
        with group.together():
            if group.first:
                folder.mkdir(parents=True, exist_ok=True)
                stack.enter_context(alone(folder))
                sweep(folder)
                sweep(folder / "checkpoints")
        yield


def _precision(config: TrainingConfig, device: torch.device) -> torch.autocast:
    half = config.precision == "bfloat16"
    return torch.autocast(device.type, torch.bfloat16, enabled=half)
