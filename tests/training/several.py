"""Starts several processes that train together, and says what each of them met with.

They are forked from a server that has imported everything, so that a start takes no time, and are
ended if they take too long: whatever they wait for, the tests do not.
"""

import math
import os
import random
import resource
import signal
import time
import traceback
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any
from unittest.mock import patch

import torch
import torch._dynamo  # what sharding imports when it is first used
from torch import nn
from torch.distributed import TCPStore

from glassbox.training import (
    Processes,
    Schedule,
    TrainingConfig,
    TranslationConfig,
    TranslationTask,
    processes,
    train,
)
from glassbox.training.loss import Loss
from glassbox.training.tasks import translation

#: Seconds after which processes are ended that have not ended: no busy machine takes so long.
PATIENCE = 300.0


@dataclass(frozen=True)
class Outcome:
    """What came of one process: an answer or an error."""

    answer: Any
    error: str


def start(
    function: Callable[..., Any], *arguments: Any, device: str = "cpu", count: int = 2
) -> list[Outcome]:
    """Call ``function(group, *arguments)`` in processes that have joined; return what came of it.

    As ``torchrun`` does: a store that is ready before they start, at a port that is free.
    """
    context = get_context("forkserver")
    context.set_forkserver_preload(["pytest", __name__])
    store = TCPStore("127.0.0.1", 0, count, is_master=True, wait_for_workers=False)
    begin, answers, started = time.monotonic(), [], []
    for rank in range(count):
        receive, send = context.Pipe(duplex=False)
        place = {
            "RANK": rank,
            "LOCAL_RANK": rank,
            "WORLD_SIZE": count,
            "MASTER_ADDR": "127.0.0.1",
            "MASTER_PORT": store.port,
            "TORCHELASTIC_USE_AGENT_STORE": True,
        }
        process = context.Process(target=_join, args=(place, device, send, function, arguments))
        process.start()
        send.close()
        answers.append(receive)
        started.append(process)
    try:
        return [_outcome(answer, begin) for answer in answers]
    finally:
        for process in started:
            process.join(max(0.0, begin + PATIENCE - time.monotonic()))
            process.kill()
            process.join()


def answers(outcomes: list[Outcome]) -> list[Any]:
    """Return the answers of processes none of which has failed."""
    errors = [outcome.error for outcome in outcomes if outcome.error]
    assert not errors, "\n".join(errors)
    return [outcome.answer for outcome in outcomes]


def _outcome(answer: Connection, begin: float) -> Outcome:
    if not answer.poll(max(0.0, begin + PATIENCE - time.monotonic())):
        return Outcome(None, "it has not ended")
    try:
        return answer.recv()
    except EOFError:
        return Outcome(None, "it ended without a word")


def _join(
    place: dict[str, Any],
    device: str,
    send: Connection,
    function: Callable[..., Any],
    arguments: tuple[Any, ...],
) -> None:
    warnings.simplefilter("error")
    torch.set_num_threads(1)
    os.environ.update({name: str(value) for name, value in place.items()})
    answer, error = None, ""
    try:
        with processes(device) as group:
            answer = function(group, *arguments)
    except Exception:
        error = traceback.format_exc()
    send.send(Outcome(answer, error))


# What is trained: the real task, on a few sentences.

_draw = random.Random(0)
_WORDS = ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine"]
_LENGTHS = [1, 2, 2, 3, 3, 3, 4, 4, 5, 5, 5, 6, 6, 7, 8, 8, 9, 10, 11, 12]
PAIRS = [
    (" ".join(words), " ".join(reversed(words)))
    for words in (_draw.choices(_WORDS, k=length) for length in _LENGTHS)
]
TASK = TranslationConfig(
    directions=(("en", "fr"),),
    vocab_size=280,
    tokens=32,
    accumulate=2,
    model={"d_model": 16, "n_heads": 2, "n_layers": 1, "d_ff": 32, "dropout": 0.0},
)
TRAINING = TrainingConfig(
    schedule=Schedule("inverse_sqrt", peak=1e-2, warmup=4),
    steps=10,
    weight_decay=0.01,
    clip=1.3,
    validate_every=4,
    checkpoint_every=5,
)


@contextmanager
def few_sentences() -> Iterator[None]:
    """Put a few sentences in place of the corpus."""
    splits = {"train": PAIRS[::-1], "valid": PAIRS[::3]}
    with patch.object(translation, "tatoeba", splits.__getitem__):
        yield


class Watched(TranslationTask):
    """The real task on these sentences, in which something happens at some batch.

    Parameters
    ----------
    at : int, optional
        At which batch that this process computes, from 1.
    event : callable, optional
        What happens: it is given the batch's loss, and returns the one that is learned from.
    """

    def __init__(self, at: int = 0, event: Callable[[Loss], Loss] | None = None) -> None:
        with few_sentences():
            super().__init__(TASK)
        self.at, self.event, self.computed = at, event, 0

    def loss(self, model: nn.Module, examples: list[int]) -> Loss:
        loss = super().loss(model, examples)
        self.computed += 1
        return self.event(loss) if self.event and self.computed == self.at else loss


def stop(loss: Loss) -> Loss:
    """Do what Ctrl-C in a terminal and a machine that shuts down do."""
    signal.raise_signal(signal.SIGTERM)
    return loss


def spoil(loss: Loss) -> Loss:
    """Let a loss be no number."""
    return replace(loss, total=loss.total * math.nan)


def fill_disk(loss: Loss, room: int = 2000) -> Loss:
    """Let this process write no file beyond some bytes from now on; the log needs fewer."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)  # an error is to come, not the end
    resource.setrlimit(resource.RLIMIT_FSIZE, (room, resource.getrlimit(resource.RLIMIT_FSIZE)[1]))
    return loss


def empty_disk() -> None:
    """Let this process write again."""
    limit = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))


def train_here(
    group: Processes,
    folder: Path,
    task: Watched,
    dtype: torch.dtype = torch.float32,
    **changes: Any,
) -> bool:
    """Train in this process, with parameters of some precision."""
    before = torch.get_default_dtype()
    torch.set_default_dtype(dtype)
    try:
        return train(task, replace(TRAINING, **changes), folder, group)
    finally:
        torch.set_default_dtype(before)
