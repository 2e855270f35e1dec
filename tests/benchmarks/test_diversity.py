"""The measurements of decoding that chapter 10 draws are complete, and say what they are of."""

import json
from typing import Any

import pytest
import torch

from benchmarks import diversity
from glassbox.evaluation import score_translations

RIGHT = [["The cat sat on the mat today."], ["She speaks three languages very well.", "Yes."]]
WRITTEN = ["The cat sat on a mat today.", "She speaks three languages well."]


@pytest.fixture(scope="module")
def found() -> Any:
    return json.loads(diversity.FILE.read_text(encoding="utf-8"))


def test_every_way_that_the_script_measures_is_in_the_file(found: Any) -> None:
    settings = {
        name: [one["options"] for one in family] for name, family in found["families"].items()
    }
    assert settings == diversity.FAMILIES
    expected = {(n, power) for n in diversity.BEAMS for power in diversity.POWERS}
    for part in (found, found["few"]):
        beams = {(one["n_beams"], one["length_penalty"]) for one in part["beams"]}
        assert beams == expected - {(1, diversity.POWERS[0])}


def test_the_file_names_its_machine_sentences_and_measure(found: Any) -> None:
    assert {"processor", "cores", "torch"} <= found["machine"].keys()
    assert found["few"]["sentences"] == diversity.FEW < found["corpus"]["sentences"]
    assert (found["draws"], found["seed"]) == (diversity.DRAWS, diversity.SEED)
    assert found["other_seeds"] == diversity.OTHER_SEEDS
    assert found["resamples"] == diversity.RESAMPLES
    assert found["corpus"]["files"]
    assert "version:" in found["bleu_signature"]


def test_scores_are_scores_and_lie_in_their_intervals(found: Any) -> None:
    drawn = [one for family in found["families"].values() for one in family]
    for one in (*drawn, *found["beams"], *found["few"]["beams"]):
        score, low, high = one["bleu"]
        assert 0 < low < score < high < 100
    for one in drawn:
        share, low, high = one["differ"]
        assert 0 < low < share < high < 1
    for one in found["beams"]:
        assert 0.5 < one["length_ratio"] < 1.5
        assert 0 <= one["empty"] <= 1
    for value, low, high in found["likelihood"].values():
        assert low <= value <= high


def test_each_cut_was_drawn_again_with_other_seeds(found: Any) -> None:
    for name, family in found["families"].items():
        for one in family:
            again, seeds = one["with_other_seeds"], found["other_seeds"]
            assert again is None if name == "temperature" else len(set(again)) == len(seeds)


def test_what_is_added_up_over_sentences_gives_the_score_of_all_of_them() -> None:
    rows = diversity.statistics(WRITTEN, RIGHT)
    both = torch.ones(1, len(WRITTEN), dtype=torch.float64)
    expected = score_translations(WRITTEN, RIGHT).bleu
    assert diversity.bleu(both, rows).item() == pytest.approx(expected)


def test_sentences_that_share_a_translation_even_through_others_are_in_one_cluster() -> None:
    found = diversity.clusters([["a"], ["b", "c"], ["d"], ["c", "e"], ["f", "d"], ["e", "a"]])
    assert found.tolist() == [0, 0, 1, 0, 1, 0] or found.tolist() == [1, 1, 0, 1, 0, 1]


def test_every_resample_has_whole_clusters_and_the_first_has_each_sentence_once() -> None:
    references = [["a"], ["b"], ["a", "c"], ["d"], ["e"], ["f"], ["g"]]
    samples = diversity.resampled(references)
    assert samples.shape == (diversity.RESAMPLES + 1, 7)
    assert torch.equal(samples[:, 0], samples[:, 2])
    assert (samples[:, [0, 1, 3, 4, 5, 6]].sum(dim=1) == 6).all()
    assert (samples[0] == 1).all()
    assert torch.equal(samples, diversity.resampled(references))
    assert not torch.equal(samples, diversity.resampled(references, seed=2))


def test_an_interval_leaves_out_a_fortieth_at_either_end() -> None:
    values = torch.tensor([5.0, *range(1001)], dtype=torch.float64)
    assert diversity.interval(values) == [5.0, 25.0, 975.0]


def test_a_sentence_differs_if_its_two_translations_do() -> None:
    assert diversity.differ([["a", "b"], ["a", "c"]]).tolist() == [0, 1]


def test_a_way_is_compared_with_the_curve_at_its_own_diversity() -> None:
    curve = [
        (torch.tensor([50.0]), torch.tensor([0.2])),
        (torch.tensor([40.0]), torch.tensor([0.6])),
    ]
    over = diversity.above((torch.tensor([46.0]), torch.tensor([0.5])), curve)
    assert over is not None
    assert over.item() == pytest.approx(3.5)  # the curve is at 42.5 there
    assert diversity.above((torch.tensor([46.0]), torch.tensor([0.7])), curve) is None


def test_numbers_are_rounded_wherever_they_are() -> None:
    assert diversity.rounded({"a": [1.23456789, {"b": 2}], "c": "x"}) == {
        "a": [1.2346, {"b": 2}],
        "c": "x",
    }
