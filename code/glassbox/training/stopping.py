"""What ends training early: a signal, or a loss that is no longer finite."""

import math
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import Any

import torch

from glassbox.training.checkpoint import last_good
from glassbox.training.state import TrainingState


@contextmanager
def stop_signals() -> Iterator[Callable[[TrainingState], None]]:
    """End a training after the step in which a process is asked to stop.

    Inside ``with``, the first SIGINT and the first SIGTERM only request a stop; a second one of the
    same kind (a launcher may forward Ctrl-C as the other) ends the process at once. Outside the
    main thread, signals are left alone.

    Yields
    ------
    callable
        A callback of the loop, which stops all processes if one of them was asked to.
    """
    asked = False
    former: dict[int, Any] = {n: signal.getsignal(n) for n in (signal.SIGINT, signal.SIGTERM)}

    def ask(number: int, frame: FrameType | None) -> None:
        nonlocal asked
        asked = True
        signal.signal(number, former[number])

    def after_step(training: TrainingState) -> None:
        requests = torch.tensor(int(asked), device=training.group.device)
        training.stopping = training.group.all_reduce(requests).item() > 0

    try:
        with suppress(ValueError):  # outside the main thread
            for number in former:
                signal.signal(number, ask)
        yield after_step
    finally:
        with suppress(ValueError):
            for number, handler in former.items():
                signal.signal(number, handler)


def check_finite(training: TrainingState) -> None:
    """Refuse to continue from a loss or gradients that are no longer finite.

    Parameters
    ----------
    training : TrainingState
        The training after a step: this is a callback of the loop.

    Raises
    ------
    FloatingPointError
        If one of them is not finite, naming the last good checkpoint.
    """
    loss, norm, rate = (training.figures[name] for name in ("loss", "norm", "rate"))
    if not math.isfinite(loss) or not math.isfinite(norm):
        raise FloatingPointError(
            f"step {training.progress.step}: the loss is {loss:.4g} and the gradients' norm "
            f"{norm:.4g}, at a learning rate of {rate:.3g}. {last_good(training.checkpoints)}; a "
            "lower rate, a longer warm-up or a smaller clip may help"
        )
