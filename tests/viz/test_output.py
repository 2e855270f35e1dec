"""What a view puts into a notebook."""

import re
from html.parser import HTMLParser
from typing import Any

import numpy as np
import pytest
import torch

from glassbox_book.viz import compare_heads, head_view, model_view, neuron_view
from glassbox_book.viz.view import View
from tests.viz.conftest import D_K, HEADS, HOSTILE, LAYERS, TOKENS, records
from tools.same_output import same

VIEWS = {
    "head": lambda found, tokens: head_view(found, tokens),
    "model": lambda found, tokens: model_view(found, tokens),
    "neuron": lambda found, tokens: neuron_view(found, tokens),
    "compare": lambda found, tokens: compare_heads(found, records(len(tokens), seed=1), tokens),
}
each_view = pytest.mark.parametrize("draw", VIEWS.values(), ids=VIEWS)


@pytest.fixture(autouse=True)
def _linked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GLASSBOX_VIEW_SCRIPTS", "linked")


class Tags(HTMLParser):
    """Collects what a browser would make of the output."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.text: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text.append(data)


def parse(html: str) -> Tags:
    tags = Tags()
    tags.feed(html)
    return tags


def frame_document(view: View) -> str:
    [document] = [attrs["srcdoc"] for tag, attrs in parse(view.html()).found if tag == "iframe"]
    assert document is not None
    return document


@each_view
def test_the_same_numbers_give_the_same_bytes(draw: Any) -> None:
    assert draw(records(), TOKENS).html() == draw(records(), TOKENS).html()


@each_view
def test_another_processor_s_rounding_is_within_what_nbval_allows(draw: Any) -> None:
    moved = records()
    for record in moved:
        for name in ("weights", "query", "key"):
            array = getattr(record, name)
            setattr(record, name, np.clip(array * (1 + 2e-6), array.min(), None))
        record.weights = record.weights.clip(0, 1)
    # The picture of the model view is left out: its weights stand beside it as numbers.
    one, other = (
        re.sub(r"data:image/png;base64,[\w+/=]+", "", draw(found, TOKENS).html())
        for found in (records(), moved)
    )
    assert same(one, other)


@each_view
def test_a_notebook_gets_html_and_text(draw: Any) -> None:
    bundle = draw(records(), TOKENS)._repr_mimebundle_()
    assert set(bundle) == {"text/html", "text/plain"}
    assert "5 tokens, 3 layers × 4 heads" in bundle["text/plain"]
    assert "object at 0x" not in bundle["text/plain"]
    assert max(map(len, bundle["text/plain"].splitlines())) <= 79


@each_view
def test_the_frame_has_a_title_and_the_page_no_ids_to_clash(draw: Any) -> None:
    tags = parse(draw(records(), TOKENS).html())
    [frame] = [attrs for tag, attrs in tags.found if tag == "iframe"]
    assert "3 layers × 4 heads" in (frame["title"] or "")
    assert "\n" not in (frame["title"] or "")
    assert not [attrs for _, attrs in tags.found if "id" in attrs]


@each_view
def test_hostile_tokens_stay_text_outside_the_frame(draw: Any) -> None:
    tokens = list(HOSTILE)
    tags = parse(draw(records(len(tokens)), tokens).html())
    assert not [tag for tag, _ in tags.found if tag == "script"]
    assert not [attrs for _, attrs in tags.found if any(name.startswith("on") for name in attrs)]
    for shown in HOSTILE.values():
        assert shown in tags.text


@each_view
def test_hostile_tokens_cannot_leave_the_data_inside_the_frame(draw: Any) -> None:
    harmless, hostile = (
        parse(frame_document(draw(records(len(HOSTILE)), tokens)))
        for tokens in (["x"] * len(HOSTILE), list(HOSTILE))
    )
    assert hostile.found == harmless.found


@each_view
def test_the_space_of_byte_level_tokens_is_shown_as_a_space(draw: Any) -> None:
    html = draw(records(), ["ĠI", "Ġlove", "TAĠEN", "Ċ", "ĠĠ"]).html()
    assert "Ġ" not in html.replace("TAĠEN", "")  # Maltese, of which Ġ is a letter
    assert html.count("<bdi>␣love</bdi>") >= 2
    assert html.count("<bdi>TAĠEN</bdi>") >= 2


def test_tables_name_their_rows_and_columns() -> None:
    tags = parse(head_view(records(), TOKENS, layer=1, heads=[2]).html())
    scopes = [attrs["scope"] for tag, attrs in tags.found if tag == "th"]
    assert scopes.count("row") == 5
    assert scopes.count("col") == 6
    text = "".join(tags.text)
    assert "The weights of layer 1, head 2 as a table" in text
    assert f"{records()[1].weights[0, 2, 0, 0]:.2f}" in text


def test_a_long_text_gets_a_table_of_its_strongest_keys() -> None:
    found = records(64, layers=1, heads=1)
    html = head_view(found, [f"t{i}" for i in range(64)]).html()
    assert html.count("<td") == 3 * 64
    strongest = found[0].weights[0, 0, 0].argmax()
    assert f"<bdi>t{strongest}</bdi> {found[0].weights[0, 0, 0].max():.2f}" in html


def test_the_model_view_describes_its_picture() -> None:
    [image] = [
        attrs for tag, attrs in parse(model_view(records(), TOKENS).html()).found if tag == "img"
    ]
    assert "3 layers (rows, 0 to 2) and 4 heads (columns, 0 to 3)" in (image["alt"] or "")


def test_the_difference_is_that_of_all_layers_and_heads() -> None:
    ours, theirs = records(), records()
    theirs[2].weights[0, 3, 4, 1] += 0.125
    theirs[0].weights[0, 1, 0, 0] += 0.015625
    for view in ("neuron", "head"):
        html = compare_heads(ours, theirs, TOKENS, layer=0, head=1, view=view).html()
        assert "over all 3 layers × 4 heads: 0.12500." in html
        assert "Largest difference in layer 0, head 1: 0.01562." in html


def test_numbers_that_agree_are_sent_once() -> None:
    alike = compare_heads(records(), records(), TOKENS)
    unlike = compare_heads(records(), records(seed=1), TOKENS)
    vectors = LAYERS * HEADS * 5 * D_K * len("0.12,")
    assert len(alike.html()) < len(unlike.html()) - 2 * vectors


def test_twelve_layers_of_twelve_heads_over_sixteen_tokens_fit_half_a_megabyte() -> None:
    found = records(16, layers=12, heads=12)
    tokens = [f"token{i}" for i in range(16)]
    for view in (head_view(found, tokens), model_view(found, tokens)):
        assert len(view.html().encode()) < 500_000


def test_six_layers_of_queries_and_keys_fit_a_quarter_of_a_megabyte() -> None:
    random = np.random.default_rng(0)
    found = records(7, layers=6, heads=12)
    for record in found:
        record.query, record.key = (torch.tensor(random.normal(size=(1, 12, 7, 32))) for _ in "qk")
    tokens = [f"token{i}" for i in range(7)]
    assert len(neuron_view(found, tokens).html().encode()) < 250_000
    assert len(compare_heads(found, found, tokens).html().encode()) < 260_000


def test_outputs_name_no_other_host(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "//" not in re.sub(r"//[^\n]*\n", "", frame_document(head_view(records(), TOKENS)))
    monkeypatch.setenv("GLASSBOX_VIEW_SCRIPTS", "inline")
    assert "http" not in frame_document(head_view(records(), TOKENS))


def test_an_unknown_way_to_find_scripts_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GLASSBOX_VIEW_SCRIPTS", "cdn")
    with pytest.raises(ValueError, match=r"GLASSBOX_VIEW_SCRIPTS is 'cdn'.*'inline'.*'linked'"):
        head_view(records(), TOKENS).html()
