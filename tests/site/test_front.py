"""The front page shows what the translator does, and answers; the map and the tour are current."""

import json
import re

import pytest

from glassbox.translation import Translator
from glassbox_site.front import FAINTEST, SCENES
from glassbox_site.pieces import pieces
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


def test_a_token_says_what_it_looks_at_to_pointer_finger_and_keyboard(read, width):
    page = read(FRONT, width=width, has_touch=width == 390).page
    tokens, said = page.locator(f"{STAGE} .gb-to .gb-t"), page.locator(".gb-said")
    (tokens.nth(4).tap if width == 390 else tokens.nth(4).hover)()
    page.wait_for_function("document.querySelector('.gb-said b')?.textContent === '␣red'")
    row = scenes()[0]["weights"][4]
    assert said.inner_text().startswith(f"␣red looks at ␣rouge {max(row):.2f}")
    lit = page.locator(f"{STAGE} path.gb-on").evaluate_all("all => all.map(p => p.dataset.q)")
    assert set(lit) == {"4"}
    tokens.first.focus()
    page.keyboard.press("ArrowRight" if width == 1400 else "ArrowDown")
    page.wait_for_function("document.querySelector('.gb-said b')?.textContent === '␣gave'")
    page.keyboard.press("ArrowUp" if width == 1400 else "ArrowLeft")
    page.wait_for_function("document.querySelector('.gb-said b').className === 'gb-key-ink'")


def test_the_translation_is_written_one_token_at_a_time(read):
    page = read(FRONT).page
    page.locator(".gb-choice input").nth(1).check()
    written = page.locator(f"{STAGE} .gb-to .gb-t:not(.gb-later)")
    total = len(scenes()[1]["written"])
    assert written.count() == total
    page.locator("[data-do=back]").click()
    assert written.count() == total - 1
    page.locator("[data-do=play]").click()
    page.wait_for_function(
        "count => document.querySelector('.gb-stage:not([hidden])').dataset.step == count",
        arg=total,
    )
    page.wait_for_function("document.querySelector('[data-do=play]').textContent === 'Play'")
    assert written.count() == total


def test_the_whole_scene_is_above_the_fold(read):
    for width, height in (1400, 1000), (390, 844):
        page = read(FRONT, viewport={"width": width, "height": height}).page
        for place in (".gb-start a >> nth=2", f"{STAGE} .gb-to .gb-t >> nth=-1", "[data-do=play]"):
            box = page.locator(place).bounding_box()
            assert box is not None
            assert box["y"] + box["height"] <= height, (width, place)


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


def test_the_tour_has_something_to_see_at_each_stop(soup):
    stops = soup("chapters/tour.html").select("article section section")[:-1]
    assert 8 <= len(stops) <= 12
    for stop in stops:
        assert stop.select_one(".gb-piece").select("svg, .gb-widget, .glassbox-view")
        assert stop.select("a[href*='_'][href*='#fig-']"), stop.h2
