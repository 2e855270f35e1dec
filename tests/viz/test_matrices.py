"""A heat map shows each number where it stands, and what does not fit is refused."""

import base64
import io
import math
import re
from typing import Any

import numpy as np
import pytest
import torch
from bs4 import BeautifulSoup
from PIL import Image

from glassbox_book.viz import heat_map, heat_maps
from glassbox_book.viz.cells import Cells
from tests.viz.conftest import HOSTILE
from tools.same_output import same

LABELS: dict[str, Any] = {"row_label": "position", "column_label": "component"}
SMALL = torch.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
LARGE = torch.linspace(-2, 1, 40 * 30).view(40, 30)


def soup(cells: Cells) -> BeautifulSoup:
    return BeautifulSoup(cells.body, "html.parser")


def numbers(cells: Cells) -> list[list[float]]:
    return [
        [float(cell.text) for cell in row.find_all("td")] for row in soup(cells).select("tbody tr")
    ]


def shares(cells: Cells) -> list[float]:
    return [float(share) for share in re.findall(r"--v:(-?[\d.]+)", cells.body)]


def opacities(cells: Cells) -> list[np.ndarray]:
    found = re.findall(r"base64,([\w+/=]+)", cells.body)
    pictures = [Image.open(io.BytesIO(base64.b64decode(png))) for png in found]
    return [np.asarray(picture.convert("RGBA"))[..., 3] / 255 for picture in pictures]


def scale(cells: Cells) -> str:
    (found,) = soup(cells).select(".gb-scale")
    return " ".join(found.get_text(" ").split())


def names(cells: Cells, part: str) -> list[str]:
    return [name.text for name in soup(cells).select(f"{part} th")]


@pytest.mark.parametrize("matrix", [SMALL, SMALL.numpy(), SMALL.tolist()])
def test_every_number_is_in_a_cell_with_the_first_row_on_top(matrix):
    drawn = heat_map(matrix, **LABELS)
    assert numbers(drawn) == SMALL.tolist()
    assert names(drawn, "tbody") == ["0", "1"]
    assert [part.text for part in soup(drawn).select(".gb-axes span")] == [
        "↓ position",
        "→ component",
    ]


def test_many_numbers_are_pixels_of_one_opacity_for_each_sign():
    more, less = opacities(heat_map(LARGE, **LABELS))
    assert np.allclose(more - less, LARGE / 2, atol=1 / 255)
    assert not (more * less).any()
    assert not shares(heat_map(LARGE, **LABELS))
    assert not opacities(heat_map(SMALL, **LABELS))
    assert len(opacities(heat_map(LARGE[:, :1].abs(), **LABELS))) == 1


@pytest.mark.parametrize(
    ("matrix", "options", "ends", "first"),
    [
        (SMALL, {}, "0 6.0", 1 / 6),
        (LARGE[:4], {}, "-2.0 0", -1.0),
        (-SMALL, {}, "-6.0 0", -1 / 6),
        (-SMALL, {"signed": True}, "-6.0 0 6.0", -1 / 6),
        (SMALL, {"signed": True}, "-6.0 0 6.0", 1 / 6),
        (SMALL, {"limit": 10}, "0 10.0", 0.1),
        (SMALL, {"limit": 0.5}, "0 0.5", 1.0),
        (torch.zeros(2, 2), {}, "0 1.0", 0.0),
    ],
)
def test_a_cell_is_coloured_by_its_share_of_the_largest_number(matrix, options, ends, first):
    drawn = heat_map(matrix, **LABELS, **options)
    assert shares(drawn)[0] == pytest.approx(first, abs=5e-4)
    assert scale(drawn) == ends
    assert ("gb-signed" in drawn.body) == ends.startswith("-")


def test_rows_and_columns_have_names():
    drawn = heat_map(SMALL, **LABELS, row_names=["$a", "b$"], column_names="xyz")
    assert names(drawn, "tbody") == ["$a", "b$"]
    assert names(drawn, "thead") == ["x", "y", "z"]


def test_names_are_text_whatever_they_say():
    drawn = heat_map([[0.5] * len(HOSTILE)], **LABELS, column_names=list(HOSTILE))
    assert names(drawn, "thead") == list(HOSTILE.values())


def test_pictures_count_few_round_rows_and_columns():
    drawn = soup(heat_map(LARGE, **LABELS))
    assert [mark.text for mark in drawn.select("tbody th bdi")] == [
        "0",
        "5",
        "10",
        "15",
        "20",
        "25",
        "30",
        "35",
    ]
    spans = [int(str(mark["colspan"])) for mark in drawn.select("thead th")]
    assert (len(spans), sum(spans)) == (6, 30)


def test_long_names_of_columns_stand_on_several_lines():
    lines = {}
    for name in ("a", "position"):
        drawn = heat_map(torch.rand(7, 7), **LABELS, column_names=[name] * 7).body
        lines[name] = {int(line) for line in re.findall(r"--b:(\d)", drawn)}
    assert lines == {"a": {0}, "position": {0, 1}}


def test_numbers_show_where_they_are_asked_for_and_have_room():
    def quiet(matrix, **options):
        return set(re.findall(r"gb-quiet[\w-]*", heat_map(matrix, **LABELS, **options).body))

    assert quiet(SMALL) == {"gb-quiet", "gb-quiet-narrow"}
    assert quiet(SMALL, annotate="{:.1f}") == set()
    assert quiet(SMALL.repeat(1, 5), annotate="{:.3f}") == {"gb-quiet-narrow"}
    assert quiet(SMALL.repeat(1, 9), annotate="{:.3f}") == {"gb-quiet", "gb-quiet-narrow"}
    assert '<td style="--v:0.167">1.00</td>' in heat_map(SMALL, **LABELS, annotate="{:.2f}").body


def test_zero_has_no_minus() -> None:
    drawn = heat_map([[-0.004, -0.0, 0.004, -0.01, -10.0]], **LABELS, annotate="{:.2f}")
    assert [cell.text for cell in soup(drawn).select("td[style]")] == [
        *("0.00", "0.00", "0.00", "-0.01", "-10.00")
    ]


def test_scale_says_what_the_numbers_are():
    assert scale(heat_map(LARGE, **LABELS, value_label="cosine")) == "-2.0 0 2.0 cosine"


def test_matrices_share_one_scale_below_their_titles():
    drawn = heat_maps({"one": SMALL, "two": 2 * SMALL, "three": SMALL}, **LABELS)
    assert [title.text for title in soup(drawn).select("caption")] == ["one", "two", "three"]
    assert shares(drawn)[5::6] == [0.5, 1.0, 0.5]
    assert scale(drawn) == "0 12.0"


def test_rounding_of_the_largest_number_leaves_an_output_the_same():
    one, other = (heat_map([[0.5, end]], **LABELS).body for end in (1.0 - 1e-7, 1.0 + 1e-7))
    assert same(one, other)
    zeros = (heat_map([[x, 1.0]], **LABELS, signed=True).body for x in (-1e-9, 1e-9))
    assert same(*zeros)


@pytest.mark.usefixtures("as_a_reader")
@pytest.mark.parametrize(
    ("matrices", "options", "reason"),
    [
        ({}, {}, r"no panels to draw"),
        ({"m": [1.0, 2.0]}, {}, r"'m' has shape \(2,\); expected \(rows, columns\)"),
        ({"m": [[1.0, math.inf]]}, {}, r"'m' is inf in row 0, column 1"),
        ({"m": SMALL, "n": SMALL.T}, {}, r"'n' has shape \(3, 2\), the first has \(2, 3\)"),
        ({"m": SMALL}, {"row_names": ["a"]}, r"there are 1 row_names for 2 rows"),
        ({"m": SMALL}, {"row_names": range(2)}, r"at position 0 is 0 of type int; pass strings"),
        ({"m": SMALL}, {"column_names": ["a"]}, r"there are 1 column_names for 3 columns"),
        ({"m": -SMALL}, {"signed": False}, r"the least number is -6; pass signed=True"),
        ({"m": SMALL}, {"limit": 0}, r"limit=0: must be more than 0"),
        ({"m": SMALL}, {"columns": 0}, r"columns=0: must be at least 1"),
    ],
)
def test_what_does_not_fit_is_refused(matrices, options, reason):
    with pytest.raises((ValueError, TypeError), match=reason):
        heat_maps(matrices, **LABELS, **options)


def test_what_cannot_be_coloured_is_refused():
    with pytest.raises(TypeError, match="complex numbers cannot be drawn"):
        heat_map(torch.ones(2, 2) * 1j, **LABELS)
    with pytest.raises(ValueError, match="limit=inf: must be more than 0 and finite"):
        heat_map(torch.ones(2, 2), **LABELS, limit=float("inf"))
