"""The picture of a scheme has its matrix first and its scores second."""

from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pytest
import torch

from glassbox_book.viz import position_scheme

MATRIX = torch.linspace(-1, 1, 60).view(6, 10)
LABELS: dict[str, Any] = {
    "row_label": "position",
    "column_label": "component",
    "value_label": "encoding",
}


@pytest.fixture(autouse=True)
def _close():
    yield
    plt.close("all")


def test_matrix_comes_first_and_each_line_has_its_points_and_name_in_the_second_panel():
    lines = {"one": [1.0, 2.0, 1.0], "two": torch.tensor([0.0, 3.0, 0.0])}
    fig: Any = position_scheme(MATRIX, lines, [-1, 0, 1], **LABELS)
    matrix, lines_ax = fig.axes[:2]
    drawn = np.asarray(matrix.collections[0].get_array()).reshape(-1)
    assert np.allclose(drawn, MATRIX.flatten())
    points = {line.get_label(): line.get_ydata() for line in lines_ax.get_lines()}
    assert [list(points[name]) for name in lines] == [[1, 2, 1], [0, 3, 0]]
    assert {text.get_text() for text in lines_ax.texts} == set(lines)
    assert (matrix.get_ylabel(), matrix.get_xlabel()) == ("position", "component")
    assert "key minus query" in lines_ax.get_xlabel()


def test_lines_differ_by_more_than_their_colour():
    fig: Any = position_scheme(MATRIX, {n: [0, 1] for n in "abcd"}, [0, 1], **LABELS)
    lines = [line for line in fig.axes[1].get_lines() if line.get_label() in "abcd"]
    assert len({line.get_linestyle() + str(line.get_marker()) for line in lines}) == 4


def test_a_single_line_needs_no_name():
    assert not position_scheme(MATRIX, {"": [0, 1]}, [0, 1], **LABELS).axes[1].texts


@pytest.mark.parametrize(
    ("matrix", "lines", "reason"),
    [
        (MATRIX, {}, r"there are 0 series"),
        (MATRIX, {n: [0, 1] for n in "abcdefg"}, r"there are 7 series; 1 to 6"),
        (MATRIX, {"a": [0]}, r"'a' has 1 scores for 2 distances"),
        (MATRIX[0], {"a": [0, 1]}, r"'matrix' has shape \(10,\)"),
    ],
)
def test_what_does_not_fit_is_refused(matrix, lines, reason):
    with pytest.raises(ValueError, match=reason):
        position_scheme(matrix, lines, [0, 1], **LABELS)
