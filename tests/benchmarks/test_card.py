"""A card says what the files of its run say, and the committed ones say it now."""

import json
from pathlib import Path
from typing import Any

import pytest

from benchmarks import card, keep
from glassbox.results import RUNS

COMMITTED = sorted(path.parent for path in RUNS.glob("*/CARD.md"))


def a_run(folder: Path, bleus: list[float]) -> Path:
    """Write a run with a seed for each score, and return its folder."""
    run = folder / "some-run"
    for seed, bleu in enumerate(bleus, 1):
        place = run / f"seed-{seed}"
        place.mkdir(parents=True)
        way: dict[str, Any] = {"n_beams": 5, "bleu": bleu, "chrf": 60.0}
        way |= {"bleu_signature": "b", "chrf_signature": "c"}
        direction: dict[str, Any] = {"corpus": "tatoeba", "split": "test", "source": "fr"}
        direction |= {"to": "en", "sources": 1355, "references": 2000, "decoding": [way]}
        direction |= {"perplexity": 4.5, "bits_per_byte": 0.65}
        (place / "scores-test.json").write_text(json.dumps({"directions": [direction]}))
        spent = {"step": 2480, "epoch": 9, "position": 3, "tokens": 4_441_000, "seconds": 1800.0}
        machine = {"processor": "Abacus", "cores": 2, "torch": "2.13.0"}
        config = {"seed": seed, "corpus": "tatoeba"}
        (place / "training.json").write_text(
            json.dumps({**spent, "parameters": 7_066_624, "machine": machine, "config": config})
        )
    (run / "about.md").write_text("# Some run\n\nIts words.\n")
    return run


def test_words_and_numbers_of_a_run_are_on_its_card(tmp_path: Path) -> None:
    text = card.compose(a_run(tmp_path, [41.25]))
    assert text.startswith("# Some run\n\nIts words.\n\n## Scores\n")
    assert "**tatoeba, test, fr to en**: 1,355 sentences with 2,000 references; one seed." in text
    assert "| 5 beams | 41.25 | 60.00 |" in text
    assert "BLEU `b`, chrF `c`." in text
    assert "Perplexity 4.500, 0.6500 bits per byte." in text
    assert "7,066,624 parameters." in text
    assert "Machine: Abacus, 2 cores, torch 2.13.0." in text
    assert "| 1 | 2,480 | 10 | 4,441,000 | 0.50 |" in text


def test_several_seeds_have_a_mean_and_a_spread(tmp_path: Path) -> None:
    text = card.compose(a_run(tmp_path, [40.0, 41.0, 42.0]))
    assert "mean and standard deviation of 3 seeds" in text
    assert "| 5 beams | 41.00 ± 1.00 | 60.00 ± 0.00 |" in text
    assert text.count("| 2,480 | 10 |") == 3


def test_a_log_is_thinned_to_every_tenth_step_and_all_validations() -> None:
    log: list[dict[str, Any]] = [{"step": step, "split": "train"} for step in range(1, 26)]
    log.insert(13, {"step": 13, "split": "valid"})
    kept = [(entry["step"], entry["split"]) for entry in keep.thinned(log)]
    assert kept == [(1, "train"), (10, "train"), (13, "valid"), (20, "train"), (25, "train")]


@pytest.mark.parametrize("run", COMMITTED, ids=lambda run: run.name)
def test_a_committed_card_is_what_its_files_say(run: Path) -> None:
    assert (run / "CARD.md").read_text(encoding="utf-8") == card.compose(run)


@pytest.mark.parametrize("run", COMMITTED, ids=lambda run: run.name)
def test_a_committed_run_was_trained_as_its_file_says(run: Path) -> None:
    from dataclasses import asdict

    from glassbox.training import read_run
    from glassbox.training.config import defining

    described = read_run(run / "run.toml")
    now = json.loads(
        json.dumps({**asdict(described.task_config), **defining(described.training)}, default=str)
    )
    for file in run.glob("seed-*/training.json"):
        then = json.loads(file.read_text())["config"]
        differing = {name for name in now if then.get(name) != now[name]}
        assert differing <= {"seed", "pairs", "start"}, differing


def test_the_try_that_was_kept_has_the_scores_in_the_files_beside_its_card():
    for name, rows in json.loads((RUNS.parent / "tries.json").read_text()).items():
        (kept,) = (row for row in rows if row.get("kept"))
        files = {"valid": "scores-valid.json", "test": "scores-test_2016.json"}
        for split, file in files.items():
            if (name, split) != ("multi30k-en-de", "valid"):  # which no file keeps
                scores = json.loads((RUNS / name / "seed-1" / file).read_text())
                found = scores["directions"][0]["decoding"][1]["moses_bleu"]
                assert round(found, 2) == kept[split], (name, split)
