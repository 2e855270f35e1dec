"""How fast this machine reads and computes, and how close products of matrices come to either.

A limit is what the machine can do, so the fastest of the rounds counts and not the median.
"""

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

import torch

from benchmarks.timing import times_of

#: In how many vectors one matrix is multiplied at once: from a token to a batch of training.
VECTORS = (1, 4, 16, 64, 256, 1024)
DTYPES = (torch.float32, torch.bfloat16)
#: Widths that make a matrix at least as large as the caches, and numbers of bytes that are larger
#: still: reading them takes so long that starting does not count.
WIDTH = {"cpu": 4096, "cuda": 16_384}
COPIED = {"cpu": 2**28, "cuda": 2**32}


@dataclass(frozen=True)
class Point:
    """The product of one square matrix and some vectors."""

    vectors: int
    intensity: float
    gflops: float


@dataclass(frozen=True)
class Roof:
    """What a device can do with numbers of one precision."""

    device: str
    dtype: str
    width: int
    gigabytes: float
    gflops: float
    points: tuple[Point, ...]

    @property
    def what(self) -> str:
        """What was measured."""
        return f"copying memory and multiplying matrices, {self.dtype}"

    @property
    def ridge(self) -> float:
        """Operations for each byte, from which on arithmetic is the limit."""
        return self.gflops / self.gigabytes

    def sentence(self) -> str:
        """Return the result in words."""
        return (
            f"{self.what} ({self.device}): {self.gigabytes:.1f} GB/s and {self.gflops:.0f} "
            f"GFLOP/s, which meet at {self.ridge:.1f} operations for each byte."
        )


def measure(
    device: str, *, width: int | None = None, copied: int | None = None, rounds: int = 10
) -> Iterator[Roof]:
    """Measure the bandwidth once, and the products in each precision."""
    width, copied = width or WIDTH[device], copied or COPIED[device]
    numbers, copy = (torch.ones(copied // 4, device=device) for _ in range(2))
    seconds = min(times_of(lambda: copy.copy_(numbers), device, rounds=rounds))
    gigabytes = 2 * copied / seconds / 1e9  # each number is read and written
    for dtype in DTYPES:
        points = [product(device, dtype, n, width, rounds) for n in (*VECTORS, width)]
        yield Roof(
            device,
            str(dtype).removeprefix("torch."),
            width,
            gigabytes,
            max(point.gflops for point in points),
            tuple(points[:-1]),
        )


def product(device: str, dtype: torch.dtype, vectors: int, width: int, rounds: int) -> Point:
    """Time the product of some vectors and one matrix."""
    x = torch.randn(vectors, width, device=device, dtype=dtype)
    weight = torch.randn(width, width, device=device, dtype=dtype)
    seconds = min(times_of(lambda: x @ weight.T, device, rounds=rounds))
    operations = 2 * vectors * width**2
    n_bytes = (width**2 + 2 * vectors * width) * dtype.itemsize
    return Point(vectors, operations / n_bytes, operations / seconds / 1e9)


def row(roof: Roof) -> dict[str, Any]:
    """Return a result in rounded numbers."""
    points = [
        asdict(point) | {"intensity": round(point.intensity, 4), "gflops": round(point.gflops, 2)}
        for point in roof.points
    ]
    rounded = {"gigabytes": round(roof.gigabytes, 2), "gflops": round(roof.gflops, 2)}
    return asdict(roof) | rounded | {"points": points}
