"""A heat map shows each number where it stands, and what does not fit is refused."""

import math
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pytest
import torch
from matplotlib.colors import to_rgb

from glassbox_book.viz import heat_map, heat_maps
from glassbox_book.viz.matrices import NEGATIVE_COLORMAP, SIGNED_COLORMAP
from glassbox_book.viz.style import ON_DARK, ON_LIGHT, WEIGHTS_COLORMAP

LABELS: dict[str, Any] = {"row_label": "position", "column_label": "component"}
SMALL = torch.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
LARGE = torch.linspace(-2, 1, 40 * 30).view(40, 30)


@pytest.fixture(autouse=True)
def _close():
    yield
    plt.close("all")


def picture(ax: Any) -> Any:
    return (ax.collections or ax.images)[0]


@pytest.mark.parametrize("matrix", [SMALL, LARGE, SMALL.numpy(), SMALL.tolist()])
def test_every_number_is_drawn_with_the_first_row_on_top(matrix):
    ax = heat_map(matrix, **LABELS).axes[0]
    assert np.allclose(np.asarray(picture(ax).get_array()).reshape(-1), np.ravel(matrix))
    assert ax.yaxis_inverted()
    rows, columns = np.shape(matrix)
    assert ax.get_xlim() == (-0.5, columns - 0.5)
    assert ax.get_ylim() == (rows - 0.5, -0.5)
    assert (ax.get_ylabel(), ax.get_xlabel()) == ("position", "component")


def test_large_matrices_are_pixels_and_small_ones_shapes():
    assert heat_map(LARGE, **LABELS).axes[0].images
    assert not heat_map(SMALL, **LABELS).axes[0].images


def test_colours_start_at_zero_or_have_zero_in_their_middle():
    plain = picture(heat_map(SMALL, **LABELS).axes[0])
    assert (plain.get_clim(), plain.get_cmap()) == ((0, 6), WEIGHTS_COLORMAP)
    signed = picture(heat_map(LARGE, **LABELS).axes[0])
    assert (signed.get_clim(), signed.get_cmap()) == ((-2, 2), SIGNED_COLORMAP)
    below = heat_map(-SMALL, **LABELS)
    drawn = picture(below.axes[0])
    assert (drawn.get_clim(), drawn.get_cmap()) == ((-6, 0), NEGATIVE_COLORMAP)
    assert list(below.axes[1].get_xticks()) == [-6, 0]
    assert picture(heat_map(-SMALL, **LABELS, signed=True).axes[0]).get_clim() == (-6, 6)
    assert picture(heat_map(SMALL, **LABELS, signed=True).axes[0]).get_clim() == (-6, 6)
    assert picture(heat_map(SMALL, **LABELS, limit=10).axes[0]).get_clim() == (0, 10)
    assert picture(heat_map(torch.zeros(2, 2), **LABELS).axes[0]).get_clim() == (0, 1)


def test_rows_and_columns_have_names():
    ax = heat_map(SMALL, **LABELS, row_names=["$a", "b$"], column_names="xyz").axes[0]
    assert [tick.get_text() for tick in ax.get_yticklabels()] == ["$a", "b$"]
    assert [tick.get_text() for tick in ax.get_xticklabels()] == ["x", "y", "z"]
    assert list(ax.get_yticks()) == [0, 1]


def test_without_names_rows_and_columns_are_counted():
    fig = heat_map(LARGE, **LABELS)
    fig.draw_without_rendering()
    assert all(float(tick).is_integer() for tick in fig.axes[0].get_yticks())


def test_numbers_stand_in_cells_that_have_room_in_letters_that_stand_out():
    fig = heat_map(SMALL, **LABELS, annotate="{:.1f}")
    assert [text.get_text() for text in fig.axes[0].texts] == [
        "1.0",
        "2.0",
        "3.0",
        "4.0",
        "5.0",
        "6.0",
    ]
    assert fig.axes[0].texts[0].get_color() == ON_LIGHT
    assert fig.axes[0].texts[-1].get_color() == ON_DARK
    assert len(fig.axes) == 1, "numbers need no bar of colours"
    crowded = heat_map(LARGE, **LABELS, annotate="{:.1f}")
    assert not crowded.axes[0].texts
    assert len(crowded.axes) == 2, "colours need one"


def test_bar_of_colours_says_what_the_numbers_are():
    bar = heat_map(LARGE, **LABELS, value_label="cosine").axes[1]
    assert bar.get_xlabel() == "cosine"
    assert [tick.get_text().replace("\N{MINUS SIGN}", "-") for tick in bar.get_xticklabels()] == [
        "-2",
        "0",
        "2",
    ]


def test_matrices_share_one_scale_and_their_labels():
    fig = heat_maps({"one": SMALL, "two": 2 * SMALL, "three": SMALL}, **LABELS)
    maps = fig.axes[:3]
    assert [ax.get_title() for ax in maps] == ["one", "two", "three"]
    assert {picture(ax).get_clim() for ax in maps} == {(0, 12)}
    assert [ax.get_ylabel() for ax in maps] == ["position", "", "position"]
    assert [ax.get_xlabel() for ax in maps] == ["", "component", "component"]


def test_long_names_are_turned_wherever_they_are_shown():
    maps = {title: torch.rand(7, 7) for title in ("one", "two", "three")}
    fig = heat_maps(maps, **LABELS, column_names=["position"] * 7)
    fig.draw_without_rendering()
    turned = {label.get_rotation() for ax in fig.axes[1:3] for label in ax.get_xticklabels()}
    assert turned == {45.0}


def test_both_signs_are_told_apart_by_lightness_too():
    low, middle, high = (sum(to_rgb(SIGNED_COLORMAP(place))) for place in (0.0, 0.5, 1.0))
    assert middle > low + 1
    assert middle > high + 1


@pytest.mark.parametrize(
    ("matrices", "options", "reason"),
    [
        ({}, {}, r"no panels to draw"),
        ({"m": [1.0, 2.0]}, {}, r"'m' has shape \(2,\); expected \(rows, columns\)"),
        ({"m": [[1.0, math.inf]]}, {}, r"'m' is inf in row 0, column 1"),
        ({"m": SMALL, "n": SMALL.T}, {}, r"'n' has shape \(3, 2\), the first has \(2, 3\)"),
        ({"m": SMALL}, {"row_names": ["a"]}, r"there are 1 row_names for 2 rows"),
        ({"m": SMALL}, {"column_names": ["a"]}, r"there are 1 column_names for 3 columns"),
        ({"m": -SMALL}, {"signed": False}, r"the least number is -6; pass signed=True"),
        ({"m": SMALL}, {"limit": 0}, r"limit=0: must be more than 0"),
        ({"m": SMALL}, {"columns": 0}, r"columns=0: must be at least 1"),
    ],
)
def test_what_does_not_fit_is_refused(matrices, options, reason):
    with pytest.raises(ValueError, match=reason):
        heat_maps(matrices, **LABELS, **options)
