"""The widgets of the built pages play: light, dark, wide, narrow; they stand without a script."""

import json
import re

import pytest

from tests.site.conftest import ROOT, SITE, chapters, pages

PLAYGROUND = "chapters/04_scaled_dot_product.html"
HAVE = [
    page
    for page in chapters()
    if 'class=\\"gb-widget\\"' in (ROOT / page).with_suffix(".ipynb").read_text(encoding="utf-8")
]
each_chapter = pytest.mark.parametrize("page_with_widgets", HAVE)


def printed(name: str) -> dict[str, list[str]]:
    """The lines that a cell of the chapter has printed: their names and their numbers."""
    notebook = json.loads((ROOT / PLAYGROUND).with_suffix(".ipynb").read_text(encoding="utf-8"))
    (cell,) = (cell for cell in notebook["cells"] if cell["id"] == name)
    lines = "".join(cell["outputs"][0]["text"]).splitlines()
    return {line.split("  ")[0]: re.findall(r"\d\.\d\d", line) for line in lines}


def given(page):
    """What the token that asks gives, as the widget says it."""
    said = page.locator(".gb-widget [data-part='said']").inner_text()
    return re.findall(r"\d\.\d\d(?= to)", said)


@each_chapter
def test_every_widget_is_awake_and_follows_the_colour_mode(looks, page_with_widgets):
    seen = looks(page_with_widgets)
    for look in seen.values():
        for facts in look.facts.values():
            assert len(facts["widgets"]) > 0
            assert all(widget["awake"] and widget["inside"] for widget in facts["widgets"])
    light, dark = seen["wide"].facts["light"], seen["wide"].facts["dark"]
    for one, other in zip(light["widgets"], dark["widgets"], strict=True):
        assert one["ground"] != other["ground"]


@pytest.mark.parametrize("file", ["widgets.js", "widgets.css"])
def test_a_page_asks_for_script_and_style_once_and_only_where_there_are_widgets(file):
    for name in pages():
        text = (SITE / name).read_text(encoding="utf-8")
        asked = text.count(f"_static/glassbox/{file}?v=")
        assert asked == ('<div class="gb-widget"' in text), name
        assert asked or name not in HAVE


@each_chapter
def test_a_page_without_scripts_shows_them_in_their_first_state(read, page_with_widgets):
    page = read(page_with_widgets, java_script_enabled=False).page
    for widget in page.locator(".gb-widget").all():
        assert len(widget.inner_text().split()) > 20
        for control in widget.locator("button, input[type=range]").all():
            assert not control.is_visible()


def test_widgets_follow_the_switch_of_the_page(read):
    page = read(PLAYGROUND).page
    colour = "getComputedStyle(document.querySelector('.gb-widget')).backgroundColor"
    light = page.evaluate(colour)
    page.locator(".theme-switch-button").first.click()
    page.wait_for_function(f"light => {colour} !== light", arg=light)


def test_the_playground_gives_what_the_chapter_prints(read, width):
    page = read(PLAYGROUND, width=width).page
    query, key = (page.locator(f".gb-widget [data-part='{name}']") for name in ("query", "key"))
    expected = printed("tried")
    assert given(page) == expected.pop("at first")
    cases = {
        "query doubled": [(query, 2, "6")],
        "query of nothing": [(query, 2, "0")],
        "query of verbs": [(query, 2, "0"), (query, 3, "3")],
        "key halved": [(key, 4, "0.5")],
    }
    for name, changes in cases.items():
        for fields, place, number in changes:
            fields.nth(place).fill(number)
        assert given(page) == expected.pop(name)
        page.get_by_role("button", name="Reset").click()
    assert not expected


LOWEST = """() => Math.max(...[...document.querySelector('.gb-planes svg').children]
  .filter((shape) => !/gb-(grid|axis|name)/.test(shape.getAttribute('class')))
  .map((shape) => shape.getBoundingClientRect().bottom))"""


@pytest.mark.parametrize("page", ["chapters/03_self_attention.html", PLAYGROUND])
def test_the_arrows_of_the_first_picture_are_on_the_first_screen(read, page, width):
    seen = read(page, width=width).page
    seen.set_viewport_size({"width": width, "height": 800})
    assert 0 < seen.evaluate(LOWEST) < 800


def test_values_move_no_weight_and_the_keyboard_reaches_them(read):
    page = read(PLAYGROUND).page
    before = given(page)
    page.locator(".gb-widget [data-part='value']").first.focus()
    page.keyboard.press("ArrowUp")
    assert page.evaluate("document.activeElement.value") == "1.5"
    assert given(page) == before
    context = page.locator(".gb-widget [data-part='context']").all_inner_texts()
    page.keyboard.press("ArrowUp")
    assert page.locator(".gb-widget [data-part='context']").all_inner_texts() != context


def test_an_arrow_is_dragged(read, width):
    page = read(PLAYGROUND, width=width).page
    before = given(page)
    handle = page.locator(".gb-handle[data-name='query']")
    handle.scroll_into_view_if_needed()
    box = handle.bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.mouse.down()
    page.mouse.move(box["x"], box["y"] - 40, steps=4)
    page.mouse.up()
    assert given(page) != before
