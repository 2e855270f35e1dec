"""Pieces of the machine for chapters: whole without a script, light until asked, and right."""

from pathlib import Path

import pytest
import torch

from glassbox import record
from glassbox.looking.ablation import without_heads
from glassbox.modes import evaluating
from glassbox_book import machine as written
from glassbox_book.machine import scene
from tests.axe import RULES, run
from tests.machine.conftest import PLACE

PIECES = [name for name in scene.PIECES if name]
SENTENCE = "Où est la gare ?"
PAGE = """<!doctype html><html lang="en"><meta charset="utf-8"><title>A piece</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="machine/machine.css">
<script type="module" src="machine/machine.js"></script>
<main><h1>A chapter</h1><h2>A section</h2>{}</main>"""
DONE = "document.querySelector('[data-part=status]').textContent.includes('seconds')"


@pytest.fixture(scope="module")
def address(tmp_path_factory, serve):
    root = tmp_path_factory.mktemp("pieces")
    written.write(root / PLACE / "machine")
    for name in PIECES:
        page = PAGE.format(scene.html(name))
        (root / PLACE / f"{name}.html").write_text(page, encoding="utf-8")
    return f"{serve(root)}{PLACE}/"


class Piece:
    """A page with one piece, and what it has asked for."""

    def __init__(self, visit, url, **options):
        self.seen = visit(**options)
        self.page = self.seen.page
        self.requests: list[str] = []
        self.page.context.on("request", lambda sent: self.requests.append(sent.url))
        self.page.goto(url)
        if options.get("java_script_enabled", True):
            self.page.wait_for_selector(".gb-machine[data-awake]")

    def fetched(self):
        folders = ("model", "machine")
        names = [Path(url) for url in self.requests]
        return {path.name for path in names if path.parent.name in folders} - {"machine.css"}

    def part(self, name):
        return self.page.locator(f"[data-part='{name}']").first

    def translate(self, text):
        self.page.locator("[data-machine='sentence']").fill(text)
        return self.after(self.page.locator("[data-machine='run']").click)

    def after(self, act):
        self.page.evaluate("document.querySelector('[data-part=status]').textContent = ''")
        act()
        self.page.wait_for_function(DONE)
        return self.page.locator("[data-machine='translation']").all_inner_texts()[:1]

    def large(self):
        rows = self.page.locator("[data-part='large'] tbody tr").all()
        return [row.locator("td").all_inner_texts() for row in rows]


@pytest.fixture
def piece(visit, address):
    return lambda name, **options: Piece(visit, f"{address}{name}.html", **options)


def looked(translator, text):
    """What the package records for a sentence, and its tokens."""
    (best,) = translator.alternatives(text, n=1, n_beams=1)
    tokenizer, model = translator.tokenizer, translator.model
    source = tokenizer.encode_source(text, tokenizer_target(tokenizer, text))
    target = [tokenizer.bpe.token_id(token) for token in best.tokens]
    ids = torch.tensor([source]), torch.tensor([[tokenizer.bos_id, *target[:-1]]])
    with evaluating(model), torch.inference_mode(), record(model) as tape:
        logits = model(*ids)[0]
    return source, target, tape, logits


def tokenizer_target(tokenizer, text):
    spoken = tokenizer.classifier.probabilities(tokenizer.encode_text(text))
    return "en" if spoken["fr"] > spoken["en"] else "fr"


@pytest.mark.parametrize("name", PIECES)
def test_a_piece_is_whole_without_a_script(piece, name):
    shown = piece(name, java_script_enabled=False)
    for kind in scene.PIECES[name].sections:
        assert shown.page.locator(f".gb-m-{kind}").is_visible()
    assert not shown.page.locator("[data-machine='run']").is_visible()
    assert shown.requests  # none of them is for the machine's numbers
    assert not [url for url in shown.requests if "model" in url or "safetensors" in url]


def test_a_name_that_no_piece_has_is_refused_with_those_there_are():
    with pytest.raises(ValueError, match="no piece 'heads'; it has tokens, head, heads-off"):
        scene.html("heads")


def test_two_pieces_on_a_page_share_no_id():
    ids = [
        line.partition('"')[0]
        for name in scene.PIECES
        for line in scene.html(name).split(' id="')[1:]
    ]
    assert len(ids) == len(set(ids)) > 10


def test_the_pieces_of_a_sentence_have_their_ids_and_need_no_weights(piece, translator):
    shown = piece("tokens")
    assert not [name for name in shown.fetched() if not name.endswith(".js")]
    numbers = shown.part("source").locator("small")
    first = scene.first_scene()
    assert [int(text) for text in numbers.all_inner_texts()] == first.source_ids
    for text in (SENTENCE, "<b>Straße</b> & naïve 🙂"):
        shown.page.locator("[data-machine='sentence']").fill(text)
        shown.page.locator("[data-machine='run']").click()
        tokenizer = translator.tokenizer
        expected = tokenizer.encode_source(text, tokenizer_target(tokenizer, text))
        shown.page.wait_for_function(
            "n => document.querySelectorAll('[data-part=source] small').length === n",
            arg=len(expected),
        )
        assert [int(text) for text in numbers.all_inner_texts()] == expected
    assert "model.safetensors" not in shown.fetched()
    shown.page.locator("[data-machine='sentence']").fill(" ")
    shown.page.locator("[data-machine='run']").click()
    shown.page.wait_for_selector("[data-state='refused']")
    assert "nothing to read" in shown.part("status").inner_text()
    assert shown.seen.problems == []


def test_the_numbers_of_one_head_are_the_package_s(piece, translator):
    shown = piece("head")
    assert not [name for name in shown.fetched() if not name.endswith(".js")]
    shown.part("maps").locator("button").nth(3).click()  # the printed sentence, without the model
    shown.page.wait_for_function(
        "document.querySelector('[data-part=large-title]').textContent.endsWith('head 3')"
    )
    name = scene.PIECES["head"].large
    expected = scene.first_scene().tape[name].weights[0, 3]
    shown_weights = torch.tensor([[float(cell) for cell in row] for row in shown.large()])
    torch.testing.assert_close(shown_weights, expected, atol=0.0051, rtol=0)
    assert "model.safetensors" not in shown.fetched()

    assert shown.page.locator("[data-part='off']").count() == 0  # there is no translation to change
    shown.translate(SENTENCE)
    source, *_, tape, _ = looked(translator, SENTENCE)
    assert f"{len(source)} tokens read in" in shown.part("status").inner_text()
    shown.page.locator("[data-part='large'] tbody tr").nth(2).locator("button").nth(4).click()
    attention = tape[name]
    query, key = attention.query[0, 3, 2], attention.key[0, 3, 4]
    for slot, number in (
        ("dot", query @ key),
        ("score", attention.scores[0, 3, 2, 4]),
        ("weight", attention.weights[0, 3, 2, 4]),
    ):
        said = shown.part(slot).inner_text()
        assert "-" not in said
        assert float(said.replace("−", "-")) == pytest.approx(number.item(), abs=2e-3)
    assert shown.seen.problems == []


def test_heads_are_switched_off_by_a_click_on_their_maps(piece, translator):
    shown = piece("heads-off")
    first = shown.translate(scene.SENTENCE)
    heads = [("decoder.layers.2.cross_attention", head) for head in (7, 3)]
    for name, head in heads:
        button = shown.page.locator(f"[data-name='{name}'][data-head='{head}']")
        text = shown.after(button.click)
        assert button.get_attribute("aria-pressed") == "true"
        beside = shown.part("answer")
        assert beside.inner_text().startswith(text[0])
        assert f"was “{first[0]}”" in beside.inner_text()
        box = beside.bounding_box()
        assert box["y"] + box["height"] <= 900  # in view, wherever the map is
    with without_heads(translator.model, heads):
        assert text == [translator.translate(scene.SENTENCE, n_beams=1)]
    assert shown.after(shown.part("all-on").click) == first


def test_the_map_of_the_past_grows_by_a_row_with_every_token(piece, translator):
    shown = piece("memory")
    title = shown.page.locator("#gb-m-step-title-memory")
    assert title.inner_text().startswith("Writing, step 9 of 9")  # no next token is shown
    shown.part("back").click()
    n_tokens = len(scene.first_scene().target)
    rows = shown.page.locator("[data-part='large'] tbody tr")
    shown.page.wait_for_function(
        "n => document.querySelectorAll('[data-part=large] tbody tr').length === n",
        arg=n_tokens - 1,
    )
    large = scene.PIECES["memory"].large
    weights = scene.first_scene().tape[large].weights[0, 0, : n_tokens - 1]
    drawn = [[float(cell) for cell in row if cell] for row in shown.large()]
    for i, (row, cells) in enumerate(zip(weights, drawn, strict=True)):
        torch.testing.assert_close(torch.tensor(cells), row[: i + 1], atol=0.0051, rtol=0)
    shown.translate(SENTENCE)
    _, target, tape, _ = looked(translator, SENTENCE)
    assert rows.count() == len(target)
    for _ in range(2):
        shown.part("back").click()
    step = len(target) - 3
    shown.page.wait_for_function(
        "n => document.querySelectorAll('[data-part=large] tbody tr').length === n", arg=step + 1
    )
    weights = tape[large].weights[0, 0, step]
    last = [float(cell) for cell in shown.large()[-1] if cell]
    torch.testing.assert_close(torch.tensor(last), weights[: step + 1], atol=0.0051, rtol=0)
    shown.part("maps").locator("button").nth(8).click()  # the cross-attention sees the whole source
    shown.page.wait_for_function(
        "document.querySelector('[data-part=large-title]').textContent.includes('cross')"
    )
    assert all(all(row) for row in shown.large())


def test_a_temperature_changes_the_bars_and_a_draw_goes_one_token_on(piece, translator):
    shown = piece("next-token")
    shown.translate(SENTENCE)
    _, target, _, logits = looked(translator, SENTENCE)
    for temperature in ("2", "0.5"):
        shown.part("temperature").fill(temperature)
        expected = (logits[0] / float(temperature)).softmax(-1).topk(scene.N_BARS).values
        shown.page.wait_for_function(
            "p => document.querySelector('[data-part=bars] span').textContent === p",
            arg=f"{expected[0].item():.3f}",
        )
        bars = shown.part("bars").locator("span").all_inner_texts()
        numbers = torch.tensor([float(number) for number in bars])
        torch.testing.assert_close(numbers, expected, atol=6e-4, rtol=0)
    assert shown.page.locator("[data-part='bars'] [tabindex='0']").count() == 1
    shown.page.evaluate("Math.random = () => 0.999999")  # nothing probable is drawn
    shown.after(shown.part("draw").click)
    assert shown.part("step").inner_text() == "2"
    assert shown.page.locator("[data-part='target'] [data-chosen]").count() == 1
    drawn = shown.part("target").locator("button").first.inner_text()
    assert drawn != scene.visible(translator.tokenizer.piece(target[0]))
    assert shown.seen.problems == []


def test_a_temperature_set_before_the_translator_is_loaded_counts_once_it_is(piece, translator):
    shown = piece("next-token")
    shown.part("temperature").focus()
    for pressed in range(10):
        shown.page.keyboard.press("ArrowRight")
        assert shown.part("temperature-shown").inner_text() == f"{1.1 + pressed / 10:.1f}"
    offer = shown.part("answer").locator("button")
    offer.wait_for()
    assert shown.page.evaluate("document.activeElement.dataset.part") == "temperature"
    assert "model.safetensors" not in shown.fetched()
    shown.after(offer.click)
    *_, logits = looked(translator, scene.SENTENCE)
    expected = (logits[0] / 2).softmax(-1).max().item()
    shown.page.wait_for_function(
        "p => document.querySelector('[data-part=bars] span').textContent === p",
        arg=f"{expected:.3f}",
    )
    assert shown.seen.problems == []


def test_a_token_is_drawn_as_often_as_it_is_probable(machine):
    draws = """(n) => import("./machine/generation.js").then(({ draw }) => (
        Array.from({ length: n }, (_, i) => draw([0.5, 0.2, 0.3], (i + 0.5) / n))
    ))"""
    drawn = machine.page.evaluate(draws, 100)
    assert [drawn.count(id_) for id_ in range(3)] == [50, 20, 30]
    last = "import('./machine/generation.js').then(({ draw }) => draw([0.3, 0.3], 0.9999))"
    assert machine.page.evaluate(last) == 1  # rounding leaves nobody out of the row


@pytest.mark.parametrize("name", PIECES)
def test_a_piece_is_accessible_on_a_phone(piece, name):
    shown = piece(name, width=390)
    assert run(shown.page, ".gb-machine", runOnly=RULES) == []
    assert shown.page.evaluate("document.documentElement.scrollWidth <= innerWidth")
