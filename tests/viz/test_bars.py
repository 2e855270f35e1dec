"""Bars are as long as the numbers they are given, and what does not fit is refused."""

import math
from typing import Any

import matplotlib.pyplot as plt
import pytest
import torch

from glassbox_book.viz import bar_chart, bar_charts
from glassbox_book.viz.style import ROSE, TEAL

LABELS = ["love", "like", "love"]
VALUES = torch.tensor([0.5, 0.25, -0.125])
SERIES: dict[str, Any] = {"with": [1, 2, 3], "without": torch.tensor([0.5, 0.25, 0.0])}


@pytest.fixture(autouse=True)
def _close():
    yield
    plt.close("all")


def lengths(ax: Any, *, upright: bool = False) -> list[float]:
    return [bar.get_height() if upright else bar.get_width() for bar in ax.patches]


def names(ticks: list[Any]) -> list[str]:
    return [tick.get_text() for tick in ticks]


def test_each_label_has_a_bar_as_long_as_its_value_in_the_order_given():
    ax: Any
    (ax,) = bar_chart(LABELS, VALUES, value_label="probability").axes
    assert names(ax.get_yticklabels()) == LABELS
    assert lengths(ax) == VALUES.tolist()
    middles = [bar.get_y() + bar.get_height() / 2 for bar in ax.patches]
    assert middles == pytest.approx([0, 1, 2])
    assert ax.yaxis_inverted(), "the first bar stands at the top"
    assert ax.get_xlabel() == "probability"


def test_bars_can_stand_up():
    (ax,) = bar_chart(LABELS, VALUES, value_label="probability", upright=True).axes
    assert names(ax.get_xticklabels()) == LABELS
    assert lengths(ax, upright=True) == VALUES.tolist()
    assert ax.get_ylabel() == "probability"


@pytest.mark.parametrize("upright", [True, False])
def test_series_stand_side_by_side_and_differ_by_more_than_their_colour(upright):
    fig = bar_chart(LABELS, SERIES, value_label="n", upright=upright)
    bars = fig.axes[0].containers
    assert [bar.get_label() for bar in bars] == list(SERIES)
    assert names(fig.legends[0].get_texts()) == list(SERIES)
    assert len({group[0].get_hatch() for group in bars}) == len(SERIES)
    first, second = (group[0].get_x() if upright else group[0].get_y() for group in bars)
    assert first < second


def test_numbers_stand_at_the_ends_of_the_bars_if_wanted():
    (ax,) = bar_chart(LABELS, VALUES, value_label="n", annotate="{:.1%}").axes
    assert [text.get_text() for text in ax.texts] == ["50.0%", "25.0%", "-12.5%"]
    (ax,) = bar_chart(LABELS, VALUES, value_label="n", annotate=None).axes
    assert not ax.texts


def test_what_is_highlighted_has_another_colour_and_nothing_else_has():
    (ax,) = bar_chart(LABELS, VALUES, value_label="n", highlight=[1]).axes
    colours = [plt.matplotlib.colors.to_hex(bar.get_facecolor()) for bar in ax.patches]
    assert colours == [TEAL, ROSE, TEAL]


def test_panels_have_labels_of_their_own_and_one_scale():
    panels = {"first": (LABELS, VALUES), "second": (["a"], [3.0])}
    fig = bar_charts(panels, value_label="n", highlight={"second": [0]})
    assert [ax.get_title(loc="left") for ax in fig.axes] == list(panels)
    assert [names(ax.get_yticklabels()) for ax in fig.axes] == [LABELS, ["a"]]
    assert fig.axes[0].get_xlim() == fig.axes[1].get_xlim()


def test_panels_that_do_not_fill_the_last_row_leave_it_empty():
    panels = {str(number): (["a"], [number]) for number in range(3)}
    fig = bar_charts(panels, value_label="n", columns=2)
    assert len(fig.axes) == 3
    assert [ax.get_xlabel() for ax in fig.axes] == ["", "n", "n"]


@pytest.mark.parametrize(
    ("panels", "options", "reason"),
    [
        ({}, {}, r"no panels to draw"),
        ({"p": ([], [])}, {}, r"'p' has no bars"),
        ({"p": (["a"], {})}, {}, r"'p' has no bars"),
        ({"p": (["a"], [1, 2])}, {}, r"'p', '' has 2 values for 1 labels"),
        ({"p": (["a"], {"s": []})}, {}, r"'p', 's' has 0 values for 1 labels"),
        ({"p": (["a"], {n: [1] for n in "vwxyz"})}, {}, r"'p' has 5 series; 4 can be told apart"),
        ({"p": (["a"], [1])}, {"highlight": {"q": [0]}}, r"highlight names \['q'\]"),
        ({"p": (["a"], [1])}, {"highlight": {"p": [1]}}, r"highlight has 1; 'p' has .* 0 to 0"),
        ({"p": (["a"], [1])}, {"highlight": {"p": ["a"]}}, r"highlight has a; 'p' has .* 0 to 0"),
        ({"p": (["a"], [1])}, {"columns": 0}, r"columns=0: must be at least 1"),
        ({"p": (["a", "b"], {"s": [1, math.nan]})}, {}, r"'p', 's' has the value nan"),
        ({"p": (["a"], [-math.inf])}, {}, r"'p', '' has the value -inf"),
    ],
)
@pytest.mark.usefixtures("as_a_reader")
def test_what_does_not_fit_is_refused(panels, options, reason):
    with pytest.raises(ValueError, match=reason):
        bar_charts(panels, value_label="n", **options)
