"""Two processes learn what one learns, and a sharded model is held in halves (chapter 12)."""

import pytest
import torch

from glassbox.training import Processes
from glassbox_book.together import learn
from tests.training.several import answers, start

pytestmark = pytest.mark.slow


@pytest.mark.parametrize(("sharding", "share"), [("none", 1.0), ("full", 0.5)])
def test_two_processes_learn_what_one_learns(sharding: str, share: float) -> None:
    alone = learn(Processes(0, 1, torch.device("cpu")), "none")
    assert alone[4:] == [1.0, 1.0, 1.0]
    assert alone[3] < alone[0]
    for mine in answers(start(learn, sharding)):
        assert mine[:4] == pytest.approx(alone[:4], rel=1e-5)
        assert mine[4:] == [share] * 3
