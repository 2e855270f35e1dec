"""How a model is trained is checked when it is said."""

import math
from dataclasses import fields, replace
from typing import Any

import pytest

from glassbox.training import Schedule, TrainingConfig
from glassbox.training.config import FREE, GROWS, defining


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"steps": 0}, "steps=0: expected an int, at least 1"),
        ({"validate_every": 0}, "validate_every=0: expected an int, at least 1"),
        ({"checkpoint_every": -5}, "checkpoint_every=-5: expected an int, at least 1"),
        ({"average": 0}, "average=0: expected an int, at least 1"),
        ({"eps": 0.0}, "eps=0.0: expected a number, more than 0"),
        ({"eps": math.inf}, "eps=inf: expected a number, more than 0 and finite"),
        ({"eps": math.nan}, "eps=nan: expected a number, more than 0"),
        ({"clip": 0.0}, "clip=0.0: expected a number, more than 0"),
        ({"clip": -1.0}, "clip=-1.0: expected a number, more than 0"),
        ({"betas": (0.9, 1.0)}, r"betas=\(0.9, 1.0\): expected two numbers from 0 to below 1"),
        ({"betas": (0.9,)}, r"betas=\(0.9,\): expected two numbers"),
        ({"betas": ("a", 0.9)}, r"betas=\('a', 0.9\): expected two numbers"),
        ({"betas": (math.nan, 0.9)}, "betas=.*: expected two numbers"),
        ({"weight_decay": -0.1}, "weight_decay=-0.1: expected a number, at least 0"),
        ({"weight_decay": math.nan}, "weight_decay=nan: expected a number, at least 0"),
        ({"seed": -1}, "seed=-1: expected 0 to 4294967295"),
        ({"seed": 2**32}, "seed=4294967296: expected 0 to 4294967295"),
        ({"snapshots": (1, 0)}, r"snapshots=\(1, 0\): expected steps from 1 to steps=10000"),
        ({"snapshots": (10_001,)}, r"snapshots=\(10001,\): expected steps from 1"),
        ({"snapshots": (2.5,)}, r"snapshots=\(2.5,\): expected steps from 1"),
        ({"clip": "1"}, "clip='1': expected a number"),
        ({"eps": None}, "eps=None: expected a number"),
        ({"eps": "1e-9"}, "eps='1e-9': expected a number"),
        ({"weight_decay": "0.1"}, "weight_decay='0.1': expected a number"),
        ({"precision": "float16"}, "precision='float16' is not known.*bfloat16.*float32"),
        ({"sharding": "half"}, "sharding='half' is not known.*full.*none"),
    ],
)
@pytest.mark.usefixtures("as_a_reader")
def test_numbers_out_of_range_texts_and_unknown_kinds_are_refused(
    changes: dict[str, Any], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        replace(TrainingConfig(), **changes)


@pytest.mark.usefixtures("as_a_reader")
def test_a_text_is_not_taken_for_what_it_says() -> None:
    no: Any = "false"
    with pytest.raises(TypeError, match="compile is of type str, 'false'; expected True or False"):
        TrainingConfig(compile=no)


@pytest.mark.usefixtures("as_a_reader")
@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"betas": None}, "betas is of type NoneType, None; expected several numbers, in a tuple"),
        ({"snapshots": 3}, "snapshots is of type int, 3; expected several numbers, in a tuple"),
        ({"seed": "1"}, "seed is of type str, '1'; expected a whole number"),
    ],
)
def test_what_is_no_number_or_not_several_is_refused(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(TypeError, match=message):
        TrainingConfig(**changes)


@pytest.mark.parametrize(
    "changes",
    [
        {"clip": None},
        {"clip": math.inf},
        {"weight_decay": 0.0},
        {"betas": (0.0, 0.0)},
        {"seed": 0},
        {"seed": 2**32 - 1},
        {"snapshots": (1, 10_000)},
        {"steps": 1, "average": 1, "checkpoint_every": 1, "validate_every": 1},
    ],
)
def test_the_ends_of_the_ranges_are_in_them(changes: dict[str, Any]) -> None:
    replace(TrainingConfig(), **changes)


@pytest.mark.usefixtures("as_a_reader")
def test_lists_as_files_have_them_are_the_same_configuration() -> None:
    betas: Any = [0.9, 0.98]
    steps: Any = [3, 5]
    expected = TrainingConfig(betas=(0.9, 0.98), snapshots=(3, 5))
    assert TrainingConfig(betas=betas, snapshots=steps) == expected


def test_everything_defines_a_run_but_what_changes_no_weight() -> None:
    names = {field.name for field in fields(TrainingConfig)}
    assert {"compile", "sharding", "validate_every", "snapshots"} == FREE
    assert {"steps"} == GROWS
    assert defining(TrainingConfig()).keys() == names - FREE


def test_a_run_is_defined_in_these_words() -> None:
    """Checkpoints hold them: an entry by another name would leave all of them behind."""
    assert defining(TrainingConfig(schedule=Schedule("constant", peak=0.5, warmup=0))) == {
        "schedule": {"kind": "constant", "peak": 0.5, "warmup": 0, "total": None, "floor": 0.0},
        "steps": 10_000,
        "betas": (0.9, 0.98),
        "eps": 1e-9,
        "weight_decay": 0.0,
        "clip": 1.0,
        "precision": "float32",
        "seed": 0,
        "checkpoint_every": 500,
        "average": 1,
    }
