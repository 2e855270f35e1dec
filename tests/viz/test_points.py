"""Points lie where they are given, labels beside them, and what does not fit is refused."""

from itertools import combinations
from typing import Any

import matplotlib.pyplot as plt
import pytest
import torch
from matplotlib.colors import to_hex

from glassbox_book.viz import scatter, scatters
from glassbox_book.viz.paper import svg
from glassbox_book.viz.style import PAGE_WIDTH

POINTS = torch.tensor([[0.0, 0.0], [1.0, 0.5], [2.0, -1.0]])
LABELS = ["coffee", "tea", "dog"]
GROUPS = ["drinks", "drinks", "animals"]


@pytest.fixture(autouse=True)
def _close():
    yield
    plt.close("all")


def dots(ax: Any) -> list[list[float]]:
    return [place for kind in ax.collections for place in kind.get_offsets().tolist()]


def test_each_point_lies_where_it_was_given_with_its_label_beside_it():
    ax: Any
    (ax,) = scatter(POINTS, LABELS, x_label="first", y_label="second").axes
    assert dots(ax) == POINTS.tolist()
    assert [text.get_text() for text in ax.texts] == LABELS
    assert [list(text.xy) for text in ax.texts] == POINTS.tolist()
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("first", "second")


def test_a_unit_is_equally_long_on_both_axes():
    fig = scatter(POINTS * torch.tensor([100.0, 1.0]))
    (ax,) = fig.axes
    fig.draw_without_rendering()
    corners = ax.transData.transform([(0, 0), (1, 0), (0, 1)])
    assert corners[1][0] - corners[0][0] == pytest.approx(corners[2][1] - corners[0][1])


def test_groups_differ_by_colour_and_marker_and_make_a_legend():
    fig = scatter(POINTS, groups=GROUPS)
    kinds: Any = fig.axes[0].collections
    assert [kind.get_label() for kind in kinds] == ["drinks", "animals"]
    assert [text.get_text() for text in fig.legends[0].get_texts()] == ["drinks", "animals"]
    assert len({to_hex(kind.get_facecolor()[0]) for kind in kinds}) == 2
    assert len({kind.get_paths()[0].vertices.tobytes() for kind in kinds}) == 2


def test_ten_groups_can_be_told_apart():
    points = torch.arange(20.0).view(10, 2)
    kinds: Any = scatter(points, groups=list("abcdefghij")).axes[0].collections
    looks = {
        (to_hex(kind.get_facecolor()[0]), kind.get_paths()[0].vertices.tobytes()) for kind in kinds
    }
    assert len(looks) == 10


def test_labels_of_points_with_room_around_them_cover_neither_each_other_nor_a_point():
    grid = torch.cartesian_prod(torch.arange(4.0), torch.arange(6.0))
    fig = scatter(grid, [f"word {number}" for number in range(24)])
    (ax,) = fig.axes
    boxes = [text.get_window_extent() for text in ax.texts]
    assert not any(one.overlaps(other) for one, other in combinations(boxes, 2))
    places = ax.transData.transform(grid.numpy())
    assert not any(box.contains(*place) for box in boxes for place in places)


def test_an_empty_label_writes_nothing():
    (ax,) = scatter(POINTS, ["coffee", "", "dog"]).axes
    assert [text.get_text() for text in ax.texts] == ["coffee", "dog"]


def test_a_figure_is_as_wide_as_a_page_and_narrower_on_a_telephone_unless_it_scrolls_there():
    for wide in (False, True):
        fig = scatter(POINTS, wide=wide)
        assert fig.get_figwidth() == PAGE_WIDTH
        assert svg(fig).count("<svg") == (1 if wide else 2)


def test_panels_have_their_titles_and_scales():
    panels = {"before": (POINTS, LABELS, GROUPS), "after": (5 * POINTS, LABELS, GROUPS)}
    fig = scatters(panels, columns=2)
    assert [ax.get_title(loc="left") for ax in fig.axes] == list(panels)
    assert len(fig.legends) == 1
    assert fig.axes[0].get_xlim() != fig.axes[1].get_xlim()


def test_a_legend_of_its_own_stands_above_the_panel_where_it_cannot_pass_for_points():
    fig: Any = scatters({"one": (POINTS, None, GROUPS), "two": (POINTS, None, ["a", "b", "b"])})
    fig.draw_without_rendering()
    for ax in fig.axes:
        assert ax.get_legend().get_window_extent().y0 >= ax.get_window_extent().y1


@pytest.mark.usefixtures("book_style")
def test_a_legend_of_its_own_covers_no_name_of_an_axis():
    panels = {name: (POINTS, None, [name, "a verb", "a verb"]) for name in ("insects", "b", "c")}
    fig: Any = scatters(panels, columns=3, x_label="first", y_label="second component")
    fig.draw_without_rendering()
    said = fig.axes[0].yaxis.label.get_window_extent()
    assert not any(ax.get_legend().get_window_extent().overlaps(said) for ax in fig.axes)


def test_panels_with_other_groups_have_a_legend_each():
    fig: Any = scatters({"a": (POINTS, None, GROUPS), "b": (POINTS, None, ["x", "y", "y"])})
    shown = [[text.get_text() for text in ax.get_legend().get_texts()] for ax in fig.axes]
    assert shown == [["drinks", "animals"], ["x", "y"]]


def test_panels_that_do_not_fill_the_last_row_leave_it_empty():
    fig = scatters(dict.fromkeys("abc", (POINTS, None, None)), columns=2)
    assert len(fig.axes) == 3


@pytest.mark.parametrize(
    ("panel", "reason"),
    [
        ((torch.zeros(3), None, None), r"'p' has points of shape \(3,\); expected \(n, 2\)"),
        ((torch.zeros(0, 2), None, None), r"shape \(0, 2\)"),
        ((torch.zeros(3, 3), None, None), r"shape \(3, 3\)"),
        ((POINTS / 0, None, None), r"'p' has points that are infinite or NaN"),
        ((POINTS, ["a"], None), r"'p' has 1 labels for 3 points"),
        ((POINTS, None, ["a"] * 4), r"'p' has 4 groups for 3 points"),
        ((torch.zeros(11, 2), None, list("abcdefghijk")), r"11 groups; 10 can be told apart"),
    ],
)
def test_what_does_not_fit_is_refused(panel, reason):
    with pytest.raises(ValueError, match=reason):
        scatters({"p": panel})


def test_no_panels_and_no_columns_are_refused():
    with pytest.raises(ValueError, match=r"no panels to draw"):
        scatters({})
    with pytest.raises(ValueError, match=r"columns=0: must be at least 1"):
        scatters({"": (POINTS, None, None)}, columns=0)


@pytest.mark.usefixtures("as_a_reader")
def test_labels_that_are_no_strings_are_refused():
    with pytest.raises(TypeError, match=r"pass strings"):
        scatter(POINTS, ["a", "b", 3])  # type: ignore[list-item]


@pytest.mark.usefixtures("book_style")
def test_the_legend_of_a_figure_that_scrolls_is_in_sight_on_a_telephone():
    groups = ["family", "months", "numbers", "cities", "instruments", "drinks"]
    fig = scatter(torch.rand(6, 2), groups=groups, wide=True)
    fig.draw_without_rendering()
    seen = 360 / (16 * 36) * PAGE_WIDTH * fig.dpi  # of the 36rem to which such a figure shrinks
    assert fig.legends[0].get_window_extent().x1 <= seen
