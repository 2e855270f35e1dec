"""The language model of characters in a page: the package's numbers, and what a reader can do."""

import pytest
import torch

from glassbox.models import CharacterModel
from glassbox.modes import evaluating
from glassbox_book import machine as written
from glassbox_book.machine import assets, poet
from tests.axe import RULES, run
from tests.machine.conftest import PLACE
from tests.machine.test_pieces import PAGE, Piece

LOAD = """async () => {
  const { CharacterModel } = await import("./machine/character_model.js");
  const read = async (name) => (await fetch(`machine/poet/${name}`)).arrayBuffer();
  window.poet = await CharacterModel.load(read);
}"""
BEGINNING = "First Citizen:\nWe are"
LONG = "O Romeo, Romeo! wherefore art thou Romeo?\nDeny thy father and refuse thy name;\n"


@pytest.fixture(scope="module")
def model():
    return CharacterModel.from_pretrained(assets.POET)


@pytest.fixture(scope="module")
def page(machine_url, pages):
    seen = pages(machine_url)
    seen.page.evaluate(LOAD)
    return seen.page


@pytest.fixture
def piece(visit, tmp_path_factory, serve):
    root = tmp_path_factory.mktemp("poet")
    written.write(root / PLACE / "machine")
    (root / PLACE / "poet.html").write_text(PAGE.format(poet.html()), encoding="utf-8")
    address = f"{serve(root)}{PLACE}/poet.html"
    return lambda **options: Piece(visit, address, **options)


def logits(model, text):
    with evaluating(model.model), torch.inference_mode():
        return model.model(model.encode(text)[None])[0]


@pytest.mark.parametrize("text", [BEGINNING, "\n", LONG[:63]])
def test_its_logits_are_the_package_s_at_every_position(page, model, text):
    call = "(text) => poet.model.logits(poet.model.hidden(poet.encode(text))).map((r) => [...r])"
    found = torch.tensor(page.evaluate(call, text))
    torch.testing.assert_close(found, logits(model, text), atol=1e-4, rtol=0)


@pytest.mark.parametrize("text", [BEGINNING, LONG, LONG[:63], LONG[:64]])
def test_it_writes_what_the_package_writes_beyond_its_context(page, model, text):
    """Greedily, as a draw is at a temperature close to 0."""
    call = """([text, length]) => (
      poet.write(text, { length, temperature: 1e-3, random: () => 0.5 }).text
    )"""
    assert page.evaluate(call, [text, 90]) == model.write(text, 90)


def test_a_cache_changes_nothing(page):
    call = """(text) => {
      const { model } = poet, ids = poet.encode(text), cache = model.newCache();
      const whole = model.hidden(ids);
      return Math.max(...ids.flatMap((id, i) => (
        [...model.hidden([id], cache)[0]].map((value, d) => Math.abs(value - whole[i][d]))
      )));
    }"""
    assert page.evaluate(call, BEGINNING) < 1e-4


def test_a_model_of_another_kind_is_refused(page):
    call = """async () => {
      const { Llama } = await import("./machine/llama.js");
      const config = await (await fetch("machine/poet/config.json")).json();
      config.num_key_value_heads = 2;
      try { new Llama(config, {}); } catch ({ message }) { return message; }
    }"""
    assert page.evaluate(call) == "a LLaMA of another kind: num_key_value_heads=2"


def test_it_is_whole_without_a_script(piece, model):
    shown = piece(java_script_enabled=False)
    expected = logits(model, poet.BEGINNING)[-1].softmax(-1).topk(8).values
    bars = shown.part("bars").locator("span").all_inner_texts()
    assert [float(bar) for bar in bars] == pytest.approx(expected.tolist(), abs=6e-4)
    assert not shown.page.locator("[data-machine='write']").is_visible()
    assert not [url for url in shown.requests if "/poet/" in url]


def test_the_temperature_counts_before_the_model_is_loaded(piece, model):
    shown = piece()
    shown.part("temperature").fill("0.5")
    expected = (logits(model, poet.BEGINNING)[-1] / 0.5).softmax(-1).topk(8).values
    bars = shown.part("bars").locator("span").all_inner_texts()
    assert [float(bar) for bar in bars] == pytest.approx(expected.tolist(), abs=6e-4)
    assert not [url for url in shown.requests if "/poet/" in url]


def test_a_reader_lets_it_write_and_chooses_a_character(piece, model):
    shown = piece()
    output, field = (
        shown.page.locator(f"[data-machine='{name}']") for name in ("poem", "beginning")
    )
    shown.part("bars").locator("button").nth(1).click()
    assert "load it first" in shown.part("status").inner_text()
    assert "MB" in shown.part("answer").locator("button").inner_text()
    field.fill("")
    field.press("Enter")
    shown.page.wait_for_selector("[data-state='refused']")
    assert not [url for url in shown.requests if "/poet/" in url]
    field.fill("JULIET: ")
    field.press("Enter")
    done = "n => document.querySelector('output[data-state=done]')?.textContent.length === n"
    shown.page.wait_for_function(done, arg=8 + 200)
    text = output.text_content()
    assert text.startswith("JULIET: ")
    assert {*text} <= {*model.characters}
    chosen = shown.part("bars").locator("button").nth(2)
    character = model.characters[int(chosen.get_attribute("data-id"))]
    assert shown.page.locator("[data-part='bars'] [tabindex='0']").count() == 1
    chosen.click()
    shown.page.wait_for_function(done, arg=8 + 201)
    assert output.text_content() == text + character
    shown.part("temperature").fill("0.5")
    text = text + character
    seen = text[-(model.model.config.max_len // 2) :]
    expected = (logits(model, seen)[-1] / 0.5).softmax(-1).topk(8).values
    bars = shown.part("bars").locator("span").all_inner_texts()
    assert [float(bar) for bar in bars] == pytest.approx(expected.tolist(), abs=6e-4)
    shown.part("restart").click()
    shown.page.wait_for_function(done, arg=8)
    for text, said in (("", "at least one character"), ("Été", "“É” is not one of them")):
        field.fill(text)
        field.press("Enter")
        shown.page.wait_for_function(
            "said => document.querySelector('[data-part=status]').textContent.includes(said)",
            arg=said,
        )
        assert output.text_content() == "JULIET: "
    assert shown.seen.problems == []


def test_starting_over_before_the_model_is_loaded_writes_nothing_on(piece):
    shown = piece()
    shown.part("restart").click()
    shown.page.keyboard.press("Enter")
    shown.page.wait_for_selector("[data-state='done']")
    poem, field = (shown.page.locator(f"[data-machine='{x}']") for x in ("poem", "beginning"))
    assert poem.text_content() == field.input_value() == poet.BEGINNING


def test_what_was_asked_for_first_is_not_done_later(piece):
    shown = piece()
    shown.part("bars").locator("button").nth(1).click()
    shown.part("restart").click()
    shown.part("answer").locator("button").click()
    done = "n => document.querySelector('output[data-state=done]')?.textContent.length === n"
    shown.page.wait_for_function(done, arg=len(poet.BEGINNING) + 1)
    shown.page.locator("[data-machine='write']").click()
    shown.page.wait_for_function(done, arg=len(poet.BEGINNING) + 1 + 200)


def test_after_the_form_has_loaded_it_its_news_are_told_once(piece):
    shown = piece()
    shown.part("bars").locator("button").nth(1).click()
    field = shown.page.locator("[data-machine='beginning']")
    field.fill("JULIET: ")
    field.press("Enter")
    shown.part("status").get_by_text("208 characters.").wait_for()
    assert shown.part("answer").inner_text() == ""


def test_a_changed_text_is_continued_whatever_was_pressed_before(piece):
    shown = piece()
    shown.part("restart").click()
    field = shown.page.locator("[data-machine='beginning']")
    field.fill("JULIET: ")
    field.press("Enter")
    shown.part("status").get_by_text("208 characters.").wait_for()


def test_it_can_be_asked_again_after_its_scripts_could_not_be_loaded(piece):
    shown = piece()
    field, status = shown.page.locator("[data-machine='beginning']"), shown.part("status")
    shown.page.context.route("**/worker.js", lambda route: route.abort())
    field.press("Enter")
    status.get_by_text("scripts could not be loaded").wait_for()
    shown.page.context.unroute("**/worker.js")
    field.press("Enter")
    status.get_by_text("characters.").wait_for()


def test_it_is_accessible_on_a_phone(piece):
    shown = piece(width=390)
    assert run(shown.page, ".gb-machine", runOnly=RULES) == []
    assert shown.page.evaluate("document.documentElement.scrollWidth <= innerWidth")
