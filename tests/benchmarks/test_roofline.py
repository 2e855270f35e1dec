"""What a machine can do is measured in each precision, and kept for chapter 12."""

import json
from pathlib import Path

import pytest

from benchmarks import machine, roofline, run
from glassbox.results import SPEED, SPEED_ON_GPU


@pytest.fixture(scope="module")
def roofs() -> list[roofline.Roof]:
    return list(roofline.measure("cpu", width=32, copied=4096, rounds=1))


def test_every_precision_has_its_points(roofs: list[roofline.Roof]) -> None:
    assert [roof.dtype for roof in roofs] == ["float32", "bfloat16"]
    for roof in roofs:
        assert [point.vectors for point in roof.points] == list(roofline.VECTORS)
        assert roof.gflops >= max(point.gflops for point in roof.points)


def test_half_the_bytes_are_twice_the_intensity(roofs: list[roofline.Roof]) -> None:
    for wide, half in zip(*(roof.points for roof in roofs), strict=True):
        assert half.intensity == 2 * wide.intensity
    # 2 * 32 * 32 operations on a matrix of 32 * 32 and two vectors of 32 numbers, four bytes each
    assert roofs[0].points[0].intensity == pytest.approx(2048 / (4 * (1024 + 64)))


def test_results_are_written_as_the_chapter_reads_them(roofs: list[roofline.Roof]) -> None:
    written = run.row(roofs[0])
    (committed, _) = (one for one in json.loads(SPEED.read_text())["results"] if "points" in one)
    assert written.keys() == committed.keys()
    assert written["points"][0].keys() == committed["points"][0].keys()
    assert roofs[0].sentence() in run.table(machine.describe(), roofs)


@pytest.mark.parametrize("file", [SPEED, SPEED_ON_GPU])
def test_the_chapter_reads_a_committed_result(file: Path) -> None:
    assert file.read_text() in [one.read_text() for one in run.RESULTS.glob("*.json")]
