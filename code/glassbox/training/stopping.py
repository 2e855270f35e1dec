"""What ends training early: a signal, or a loss that is no longer finite."""

import math
import signal
from contextlib import AbstractContextManager
from types import FrameType
from typing import Any

import torch

from glassbox.training.checkpoint import last_good
from glassbox.training.state import TrainingState


class StopSignals(AbstractContextManager["StopSignals"]):
    """Ends a training after the step in which a process is asked to stop.

    Inside ``with``, the first SIGINT and the first SIGTERM only request a stop; a second one of the
    same kind (a launcher may forward Ctrl-C as the other) ends the process at once. Outside the
    main thread, signals are left alone.
    """

    def __init__(self) -> None:
        self._asked = False
        self._former: dict[int, Any] = {}

    def __enter__(self) -> "StopSignals":
        for number in (signal.SIGINT, signal.SIGTERM):
            try:
                self._former[number] = signal.signal(number, self._ask)
            except ValueError:
                break
        return self

    def __exit__(self, *error: object) -> None:
        for number, handler in self._former.items():
            signal.signal(number, handler)

    def after_step(self, training: TrainingState) -> None:
        """Stop the ``training`` in all processes if one of them was asked to."""
        asked = torch.tensor(int(self._asked), device=training.group.device)
        training.stopping = training.group.all_reduce(asked).item() > 0

    def _ask(self, number: int, frame: FrameType | None) -> None:
        self._asked = True
        signal.signal(number, self._former[number])


def check_finite(training: TrainingState) -> None:
    """Reject to continue from a loss or gradients that are no longer finite.

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
