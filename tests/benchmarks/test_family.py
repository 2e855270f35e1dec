"""The variants between GPT-2 and LLaMA can be built again, as they were when they were measured."""

import json

import pytest

from benchmarks.family import VARIANTS, FamilyTask
from glassbox.results import FAMILY, RUNS
from glassbox.training import read_run


@pytest.fixture(scope="module")
def config():
    return read_run(RUNS / "shakespeare-gpt2" / "run.toml").task_config


@pytest.mark.parametrize("name", VARIANTS)
def test_a_variant_has_as_many_parameters_as_the_one_measured(name, config):
    model = FamilyTask(config, VARIANTS[name], 1).build()
    measured = json.loads(FAMILY.read_text())["variants"][name]["1"]["parameters"]
    assert sum(parameter.numel() for parameter in model.parameters()) == measured
