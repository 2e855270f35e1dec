"""The machine as it stands in the site: what is on the screen is what the package computes."""

import re
from pathlib import Path

import pytest
import torch

from glassbox import record
from glassbox.looking.ablation import without_heads
from glassbox.modes import evaluating
from glassbox.translation import Translator
from glassbox_book.machine import assets, scene
from tests.axe import RULES, run
from tests.site.conftest import ROOT, SITE

PAGE = "chapters/machine.html"
SENTENCE = "Où est la gare ?"
DONE = """() => document.querySelector("[data-machine=translation]").dataset.state === "done"
    && document.querySelector("[data-part=status]").textContent.includes("seconds")"""


@pytest.fixture(scope="module")
def translator():
    return Translator.from_pretrained(assets.MODEL)


def part(page, name):
    return page.locator(f".gb-machine [data-part='{name}']").first


def machine(page, name):
    return page.locator(f"[data-machine='{name}']")


def awake(seen):
    seen.page.wait_for_selector(".gb-machine[data-awake]")
    return seen.page


def translate(page, text):
    machine(page, "sentence").fill(text)
    machine(page, "run").click()
    page.wait_for_function(DONE)
    return machine(page, "translation").inner_text()


def after(page, act):
    """Act, and wait until the translation has been written again."""
    page.evaluate("document.querySelector('[data-part=status]').textContent = ''")
    act()
    page.wait_for_function(DONE)
    return machine(page, "translation").inner_text()


FILTER = "getComputedStyle(document.querySelector('.gb-m-plan')).filter"


def large(page):
    rows = page.locator("[data-part='large'] tbody tr")
    return [[float(cell) for cell in row.locator("td").all_inner_texts()] for row in rows.all()]


def test_one_sentence_is_worked_out_without_scripts(read):
    page = read(PAGE, java_script_enabled=False).page
    first = scene.first_scene()
    assert machine(page, "translation").inner_text() == first.text
    assert part(page, "source").locator("li").all_inner_texts() == first.source
    assert page.locator("[data-part='maps'] svg").count() == 72
    weights = first.tape[scene.LARGE].weights[0, scene.HEAD]
    torch.testing.assert_close(torch.tensor(large(page)), weights, atol=0.0051, rtol=0)
    for control in page.locator("[data-part='controls'] button").all():
        assert not control.is_visible()


@pytest.mark.parametrize("page", [PAGE, "chapters/10_generation.html"])
def test_a_page_opened_as_a_file_says_where_the_machine_runs(visit, read, page):
    hints = visit((SITE / page).as_uri()).page.get_by_text("opened this page as a file").all()
    assert hints
    assert all(hint.is_visible() for hint in hints)
    for hint in read(page).page.get_by_text("opened this page as a file").all():
        assert not hint.is_visible()


def test_a_script_shows_the_same_and_can_step_through_it_before_anything_is_loaded(read):
    seen = read(PAGE)
    sent: list[str] = []
    seen.page.on("request", lambda request: sent.append(request.url))
    before = scene.html()
    page = awake(seen)
    first = scene.first_scene()
    torch.testing.assert_close(
        torch.tensor(large(page)),
        first.tape[scene.LARGE].weights[0, scene.HEAD],
        atol=0.0051,
        rtol=0,
    )
    drawn = "[...document.querySelectorAll('[data-part=maps] svg')].map((map) => map.outerHTML)"
    paths = [re.findall(r' d="(.*?)"', one) for one in page.evaluate(drawn)]
    printed = [re.findall(r' d="(.*?)"', one) for one in re.findall(r"<svg.*?</svg>", before)]
    assert paths == printed
    part(page, "forward").click()
    assert part(page, "step").inner_text() == "2"
    shown = part(page, "bars").locator("b").all_inner_texts()
    assert shown == [piece for _, piece, _ in first.likely(1)]
    part(page, "swap").click()
    assert "load it first" in part(page, "status").inner_text()
    assert page.evaluate("document.activeElement.dataset.machine") == "run"
    assert not [url for url in sent if "/model/" in url]
    page.keyboard.press("Enter")  # loads, and goes on with what was asked for
    page.wait_for_function(DONE)
    assert machine(page, "sentence").input_value() == first.text
    assert part(page, "source").locator("span").first.inner_text() == "<en>"


def test_on_a_small_screen_the_page_moves_to_what_is_being_written(read):
    page = awake(read(PAGE, width=390))
    page.set_viewport_size({"width": 390, "height": 480})
    machine(page, "run").scroll_into_view_if_needed()
    output = machine(page, "translation")
    below = "element => element.getBoundingClientRect().bottom > innerHeight"
    assert output.evaluate(below)
    machine(page, "run").click()
    page.wait_for_function(DONE)
    page.wait_for_function(f"element => !({below})(element)", arg=output.element_handle())
    translate(page, "I do not know why she is not happy with her new house.")  # it has many tokens
    assert not output.evaluate(below)


def test_what_needs_the_translator_offers_it_where_it_was_pressed_and_goes_on(read):
    page = awake(read(PAGE))
    part(page, "forward").click()
    bar = page.locator("[data-part=bars] button").nth(1)
    bar.click()
    offer = page.locator(".gb-m-step [data-part=answer] button")
    assert "14 MB" in offer.inner_text()
    below, above = offer.bounding_box()["y"], bar.bounding_box()["y"]
    assert 0 < below - above < 250
    chosen = bar.locator("b").inner_text()
    page.keyboard.press("Enter")  # the offer has the focus
    page.wait_for_function(DONE)
    assert part(page, "target").locator("button").nth(1).inner_text() == chosen
    assert page.evaluate("document.activeElement.closest('[data-part]').dataset.part") == "bars"
    assert offer.count() == 0


def test_what_is_on_the_screen_is_what_the_package_computes(read, translator):
    seen = read(PAGE)
    page = awake(seen)
    sent: list[str] = []
    page.context.on("request", lambda request: sent.append(request.url))
    assert translate(page, SENTENCE) == translator.translate(SENTENCE, n_beams=1)
    loaded = sorted(Path(url).name for url in sent if "/model/" in url)
    assert loaded == sorted(assets.MODEL_FILES)
    page.context.set_offline(True)  # from here on nothing more is needed

    source = translator.tokenizer.encode_source(SENTENCE, "en")
    (best,) = translator.alternatives(SENTENCE, n=1, n_beams=1)
    target = [translator.tokenizer.bpe.token_id(token) for token in best.tokens]
    ids = torch.tensor([source]), torch.tensor([[translator.tokenizer.bos_id, *target[:-1]]])
    with evaluating(translator.model), torch.inference_mode(), record(translator.model) as tape:
        probabilities = translator.model(*ids)[0].softmax(-1)

    page.locator("[data-part='target'] button").nth(2).click()
    shown = [float(number) for number in part(page, "bars").locator("span").all_inner_texts()]
    expected = probabilities[2].topk(scene.N_BARS).values
    torch.testing.assert_close(torch.tensor(shown), expected, atol=6e-4, rtol=0)

    # Read aloud once, when it is finished.
    assert machine(page, "translation").get_attribute("aria-live") == "off"
    assert part(page, "status").locator(".gb-aloud").inner_text().strip() == best.text

    name, head = "encoder.layers.1.self_attention", 4
    page.locator(f"[data-name='{name}'][data-head='{head}']").click()
    weights = tape[name].weights[0, head]
    torch.testing.assert_close(torch.tensor(large(page)), weights, atol=0.0051, rtol=0)
    page.locator("[data-part='large'] tbody tr").nth(3).locator("td button").nth(1).click()
    query, key = tape[name].query[0, head, 3], tape[name].key[0, head, 1]
    scores = tape[name].scores[0, head, 3]
    for slot, number in (
        ("dot", query @ key),
        ("score", scores[1]),
        ("weight", weights[3, 1]),
    ):
        assert float(part(page, slot).inner_text()) == pytest.approx(number.item(), abs=2e-3)

    second = translator.translate("J'aime les chiens.", n_beams=1)
    assert after(page, lambda: translate(page, "J'aime les chiens.")) == second
    assert seen.problems == []
    assert seen.foreign == []


def test_a_token_is_chosen_a_head_switched_off_and_the_language_swapped(read, translator):
    page = awake(read(PAGE))
    first = translate(page, scene.SENTENCE)
    bars = page.locator("[data-part='bars'] button")
    assert "␣les" in bars.nth(1).inner_text()
    assert after(page, bars.nth(1).click).startswith("les ")
    assert page.locator("[data-part='target'] [data-chosen]").count() == 1
    assert after(page, machine(page, "run").click) == first

    heads = [("decoder.layers.2.cross_attention", head) for head in (7, 3)]
    for name, head in heads:
        page.locator(f"[data-name='{name}'][data-head='{head}']").click()
        after(page, part(page, "off").click)
    with without_heads(translator.model, heads):
        expected = translator.translate(scene.SENTENCE, n_beams=1)
    assert machine(page, "translation").inner_text() == expected
    assert page.locator("[data-part='maps'] [data-off]").count() == 2
    maps = page.locator("[data-part='maps'] [data-name]")
    named = maps.evaluate_all("all => all.map(map => map.ariaLabel)")
    assert sum(label.endswith(", off") for label in named) == 2
    assert part(page, "off").inner_text() == "Switch this head on"
    assert part(page, "off").get_attribute("aria-pressed") is None  # the words say it
    assert after(page, part(page, "all-on").click) == first

    assert after(page, part(page, "beams").check) == translator.translate(scene.SENTENCE)
    after(page, bars.nth(1).click)
    assert "only one candidate" in part(page, "status").inner_text()
    assert after(page, part(page, "beams").uncheck) == first
    back = after(page, part(page, "swap").click)
    assert back == translator.translate(first, "en", n_beams=1)


def test_the_head_off_button_has_the_translation_beside_it_and_what_changed(read, translator):
    page = awake(read(PAGE))
    first = translate(page, scene.SENTENCE)
    beside = page.locator(".gb-m-large [data-part=answer]")
    assert beside.inner_text().strip() == first
    cases = (("decoder.layers.2.cross_attention", 7), ("decoder.layers.1.self_attention", 0))
    said = []
    for name, head in cases:
        page.locator(f"[data-name='{name}'][data-head='{head}']").click()
        after(page, part(page, "off").click)
        with without_heads(translator.model, [(name, head)]):
            expected = translator.translate(scene.SENTENCE, n_beams=1)
        assert beside.inner_text().startswith(expected)
        note = "The translation stays the same." if expected == first else f"was “{first}”"
        assert note in beside.inner_text()
        assert note in part(page, "status").inner_text()
        assert part(page, "is-off").is_visible()
        said.append(expected == first)
        after(page, part(page, "all-on").click)
        assert beside.inner_text().strip() == first
        assert not part(page, "is-off").is_visible()
    assert sorted(said) == [False, True]  # both notes were seen


def test_a_sentence_after_one_that_was_translated_back_goes_into_the_other_language(read):
    page = awake(read(PAGE))
    translate(page, "I like dogs.")
    back = after(page, part(page, "swap").click)
    assert back == "I like dogs."
    assert translate(page, "Les chats mangent du poisson.") == "Cats eat fish."
    part(page, "to").select_option("fr")
    machine(page, "run").click()
    page.wait_for_function(
        "document.querySelector('[data-part=status]').textContent.includes('French already')"
    )
    # Asked for French, it wrote English all the same; translated back, this is read as English.
    assert machine(page, "translation").inner_text() == "Cats eat fish."
    after(page, part(page, "swap").click)
    assert page.locator("[data-part='source'] span").first.inner_text() == "<fr>"
    assert machine(page, "sentence").input_value() == "Cats eat fish."
    part(page, "to").select_option("")
    after(page, machine(page, "run").click)
    assert "already" not in part(page, "status").inner_text()


def test_each_text_says_in_which_language_it_is(read):
    seen = read(PAGE)
    languages = "() => [...document.querySelectorAll('.gb-machine [lang]')].map(e => e.lang)"
    printed = seen.page.evaluate(languages)
    assert (printed[0], {*printed[1:]}) == ("en", {"fr"})
    page = awake(seen)
    assert translate(page, "Les chats mangent du poisson.") == "Cats eat fish."
    there = page.evaluate(languages)
    assert (there[0], {*there[1:]}) == ("fr", {"en"})
    assert len(there) == len(printed)


def test_a_sentence_sent_while_another_is_translated_comes_next(read):
    page = awake(read(PAGE))
    translate(page, "I like dogs.")
    field = machine(page, "sentence")
    page.evaluate(
        """([field, ...sentences]) => sentences.forEach((sentence) => {
            field.value = sentence;
            field.form.requestSubmit();
        })""",
        [field.element_handle(), "He is happy.", "Les chats mangent du poisson."],
    )
    page.wait_for_function("document.querySelector('output').textContent === 'Cats eat fish.'")
    page.wait_for_function(DONE)
    assert "belongs" not in part(page, "status").inner_text()


def test_what_is_typed_is_not_mistaken_for_what_was_translated(read):
    page = awake(read(PAGE))
    translate(page, "I like dogs.")
    machine(page, "sentence").fill("I like cats.")
    after(page, page.locator("[data-part='bars'] button").nth(1).click)
    assert "belongs to “I like dogs.”" in part(page, "status").inner_text()
    assert "only one candidate" not in part(page, "status").inner_text()


def test_the_row_of_the_step_is_bold_and_no_row_is_coloured_under_the_pointer(read):
    page = awake(read(PAGE))
    page.locator("[data-name='decoder.layers.0.self_attention'][data-head='1']").click()
    rows = page.locator("[data-part='large'] tbody tr")
    weights = rows.locator("th").evaluate_all(
        "all => all.map((th) => getComputedStyle(th).fontWeight)"
    )
    assert weights == ["600", *["400"] * (rows.count() - 1)]
    rows.first.locator("th").hover()
    assert rows.first.evaluate("row => getComputedStyle(row).backgroundColor") == "rgba(0, 0, 0, 0)"


def test_switching_heads_keeps_the_open_cell_and_the_focus(read):
    page = awake(read(PAGE))
    translate(page, SENTENCE)
    cell = page.locator("[data-part='large'] tbody tr").nth(1).locator("td").nth(0)
    cell.locator("button").click()
    after(page, part(page, "off").click)
    assert cell.get_attribute("data-chosen") is not None
    part(page, "all-on").focus()
    after(page, lambda: page.keyboard.press("Enter"))
    assert page.evaluate("document.activeElement.dataset.part") == "off"
    assert cell.get_attribute("data-chosen") is not None


#: What is on the page when the first token has been written.
WATCH = """() => {
  const root = document.querySelector(".gb-machine"), seen = window.seen = [];
  new MutationObserver(() => {
    const source = [...root.querySelectorAll("[data-part=source] span")].map((t) => t.textContent);
    const n = root.querySelectorAll("[data-part=target] button").length;
    seen.push({ source, n, state: root.dataset.state });
  }).observe(root.querySelector("[data-part=target]"), { childList: true });
}"""


def test_what_it_reads_is_new_before_the_first_token_and_the_rest_is_dimmed_until_then(read):
    page = awake(read(PAGE))
    translate(page, "I like dogs.")
    page.evaluate(WATCH)
    translate(page, SENTENCE)
    empty, one, *_, last = page.evaluate("seen")
    assert [empty["n"], one["n"], empty["state"], one["state"]] == [0, 1, "writing", "writing"]
    shown = part(page, "source").locator("li").all_inner_texts()
    assert empty["source"] == one["source"] == last["source"] == shown
    opacity = """state => {
      const root = document.querySelector(".gb-machine");
      root.dataset.state = state;
      return [...root.querySelectorAll("section")].map((s) => {
        s.getAnimations().forEach((each) => each.finish());
        return Number(getComputedStyle(s).opacity);
      });
    }"""
    assert page.evaluate(opacity, "done") == [1] * 5
    flow, *others = page.evaluate(opacity, "writing")
    assert flow == 1
    assert max(others) <= 0.5


def test_a_translation_without_a_space_does_not_widen_the_page(read):
    page = awake(read(PAGE, width=390))
    page.evaluate("""() => {
      for (const each of document.querySelectorAll(".gb-m-answer")) {
        each.append(Object.assign(document.createElement("i"), { textContent: "ha".repeat(60) }));
      }
    }""")
    assert page.evaluate("document.documentElement.scrollWidth") == 390


def test_the_keyboard_does_it_all(read):
    page = awake(read(PAGE))
    machine(page, "sentence").fill("J'aime les chiens.")
    machine(page, "sentence").press("Enter")
    page.wait_for_function(DONE)
    page.locator("[data-part='target'] [aria-current]").focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    assert part(page, "step").inner_text() == "2"
    page.locator("[data-part='maps'] [aria-pressed='true']").focus()
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("Enter")
    assert part(page, "large-title").inner_text().endswith("head 6")
    page.locator("[data-part='large'] [data-chosen] button").focus()
    page.keyboard.press("Home")
    page.keyboard.press("Enter")
    assert part(page, "asks").inner_text() == "<s>"
    # One stop of the Tab key for all tokens, bars, maps, and cells.
    page.locator("[data-part='bars'] [aria-pressed='true']").focus()
    page.keyboard.press("ArrowDown")
    assert page.evaluate("document.activeElement.parentElement.matches(':nth-child(2)')")
    for box in ("target", "bars", "maps", "large"):
        stops = f"document.querySelectorAll('[data-part={box}] button[tabindex=\"0\"]').length"
        assert page.evaluate(stops) == 1


def test_what_it_refuses_it_refuses_with_a_sentence_and_goes_on(read):
    seen = read(PAGE)
    page = awake(seen)
    for text, said in (("  ", "nothing to read"), ("word " * 600, "602 tokens")):
        machine(page, "sentence").fill(text)
        machine(page, "run").click()
        page.wait_for_function(
            "said => document.querySelector('[data-part=status]').textContent.includes(said)",
            arg=said,
        )
        assert machine(page, "translation").get_attribute("data-state") == "refused"
        # What is below is not of this text, and says so.
        assert f"still belongs to “{scene.SENTENCE}”" in part(page, "status").inner_text()
        assert "grayscale" in page.evaluate(FILTER)
    assert translate(page, "Thank you")
    assert page.evaluate(FILTER) == "none"
    assert seen.problems == []


def test_nothing_is_loaded_for_an_empty_field(read):
    seen = read(PAGE)
    page, sent = awake(seen), []
    page.context.on("request", lambda request: sent.append(request.url))
    machine(page, "sentence").fill(" ")
    machine(page, "run").click()
    page.wait_for_selector(".gb-machine[data-state=refused]")
    assert "nothing to read" in part(page, "status").inner_text()
    assert not [url for url in sent if "/model/" in url]


#: How far the focused cell is inside of the labels on its left, and of the box on its right.
ROOM = """() => {
  const [cell, label, box] = [
    document.activeElement, document.activeElement.closest("tr").cells[0],
    document.querySelector(".gb-m-scroll"),
  ].map((part) => part.getBoundingClientRect());
  return Math.min(cell.left - label.right, box.right - cell.right);
}"""


def test_on_a_phone_a_map_opens_at_its_first_column_and_labels_hide_no_cell(read):
    page = awake(read(PAGE, width=390))
    box = page.locator(".gb-m-scroll")
    assert box.evaluate("box => box.scrollLeft") == 0
    assert box.evaluate("box => box.scrollWidth > box.clientWidth + 50")
    paper = page.evaluate("getComputedStyle(document.body).backgroundColor")
    for label in (box.locator("thead td"), box.locator("tbody th").first):
        look = label.evaluate(
            "label => (({ position, backgroundColor }) => [position, backgroundColor])"
            "(getComputedStyle(label))"
        )
        assert look == ["sticky", paper]
    box.locator("td button").first.focus()
    n_columns = box.locator("thead th").count()
    for key in ["ArrowRight"] * (n_columns - 1) + ["ArrowLeft"] * (n_columns - 1):
        page.keyboard.press(key)
        assert page.evaluate(ROOM) >= -0.5


def test_a_map_that_is_tapped_on_a_phone_is_seen_large_and_names_its_rows(read):
    page = awake(read(PAGE, width=390, has_touch=True))
    part(page, "forward").click()
    page.locator("[data-name='decoder.layers.0.self_attention'][data-head='3']").tap()
    page.wait_for_function(
        "(({ top, bottom }) => top >= 0 && top < innerHeight / 2)"
        "(document.getElementById('gb-m-large-title').getBoundingClientRect())"
    )
    first = scene.first_scene()
    assert part(page, "read").inner_text() == first.target[0]
    assert part(page, "written").inner_text() == first.target[1]
    assert page.locator("[data-part=large] [data-step] th").inner_text() == first.target[0]
    page.locator("[data-name='encoder.layers.0.self_attention'][data-head='3']").tap()
    page.locator("[data-part=decoding]").wait_for(state="hidden")


@pytest.mark.parametrize(("pixels", "mode"), [(1400, "light"), (390, "dark")])
def test_it_is_accessible_when_it_has_written(read, pixels, mode):
    page = awake(read(PAGE, dark=mode == "dark", width=pixels))
    translate(page, SENTENCE)
    page.locator("[data-name='decoder.layers.0.self_attention'][data-head='0']").click()
    assert run(page, ".gb-machine", runOnly=RULES) == []
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_the_site_serves_the_package_s_weights_byte_for_byte():
    for file in assets.model_files():
        assert (SITE / "_static/machine/model" / file.name).read_bytes() == file.read_bytes()


def test_the_numbers_of_the_prose_are_the_model_s():
    prose = (ROOT / PAGE).with_suffix(".md").read_text(encoding="utf-8")
    card = (assets.model_files()[0].parent / "CARD.md").read_text(encoding="utf-8")
    for _, piece, probability in scene.first_scene().likely(0)[:2]:
        assert f"{probability:.3f} for `{piece}`" in prose
    said = {
        "138,612": "some 138,600 pairs",
        "7,066,624": "7 million",
        "2.52": "two and a half hours",
    }
    for number, words in said.items():
        assert number in card
        assert words in prose
