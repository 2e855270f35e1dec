"""Arrows end where their vectors say, and what does not fit is refused."""

from itertools import combinations
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pytest
import torch
from matplotlib.colors import to_hex
from matplotlib.path import Path

from glassbox_book.viz import vectors
from glassbox_book.viz.style import KEY, QUERY, TEXT, VALUE

PAIR: dict[str, Any] = {"a": torch.tensor([1.0, 0.0]), "b": [1.0, 2.0]}


@pytest.fixture(autouse=True)
def _close():
    yield
    plt.close("all")


def arrows(ax: Any) -> list[tuple[tuple[float, float], tuple[float, float], str]]:
    """Where each arrow starts, where it ends, and its colour."""
    return [
        (text.xyann, text.xy, to_hex(text.arrow_patch.get_edgecolor()))
        for text in ax.texts
        if text.arrow_patch is not None
    ]


def words(ax: Any) -> list[str]:
    return [text.get_text() for text in ax.texts if text.get_text()]


def test_each_vector_is_an_arrow_from_the_origin_with_its_name_at_the_tip():
    (ax,) = vectors({"here": PAIR}).axes
    assert [(start, end) for start, end, _ in arrows(ax)] == [((0, 0), (1, 0)), ((0, 0), (1, 2))]
    assert words(ax) == ["a", "b"]
    assert ax.get_title(loc="left") == "here"
    assert ax.get_aspect() == 1


def test_a_name_has_one_colour_in_all_panels_which_means_nothing_else():
    first, second = vectors({"one": PAIR, "two": {"b": [0, 1], "a": [1, 1]}}).axes
    a, b = (colour for *_, colour in arrows(first))
    assert [colour for *_, colour in arrows(second)] == [b, a]
    assert a != b
    assert not {a, b} & {QUERY, KEY, VALUE, TEXT}


def test_panels_have_one_scale_that_shows_every_tip():
    fig = vectors({"one": PAIR, "two": {"a": [-3, 0]}, "three": {"a": [0, 5]}})
    shown = fig.axes
    assert len(shown) == 3
    assert len({(ax.get_xlim(), ax.get_ylim()) for ax in shown}) == 1
    (left, right), (bottom, top) = shown[0].get_xlim(), shown[0].get_ylim()
    assert left < -3 < 1 < right
    assert bottom < 0 < 5 < top


def test_names_of_tips_that_meet_are_written_together():
    (ax,) = vectors({"here": {"a": [1, 1], "b": [1.01, 1], "c": [-1, 0]}}).axes
    assert words(ax) == ["a\nb", "c"]


def test_no_name_lies_on_an_arrow_or_on_another_name():
    now = {"a": [0.845, 0.578], "b": [0.578, 0.845], "c": [0.788, 0.788]}
    was = {"a": [1, 0], "b": [0, 1], "c": [1, 1]}
    figure = vectors({"one": now, "two": now}, before={"one": was, "two": was})
    figure.draw_without_rendering()
    for ax in figure.axes:
        boxes = [text.get_window_extent() for text in ax.texts if text.get_text()]
        shafts = [Path(ax.transData.transform([start, end])) for start, end, _ in arrows(ax)]
        assert len(boxes) == 3
        assert len(shafts) == 6
        assert not any(shaft.intersects_bbox(box, False) for shaft in shafts for box in boxes)
        assert not any(one.overlaps(other) for one, other in combinations(boxes, 2))


def test_what_was_before_is_drawn_too_and_without_a_name():
    (ax,) = vectors({"here": PAIR}, before={"here": {"a": [0, 1], "b": [3, 0]}}).axes
    assert [end for _, end, _ in arrows(ax)] == [(0, 1), (3, 0), (1, 0), (1, 2)]
    assert words(ax) == ["a", "b"]


def test_the_hull_has_the_outermost_tips_as_its_corners():
    tips = {"a": [0, 0], "b": [2, 0], "c": [0, 2], "inside": [0.5, 0.5], "d": [2, 2]}
    (ax,) = vectors({"here": tips}, hull=True).axes
    shade: Any
    (shade,) = ax.patches
    corners = {tuple(corner) for corner in shade.get_xy()}
    assert corners == {(0, 0), (2, 0), (2, 2), (0, 2)}


def test_the_hull_is_that_of_the_vectors_before_where_there_are_some():
    before = {"here": {"a": [0, 0], "b": [4, 0], "c": [0, 4]}}
    (ax,) = vectors({"here": {"a": [1, 1]}}, before=before, hull=True).axes
    shade: Any = ax.patches[0]
    assert {tuple(corner) for corner in shade.get_xy()} == {(0, 0), (4, 0), (0, 4)}


def test_a_vector_of_no_length_is_a_point():
    ax: Any
    (ax,) = vectors({"here": {"a": [0, 0], "b": [1, 0]}}).axes
    assert len(arrows(ax)) == 1
    assert [tuple(line.get_xydata()[0]) for line in ax.lines if line.get_marker() == "o"] == [
        (0, 0)
    ]


@pytest.mark.parametrize(
    ("panels", "options", "reason"),
    [
        ({}, {}, r"no panels to draw"),
        ({"p": {}}, {}, r"'p' has no vectors"),
        ({"p": {"a": [1, 2, 3]}}, {}, r"'p', 'a' .* of shape \(3,\)"),
        ({"p": {"a": [1, np.nan]}}, {}, r"'p', 'a' .* two finite numbers"),
        ({"p": {n: [1, 1] for n in "uvwxyz"}}, {}, r"6 names, .*; 5 can be told apart"),
    ],
)
def test_what_does_not_fit_is_refused(panels, options, reason):
    with pytest.raises(ValueError, match=reason):
        vectors(panels, **options)


def test_before_of_another_panel_is_refused():
    with pytest.raises(ValueError, match=r"before names \['q'\]; the panels are \['p'\]"):
        vectors({"p": PAIR}, before={"q": PAIR})
