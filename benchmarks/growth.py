"""How time and memory grow with the length of the text, as exponents."""

import math
import re
import resource
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import linear_regression, median

import torch
from torch import Tensor

from benchmarks.decoding import SMALL, pair
from benchmarks.timing import times_of
from glassbox.attention import scaled_dot_product_attention
from glassbox.blockwise import blockwise_attention
from glassbox.cache import Cache

CONTEXTS = (128, 256, 512, 1024)
LENGTHS = (2048, 4096, 8192, 16384)
WAYS: dict[str, Callable[..., Tensor]] = {
    "blockwise": blockwise_attention,
    "plain formula": lambda *inputs: scaled_dot_product_attention(*inputs)[0],
}


@dataclass(frozen=True)
class Growth:
    """The cost of some work at several lengths."""

    what: str
    device: str
    unit: str
    lengths: tuple[int, ...]
    costs: tuple[float, ...]

    @property
    def exponent(self) -> float:
        """The slope of the line through the logarithms: 0 is flat, 1 linear, 2 quadratic."""
        x, y = ([math.log(number) for number in row] for row in (self.lengths, self.costs))
        return linear_regression(x, y).slope


def measure(device: str) -> Iterator[Growth]:
    """Measure the cost of one more token, and the memory of attention."""
    yield from token_costs(device)
    yield from attention_memory(device)


@torch.inference_mode()
def token_costs(device: str) -> Iterator[Growth]:
    """Measure the time of the next token after texts of several lengths, with and without cache."""
    model, _ = pair(SMALL, device)
    ids = torch.randint(model.config.vocab_size, (1, max(CONTEXTS)), device=device)
    cache = model.new_cache(max(CONTEXTS) + 1)
    with_cache, without = [], []

    def last_logits(ids: Tensor, cache: Cache | None = None) -> Tensor:
        return model.logits(model.hidden(ids, cache=cache)[:, -1:])

    for length in CONTEXTS:

        def step(length: int = length) -> None:
            cache.crop(length - 1)
            last_logits(ids[:, length - 1 : length], cache)

        last_logits(ids[:, cache.length : length], cache)
        with_cache.append(1000 * median(times_of(step, device, rounds=60)))
        anew = partial(last_logits, ids[:, :length])
        without.append(1000 * median(times_of(anew, device, rounds=15)))
    work = "one more token, 4 layers of width 256, "
    yield Growth(work + "with the cache", device, "ms", CONTEXTS, tuple(with_cache))
    yield Growth(work + "without", device, "ms", CONTEXTS, tuple(without))


def attention_memory(device: str) -> Iterator[Growth]:
    """Measure the memory of one head of width 64 beyond its inputs, forward and backward.

    On a CPU, each measurement has its own process, whose peak is read when it ends.
    """
    for way in WAYS:
        costs = []
        for length in LENGTHS:
            command = [sys.executable, "-m", "benchmarks.growth", way, str(length), device]
            result = subprocess.run(command, check=True, capture_output=True, text=True)
            costs.append(float(result.stdout))
        yield Growth(f"attention, {way}, peak memory", device, "MB", LENGTHS, tuple(costs))


def peak_memory(way: str, length: int, device: str) -> float:
    """Return the megabytes that attention needs beyond what the process already uses."""
    inputs = [torch.randn(1, 1, length, 64, device=device, requires_grad=True) for _ in range(3)]
    small = [torch.randn(1, 1, 64, 64, device=device, requires_grad=True) for _ in range(3)]
    WAYS[way](*small).sum().backward()  # load what the first call needs
    peak = resident_peak
    if device.startswith("cuda"):
        torch.cuda.reset_peak_memory_stats()
        peak = torch.cuda.max_memory_allocated
    before = peak()
    WAYS[way](*inputs).sum().backward()
    return (peak() - before) / 1e6


def resident_peak() -> int:
    """Return this process's peak memory in bytes."""
    status = Path("/proc/self/status")  # getrusage would start with the parent's peak
    if status.is_file() and (peak := re.search(r"VmHWM:\s+(\d+) kB", status.read_text())):
        return 1024 * int(peak[1])
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


if __name__ == "__main__":
    print(peak_memory(sys.argv[1], int(sys.argv[2]), sys.argv[3]))
