"""The picture of a scheme has its matrix first and its scores second."""

from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pytest
import torch

from glassbox_book.viz import position_scheme, use_book_style
from glassbox_book.viz.schemes import score_chart
from tests.viz.test_matrices import numbers

MATRIX = torch.linspace(-1, 1, 60).view(6, 10)
LABELS: dict[str, Any] = {
    "row_label": "position",
    "column_label": "component",
    "value_label": "encoding",
}


@pytest.fixture(autouse=True)
def _style():
    with plt.rc_context():
        use_book_style()
        yield
    plt.close("all")


def chart(lines: dict[str, Any]) -> Any:
    distances = np.arange(float(len(next(iter(lines.values())))))
    return score_chart(distances, {n: np.array(y, dtype=float) for n, y in lines.items()}, "score")


def test_the_chart_stands_below_the_matrix():
    lines = {"one": [1.0, 2.0, 1.0], "two": torch.tensor([0.0, 3.0, 0.0])}
    drawn = position_scheme(MATRIX, lines, [-1, 0, 1], **LABELS)
    assert numbers(drawn) == [[round(x, 2) for x in row] for row in MATRIX.tolist()]
    table, below = drawn.body.split('<div class="gb-lines">')
    assert "what it puts in</caption>" in table
    for text in (*lines, "distance, key minus query", "score"):
        assert f">{text}</text>" in below
    assert below.startswith("<svg ")
    assert drawn == position_scheme(MATRIX, lines, [-1, 0, 1], **LABELS)
    assert not plt.get_fignums(), "the figure is closed, and not displayed a second time"


def test_each_line_has_its_points_and_its_name():
    fig = chart({"one": [1, 2, 1], "two": [0, 3, 0]})
    points = {line.get_label(): list(line.get_ydata()) for line in fig.axes[0].get_lines()}
    assert points["one"] == [1, 2, 1]
    assert points["two"] == [0, 3, 0]
    assert {text.get_text() for text in fig.axes[0].texts} == {"one", "two"}


def test_lines_differ_by_more_than_their_colour():
    fig = chart({n: [0, 1] for n in "abcd"})
    lines = [line for line in fig.axes[0].get_lines() if line.get_label() in "abcd"]
    assert len({line.get_linestyle() + str(line.get_marker()) for line in lines}) == 4


def test_a_single_line_needs_no_name():
    assert not chart({"": [0, 1]}).axes[0].texts


@pytest.mark.parametrize(
    ("matrix", "lines", "reason"),
    [
        (MATRIX, {}, r"there are 0 series"),
        (MATRIX, {n: [0, 1] for n in "abcdefg"}, r"there are 7 series; 1 to 6"),
        (MATRIX, {"a": [0]}, r"'a' has 1 scores for 2 distances"),
        (MATRIX[0], {"a": [0, 1]}, r"'what it puts in' has shape \(10,\)"),
    ],
)
def test_what_does_not_fit_is_refused(matrix, lines, reason):
    with pytest.raises(ValueError, match=reason):
        position_scheme(matrix, lines, [0, 1], **LABELS)
