"""The front page shows what the translator does, and answers; the map and the tour are current."""

import json
import re
from collections import Counter

import pytest

from glassbox.translation import Translator
from glassbox_site.front import FAINTEST, SCENES
from glassbox_site.pieces import pieces
from tests.axe import RULES, run
from tests.site.conftest import ROOT, SITE, chapters
from tools import scenes as recorder

FRONT = "intro.html"
STAGE = ".gb-stage:not([hidden])"


def scenes():
    """What was recorded."""
    return json.loads(SCENES.read_text(encoding="utf-8"))


@pytest.mark.slow
def test_the_translations_are_what_the_translator_writes_and_where_it_looks():
    translator = Translator.from_pretrained(recorder.MODEL)
    recorded = scenes()
    assert [scene["text"] for scene in recorded] == list(recorder.SENTENCES)
    for then in recorded:
        now = recorder.scene(translator, then["text"])
        weights = now.pop("weights"), then.pop("weights")
        assert now == then
        for row, recorded_row in zip(*weights, strict=True):
            assert row == pytest.approx(recorded_row, abs=0.0015)
            assert sum(recorded_row) == pytest.approx(1, abs=0.01)


def test_the_head_of_the_front_page_is_the_one_that_chapter_8_finds(soup):
    found = f"writing: layer {recorder.LAYER}, head {recorder.HEAD}"
    assert found in (ROOT / "chapters/08_decoder.ipynb").read_text(encoding="utf-8")
    caption = " ".join(soup(FRONT).select_one(".gb-caption").get_text().split())
    assert f"layer {recorder.LAYER}, head {recorder.HEAD}," in caption


def test_every_weight_that_can_be_seen_is_a_ribbon_of_its_strength(soup):
    stages = soup(FRONT).select(".gb-stage")
    for stage, scene in zip(stages, scenes(), strict=True):
        visible = {
            (q, k): f"--w:{weight:.2f}"
            for q, row in enumerate(scene["weights"])
            for k, weight in enumerate(row)
            if weight >= FAINTEST
        }
        for drawing in stage.find_all("svg"):
            drawn = {(int(p["data-q"]), int(p["data-k"])): p["style"] for p in drawing("path")}
            assert drawn == visible
        for kind, tokens in (("from", scene["source"]), ("to", scene["written"])):
            shown = [token.get_text() for token in stage.select(f".gb-{kind} .gb-t")]
            assert shown == [token.replace(" ", "␣") for token in tokens]


def test_the_first_translation_is_there_without_a_script(read):
    page = read(FRONT, java_script_enabled=False).page
    boxes = [page.locator(f"{STAGE} {part}").first for part in (".gb-broad path", ".gb-to .gb-t")]
    assert all(box.is_visible() for box in boxes)
    assert not page.locator(".gb-play").is_visible()
    assert not page.locator("#pst-primary-sidebar").is_visible()


def test_a_browser_that_goes_back_does_not_mark_another_sentence_than_it_shows(read):
    page = read(FRONT).page
    page.locator(".gb-choice input").nth(2).check()
    page.goto(page.url.replace(FRONT, "chapters/about.html"))
    page.go_back()
    page.wait_for_selector(".gb-choice:not([hidden])")
    stages = "[...document.querySelectorAll('.gb-stage')].findIndex(({ hidden }) => !hidden)"
    marked = page.locator(".gb-choice input:checked").get_attribute("value")
    assert page.evaluate(stages) == int(marked)


def test_a_token_says_what_it_looks_at_to_pointer_finger_and_keyboard(read, width):
    page = read(FRONT, width=width, has_touch=width == 390).page
    tokens, said = page.locator(f"{STAGE} .gb-to .gb-t"), page.locator(".gb-telling")
    (tokens.nth(4).tap if width == 390 else tokens.nth(4).hover)()
    page.wait_for_function("document.querySelector('.gb-telling b')?.textContent === '␣red'")
    row = scenes()[0]["weights"][4]
    assert said.inner_text().startswith(f"␣red looks at ␣rouge {max(row):.2f}")
    lit = page.locator(f"{STAGE} path.gb-on").evaluate_all("all => all.map(p => p.dataset.q)")
    assert set(lit) == {"4"}
    tokens.first.focus()
    page.keyboard.press("ArrowRight" if width == 1400 else "ArrowDown")
    page.wait_for_function("document.querySelector('.gb-telling b')?.textContent === '␣gave'")
    page.keyboard.press("ArrowUp" if width == 1400 else "ArrowLeft")
    page.wait_for_function("document.querySelector('.gb-telling b').className === 'gb-key-ink'")


def test_the_keyboard_reaches_the_last_token_that_is_written_and_no_later_one(read):
    page = read(FRONT).page
    page.evaluate("window.focused = () => document.activeElement.textContent")
    for _ in range(4):
        page.locator("[data-do=back]").click()
    written = page.locator(f"{STAGE} .gb-to .gb-t")
    written.first.focus()
    page.keyboard.press("End")
    assert page.evaluate("focused()") == written.nth(3).text_content()
    page.locator(f"{STAGE} .gb-from .gb-t").first.focus()
    page.keyboard.press("End")
    page.keyboard.press("ArrowDown")
    assert page.evaluate("focused()") == written.nth(3).text_content()
    assert page.evaluate("scrollY") == 0
    page.locator("[data-do=back]").click()
    assert page.locator(f"{STAGE} .gb-to .gb-t:not(.gb-later)[tabindex='0']").count() == 1


def test_the_translation_is_written_one_token_at_a_time(read):
    page = read(FRONT).page
    page.locator(".gb-choice input").nth(1).check()
    written = page.locator(f"{STAGE} .gb-to .gb-t:not(.gb-later)")
    total = len(scenes()[1]["written"])
    assert written.count() == total
    page.locator("[data-do=back]").click()
    assert written.count() == total - 1
    page.locator("[data-do=play]").click()
    said = page.locator(".gb-telling")
    assert said.get_attribute("aria-live") == "off"  # not every token of a film
    page.wait_for_function(
        "count => document.querySelector('.gb-stage:not([hidden])').dataset.step == count",
        arg=total,
    )
    page.wait_for_function("document.querySelector('[data-do=play]').textContent === 'Play'")
    assert said.get_attribute("aria-live") == "polite"
    assert written.count() == total


def test_the_whole_scene_is_above_the_fold(read):
    for width, height in (1400, 1000), (390, 844):
        page = read(FRONT, viewport={"width": width, "height": height}).page
        for place in (".gb-start a >> nth=2", f"{STAGE} .gb-to .gb-t >> nth=-1", "[data-do=play]"):
            box = page.locator(place).bounding_box()
            assert box is not None
            assert box["y"] + box["height"] <= height, (width, place)


def drawn(page, stage):
    """What a drawing of a translation says: its tokens and their widths, its ribbons."""
    return page.locator(stage).evaluate(
        """stage => ({
            tokens: [...stage.querySelectorAll(".gb-t")].map((token) => token.textContent),
            classes: [...stage.querySelectorAll(".gb-t")].map((token) => token.classList.value.replace(/ ?gb-on/, "")),
            labels: [...stage.querySelectorAll("[role=group]")].map((row) => row.getAttribute("aria-label")),
            ribbons: [...stage.querySelectorAll("path")].map((path) => path.dataset.q + " " + path.dataset.k),
            numbers: [
                ...[...stage.querySelectorAll(".gb-t")].flatMap((token) => token.getAttribute("style").match(/[\\d.]+/g)),
                ...stage.getAttribute("style").match(/[\\d.]+/g),
            ].map(Number),
            weights: [...stage.querySelectorAll("path")].map((path) => +path.style.getPropertyValue("--w")),
            places: [...stage.querySelectorAll("path")].flatMap((path) => path.getAttribute("d").match(/[\\d.]+/g)).map(Number),
        })"""  # noqa: E501
    )


def own(page, text):
    page.locator("#gb-own").fill(text)
    page.locator(".gb-own button").click()
    page.wait_for_function(
        "['done', 'refused'].includes(document.querySelector('.gb-own').dataset.state)"
    )
    return page.locator(".gb-own p").inner_text()


def test_a_sentence_of_the_reader_s_is_drawn_like_those_of_the_page(read, width):
    seen = read(FRONT, width=width)
    page, sent = seen.page, []
    page.context.on("request", lambda request: sent.append(request.url))
    page.locator(".gb-choice input").nth(1).check()
    printed = drawn(page, STAGE)
    loaded = page.evaluate("performance.getEntriesByType('resource').map((each) => each.name)")
    assert len(loaded) > 10
    assert not [url for url in loaded if "/machine/" in url or "live.js" in url]
    recorded = scenes()[1]
    assert own(page, recorded["text"]) == recorded["translation"]
    assert [url for url in sent if url.endswith("model.safetensors")]
    assert page.locator(".gb-choice input:checked").count() == 0
    assert page.locator(STAGE).count() == 1
    live = drawn(page, f"{STAGE}[data-own]")
    for kind in ("tokens", "classes", "labels", "ribbons"):
        assert live[kind] == printed[kind]
    for kind, error in (("numbers", 0.021), ("weights", 0.011), ("places", 6)):
        assert live[kind] == pytest.approx(printed[kind], abs=error)

    assert run(page, ".gb-scene", runOnly=RULES) == []

    page.locator(f"{STAGE} .gb-to .gb-t").nth(1).click()  # and it answers in the same way
    assert page.locator(".gb-telling").inner_text().startswith("␣white looks at ␣bl 0.89")
    page.context.set_offline(True)
    assert own(page, "Thank you") == Translator.from_pretrained(recorder.MODEL).translate(
        "Thank you"
    )
    page.locator(".gb-choice input").nth(0).check()
    assert page.locator(f"{STAGE} .gb-to .gb-t").nth(4).inner_text() == "␣red"
    assert seen.problems == []
    assert seen.foreign == []


def test_nothing_is_loaded_for_an_empty_field_and_the_button_says_what_it_does(read):
    page, sent = read(FRONT).page, []
    page.context.on("request", lambda request: sent.append(request.url))
    button = page.locator(".gb-own button")
    assert "nothing to translate" in own(page, " ")
    assert not [url for url in sent if not url.endswith("favicon.svg")]  # it comes late
    assert button.inner_text().startswith("Load")
    assert "the page takes 24" in own(page, "word " * 30)
    assert button.inner_text() == "Translate"  # it is loaded, though that was refused


SHIFTS = """window.shifts = [];
new PerformanceObserver((list) => {
  for (const each of list.getEntries()) if (!each.hadRecentInput) shifts.push(each.value);
}).observe({ type: "layout-shift", buffered: true });"""


@pytest.mark.parametrize("kept", ["hidden", "shown", None])
def test_nothing_moves_when_the_page_arrives_and_the_contents_stay_behind_their_button(read, kept):
    page = read("chapters/about.html").page
    page.evaluate(
        "kept => localStorage.setItem('glassbox', JSON.stringify({contents: kept}))", kept
    )
    page.add_init_script(SHIFTS)
    page.goto(page.url.replace("chapters/about", "intro"), wait_until="load")
    page.evaluate("document.fonts.ready")
    page.wait_for_function("document.querySelector('.gb-play').checkVisibility()")
    sidebar = page.locator("#pst-primary-sidebar")
    sidebar.evaluate("bar => Promise.all(bar.getAnimations().map((each) => each.finished))")
    assert page.evaluate("new Promise((drawn) => setTimeout(() => drawn(shifts), 400))") == []
    assert not sidebar.is_visible()
    page.locator(".primary-toggle").click()
    sidebar.wait_for(state="visible")
    page.reload()
    assert not sidebar.is_visible()
    remembered = page.evaluate("JSON.parse(localStorage.getItem('glassbox')).contents")
    assert remembered == kept  # the other pages keep theirs


@pytest.mark.parametrize("name", [FRONT, "chapters/notation.html", "chapters/01_architecture.html"])
def test_the_columns_are_there_before_what_is_in_them(read, name):
    page = read(name).page
    column = page.locator(".bd-article-container")
    whole = column.bounding_box()
    page.evaluate("document.querySelector('.bd-article').replaceChildren()")
    assert [column.bounding_box()[side] for side in ("x", "width")] == [whole["x"], whole["width"]]


def test_the_caption_warns_of_unusual_sentences(soup):
    assert "a sentence is unusual" in soup(FRONT).select_one(".gb-caption").get_text()


def test_what_cannot_be_drawn_is_answered_with_a_sentence(read):
    page = read(FRONT).page
    page.context.route("**/model.safetensors", lambda route: route.fulfill(status=404))
    assert "the server answers 404" in own(page, "Thank you")
    page.context.unroute("**/model.safetensors")
    assert "nothing to translate" in own(page, "  ")
    assert "32 tokens, and the page takes 24" in own(page, "word " * 30)
    assert page.locator(f"{STAGE} .gb-to .gb-t").first.inner_text() == "␣She"
    assert own(page, "Merci beaucoup")


def test_front_page_is_light():
    page = (SITE / FRONT).read_text(encoding="utf-8")
    scene = page[page.index('<figure class="gb-scene"') : page.index("</figure>")]
    files = [SITE / "_static" / name for name in ("front.js", "front.css")]
    assert len(scene.encode()) + sum(file.stat().st_size for file in files) <= 60_000


def test_a_chapter_has_the_map_beside_its_title_with_itself_lit(soup, chapter):
    parts = soup(chapter).select("nav.gb-here a")
    assert sorted(part["href"] for part in parts) == [page[9:] for page in chapters()]
    (lit,) = (part for part in parts if part.get("aria-current") == "page")
    assert lit["href"] == chapter[9:]
    names = [part["aria-label"] for part in parts]
    assert all(re.fullmatch(r"Chapter \d+: .+", name) for name in names)


def test_everything_that_can_be_played_with_is_on_its_page(soup):
    links = [link["href"] for link in soup("chapters/play.html").select(".gb-playable li a")]
    found = [
        f"{page[9:]}#{piece.label}"
        for page in chapters()
        for piece in pieces((ROOT / page).with_suffix(".ipynb"))
        if piece.plays
    ]
    assert links == found
    assert len(found) > 10


def test_each_of_it_has_a_name_of_its_own_which_is_said_once(soup):
    items = soup("chapters/play.html").select(".gb-playable li p")
    names = [item.a.get_text() for item in items]
    assert [name for name, times in Counter(names).items() if times > 1] == []
    texts = {item.a.get_text(): item.get_text().replace("\n", " ") for item in items}
    assert [name for name, text in texts.items() if text.count(name) > 1] == []
    assert texts["From text to numbers"].startswith("From text to numbers The tokens of the source")


def test_each_of_it_has_a_small_picture_in_the_colours_of_both_themes(soup, read):
    items = soup("chapters/play.html").select(".gb-playable li")
    pictures = [str(item.find("svg", recursive=False)) for item in items]
    assert len(set(pictures)) > 0.9 * len(items) > 10
    for picture in pictures:
        assert len(re.findall("<(?:path|rect)", picture)) >= 1
        assert not re.search("#[0-9a-f]{3}", picture)
        assert len(picture) < 20_000
    assert sum(map(len, pictures)) < 200_000
    page = read("chapters/play.html", width=390).page
    box = page.locator(".gb-playable li > svg").first.bounding_box()
    assert min(box["width"], box["height"]) > 35
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


LETTERS = """() => [...document.querySelectorAll(".gb-piece svg text")]
  .filter((text) => text.checkVisibility()).map((text) => {
    const { a, b } = text.getScreenCTM();
    return parseFloat(getComputedStyle(text).fontSize) * Math.hypot(a, b);
  })"""


def test_no_letter_of_the_tour_is_too_small_for_a_phone(read):
    letters = read("chapters/tour.html", width=390).page.evaluate(LETTERS)
    assert len(letters) > 100
    assert min(letters) >= 10


def test_the_tour_has_something_to_see_at_each_stop(soup):
    stops = soup("chapters/tour.html").select("article section section")[:-1]
    assert 8 <= len(stops) <= 12
    for stop in stops:
        assert stop.select_one(".gb-piece").select("svg, .gb-widget, .glassbox-view")
        assert stop.select("a[href*='_'][href*='#fig-']"), stop.h2
