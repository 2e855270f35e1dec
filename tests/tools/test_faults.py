"""Mutation testing: nothing is left behind."""

import sys

import pytest

from tools import faults


class Bench:
    """Stands in for a copy of the tree and a process."""

    open = 0

    def __init__(self) -> None:
        Bench.open += 1

    def close(self) -> None:
        Bench.open -= 1


def test_the_copies_of_the_tree_are_removed_when_it_is_interrupted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def interrupted(bench: Bench, marks: str) -> None:
        assert Bench.open == 2
        raise KeyboardInterrupt

    monkeypatch.setattr(faults, "Bench", Bench)
    monkeypatch.setattr(faults, "watch", interrupted)
    monkeypatch.setattr(sys, "argv", ["faults", "--jobs", "2", "--number", "1"])
    with pytest.raises(KeyboardInterrupt):
        faults.main()
    assert Bench.open == 0
