"""Figures of decoding: reshaped distributions, searches as trees, one quantity for another."""

import math
from itertools import combinations
from typing import Any

import matplotlib.pyplot as plt
import pytest
import torch
from matplotlib.patches import PathPatch

from glassbox_book.viz import Node, reshaped, search_tree, trade_off
from tests.viz.conftest import as_on_a_telephone

TOKENS = ["Ġa", "Ġb", "others"]
SHOWN = ["␣a", "␣b", "others"]
BEFORE = [0.6, 0.3, 0.1]
TREE = [
    Node(None, "<s>", 0.0),
    Node(0, "Ġwe", -0.5),
    Node(0, "Ġyou", -1.0),
    Node(1, "</s>", -0.75, "ended"),
    Node(1, "Ġgo", -2.5, "given up"),
]


@pytest.fixture(autouse=True)
def _close() -> Any:
    yield
    plt.close("all")


def lengths(ax: Any) -> list[float]:
    return [bar.get_width() for bar in ax.patches]


def test_panels_have_the_same_tokens_and_scale_and_both_distributions() -> None:
    fig = reshaped(TOKENS, BEFORE, {"cut": [0.7, 0.3, 0.0], "same": torch.tensor(BEFORE)})
    assert len({ax.get_xlim() for ax in fig.axes}) == 1
    cut, same = fig.axes
    assert lengths(cut) == [0.7, 0.3, 0.0, *BEFORE]
    assert lengths(same) == pytest.approx([*BEFORE, *BEFORE])
    assert [t.get_text() for t in cut.get_yticklabels()] == SHOWN


def test_a_cross_stands_where_a_token_was_cut_off_and_nowhere_else() -> None:
    axes: Any = reshaped(TOKENS, BEFORE, {"a": [1.0, 0.0, 0.0], "b": BEFORE}).axes
    cut, same = axes
    assert list(cut.get_lines()[0].get_ydata()) == [1, 2]
    assert not same.get_lines()


def test_a_bar_beyond_the_limit_has_its_number() -> None:
    (ax,) = reshaped(TOKENS, BEFORE, {"greedy": [1.0, 0.0, 0.0]}, limit=0.7).axes
    assert [text.get_text() for text in ax.texts] == ["1.00"]


@pytest.mark.parametrize(
    ("before", "panels", "message"),
    [
        (BEFORE, {}, "no panels"),
        ([1.0], {"a": BEFORE}, "'before' has 1 probabilities for 3 tokens"),
        (BEFORE, {"a": [1.0]}, "'a' has 1 probabilities for 3 tokens"),
        (BEFORE, {"a": [0.5, 0.5, math.nan]}, "the probabilities of 'a' lie between 0 and 1"),
        (BEFORE, {"a": [1.5, -0.5, 0.0]}, "and these between -0.5 and 1.5"),
    ],
)
def test_distributions_that_do_not_fit_are_refused(before: Any, panels: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        reshaped(TOKENS, before, panels)


def test_each_node_has_its_token_and_score_and_what_became_of_it() -> None:
    fig: Any = search_tree(TREE)
    (ax,) = fig.axes
    texts = [text.get_text() for text in ax.texts]
    tokens, scores = texts[:10:2], texts[1:10:2]
    assert tokens == ["<s>", "␣we", "␣you", "</s>", "␣go"]
    assert scores == ["0.00", "−0.50", "−1.00", "−0.75", "−2.50"]
    legend = [text.get_text() for text in fig.legends[0].get_texts()]
    assert legend == ["followed", "given up", "ended"]


@pytest.mark.usefixtures("book_style")
@pytest.mark.parametrize("narrow", [False, True])
def test_no_line_of_a_tree_crosses_a_word_and_every_word_is_inside_its_box(narrow: bool) -> None:
    long = Node(0, "Ġyesterday", -10.25, "given up")
    nodes = [*TREE, long, long._replace(parent=2), long._replace(parent=2)]
    fig = as_on_a_telephone(search_tree, nodes) if narrow else search_tree(nodes)
    fig.draw_without_rendering()
    (ax,) = fig.axes
    lines = [patch for patch in ax.patches if isinstance(patch, PathPatch)]
    boxes = [patch.get_window_extent() for patch in ax.patches if patch not in lines]
    assert (len(lines), len(boxes)) == (len(nodes) - 1, len(nodes))
    shafts = [ax.transData.transform_path(line.get_path()) for line in lines]
    for word in [text.get_window_extent() for text in ax.texts[: 2 * len(nodes)]]:
        assert not any(shaft.intersects_bbox(word, filled=False) for shaft in shafts)
        inside = [box for box in boxes if box.x0 <= word.x0 and word.x1 <= box.x1]
        assert any(box.y0 <= word.y0 and word.y1 <= box.y1 for box in inside)
    assert not any(one.overlaps(other) for one, other in combinations(boxes, 2))


def test_children_stand_below_their_parents_in_the_same_order() -> None:
    (ax,) = search_tree(TREE).axes
    words: Any = {text.get_text(): text.get_position() for text in ax.texts}
    assert words["<s>"][1] > words["␣we"][1] == words["␣you"][1] > words["</s>"][1]
    assert words["␣we"][0] < words["␣you"][0]
    assert words["</s>"][0] < words["␣go"][0]


@pytest.mark.parametrize(
    ("nodes", "message"),
    [
        ([], "no nodes"),
        ([Node(0, "a", 0.0)], "node 0 has parent 0: the first alone"),
        ([Node(None, "a", 0.0), Node(None, "b", 0.0)], "node 1 has parent None"),
        ([Node(None, "a", 0.0), Node(2, "b", 0.0)], "node 1 has parent 2, which is not before"),
        ([Node(None, "a", 0.0, "lost")], "node 0 is 'lost'; it can be followed, given up, ended"),
    ],
)
def test_what_is_no_tree_is_refused(nodes: list[Node], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        search_tree(nodes)


def test_a_line_goes_through_the_settings_of_each_method() -> None:
    series = {"top-k": [(0.1, 40.0, "2"), (0.5, 30.0, "")], "top-p": [(0.2, 41.0, "")]}
    fig: Any = trade_off(series, x_label="diversity", y_label="y", single=[(0.0, 45.0, "beams")])
    (ax,) = fig.axes
    lines = {line.get_label(): line.get_xydata().tolist() for line in ax.get_lines()}
    assert lines["top-k"] == [[0.1, 40.0], [0.5, 30.0]]
    assert lines["top-p"] == [[0.2, 41.0]]
    assert [text.get_text() for text in ax.texts] == ["2", "beams"]
    assert ax.get_xlabel() == "diversity"
    assert not ax.collections


def test_a_setting_with_an_interval_has_a_line_from_one_end_to_the_other() -> None:
    points: list[Any] = [(0.2, 41.0, "", 39.5, 42.5), (0.4, 38.0, "")]
    fig: Any = trade_off({"top-p": points}, x_label="x", y_label="y")
    (bar,) = fig.axes[0].collections
    assert bar.get_segments()[0].tolist() == [[0.2, 39.5], [0.2, 42.5]]


@pytest.mark.parametrize(
    ("series", "message"),
    [({}, "there are 0 series"), ({"a": []}, "'a' has no points")],
)
def test_a_plane_without_points_is_refused(series: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        trade_off(series, x_label="x", y_label="y")
