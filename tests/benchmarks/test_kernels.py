"""What each kernel gains is measured."""

from benchmarks.kernels import works
from glassbox.kernels import KERNELS


def test_there_is_work_for_every_kernel() -> None:
    assert sorted([*works("cpu"), "dropout"]) == sorted(KERNELS)  # which no CPU uses
