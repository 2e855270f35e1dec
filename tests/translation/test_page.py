"""The page of a translation: where the decoder looked at each step, drawn without a network."""

import copy
import json
from typing import Any

import pytest
import torch

from glassbox import record
from glassbox.translation import Alternative
from glassbox_book import page
from glassbox_book.page import attention_page, cross_attention
from tests.translation import toy

pytestmark = pytest.mark.slow

TEXT, TO = "We love the old house.", "fr"


@pytest.fixture(scope="module")
def two_layers(device):
    """A translator whose decoder has two layers, and tokens of all kinds that it draws."""
    translator = toy.blank(n_layers=2, dropout=0.2)
    translator.model.to(device)
    draw: dict[str, Any] = {"sample": True, "generator": torch.Generator(device).manual_seed(0)}
    (drawn,) = translator.alternatives(TEXT, TO, 1, max_new_tokens=9, **draw)
    assert len({*drawn.tokens}) > 5
    return translator, drawn


def test_a_row_is_the_step_that_wrote_its_token(two_layers):
    translator, best = two_layers
    found = cross_attention(translator, TEXT, TO, best)
    source = torch.tensor([translator.tokenizer.encode_source(TEXT, TO)], device=translator.device)
    ids = [1, *map(translator.tokenizer.bpe.token_id, best.tokens)]
    model = copy.deepcopy(translator.model).eval()
    assert len(found.layers) == 2
    for step in range(len(best.tokens)):
        with torch.no_grad(), record(model) as tape:
            logits = model(source, torch.tensor([ids[: step + 1]], device=translator.device))
        torch.testing.assert_close(found.logits[step], logits[0, -1])
        for number, layer in enumerate(found.layers):
            weights = tape[f"decoder.layers.{number}.cross_attention"].weights
            torch.testing.assert_close(layer.weights[0, :, step], weights[0, :, -1])
    assert found.layers[0].weights.shape == (1, 4, len(best.tokens), source.size(1))


def test_rows_are_named_by_what_was_written_and_columns_by_what_was_read(translator):
    (best,) = translator.alternatives("I see a green elephant.", n=1)
    found = cross_attention(translator, "I see a green elephant.", "fr", best)
    assert "".join(found.written) == " Je vois un éléphant vert.</s>"
    assert "".join(found.source) == "<fr> I see a green elephant.</s>"


def test_the_model_stays_as_it_was(two_layers):
    translator, best = two_layers
    for training in (True, False):
        translator.model.train(training)
        first = cross_attention(translator, TEXT, TO, best).layers[0].weights
        assert torch.equal(first, cross_attention(translator, TEXT, TO, best).layers[0].weights)
        assert translator.model.training is training


@pytest.mark.parametrize("dark", [False, True])
def test_the_page_needs_nothing_else(dark, two_layers, tmp_path, visit):
    translator, best = two_layers
    file = tmp_path / "page.html"
    file.write_text(attention_page(translator, TEXT, TO, best), encoding="utf-8")
    seen = visit(file.as_uri(), dark=dark, width=390 if dark else 1000)
    frames = seen.page.query_selector_all("iframe")
    for element in frames:
        element.evaluate("e => e.scrollIntoView()")
        frame = element.content_frame()
        assert frame is not None
        frame.wait_for_selector("#vis svg")
        assert frame.locator("#vis line").count() > 20
        shade = frame.evaluate("getComputedStyle(document.body).backgroundColor")
        assert (max(map(int, shade[4:-1].split(", "))) < 60) is dark
    assert len(frames) == 2
    assert TEXT in seen.page.inner_text("dd >> nth=0")
    assert seen.page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert seen.foreign == []
    assert seen.problems == []


HOSTILE = "<script>alert(1)</script> '\"&amp; \u202e </title> </iframe><img src=x onerror=alert(1)>"


def test_hostile_text_stays_text(two_layers, tmp_path, visit):
    translator, _ = two_layers
    tokens = translator.tokenizer.tokens([*translator.tokenizer.encode_text(HOSTILE), 2])
    said = Alternative(HOSTILE, 0.25, -1.386, tokens)
    file = tmp_path / "page.html"
    file.write_text(attention_page(translator, HOSTILE, TO, said), encoding="utf-8")
    seen = visit()
    seen.page.on("dialog", lambda dialog: seen.problems.append(dialog.message))
    seen.page.goto(file.as_uri())
    for element in seen.page.query_selector_all("iframe"):
        element.evaluate("e => e.scrollIntoView()")
        frame = element.content_frame()
        assert frame is not None
        frame.wait_for_selector("#vis svg")
    shown = HOSTILE.replace("\u202e", "⟨U+202E⟩")
    assert seen.page.title() == shown
    for place in (0, 1):
        assert seen.page.inner_text(f"dd >> nth={place}") == shown
    assert seen.page.locator("script, img[onerror]").count() == 0
    assert seen.foreign == []
    assert seen.problems == []


def test_the_numbers_on_the_page_are_the_weights(two_layers, monkeypatch):
    drawn = []

    def spy(attention, tokens, **options):
        drawn.append((attention, tokens, options["key_tokens"]))
        return original(attention, tokens, **options)

    original = page.head_view
    monkeypatch.setattr(page, "head_view", spy)
    translator, best = two_layers
    html = attention_page(translator, TEXT, TO, best)
    ((layers, rows, columns),) = drawn
    found = cross_attention(translator, TEXT, TO, best)
    assert (rows, columns) == (found.written, found.source)
    for ours, theirs in zip(layers, found.layers, strict=True):
        assert torch.equal(ours.weights, theirs.weights)
    assert f"<dd>{best.probability:#.3g}</dd>" in html
    assert json.dumps(TEXT)[1:-1] in html


@pytest.mark.parametrize("to", ["de", "xx"])
def test_another_language_is_refused(to, two_layers):
    translator, best = two_layers
    with pytest.raises(ValueError, match=f"to='{to}'"):
        attention_page(translator, TEXT, to, best)
