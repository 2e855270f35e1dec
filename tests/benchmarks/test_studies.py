"""Long measurements go on where they were stopped."""

import json

import pytest

from benchmarks.studies import measure_missing, read_results


def test_what_is_there_is_not_measured_again(tmp_path):
    file, measured = tmp_path / "results.json", []

    def study(name, value):
        def measure():
            measured.append(name)
            return value

        return ("all", name), measure

    measure_missing(file, [study("one", 1), study("two", {"loss": 0.5})])
    measure_missing(file, [study("one", 8), study("three", 3)])
    assert measured == ["one", "two", "three"]
    assert read_results(file)["all"] == {"one": 1, "two": {"loss": 0.5}, "three": 3}
    assert json.loads(file.read_text(encoding="utf-8"))["machine"]["torch"]


def test_what_was_done_before_a_stop_is_kept_and_seen_by_what_follows(tmp_path):
    file = tmp_path / "results.json"

    def studies():
        yield ("best",), lambda: 3
        best = read_results(file)["best"]
        yield ("next",), lambda: best + 1
        yield ("last",), lambda: 1 / 0

    with pytest.raises(ZeroDivisionError):
        measure_missing(file, studies())
    found = read_results(file)
    assert (found["best"], found["next"]) == (3, 4)
    assert "last" not in found
