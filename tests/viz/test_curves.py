"""Curves go through the numbers they are given, and refuse what has no place."""

import math
from typing import Any

import matplotlib.pyplot as plt
import pytest
import torch

from glassbox_book.viz import curves

X = [1, 2, 4]
PANELS: dict[str, dict[str, Any]] = {
    "without": {"plain": torch.tensor([1.0, 0.1, 1e-6]), "normed": [1.0, 1.0, 0.5]},
    "with": {"plain": [1.0, 100.0, 1e9], "normed": [1.0, 1.0, 1.0]},
}


@pytest.fixture
def fig():
    figure = curves(X, PANELS, x_label="layers", y_label="gradient", log_x=True, log_y=True)
    yield figure
    plt.close(figure)


def test_each_series_is_a_line_through_its_values(fig):
    assert [ax.get_title(loc="left") for ax in fig.axes] == list(PANELS)
    for ax, series in zip(fig.axes, PANELS.values(), strict=True):
        lines = {line.get_label(): line for line in ax.get_lines()}
        assert list(lines) == list(series)
        for name, values in series.items():
            assert list(lines[name].get_xdata()) == X
            assert list(lines[name].get_ydata()) == pytest.approx([float(v) for v in values])


def test_panels_share_their_axes(fig):
    assert len({ax.get_ylim() for ax in fig.axes}) == 1
    assert {(ax.get_xscale(), ax.get_yscale()) for ax in fig.axes} == {("log", "log")}
    assert fig.axes[-1].get_xlabel() == "layers"
    assert {ax.get_ylabel() for ax in fig.axes} == {"gradient"}


def test_series_differ_by_more_than_their_colour(fig):
    lines = fig.axes[0].get_lines()
    assert len({line.get_linestyle() + str(line.get_marker()) for line in lines}) == len(lines)


def test_few_points_are_marked_and_are_the_ticks(fig):
    assert [label.get_text() for label in fig.axes[-1].get_xticklabels()] == ["1", "2", "4"]


def test_many_points_make_a_smooth_curve():
    x = torch.linspace(-3, 3, 50)
    figure: Any = curves(x, {"": {"relu": x.relu(), "line": x}}, x_label="x")
    assert all(line.get_marker() in ("", "None") for line in figure.axes[0].get_lines())
    zero = [line for line in figure.axes[0].get_lines() if set(line.get_ydata()) == {0}]
    assert len(zero) == 1  # drawn where numbers are negative
    plt.close(figure)


def test_what_is_not_finite_leaves_a_gap():
    figure = curves(X, {"": {"a": [1.0, math.inf, math.nan]}}, x_label="x", log_y=True)
    assert not figure.legends  # one series needs no legend
    plt.close(figure)


@pytest.mark.parametrize(
    ("x", "panels", "options", "message"),
    [
        (X, {}, {}, "no panels to draw"),
        (X, {"a": {}}, {}, "there are 0 series"),
        (X, {"a": {"b": [1.0, 2.0]}}, {}, r"'a', 'b' has 2 values for 3 points"),
        (X, {"a": {"b": X}, "c": {"d": X}}, {}, r"'c' has the series \['d'\]"),
        (X, {"a": {str(i): X for i in range(7)}}, {}, "there are 7 series; 1 to 6"),
        (X, {"a": {"b": [1.0, 0.0, 2.0]}}, {"log_y": True}, "value 0; a number needs"),
        ([0, 1, 2], {"a": {"b": X}}, {"log_x": True}, "x has the value 0"),
    ],
)
def test_what_cannot_be_drawn_is_refused_with_both_values(x, panels, options, message):
    with pytest.raises(ValueError, match=message):
        curves(x, panels, x_label="x", **options)
