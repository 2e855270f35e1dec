"""Attention maps and the style of all figures."""

import io
import re
from collections.abc import Iterator

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pytest
import torch
from matplotlib.figure import Figure

from glassbox_book.viz import attention_map, attention_maps, use_book_style
from glassbox_book.viz.style import KEY, QUERY, SVG_METADATA, TEXT, VALUE
from tests.viz.conftest import HOSTILE, TOKENS, records
from tests.viz.test_matrices import names, numbers, scale, shares, soup

WEIGHTS = records()[0].weights[0, 0]


@pytest.fixture(autouse=True)
def _style() -> Iterator[None]:
    with mpl.rc_context():
        mpl.use("agg")
        use_book_style()
        yield
    plt.close("all")


def one_figure() -> Figure:
    figure, ax = plt.subplots()
    ax.plot([0, 1], label="a line")
    ax.set(title="Layer 0", xlabel="position", ylabel="score")
    ax.legend()
    return figure


def svg(figure: Figure) -> str:
    file = io.StringIO()
    figure.savefig(file, format="svg", metadata=SVG_METADATA, bbox_inches="tight")
    return file.getvalue()


def test_queries_go_down_and_keys_go_right() -> None:
    drawn = attention_map(WEIGHTS, TOKENS, ["a", "b", "c", "d", "e"])
    assert [part.text for part in soup(drawn).select(".gb-axes span")] == [
        "↓ query position",
        "→ key position",
    ]
    assert names(drawn, "tbody") == TOKENS
    assert names(drawn, "thead") == ["a", "b", "c", "d", "e"]
    assert np.allclose(numbers(drawn), WEIGHTS, atol=0.005)


@pytest.mark.parametrize("count", [1, 2, 3, 4])
def test_maps_that_are_compared_share_one_scale_of_colours(count: int) -> None:
    titles = [f"head {i}" for i in range(count)]
    drawn = attention_maps([WEIGHTS / (i + 1) for i in range(count)], TOKENS, titles=titles)
    assert [title.text for title in soup(drawn).select("caption")] == titles
    expected = [WEIGHTS.flatten() / (i + 1) for i in range(count)]
    assert np.allclose(shares(drawn), np.concatenate(expected), atol=5e-4)
    assert scale(drawn) == "0 1.0 weight"


def test_weights_beyond_the_scale_have_its_deepest_colour() -> None:
    drawn = attention_map([[0.25, 0.75]], ["a"], ["b", "c"], vmax=0.5)
    assert shares(drawn) == [0.5, 1.0]
    assert numbers(drawn) == [[0.25, 0.75]]
    assert scale(drawn) == "0 0.5 weight"


def test_titles_may_be_the_same() -> None:
    assert len(soup(attention_maps([WEIGHTS] * 2, TOKENS, titles=["", ""])).select("table")) == 2


def test_tensors_with_gradients_can_be_drawn() -> None:
    attention_map(torch.tensor(WEIGHTS, requires_grad=True).bfloat16(), TOKENS)


def test_a_large_map_stays_small() -> None:
    found = records(80, layers=1, heads=1)[0].weights[0, 0]
    drawn = attention_map(found, [f"t{i}" for i in range(80)])
    assert drawn.body.count("--png:") == 1
    assert len(drawn.body) < 30_000


def test_hostile_tokens_are_text() -> None:
    drawn = attention_map(np.eye(len(HOSTILE)), list(HOSTILE), annotate=False)
    assert names(drawn, "thead") == names(drawn, "tbody") == list(HOSTILE.values())
    assert "<script" not in drawn.body


def test_a_map_brings_its_script_along_or_leaves_it_to_the_site(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    drawn = attention_map(WEIGHTS, TOKENS)
    for mode, carried in (("inline", True), ("linked", False)):
        monkeypatch.setenv("GLASSBOX_VIEW_SCRIPTS", mode)
        html = drawn._repr_mimebundle_()["text/html"]
        assert ("<style>" in html) == ("glassboxCells" in html) == carried
        assert drawn.body in html


def test_a_figure_is_the_same_file_each_time() -> None:
    one, other = (svg(one_figure()) for _ in range(2))
    assert one == other
    assert "dc:date" not in one
    assert mpl.__version__ not in one


def test_the_background_is_transparent_and_text_has_the_one_colour_the_site_replaces() -> None:
    text = svg(one_figure())
    colours = set(re.findall(r"fill: (#\w{6})", "".join(re.findall(r"<text[^>]*>", text))))
    assert colours == {TEXT}
    assert "#ffffff" not in text


def test_no_line_has_the_colour_of_queries_keys_or_values_unasked() -> None:
    lines = [plt.subplots()[1].plot([0, 1])[0], *plt.subplots()[1].plot(torch.eye(7))]
    assert not {line.get_color() for line in lines} & {QUERY, KEY, VALUE}


def test_a_notebook_gets_svg_alone() -> None:
    from IPython.testing.globalipapp import get_ipython

    shell = get_ipython()
    shell.run_line_magic("matplotlib", "inline")
    use_book_style()
    shell.display_formatter.active_types = shell.display_formatter.format_types
    formats = shell.display_formatter.formatters
    figure = one_figure()
    assert "<svg" in formats["image/svg+xml"](figure)
    assert formats["image/png"](figure) is None
