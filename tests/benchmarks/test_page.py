"""The page of results says what the committed files say, missed marks included."""

import json
import tomllib
from pathlib import Path
from typing import Any

import pytest

from benchmarks import page
from glassbox import results

ROOT = page.HERE.parent
MARKS = tomllib.loads(results.MARKS.read_text(encoding="utf-8"))
MARK: dict[str, Any] = {"work": "some work", "run": "some-run", "sign": ">=", "mark": 41.0}
MARK |= {"figure": ["test", "directions", 0, "bleu"]}


def scored(runs: Path, *bleus: float) -> Path:
    """Write a run with a score for each seed."""
    for seed, bleu in enumerate(bleus, 1):
        place = runs / "some-run" / f"seed-{seed}"
        place.mkdir(parents=True)
        (place / "scores-test.json").write_text(json.dumps({"directions": [{"bleu": bleu}]}))
    return runs


def row(mark: dict[str, Any], runs: Path) -> str:
    """Return the last line of the table of what was learned."""
    return list(page.learning([mark], runs))[-1].splitlines()[-1]


def test_the_committed_page_is_what_the_files_say() -> None:
    assert page.PAGE.read_text(encoding="utf-8") == page.compose()


@pytest.mark.parametrize(
    ("bleus", "said"),
    [
        ([41.0], "{ref}`41.00 <card-some-run>` | met |"),
        ([40.99], "{ref}`40.99 <card-some-run>` | **missed** |"),
        ([40.0, 41.0, 42.0], "{ref}`41.00 ± 1.00 <card-some-run>` | met |"),
        ([], "at least 41 |  | not measured |"),
    ],
)
def test_a_mark_is_met_missed_or_not_measured(
    tmp_path: Path, bleus: list[float], said: str
) -> None:
    assert row(MARK, scored(tmp_path, *bleus)).endswith(said)


@pytest.mark.parametrize(("value", "said"), [(1.88, "met |"), (1.8801, "**missed** |")])
def test_a_loss_is_to_be_low(tmp_path: Path, value: float, said: str) -> None:
    mark = MARK | {"sign": "<=", "mark": 1.88}
    assert row(mark, scored(tmp_path, value)).endswith(said)


def test_a_time_beyond_its_mark_is_missed() -> None:
    timed = {"what": "BERT forward", "device": "cpu", "against": "theirs", "ratio": 1.01}
    timed |= {"ours_ms": 101.0, "theirs_ms": 100.0, "quartiles": [1.0, 1.02]}
    machine = {"processor": "Abacus", "cores": 2, "threads": 2, "system": "Linux"}
    machine |= {"python": "3.11", "torch": "2.13"}
    measured = {"machine": machine, "results": [timed]}
    text = "\n".join(page.speed({"BERT": 1.0}, measured))
    assert "| 1.010 (1.00 to 1.02) | at most 1 | **missed** |" in text


@pytest.mark.parametrize(
    ("times", "said"),
    [
        ({"one": 900, "two": 1500}, "1,500 ms (the slowest page is {doc}`/chapters/two`); the"),
        ({"one": 9, "two": 9}, "is {doc}`/chapters/one` and {doc}`/chapters/two`); the target"),
        ({"one": 900, "two": 1500}, "at most 1,500 ms: met."),
        ({"one": 1501, "two": 700}, "**missed**."),
        (None, "has not been measured; the target is at most 1,500 ms."),
    ],
)
def test_a_paint_is_met_missed_or_not_measured(times: dict[str, int] | None, said: str) -> None:
    results = [{"what": "paint", "paint_ms": times}] if times else []
    assert said in page.painted(1500, {"results": results})


def test_every_mark_of_speed_is_measured() -> None:
    for file in (page.HERE / "results").glob("*.json"):
        names = [one["what"] for one in json.loads(file.read_text())["results"]]
        for start in MARKS["speed"]:
            assert any(name.startswith(start) for name in names), start


@pytest.mark.parametrize("mark", MARKS["held"], ids=lambda mark: mark["what"])
def test_what_holds_a_mark_is_there(mark: dict[str, str]) -> None:
    assert any(ROOT.glob(mark["test"]))


@pytest.mark.parametrize("mark", MARKS["learning"], ids=lambda mark: mark["run"])
def test_every_mark_of_learning_belongs_to_a_run(mark: dict[str, Any]) -> None:
    assert (results.RUNS / mark["run"] / "run.toml").is_file()
