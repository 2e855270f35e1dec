"""Lines go through the numbers they are given, and what has no place is refused."""

import math
from itertools import combinations
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pytest
import torch
from matplotlib.text import Text

from glassbox_book.viz import curves, line_charts, spread_chart

X = [1, 2, 4]
PANELS: dict[str, dict[str, Any]] = {
    "without": {"plain": torch.tensor([1.0, 0.1, 1e-6]), "normed": [1.0, 1.0, 0.5]},
    "with": {"plain": [1.0, 100.0, 1e9], "normed": [1.0, 1.0, 1.0]},
}


@pytest.fixture(autouse=True)
def _close():
    yield
    plt.close("all")


@pytest.fixture
def fig():
    return curves(X, PANELS, x_label="layers", y_label="gradient", log_x=True, log_y=True)


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
    assert fig.axes[0].get_ylabel() == "gradient"


def boxes(ax: Any) -> list[Any]:
    return [text.get_window_extent() for text in ax.texts]


@pytest.mark.parametrize("together", [0.0, 1.0, 2.0])
def test_names_stand_at_the_ends_of_their_lines_and_none_covers_another(together):
    ends = {name: [1.0, 5.0, together + i / 100] for i, name in enumerate("abcdef")}
    fig = curves(X, {"one": ends, "two": ends}, x_label="x")
    fig.draw_without_rendering()
    ax: Any
    for ax in fig.axes:
        assert [text.get_text() for text in ax.texts] == list("abcdef")
        assert [tuple(text.xy) for text in ax.texts] == [(4, y[-1]) for y in ends.values()]
        assert not any(one.overlaps(other) for one, other in combinations(boxes(ax), 2))
        assert all(box.x1 <= fig.bbox.x1 and box.y0 >= 0 for box in boxes(ax))


@pytest.mark.usefixtures("book_style")
def test_no_name_lies_on_the_axis():
    fig = curves(X, {"": {"high": [9, 9, 9], "low": [2, 1, 0], "[SEP]": [1, 0, 0]}}, x_label="x")
    fig.draw_without_rendering()
    (ax,) = fig.axes
    assert min(box.y0 for box in boxes(ax)) >= ax.get_window_extent().y0


def test_names_of_lines_that_end_apart_stand_where_these_end():
    fig = curves(X, {"": {"low": [1, 1, 1], "high": [2, 2, 9]}}, x_label="x")
    assert [text.get_position()[1] for text in fig.axes[0].texts] == pytest.approx([0, 0])


def test_no_word_stands_on_its_head_or_side(fig):
    fig.draw_without_rendering()
    shown = [text for text in fig.findobj(Text) if text.get_text()]
    assert "gradient" in {text.get_text() for text in shown}
    assert {text.get_rotation() for text in shown} == {0}


def test_points_can_have_names():
    figure = curves(X, {"": {"a": X}}, x_label="at", x_names=["Ġtable", "$x$", "2"])
    labels = figure.axes[0].get_xticklabels()
    assert [label.get_text() for label in labels] == ["␣table", "$x$", "2"]
    assert not any(label.get_parse_math() for label in labels)


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


def test_what_is_not_finite_leaves_a_gap():
    figure = curves(X, {"": {"a": [1.0, math.inf, math.nan]}}, x_label="x", log_y=True)
    curves(X, {"": {"a": X, "never": [math.nan] * 3}}, x_label="x")
    assert not any(ax.texts for ax in figure.axes)  # one series needs no name


@pytest.mark.parametrize(
    ("x", "panels", "options", "message"),
    [
        (X, {}, {}, "no panels to draw"),
        (X, {"a": {}}, {}, "there are 0 series"),
        (X, {"a": {"b": [1.0, 2.0]}}, {}, r"'a', 'b' has 2 values for 3 points"),
        (X, {"a": {"b": 1.0}}, {}, r"'a', 'b' has values of shape \(\) for 3 points"),
        (X, {"a": {"b": [[1.0]] * 3}}, {}, r"'b' has values of shape \(3, 1\) for 3 points"),
        (X, {"a": {"b": X}, "c": {"d": X}}, {}, r"'c' has the series \['d'\]"),
        (X, {"a": {str(i): X for i in range(7)}}, {}, "there are 7 series; 1 to 6"),
        (X, {"a": {"b": [1.0, 0.0, 2.0]}}, {"log_y": True}, "value 0; a number needs"),
        (X, {"a": {"b": [math.nan, -1.0, 2.0]}}, {"log_y": True}, "value -1; a number needs"),
        ([], {"a": {"b": []}}, {}, "x has no points"),
        ([0, 1, 2], {"a": {"b": X}}, {"log_x": True}, "x has the value 0"),
        (X, {"a": {"b": X}}, {"x_names": ["one", "two"]}, "the axis has 2 names for 3 points"),
        (X, {"a": X}, {}, r"not a dictionary of dictionaries; pass \{title: \{series"),
    ],
)
def test_what_cannot_be_drawn_is_refused_with_both_values(x, panels, options, message):
    with pytest.raises(ValueError, match=message):
        curves(x, panels, x_label="x", **options)


# One panel per quantity

WIDTHS = [4, 16, 64]
QUANTITIES: dict[str, dict[str, Any]] = {
    "size": {"plain": torch.tensor([1.0, 2.0, 3.0]), "scaled": [1.0, 1.0, 1.0]},
    "slope": {"plain": [0.5, 0.2, 0.1], "scaled": [0.5, 0.5, 0.5]},
}


@pytest.fixture
def charts():
    return line_charts(WIDTHS, QUANTITIES, x_label="width")


def test_each_quantity_has_a_panel_and_each_series_a_line_through_its_values(charts):
    assert [ax.get_title(loc="left") for ax in charts.axes] == list(QUANTITIES)
    for ax, series in zip(charts.axes, QUANTITIES.values(), strict=True):
        lines = {line.get_label(): line for line in ax.get_lines()}
        assert list(lines) == list(series)
        for name, values in series.items():
            assert list(lines[name].get_xdata()) == WIDTHS
            assert [float(y) for y in lines[name].get_ydata()] == [float(v) for v in values]


def test_series_of_charts_differ_by_more_than_their_colour(charts):
    markers = [line.get_marker() for line in charts.axes[0].get_lines()]
    assert len(set(markers)) == len(markers)


def test_every_point_is_a_tick_and_the_values_start_at_zero(charts):
    assert [label.get_text() for label in charts.axes[-1].get_xticklabels()] == ["4", "16", "64"]
    assert all(ax.get_ylim()[0] == 0 for ax in charts.axes)
    assert charts.axes[-1].get_xlabel() == "width"


@pytest.mark.parametrize("log_x", [True, False])
def test_the_horizontal_axis_is_as_asked_for(log_x):
    figure = line_charts(WIDTHS, QUANTITIES, x_label="width", log_x=log_x)
    assert figure.axes[0].get_xscale() == ("log" if log_x else "linear")


def test_negative_values_are_in_sight():
    ax = line_charts(WIDTHS, {"gain": {"a": [-3.0, -1.0, 2.0]}}, x_label="width").axes[0]
    low, high = ax.get_ylim()
    assert low < -3 < 2 < high


def test_a_logarithmic_vertical_axis_has_plain_numbers_and_does_not_start_at_zero():
    figure = line_charts(
        WIDTHS, {"steps": {"slow": [4, 16, 64], "fast": [1, 1, 1]}}, x_label="words", log_y=True
    )
    figure.draw_without_rendering()
    (ax,) = figure.axes
    assert ax.get_yscale() == "log"
    assert 0 < ax.get_ylim()[0] < 1
    assert {"1", "10"} <= {label.get_text() for label in ax.get_yticklabels()}


def test_no_marker_is_cut_at_the_upper_edge(charts):
    for ax, series in zip(charts.axes, QUANTITIES.values(), strict=True):
        assert ax.get_ylim()[1] > 1.05 * max(float(v) for values in series.values() for v in values)


def test_a_line_without_a_value_for_every_point_is_refused_with_both_numbers():
    with pytest.raises(ValueError, match=r"'size', 'plain' has 2 values for 3 points"):
        line_charts(WIDTHS, {"size": {"plain": [1.0, 2.0]}}, x_label="width")


def test_no_charts_are_refused():
    with pytest.raises(ValueError, match="no panels"):
        line_charts(WIDTHS, {}, x_label="width")


# Means of several runs

LABELS: dict[str, Any] = {"x_label": "length", "y_label": "accuracy"}
RUNS = torch.tensor([[1.0, 0.5], [0.5, 0.25], [0.75, 0.0]])


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
    assert {text.get_text() for text in fig.axes[0].texts} == set("abcdef")


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
        ({"a": RUNS, "b": RUNS * np.nan}, r"'b' has no point that all runs have"),
    ],
)
def test_runs_that_do_not_fit_are_refused(series, reason):
    with pytest.raises(ValueError, match=reason):
        spread_chart([32, 64], series, **LABELS)
    assert not plt.get_fignums()  # or a notebook would show what there is of it


def test_what_is_negative_is_not_cut_off():
    ax: Any = spread_chart([32, 64], {"a": [[-1.0, -2.0], [-3.0, -4.0]]}, **LABELS).axes[0]
    assert ax.get_ylim()[0] < -4
    ax = spread_chart([32, 64], {"a": [[-1.0, -2.0]]}, **LABELS, base=-7).axes[0]
    assert ax.get_ylim()[0] == -7
