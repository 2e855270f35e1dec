"""Line charts draw the numbers they are given, and refuse those that do not fit."""

from typing import Any

import matplotlib.pyplot as plt
import pytest
import torch

from glassbox_book.viz import line_charts

X = [4, 16, 64]
PANELS: dict[str, dict[str, Any]] = {
    "size": {"plain": torch.tensor([1.0, 2.0, 3.0]), "scaled": [1.0, 1.0, 1.0]},
    "slope": {"plain": [0.5, 0.2, 0.1], "scaled": [0.5, 0.5, 0.5]},
}


@pytest.fixture
def fig():
    figure = line_charts(X, PANELS, x_label="width")
    yield figure
    plt.close(figure)


def test_each_quantity_has_a_panel_and_each_series_a_line_through_its_values(fig):
    assert [ax.get_title(loc="left") for ax in fig.axes] == list(PANELS)
    for ax, series in zip(fig.axes, PANELS.values(), strict=True):
        lines = {line.get_label(): line for line in ax.get_lines()}
        assert list(lines) == list(series)
        for name, values in series.items():
            assert list(lines[name].get_xdata()) == X
            assert [float(y) for y in lines[name].get_ydata()] == [float(v) for v in values]


def test_series_differ_by_more_than_their_colour(fig):
    markers = [line.get_marker() for line in fig.axes[0].get_lines()]
    assert len(set(markers)) == len(markers)


def test_every_point_is_a_tick_and_the_values_start_at_zero(fig):
    assert [label.get_text() for label in fig.axes[-1].get_xticklabels()] == ["4", "16", "64"]
    assert all(ax.get_ylim()[0] == 0 for ax in fig.axes)
    assert fig.axes[-1].get_xlabel() == "width"


@pytest.mark.parametrize("log_x", [True, False])
def test_the_horizontal_axis_is_as_asked_for(log_x):
    figure = line_charts(X, PANELS, x_label="width", log_x=log_x)
    assert figure.axes[0].get_xscale() == ("log" if log_x else "linear")
    plt.close(figure)


def test_a_logarithmic_vertical_axis_has_plain_numbers_and_does_not_start_at_zero():
    figure = line_charts(
        X, {"steps": {"slow": [4, 16, 64], "fast": [1, 1, 1]}}, x_label="words", log_y=True
    )
    figure.draw_without_rendering()
    (ax,) = figure.axes
    assert ax.get_yscale() == "log"
    assert 0 < ax.get_ylim()[0] < 1
    assert {"1", "10"} <= {label.get_text() for label in ax.get_yticklabels()}
    plt.close(figure)


def test_no_marker_is_cut_at_the_upper_edge(fig):
    for ax, series in zip(fig.axes, PANELS.values(), strict=True):
        assert ax.get_ylim()[1] > 1.05 * max(float(v) for values in series.values() for v in values)


def test_a_line_without_a_value_for_every_point_is_refused_with_both_numbers():
    with pytest.raises(ValueError, match=r"'size', 'plain' has 2 values for 3 points"):
        line_charts(X, {"size": {"plain": [1.0, 2.0]}}, x_label="width")


def test_no_panels_are_refused():
    with pytest.raises(ValueError, match="no panels"):
        line_charts(X, {}, x_label="width")
