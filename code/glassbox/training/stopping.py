"""Signals that ask a program to end, turned into a wish."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any


class Stop:
    """Whether somebody has asked the training to stop."""

    wanted = False


@contextmanager
def stop_signals() -> Iterator[Stop]:
    """Turn the signals that end a program into a wish, which is heard after the current step.

    A second one of the same kind ends it at once; a launcher may pass on Ctrl-C as another kind.
    Outside the main thread signals are left as they are.
    """
    stop = Stop()
    former: dict[int, Any] = {}

    def ask(number: int, frame: FrameType | None) -> None:
        stop.wanted = True
        signal.signal(number, former[number])

    for number in (signal.SIGINT, signal.SIGTERM):
        try:
            former[number] = signal.signal(number, ask)
        except ValueError:
            break
    try:
        yield stop
    finally:
        for caught, handler in former.items():
            signal.signal(caught, handler)
