"""A chart of several runs shows their mean and how far they lie apart."""

from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pytest
import torch

from glassbox_book.viz import spread_chart

LABELS: dict[str, Any] = {"x_label": "length", "y_label": "accuracy"}
RUNS = torch.tensor([[1.0, 0.5], [0.5, 0.25], [0.75, 0.0]])


@pytest.fixture(autouse=True)
def _close():
    yield
    plt.close("all")


def test_points_are_means_and_bars_reach_from_least_to_largest():
    ax: Any = spread_chart([32, 64], {"a": RUNS}, **LABELS).axes[0]
    line, _, (bars,) = ax.containers[0].lines
    assert np.allclose(line.get_ydata(), [0.75, 0.25])
    ends = [segment[:, 1].tolist() for segment in bars.get_segments()]
    assert np.allclose(ends, [[0.5, 1.0], [0.0, 0.5]])
    assert [tick.get_text() for tick in ax.get_xticklabels()] == ["32", "64"]
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("length", "accuracy")


def test_six_series_differ_in_colour_and_marker():
    fig: Any = spread_chart([32, 64], dict.fromkeys("abcdef", RUNS), **LABELS)
    lines = [container.lines[0] for container in fig.axes[0].containers]
    assert len({line.get_color() for line in lines}) == 6
    assert len({line.get_marker() for line in lines}) == 6
    assert [text.get_text() for text in fig.legends[0].get_texts()] == list("abcdef")


def test_a_level_has_its_name():
    fig = spread_chart([32, 64], {"a": RUNS}, **LABELS, level=("guessing", 0.25), limit=1)
    assert [text.get_text() for text in fig.axes[0].texts] == ["guessing"]
    assert fig.axes[0].get_ylim() == (0, 1)


def test_the_axis_can_start_elsewhere_and_a_point_be_left_out():
    series = {"a": RUNS, "b": [[0.6, float("nan")]]}
    ax: Any = spread_chart([32, 64], series, **LABELS, base=0.2, limit=1).axes[0]
    assert ax.get_ylim() == (0.2, 1)
    values = ax.containers[1].lines[0].get_ydata()
    assert values[0] == 0.6
    assert np.isnan(values[1])


@pytest.mark.parametrize(
    ("series", "reason"),
    [
        ({}, r"there are 0 series"),
        (dict.fromkeys("abcdefg", RUNS), r"there are 7 series; 1 to 6"),
        ({"a": RUNS[0]}, r"'a' has shape \(2,\); expected \(runs, 2\)"),
        ({"a": RUNS[:, :1]}, r"'a' has shape \(3, 1\); expected \(runs, 2\)"),
    ],
)
def test_what_does_not_fit_is_refused(series, reason):
    with pytest.raises(ValueError, match=reason):
        spread_chart([32, 64], series, **LABELS)
