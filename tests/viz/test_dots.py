"""Each run is a dot, its numbers are written next to it, and what cannot be drawn is refused."""

from typing import Any

import matplotlib.pyplot as plt
import pytest
import torch

from glassbox_book.viz import dot_charts

PANELS: dict[str, dict[str, Any]] = {
    "accuracy": {"large": torch.tensor([90.0, 92.0, 94.0]), "small": [80.0]},
    "change": {"gate": [-0.5, -0.25], "bias": [0.125, 0.125], "norm": [1.0]},
}


@pytest.fixture(autouse=True)
def _close():
    yield
    plt.close("all")


@pytest.fixture
def axes() -> Any:
    return dot_charts(PANELS).axes


def test_each_run_is_a_dot_in_the_row_of_its_name(axes):
    for ax, rows in zip(axes, PANELS.values(), strict=True):
        dots = [line for line in ax.lines if line.get_marker() == "o"]
        assert [line.get_xdata().tolist() for line in dots] == [
            list(map(float, r)) for r in rows.values()
        ]
        assert [set(line.get_ydata()) for line in dots] == [{place} for place in range(len(rows))]
        assert [label.get_text() for label in ax.get_yticklabels()] == list(rows)


def test_a_line_reaches_from_the_least_run_to_the_largest(axes):
    lines = [line.get_xdata() for line in axes[0].lines if line.get_marker() != "o"]
    assert [list(ends) for ends in lines] == [[90, 94], [80, 80]]


def test_the_first_row_is_at_the_top(axes):
    bottom, top = axes[0].get_ylim()
    assert top < 0 < 1 < bottom


def test_the_numbers_of_each_row_are_to_its_right(axes):
    assert [text.get_text() for text in axes[0].texts] == ["92.0 ± 2.0", "80.0"]
    signed = dot_charts(PANELS, annotate="{:+.3f}").axes
    assert [text.get_text() for text in signed[0].texts] == ["+92.000 ± 2.000", "+80.000"]
    assert [text.get_text() for text in signed[1].texts] == ["−0.500 to −0.250", "+0.125", "+1.000"]


def test_each_panel_can_have_a_format_of_its_own():
    axes: Any = dot_charts(PANELS, annotate={"accuracy": "{:.0f}", "change": "{:.2f}"}).axes
    assert axes[0].texts[1].get_text() == "80"
    assert axes[1].texts[2].get_text() == "1.00"
    with pytest.raises(
        ValueError, match=r"formats for \['accuracy'\]; the panels are \['accuracy', "
    ):
        dot_charts(PANELS, annotate={"accuracy": "{:.0f}"})


def test_each_quantity_has_its_own_scale_and_zero_is_marked_where_it_is_crossed(axes):
    assert [ax.get_title(loc="left") for ax in axes] == list(PANELS)
    assert axes[0].get_xlim()[0] > 70
    assert -1 < axes[1].get_xlim()[0] < 0
    marked = [[line for line in ax.lines if list(line.get_xdata()) == [0, 0]] for ax in axes]
    assert [len(lines) for lines in marked] == [0, 1]


def test_panels_of_one_column_are_as_tall_as_their_rows():
    fig = dot_charts({"few": {"a": [1]}, "many": {name: [1] for name in "abcdefgh"}}, columns=1)
    fig.draw_without_rendering()
    few, many = (ax.get_window_extent() for ax in fig.axes)
    assert 2 * few.height < many.height
    assert few.y0 > many.y1


@pytest.mark.parametrize(
    ("panels", "reason"),
    [
        ({}, "no panels"),
        ({"a": {}}, "'a' has no rows"),
        ({"a": {"b": []}}, r"'a', 'b' has \[\]; expected one finite number or more"),
        ({"a": {"b": [float("nan")]}}, r"'a', 'b' has \[nan\]"),
        ({"a": {"b": [[1.0]]}}, r"'a', 'b' has \[\[1.0\]\]"),
    ],
)
def test_what_cannot_be_drawn_is_refused(panels, reason):
    with pytest.raises(ValueError, match=reason):
        dot_charts(panels)


def test_less_than_one_column_is_refused():
    with pytest.raises(ValueError, match="columns=0"):
        dot_charts(PANELS, columns=0)
