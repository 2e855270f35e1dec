"""Learning rates are those of the paper, of nanoGPT and of the reference library, step by step."""

import math
from itertools import pairwise

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from transformers import (
    get_constant_schedule_with_warmup,
    get_cosine_schedule_with_warmup,
    get_cosine_with_min_lr_schedule_with_warmup,
    get_inverse_sqrt_schedule,
    get_linear_schedule_with_warmup,
)

from glassbox.training.schedule import Schedule

PEAK, WARMUP, TOTAL, FLOOR = 3e-4, 7, 40, 2e-5
BEYOND = 55
CURVES = {
    "inverse_sqrt": (Schedule("inverse_sqrt", PEAK, WARMUP), get_inverse_sqrt_schedule, {}),
    "cosine": (
        Schedule("cosine", PEAK, WARMUP, TOTAL),
        get_cosine_schedule_with_warmup,
        {"num_training_steps": TOTAL},
    ),
    "cosine with a floor": (
        Schedule("cosine", PEAK, WARMUP, TOTAL, FLOOR),
        get_cosine_with_min_lr_schedule_with_warmup,
        {"num_training_steps": TOTAL, "min_lr": FLOOR},
    ),
    "linear": (
        Schedule("linear", PEAK, WARMUP, TOTAL),
        get_linear_schedule_with_warmup,
        {"num_training_steps": TOTAL},
    ),
    "constant": (Schedule("constant", PEAK, WARMUP), get_constant_schedule_with_warmup, {}),
}


@pytest.mark.parametrize(("ours", "reference", "options"), CURVES.values(), ids=CURVES)
def test_the_reference_library_has_each_rate_one_step_later(ours, reference, options):
    """Its first step has rate zero and changes nothing; its last does not come to the lowest."""
    optimizer = torch.optim.SGD([torch.nn.Parameter(torch.zeros(1))], lr=PEAK)
    theirs = reference(optimizer, num_warmup_steps=WARMUP, **options)
    assert theirs.get_last_lr() == [0]
    # A wave does not rise again beyond the end for us; it does for theirs.
    end = TOTAL if "cosine" in ours.kind else BEYOND
    for step in range(1, end + 1):
        optimizer.step()
        theirs.step()
        assert ours(step) == pytest.approx(theirs.get_last_lr()[0], rel=1e-12, abs=1e-18), step


@pytest.mark.parametrize("counted", ["from zero", "from one"])
def test_nanogpt_has_the_same_wave(counted):
    """Its iterations begin at 0. Warm-up ends a step later since it divides by one step more."""

    def nanogpt(it, warmup_iters=WARMUP, lr_decay_iters=TOTAL):
        if it < warmup_iters:
            now = PEAK * (it + 1) / (warmup_iters + 1)
            return now if counted == "from one" else PEAK * it / warmup_iters
        if it > lr_decay_iters:
            return FLOOR
        ratio = (it - warmup_iters) / (lr_decay_iters - warmup_iters)
        return FLOOR + 0.5 * (1.0 + math.cos(math.pi * ratio)) * (PEAK - FLOOR)

    more = 1 if counted == "from one" else 0
    schedule = Schedule("cosine", PEAK, WARMUP + more, TOTAL + more, FLOOR)
    for step in range(1, BEYOND):
        assert schedule(step) == pytest.approx(nanogpt(step - more), rel=1e-13, abs=0), step


def test_equation_3_to_the_letter():
    """The base model's numbers, computed elsewhere with 30 digits."""
    for step, expected in {
        1: 1.7469281074217107e-7,
        100: 1.7469281074217107e-5,
        3999: 6.9859655015794211e-4,
        4000: 6.9877124296868428e-4,
        4001: 6.9868391293735298e-4,
        100_000: 1.3975424859373686e-4,
    }.items():
        assert paper(step, 512, 4000) == pytest.approx(expected, rel=1e-14, abs=0)


def paper(step, d_model, warmup):
    """Equation 3 of the paper."""
    return d_model**-0.5 * min(step**-0.5, step * warmup**-1.5)


@given(st.integers(1, 10**6), st.integers(1, 10**5), st.integers(1, 4096))
def test_the_paper_s_rate_is_the_one_with_the_paper_s_peak(step, warmup, d_model):
    schedule = Schedule("inverse_sqrt", (d_model * warmup) ** -0.5, warmup)
    expected = paper(step, d_model, warmup)
    assert schedule(step) == pytest.approx(expected, rel=1e-12, abs=0)


def test_without_arguments_it_is_the_paper_s_base_model():
    schedule = Schedule()
    for step in (1, 4000, 100_000):
        assert schedule(step) == pytest.approx(paper(step, 512, 4000), rel=2e-3, abs=0)


@given(
    st.sampled_from(["inverse_sqrt", "cosine", "linear", "constant"]),
    st.integers(1, 50),
    st.integers(1, 50),
    st.floats(0, 1),
)
def test_it_rises_to_the_peak_falls_to_the_floor_and_stays(kind, warmup, more, share):
    ends = kind in ("cosine", "linear")
    total = warmup + more if ends else None
    floor = PEAK * share if ends else 0.0
    schedule = Schedule(kind, PEAK, warmup, total, floor)
    rates = [schedule(step) for step in range(1, warmup + more + 20)]
    assert rates[0] > 0
    assert rates[warmup - 1] == pytest.approx(PEAK, rel=1e-15, abs=0)
    assert all(a < b for a, b in pairwise(rates[:warmup]))
    falling = rates[warmup - 1 :]
    assert all(a >= b for a, b in pairwise(falling))
    if kind == "inverse_sqrt":
        assert all(a > b for a, b in pairwise(falling))
    if kind == "constant":
        assert set(falling) == {PEAK}
    if ends:
        assert falling[more:] == [pytest.approx(floor, abs=1e-19)] * len(falling[more:])


@pytest.mark.parametrize("kind", ["cosine", "linear", "constant"])
def test_without_a_warm_up_the_first_step_is_a_tenth_down_or_not_at_all(kind):
    schedule = Schedule(kind, 1.0, 0, None if kind == "constant" else 10)
    expected = {"cosine": (1 + math.cos(math.pi / 10)) / 2, "linear": 0.9, "constant": 1.0}[kind]
    assert schedule(1) == pytest.approx(expected, rel=1e-15)


def test_halfway_down_both_falls_are_halfway_and_a_wave_is_slower_at_its_ends():
    wave, line = (Schedule(kind, 1.0, 10, 50, 0.2) for kind in ("cosine", "linear"))
    assert wave(30) == pytest.approx(0.6)
    assert line(30) == pytest.approx(0.6)
    assert wave(20) > line(20)
    assert wave(40) < line(40)


BAD = {
    "kind": ({"kind": "noam"}, "kind='noam' is not known; expected one of ['constant', 'cosine'"),
    "no rate": ({"peak": 0.0}, "peak=0.0: expected a number, more than 0"),
    "infinite rate": ({"peak": math.inf}, "peak=inf: expected a number, more than 0 and finite"),
    "no number": ({"peak": math.nan}, "peak=nan"),
    "no warm-up": ({"warmup": 0}, "warmup=0: expected an int, at least 1 for 'inverse_sqrt'"),
    "a warm-up that is no number": ({"warmup": math.nan}, "warmup=nan: expected an int"),
    "negative warm-up": (
        {"kind": "constant", "warmup": -1},
        "warmup=-1: expected an int, at least 0",
    ),
    "no end": (
        {"kind": "cosine"},
        "kind='cosine' falls from step warmup=4000 to step total, which is None",
    ),
    "end in the warm-up": ({"kind": "linear", "total": 4000}, "which is 4000: give a later one"),
    "an end that is no whole number": (
        {"kind": "cosine", "total": 5e3},
        "total=5000.0: expected an int",
    ),
    "floor above": (
        {"kind": "cosine", "total": 5000, "peak": 0.1, "floor": 0.2},
        "floor=0.2: expected 0 to peak=0.1",
    ),
    "no floor at all": (
        {"kind": "cosine", "total": 5000, "floor": None},
        "floor=None: expected 0 to peak=",
    ),
    "floor below": ({"kind": "cosine", "total": 5000, "floor": -0.1}, "floor=-0.1: expected 0 to"),
    "an end that is none": ({"total": 9}, "'inverse_sqrt' has no end and no floor, but total=9"),
    "a floor that is none": ({"kind": "constant", "floor": 1e-5}, "floor=1e-05: leave them out"),
}


@pytest.mark.usefixtures("as_a_reader")
@pytest.mark.parametrize(("options", "says"), BAD.values(), ids=BAD)
def test_a_schedule_is_checked_when_it_is_built(options, says):
    with pytest.raises(ValueError) as caught:  # noqa: PT011
        Schedule(**options)
    assert says in str(caught.value)


@pytest.mark.parametrize("kind", ["inverse_sqrt", "cosine", "linear", "constant"])
@pytest.mark.parametrize("step", [0, -3, math.nan])
@pytest.mark.usefixtures("as_a_reader")
def test_a_rate_of_no_step_is_refused(kind, step):
    total = 5000 if kind in ("cosine", "linear") else None
    with pytest.raises(ValueError, match=f"step={step}: must be at least 1"):
        Schedule(kind, total=total)(step)
