"""The largest difference that each component showed from its reference, for the summary."""

from collections import defaultdict
from typing import Any

import torch
from torch import Tensor

DTYPES = (torch.float32, torch.float64, torch.bfloat16, torch.float16)


class Differences:
    """Largest differences by component and dtype, beside how many tensors were compared.

    A difference counts relative to the largest entry of what is expected, where that is more than
    1: gradients may be large.
    """

    def __init__(self) -> None:
        self.largest: dict[str, dict[torch.dtype, float]] = defaultdict(dict)
        self.compared: dict[str, int] = defaultdict(int)

    def note(self, component: str, actual: Any, expected: Any) -> None:
        """Measure one comparison, if it is one of floating-point tensors of equal shape."""
        tensors = isinstance(actual, Tensor) and isinstance(expected, Tensor)
        if not tensors or not expected.is_floating_point() or actual.shape != expected.shape:
            return
        if not expected.numel() or expected.is_meta or not expected.isfinite().all():
            return
        dtype = min(actual.dtype, expected.dtype, key=lambda kind: torch.finfo(kind).bits)
        difference = (actual.detach().double() - expected.detach().double()).abs().max()
        size = expected.detach().double().abs().max().clamp(min=1)
        found = self.largest[component]
        found[dtype] = max(found.get(dtype, 0.0), (difference / size).item())
        self.compared[component] += 1

    def lines(self) -> list[str]:
        """Return the table, a line for each component."""
        names = [str(dtype).removeprefix("torch.") for dtype in DTYPES]
        lines = [f"{'component':<24}{'tensors':>8}" + "".join(f"{name:>11}" for name in names)]
        for component, found in sorted(self.largest.items()):
            cells = [f"{found[dtype]:.1e}" if dtype in found else "" for dtype in DTYPES]
            row = f"{component:<24}{self.compared[component]:>8}"
            lines.append((row + "".join(f"{cell:>11}" for cell in cells)).rstrip())
        return lines


#: Of all comparisons in one run of the tests.
LARGEST = Differences()
