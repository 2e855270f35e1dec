"""Time two implementations of the same thing side by side."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from statistics import median, quantiles

import torch

Work = Callable[[], object]
Clock = Callable[[], float]


@dataclass(frozen=True)
class Comparison:
    """Seconds of every round, ours and theirs."""

    what: str
    against: str
    device: str
    ours: tuple[float, ...]
    theirs: tuple[float, ...]

    @property
    def ratio(self) -> float:
        """Median of ours by median of theirs: below 1, ours is faster."""
        return median(self.ours) / median(self.theirs)

    @property
    def spread(self) -> tuple[float, float]:
        """Quartiles of the ratio within rounds, where both ran under the same load."""
        pairs = [a / b for a, b in zip(self.ours, self.theirs, strict=True)]
        low, _, high = quantiles(pairs, n=4)
        return low, high


def compare(
    what: str,
    against: str,
    ours: Work,
    theirs: Work,
    *,
    device: str = "cpu",
    seconds: float = 10.0,
    least: int = 20,
    clock: Clock = time.perf_counter,
) -> Comparison:
    """Time both in turn for about `seconds`, at least `least` rounds, after three to warm up.

    They alternate, so that other load affects both, and every second round reverses the order, so
    that neither always finds the caches as the other left them.
    """
    times: dict[Work, list[float]] = {ours: [], theirs: []}
    for _ in range(3):
        ours(), theirs()
    end = clock() + seconds
    rounds = 0
    while rounds < least or clock() < end:
        for work in (ours, theirs) if rounds % 2 else (theirs, ours):
            times[work].append(timed(work, device, clock))
        rounds += 1
    return Comparison(what, against, device, tuple(times[ours]), tuple(times[theirs]))


def timed(work: Work, device: str, clock: Clock) -> float:
    """Return the time of some work, from a GPU that is idle until it is so again."""
    wait(device)
    start = clock()
    work()
    wait(device)
    return clock() - start


def wait(device: str) -> None:
    """Wait for a GPU to finish its work."""
    if device.startswith("cuda"):
        torch.cuda.synchronize()


def times_of(work: Work, device: str = "cpu", *, rounds: int = 20) -> list[float]:
    """Return the seconds of every round, after three rounds to warm up.

    Their median is what the work usually takes, the shortest what the machine can do when nothing
    else runs.
    """
    return [timed(work, device, time.perf_counter) for _ in range(rounds + 3)][3:]
