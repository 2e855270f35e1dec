"""The measurements of decoding that chapter 10 draws are complete, and say what they are of."""

import json
from typing import Any

import pytest

from benchmarks import diversity


@pytest.fixture(scope="module")
def found() -> Any:
    return json.loads(diversity.FILE.read_text(encoding="utf-8"))


def test_every_way_that_the_script_measures_is_in_the_file(found: Any) -> None:
    settings = {
        name: [one["options"] for one in family] for name, family in found["families"].items()
    }
    assert settings == diversity.FAMILIES
    beams = {(one["n_beams"], one["length_penalty"]) for one in found["beams"]}
    expected = {(n, power) for n in diversity.BEAMS for power in diversity.POWERS}
    assert beams == expected - {(1, diversity.POWERS[0])}


def test_the_file_names_its_machine_sentences_and_measure(found: Any) -> None:
    assert {"processor", "cores", "torch"} <= found["machine"].keys()
    assert found["corpus"]["sentences"] == diversity.SENTENCES
    assert (found["draws"], found["seed"]) == (diversity.DRAWS, diversity.SEED)
    assert found["corpus"]["files"]
    assert "version:" in found["bleu_signature"]


def test_scores_are_scores_and_shares_are_shares(found: Any) -> None:
    drawn = [one for family in found["families"].values() for one in family]
    for one in drawn:
        assert 0 < one["bleu"] < 100
        assert 0 < one["pairwise_bleu"] <= 100.001
        assert 1 / found["draws"] <= one["distinct"] <= 1
    for one in found["beams"]:
        assert 0.5 < one["length_ratio"] < 1.5
        assert 0 <= one["empty"] <= 1
    assert found["likelihood"].keys() == {"model", "people", "model_likelier"}


def test_several_translations_that_are_alike_are_not_diverse() -> None:
    same = ["Dogs are great animals to have.", "She speaks three languages well."]
    other = ["Cats are small.", "They would rather not."]
    alike = diversity.diversity([same, same])
    assert (alike["distinct"], alike["pairwise_bleu"]) == (0.5, pytest.approx(100))
    unlike = diversity.diversity([same, other])
    assert unlike["distinct"] == 1
    assert unlike["pairwise_bleu"] < 20


def test_numbers_are_rounded_wherever_they_are() -> None:
    assert diversity.rounded({"a": [1.23456789, {"b": 2}], "c": "x"}) == {
        "a": [1.2346, {"b": 2}],
        "c": "x",
    }
