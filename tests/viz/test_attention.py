"""Attention maps and the style of all figures."""

import io
import re
from collections.abc import Iterator
from typing import Any

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pytest
import torch
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure

from glassbox_book.viz import QUERY, TEXT, attention_map, attention_maps, use_book_style
from glassbox_book.viz.style import SVG_METADATA, WEIGHTS_COLORMAP, text_color_on
from tests.viz.conftest import HOSTILE, TOKENS, records

WEIGHTS = records()[0].weights[0, 0]


@pytest.fixture(autouse=True)
def _style() -> Iterator[None]:
    with mpl.rc_context():
        mpl.use("agg")
        use_book_style()
        yield
    plt.close("all")


def one_map(weights: np.ndarray = WEIGHTS, tokens: list[str] = TOKENS, **options: Any) -> Figure:
    figure = attention_map(weights, tokens, **options).figure
    assert isinstance(figure, Figure)
    return figure


def svg(figure: Figure) -> str:
    file = io.StringIO()
    figure.savefig(file, format="svg", metadata=SVG_METADATA, bbox_inches="tight")
    return file.getvalue()


def drawn(figure: Figure) -> Figure:
    figure.canvas.draw()
    return figure


def luminance(color: Any) -> float:
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in to_rgb(color)]
    return float(np.dot(linear, [0.2126, 0.7152, 0.0722]))


def test_queries_go_down_and_keys_go_right() -> None:
    ax = attention_map(WEIGHTS, TOKENS, ["a", "b", "c", "d", "e"])
    assert ax.get_ylabel() == "query position"
    assert ax.get_xlabel() == "key position"
    assert [label.get_text() for label in ax.get_yticklabels()] == TOKENS
    assert [label.get_text() for label in ax.get_xticklabels()] == ["a", "b", "c", "d", "e"]
    top, bottom = ax.transData.transform([(0, 0), (0, 4)])[:, 1]
    assert top > bottom
    numbers = {(t.get_position()): t.get_text() for t in ax.texts}
    assert numbers[3, 1] == f"{WEIGHTS[1, 3]:.2f}"


@pytest.mark.parametrize("count", [1, 2, 3, 4])
def test_the_first_query_is_on_top_in_every_map(count: int) -> None:
    figure = attention_maps([WEIGHTS] * count, TOKENS, titles=[f"head {i}" for i in range(count)])
    *maps, _ = figure.axes  # the last is the bar of colours
    assert len(maps) == count
    for ax in maps:
        assert ax.get_ylim() == (4.5, -0.5)


def test_maps_that_are_compared_share_one_colour_scale() -> None:
    figure = attention_maps([WEIGHTS, WEIGHTS / 2], TOKENS, titles=["all", "half"])
    assert {ax.collections[0].get_clim() for ax in figure.axes[:2]} == {(0.0, 1.0)}


@pytest.mark.slow
@pytest.mark.parametrize("vmax", [1.0, 0.5])
def test_maps_without_numbers_say_what_their_colours_mean(vmax: float) -> None:
    several = attention_maps([WEIGHTS] * 3, TOKENS, titles=["a", "b", "c"], vmax=vmax)
    alone = one_map(annotate=False, vmax=vmax)
    for figure, maps in ((several, 3), (alone, 1)):
        [bar] = drawn(figure).axes[maps:]
        assert [label.get_text() for label in bar.get_xticklabels()] == ["0", f"{vmax:g}"]
        assert bar.collections[-1].get_clim() == (0.0, vmax)
        assert len(svg(figure)) < 45_000


def test_names_of_many_keys_stand_upright_in_narrow_maps():
    weights, names = np.full((3, 12), 1 / 12), [f"token {i}" for i in range(12)]
    for columns, rotation in ((1, 45), (2, 90)):
        maps = [weights, weights]
        figure = attention_maps(maps, names[:3], names, titles=["a", "b"], columns=columns)
        assert {t.get_rotation() for t in figure.axes[0].get_xticklabels()} == {rotation}


def test_maps_with_numbers_need_no_bar_of_colours() -> None:
    assert len(one_map().axes) == 1
    assert len(attention_maps([WEIGHTS] * 2, TOKENS, titles=["a", "b"], annotate=True).axes) == 2


@pytest.mark.slow
def test_numbers_that_do_not_fit_give_way_to_a_bar_of_colours() -> None:
    found = records(12)[0].weights[0]
    names = [f"t{i}" for i in range(12)]
    figure = attention_maps(list(found[:2]), names, titles=["a", "b"], annotate=True)
    assert not [text for ax in figure.axes[:2] for text in ax.texts]
    assert len(figure.axes) == 3


def test_tensors_with_gradients_can_be_drawn() -> None:
    attention_map(torch.tensor(WEIGHTS, requires_grad=True).bfloat16(), TOKENS)


def test_a_figure_is_the_same_file_each_time() -> None:
    one, other = (svg(one_map()) for _ in range(2))
    assert one == other
    assert "dc:date" not in one
    assert mpl.__version__ not in one


def test_a_small_map_is_shapes_and_text() -> None:
    text = svg(one_map())
    assert "<image" not in text
    assert ">time</text>" in text
    assert len(text) < 40_000


@pytest.mark.slow
def test_a_large_map_stays_small() -> None:
    found = records(80, layers=1, heads=1)[0].weights[0, 0]
    text = svg(one_map(found, [f"t{i}" for i in range(80)]))
    assert text.count("<image") == 1


def test_the_background_is_transparent_and_text_has_the_one_colour_the_site_replaces() -> None:
    text = svg(one_map(title="Layer 0", annotate=False))
    colours = set(re.findall(r"fill: (#\w{6})", "".join(re.findall(r"<text[^>]*>", text))))
    assert colours == {TEXT}
    assert "#ffffff" not in text


def test_numbers_in_cells_never_have_the_colour_the_site_replaces() -> None:
    ax = attention_map(np.linspace(0, 1, 25).reshape(5, 5), TOKENS)
    assert TEXT not in {text.get_color() for text in ax.texts}


@pytest.mark.parametrize("weight", np.linspace(0, 1, 21))
def test_numbers_stand_out_from_their_cells(weight: float) -> None:
    cell = WEIGHTS_COLORMAP(weight)
    lighter, darker = sorted([luminance(cell), luminance(text_color_on(cell))], reverse=True)
    assert (lighter + 0.05) / (darker + 0.05) >= 4.5


@pytest.mark.slow
def test_text_is_legible_on_a_screen_of_360_pixels() -> None:
    two = attention_maps([WEIGHTS, WEIGHTS], TOKENS, titles=["a", "b"])
    numbered = attention_maps([WEIGHTS, WEIGHTS], TOKENS, titles=["a", "b"], annotate=True)
    for figure in (one_map(), one_map(annotate=False), two, numbered):
        column = 360 - 2 * 16  # what the page's margins leave
        pixels_per_point = column / float(re.findall(r'width="([\d.]+)pt"', svg(figure))[0])
        sizes = re.findall(r"font-size: ([\d.]+)px", svg(figure))
        assert len(sizes) > 10
        assert min(map(float, sizes)) * pixels_per_point >= 9.8


def test_numbers_keep_clear_of_one_another() -> None:
    figure = drawn(attention_maps([WEIGHTS] * 2, TOKENS, titles=["a", "b"], annotate=True))
    for ax in figure.axes:
        widest = max(text.get_window_extent().width for text in ax.texts)
        assert widest < 0.95 * ax.bbox.width / len(TOKENS)


def test_hostile_tokens_are_text() -> None:
    tokens = [*(token for token in HOSTILE if len(token) < 99), "$x^2$", "$", "\\alpha"]
    text = svg(one_map(np.eye(len(tokens)), tokens, annotate=False))
    assert "<script" not in text
    assert "&lt;script&gt;alert(1)&lt;/script&gt;</text>" in text
    assert ">$x^2$</text>" in text


def test_the_first_colour_of_lines_is_that_of_queries() -> None:
    assert plt.subplots()[1].plot([0, 1])[0].get_color() == QUERY


def test_a_notebook_gets_svg_alone() -> None:
    from IPython.testing.globalipapp import get_ipython

    shell = get_ipython()
    shell.run_line_magic("matplotlib", "inline")
    use_book_style()
    shell.display_formatter.active_types = shell.display_formatter.format_types
    formats = shell.display_formatter.formatters
    figure = one_map()
    assert "<svg" in formats["image/svg+xml"](figure)
    assert formats["image/png"](figure) is None
