"""The benchmarks measure what they say: a slower implementation shows as slower."""

import json
from collections.abc import Callable
from itertools import pairwise
from statistics import median

import pytest

from benchmarks import machine, run, training
from benchmarks.decoding import Share
from benchmarks.growth import Growth
from benchmarks.timing import Comparison, compare, times_of
from glassbox.transformer import Transformer, TransformerConfig


class Clock:
    """A clock that only work moves on."""

    def __init__(self) -> None:
        self.now = 0.0
        self.order: list[str] = []

    def work(self, name: str, seconds: float) -> Callable[[], None]:
        def work() -> None:
            self.now += seconds
            self.order.append(name)

        return work

    def __call__(self) -> float:
        return self.now


def test_the_ratio_is_ours_by_theirs() -> None:
    clock = Clock()
    done = compare("x", "y", clock.work("ours", 3.0), clock.work("theirs", 2.0), clock=clock)
    assert done.ratio == pytest.approx(1.5)
    assert done.spread == pytest.approx((1.5, 1.5))


def test_rounds_alternate_in_who_begins() -> None:
    clock = Clock()
    compare("x", "y", clock.work("ours", 1.0), clock.work("theirs", 1.0), clock=clock, least=4)
    rounds = [tuple(clock.order[i : i + 2]) for i in range(6, len(clock.order), 2)]
    assert {*rounds} == {("ours", "theirs"), ("theirs", "ours")}
    assert all(one != other for one, other in pairwise(rounds))


def test_a_measurement_lasts_as_long_as_asked_and_has_enough_rounds() -> None:
    clock = Clock()
    fast = compare("x", "y", clock.work("a", 0.1), clock.work("b", 0.1), clock=clock, seconds=10)
    assert 50 <= len(fast.ours) <= 52
    slow = compare("x", "y", clock.work("a", 9.0), clock.work("b", 9.0), clock=clock, seconds=10)
    assert len(slow.ours) == len(slow.theirs) == 20


def test_one_slow_round_does_not_move_the_ratio() -> None:
    steady = Comparison("x", "y", "cpu", (1.0,) * 9 + (100.0,), (2.0,) * 10)
    assert steady.ratio == 0.5


def test_results_name_their_machine_and_no_date() -> None:
    about = machine.describe()
    done = Comparison("x", "y", "cpu", (1.0, 1.0, 1.0), (2.0, 2.0, 2.0))
    assert str(about["processor"]) in run.table(about, [done])
    assert "| 0.500 |" in run.table(about, [done])
    written = json.loads(run.record(about, [done]))
    assert written["machine"] == about
    assert written["results"][0]["ratio"] == 0.5


@pytest.mark.parametrize(
    ("about", "name"),
    [
        (
            {"processor": "Intel(R) Xeon(R) CPU E5-2686 v4 @ 2.30GHz", "cores": 2},
            "intel-xeon-e5-2686-v4-2-cores",
        ),
        ({"processor": "Apple M2", "cores": 8, "gpu": "H 100"}, "apple-m2-8-cores-h-100"),
    ],
)
def test_a_machine_has_a_plain_name(about: dict[str, str | int], name: str) -> None:
    assert machine.name(about) == name


@pytest.mark.parametrize("power", [0.0, 1.0, 2.0])
def test_the_exponent_is_the_power_by_which_costs_grow(power: float) -> None:
    lengths = (100, 200, 400, 800)
    grown = Growth("x", "cpu", "ms", lengths, tuple(3 * n**power for n in lengths))
    assert grown.exponent == pytest.approx(power)
    assert f"| {power:.2f} |" in run.table(machine.describe(), [grown])
    assert json.loads(run.record({}, [grown]))["results"][0]["exponent"] == pytest.approx(power)


def test_the_share_is_the_least_time_by_the_time_taken() -> None:
    share = Share("decoding", "cpu", limit=0.01, token=0.02, megabytes=500.0)
    assert share.share == 0.5
    assert "50%" in run.table(machine.describe(), [share])
    assert json.loads(run.record({}, [share]))["results"][0]["share"] == 0.5


def test_a_median_ignores_the_rounds_that_warm_up(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock()
    durations = iter([9.0, 9.0, 9.0, 1.0, 2.0, 3.0])
    monkeypatch.setattr("time.perf_counter", clock)
    times = times_of(lambda: clock.work("x", next(durations))(), rounds=3)
    assert median(times) == 2.0


def test_the_fastest_round_is_not_one_that_warms_up(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock()
    durations = iter([0.5, 9.0, 9.0, 3.0, 1.0, 2.0])
    monkeypatch.setattr("time.perf_counter", clock)
    assert min(times_of(lambda: clock.work("x", next(durations))(), rounds=3)) == 1.0


def test_our_translator_and_pytorch_s_take_the_same_training_step() -> None:
    source, target = training.batch("cpu")
    assert source.shape == (training.BATCH, training.LENGTH)
    assert target.shape == (training.BATCH, training.LENGTH + 1)
    sizes = training.SIZES | {"n_layers": 1, "d_model": 16, "d_ff": 32, "vocab_size": 8000}
    reference = training.Reference(Transformer(TransformerConfig(**sizes))).eval()
    assert reference(source[:2], target[:2, :-1]).shape == (2, training.LENGTH, 8000)
    ours, theirs = (
        sum(parameter.numel() for parameter in model.parameters())
        for model in (Transformer(TransformerConfig(**sizes)), reference)
    )
    assert theirs - ours == 2 * 2 * 16  # PyTorch's two norms behind its post-norm stacks
