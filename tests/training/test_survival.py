"""Whatever ends a training, it goes on as if nothing had been: the same weights to the last bit."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from glassbox.training import read_metrics

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
STEPS = 60


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What `kills.py` has seen: it runs `glassbox train` in processes that end too early."""
    folder = tmp_path_factory.mktemp("kills")
    path = os.pathsep.join(map(str, (ROOT, ROOT / "code")))
    subprocess.run(
        [sys.executable, "-W", "error", "-m", "tests.training.kills", str(folder)],
        env={**os.environ, "PYTHONPATH": path, "OMP_NUM_THREADS": "1"},
        check=True,
        timeout=900,
    )
    seen: dict[str, Any] = json.loads((folder / "report.json").read_text())
    return seen


def assert_same(seen: dict[str, Any], report: dict[str, Any]) -> None:
    """The model and the log are those of a run without a stop, byte by byte; nothing is left."""
    whole = report["whole"]
    assert seen["files"] == whole["files"]
    assert seen["log"] == whole["log"]
    assert seen["model"] == whole["model"]


def test_a_run_without_a_stop_has_each_step_once(report: dict[str, Any], tmp_path: Path) -> None:
    (tmp_path / "metrics.jsonl").write_text(report["whole"]["log"])
    entries = read_metrics(tmp_path / "metrics.jsonl")
    for split, every in (("train", 1), ("valid", 3)):
        steps = [entry["step"] for entry in entries if entry["split"] == split]
        assert steps == list(range(every, STEPS + 1, every))
    assert sorted(report["whole"]["files"]) == sorted(
        [
            *("metrics.jsonl", "model", "model/model.safetensors", "checkpoints"),
            *(f"checkpoints/step-000000{step}" for step in (51, 54, 57, 60)),
            *(
                f"checkpoints/step-000000{step}/{name}"
                for step in (51, 54, 57, 60)
                for name in ("model.safetensors", "optimizer.safetensors", "state.json")
            ),
        ]
    )


def test_the_same_run_gives_the_same_weights(report: dict[str, Any]) -> None:
    assert_same(report["first"], report)


def test_killed_at_twenty_random_moments_it_ends_with_the_same_weights(
    report: dict[str, Any],
) -> None:
    assert sum(len(run["killed after"]) for run in report["random"]) == 20
    for run in report["random"]:
        assert_same(run, report)


def test_what_is_called_a_checkpoint_is_whole_whenever_training_is_killed(
    report: dict[str, Any],
) -> None:
    for run in report["random"]:
        assert all(run["whole"]), run["killed after"]
    for number, run in enumerate(report["changes"], 1):
        assert run["whole"], f"killed before change {number}"


def test_killed_before_any_change_on_the_disk_it_ends_with_the_same_weights(
    report: dict[str, Any],
) -> None:
    """Between a file's halves, before and after a renaming, while an old checkpoint is deleted."""
    assert len(report["changes"]) > 25
    for run in report["changes"]:
        assert_same(run, report)


def test_a_signal_to_stop_leaves_a_checkpoint_after_the_step_and_a_status(
    report: dict[str, Any],
) -> None:
    seen = report["signals"]
    assert seen["statuses"] == [130, 130, 0]  # stopped by SIGTERM, by SIGINT, done
    for kept, last in seen["kept"]:
        assert 0 < kept == last < STEPS


def test_a_stop_changes_neither_the_steps_nor_the_mean_of_checkpoints(
    report: dict[str, Any],
) -> None:
    assert_same(report["signals"], report)


def test_a_full_disk_leaves_the_checkpoints_before_and_training_goes_on(
    report: dict[str, Any],
) -> None:
    """The limit is the system's own, on the size of files; a checkpoint's second one exceeds it."""
    seen = report["disk"]
    assert seen["status"] == 2
    assert seen["left"] == [f"step-000000{step:02d}" for step in (3, 6, 9, 12)]
    assert "File too large" in seen["error"]
    assert "step-00000012" in seen["error"]
    assert_same(seen, report)
