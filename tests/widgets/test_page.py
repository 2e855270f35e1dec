"""Widgets in a real browser: they compute what the package computes, and disturb nothing."""

import math
import re
from functools import partial
from typing import Any

import pytest
import torch
from playwright.sync_api import Locator, Page

from glassbox import scaled_dot_product_attention
from glassbox.attention import simple_self_attention
from glassbox.data import everyday
from glassbox.positional import sinusoidal_encoding
from glassbox.tokenization import BPE
from glassbox_book.templates import fixed
from glassbox_book.widgets import (
    assets,
    positional_encoding,
    rotary_arrows,
    softmax_temperature,
    stepper,
    vocabulary_slider,
)
from glassbox_book.widgets.vocabulary_slider import cut, merges_at
from tests import axe
from tests.widgets.conftest import (
    KEY,
    LAB,
    QUERY,
    SCORES,
    VALUE,
    WIDGETS,
    WORDS,
    Show,
    alone,
    every_widget,
    playground,
)

each = pytest.mark.parametrize("make", WIDGETS.values(), ids=WIDGETS)
width = pytest.mark.parametrize("width", [1400, 390])

#: Everything in a widget but what a script writes down for itself.
STATE = """() => [...document.querySelectorAll('.gb-widget *')].map((e) => [
    e.tagName, e.value, e.checked, e.children.length ? '' : e.textContent,
    ...[...e.attributes].filter((a) => !['aria-invalid', 'aria-disabled'].includes(a.name))
        .map((a) => `${a.name}=${a.value.replace(/;? *$/, '').replace(/([:;]) /g, '$1')
            .replace(/\\.0(?=%|px)/g, '')}`).sort(),
].join('|'))"""


def part(page: Page, name: str) -> Locator:
    return page.locator(f'[data-part="{name}"]')


def texts(page: Page, name: str) -> list[str]:
    return part(page, name).all_inner_texts()


def differences(before: list[str], after: list[str]) -> list[tuple[str, str]]:
    """Where two states differ, except for what is said about a step that somebody went to."""
    pairs = zip(before, after, strict=True)
    return [(a, b) for a, b in pairs if a != b and not a.startswith("P||||aria-live")]


def slide(page: Page, name: str, value: int) -> None:
    """Move a slider as a reader does, whatever step it is at."""
    part(page, name).fill(str(value))


def is_clean(shown: Any) -> bool:
    assert shown.problems == []
    assert shown.foreign == []
    return True


@each
def test_a_script_that_takes_over_changes_nothing(show: Show, make: Any) -> None:
    shown = show(make(WORDS))
    page = shown.page
    page.wait_for_selector("[data-awake]")
    before = page.evaluate(STATE)
    page.evaluate(
        """document.querySelector('.gb-widget input').dispatchEvent(
            new Event('input', { bubbles: true }))"""
    )
    after = page.evaluate(STATE)
    assert differences(before, after) == []
    assert is_clean(shown)


@each
def test_what_stands_there_is_drawn_from_any_state_again(show: Show, make: Any) -> None:
    """What Python drew and what the script draws are the same for other numbers too."""
    page = show(make(WORDS)).page
    page.wait_for_selector("[data-awake]")
    before = page.evaluate(STATE)
    for control in page.locator("input[type=range], input[type=number]").all():
        was = control.input_value()
        control.fill("2" if was != "2" else "1")
        assert page.evaluate(STATE) != before
        control.fill(was)
    assert differences(before, page.evaluate(STATE)) == []


def test_weights_at_any_temperature_are_those_of_torch(show: Show) -> None:
    scores = torch.tensor(SCORES, dtype=torch.float64)
    page = show(softmax_temperature(SCORES, list("abcd"))).page
    for temperature in (0.05, 0.1, 0.3, 0.5, 0.8, 1.0, 1.5, 2.0, 5.0, 8.0, 20.0):
        slide(page, "temperature", round(177 * math.log(temperature) / math.log(20)))
        assert [float(text) for text in texts(page, "temperature-shown")] == [temperature]
        weights = (scores / temperature).softmax(dim=0)
        bits = torch.special.entr(weights).sum().item() / torch.log(torch.tensor(2.0)).item()
        assert texts(page, "weight") == [fixed(a, 3) for a in weights.tolist()]
        assert texts(page, "scaled") == [fixed(s) for s in (scores / temperature).tolist()]
        assert texts(page, "entropy") == [fixed(bits)]
        assert texts(page, "alike") == [fixed(2**bits, 1)]
        bars = page.locator(".gb-bars div > span").evaluate_all(
            "bars => bars.map((bar) => bar.offsetWidth / bar.parentElement.offsetWidth)"
        )
        assert bars == pytest.approx(weights.tolist(), abs=0.01)


def test_temperature_moves_with_the_keyboard(show: Show) -> None:
    page = show(softmax_temperature(SCORES, list("abcd"))).page
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.dataset.part") == "temperature"
    page.keyboard.press("End")
    assert texts(page, "temperature-shown") == ["20.0"]
    page.keyboard.press("ArrowLeft")
    assert texts(page, "temperature-shown") == ["19.7"]


def test_your_text_is_cut_as_the_package_cuts_it_at_any_number_of_merges(show: Show) -> None:
    merges = BPE.train(everyday(), 600).merges
    page = show(vocabulary_slider(merges, "the fastest")).page
    for text in ("slowest, they're  naïve", "привет 1,000 €", "👩 tea\tcup \x7f", ""):
        part(page, "text").fill(text)
        for place in (0, 5, 20, 35, 50):
            slide(page, "merges", place)
            used = merges_at(place, len(merges))
            tokens = cut(text, merges[:used])
            assert page.locator(".gb-token bdi").all_text_contents() == tokens
            assert texts(page, "merges-shown") == [f"{used:,}"]
            assert texts(page, "count") == [str(len(tokens))]
            assert texts(page, "size") == [f"{256 + used:,}"]


def attend(page: Page) -> dict[str, list[str]]:
    """What the tables of a playground have to say for the numbers in its fields."""
    vectors = [
        torch.tensor([float(field.input_value()) for field in part(page, name).all()]).view(-1, 2)
        for name in ("query", "key", "value")
    ]
    q, k, v = (vector.double() for vector in vectors)
    context, weights = scaled_dot_product_attention(q, k, v)
    tables = {"product": q @ k.T, "score": q @ k.T / 2**0.5, "weight": weights, "context": context}
    return {name: [fixed(x) for x in table.flatten().tolist()] for name, table in tables.items()}


def shown_tables(page: Page) -> dict[str, list[str]]:
    return {name: texts(page, name) for name in ("product", "score", "weight", "context")}


def test_typed_numbers_go_through_the_whole_of_attention(show: Show) -> None:
    page = show(playground()).page
    for name, place, number in (
        *(("query", 0, "-3"), ("query", 1, "0.35"), ("key", 3, "9"), ("key", 4, "-9")),
        *(("value", 5, "-0.01"), ("query", 5, "0")),
    ):
        part(page, name).nth(place).fill(number)
        assert shown_tables(page) == attend(page)


def test_a_dragged_arrow_changes_its_numbers(show: Show) -> None:
    shown = show(playground())
    page = shown.page
    for name, row in (("key", 1), ("query", 0), ("value", 2)):
        handle = page.locator(f'.gb-handle[data-name="{name}"][data-row="{row}"]')
        box = handle.bounding_box()
        assert box is not None
        x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
        before = [field.input_value() for field in part(page, name).all()]
        page.mouse.move(x, y)
        page.mouse.down()
        page.mouse.move(x + 20, y + 30, steps=4)
        page.mouse.up()
        after = [float(field.input_value()) for field in part(page, name).all()]
        moved = [i for i, was in enumerate(before) if float(was) != after[i]]
        assert moved == [2 * row, 2 * row + 1]
        assert after[2 * row] > float(before[2 * row])
        assert after[2 * row + 1] < float(before[2 * row + 1])
        assert shown_tables(page) == attend(page)
    assert is_clean(shown)


def test_a_finger_drags_an_arrow_and_scrolls_beside_it(show: Show) -> None:
    touch = {"width": 390, "has_touch": True, "is_mobile": True}
    page = show(playground(), body="<style>body { min-height: 4000px }</style>", **touch).page
    handle = page.locator('.gb-handle[data-name="query"][data-row="0"]').bounding_box()
    plane = page.locator(".gb-planes svg").first.bounding_box()
    assert handle is not None
    assert plane is not None
    finger = page.context.new_cdp_session(page)

    def drag(x: float, y: float) -> None:
        send = partial(finger.send, "Input.dispatchTouchEvent")
        send({"type": "touchStart", "touchPoints": [{"x": x, "y": y}]})
        for step in range(1, 11):
            send({"type": "touchMove", "touchPoints": [{"x": x + 2 * step, "y": y - 4 * step}]})
        send({"type": "touchEnd", "touchPoints": []})

    def numbers() -> list[float]:
        return [float(field.input_value()) for field in part(page, "query").all()]

    x = numbers()[0]
    drag(handle["x"] + handle["width"] / 2, handle["y"] + handle["height"] / 2)
    page.wait_for_function("x => document.querySelector('[data-part=query]').value > x", arg=x)
    dragged = numbers()
    assert page.evaluate("scrollY") == 0
    drag(plane["x"] + plane["width"] - 40, plane["y"] + plane["height"] - 10)
    page.wait_for_function("scrollY > 0")
    assert numbers() == dragged


def test_one_vector_of_a_token_asks_is_found_and_is_averaged(show: Show) -> None:
    shown = show(alone())
    page = shown.page

    def follows() -> None:
        numbers = [float(field.input_value()) for field in part(page, "vector").all()]
        x = torch.tensor(numbers).view(-1, 2).double()
        context, weights = simple_self_attention(x)
        for name, table in {"score": x @ x.T, "weight": weights, "context": context}.items():
            assert texts(page, name) == [fixed(number) for number in table.flatten().tolist()]

    follows()
    part(page, "vector").nth(3).fill("-2.5")
    follows()
    before = texts(page, "context")
    box = page.locator('.gb-handle[data-name="vector"][data-row="0"]').bounding_box()
    assert box is not None
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x - 30, y + 20, steps=4)
    page.mouse.up()
    assert texts(page, "context") != before
    follows()
    page.get_by_role("button", name="Reset").click()
    assert [field.input_value() for field in part(page, "vector").all()][:2] == ["1", "0.5"]
    follows()
    assert is_clean(shown)


def test_an_arrow_stays_in_the_plane_and_its_plane_where_it_is(show: Show) -> None:
    page = show(playground()).page
    plane = part(page, "mixing")
    extent = plane.get_attribute("data-extent")
    box = page.locator('.gb-handle[data-name="value"]').first.bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + 5, box["y"] + 5)
    page.mouse.down()
    page.mouse.move(5000, -5000, steps=3)
    assert part(page, "value").nth(0).input_value() == extent
    assert part(page, "value").nth(1).input_value() == extent
    assert plane.get_attribute("data-extent") == extent
    page.mouse.up()
    assert int(plane.get_attribute("data-extent") or 0) > int(extent or 0)


def test_another_token_asks(show: Show) -> None:
    page = show(playground()).page
    assert texts(page, "said")[0].startswith("time gives")
    page.get_by_label("arrow asks", exact=True).check()
    said = texts(page, "said")[0]
    weights, context = (attend(page)[name] for name in ("weight", "context"))
    assert said == (
        f"arrow gives {weights[6]} to time, {weights[7]} to flies and {weights[8]} to itself, "
        f"and its context is ({context[4]}, {context[5]})."
    )
    page.keyboard.press("ArrowUp")
    assert texts(page, "said")[0].startswith("flies gives")
    asks = page.locator("tr[data-asking] th").all_inner_texts()
    assert asks == ["flies"] * 4


def test_what_is_no_number_is_named_and_changes_nothing(show: Show) -> None:
    page = show(playground()).page
    before = shown_tables(page)
    field = part(page, "key").nth(2)
    for wrong in ("", "12", "-9.5"):
        field.fill(wrong)
        assert field.get_attribute("aria-invalid") == "true"
        assert texts(page, "said")[0].startswith(
            "In the key of flies, x must be between −9 and 9. Until it is, 0.00 is used. time gives"
        )
        assert shown_tables(page) == before
    field.fill("0")
    assert field.get_attribute("aria-invalid") == "false"
    assert texts(page, "said")[0].startswith("time gives")


def test_reset_brings_everything_back_and_enter_sends_nothing(show: Show) -> None:
    page = show(playground()).page
    before = page.evaluate(STATE)
    part(page, "value").first.fill("7")
    page.get_by_label("arrow asks", exact=True).check()
    url = page.url
    part(page, "value").first.press("Enter")
    assert page.url == url
    assert page.evaluate(STATE) != before
    page.get_by_role("button", name="Reset").click()
    assert page.evaluate(STATE) == before


def test_components_and_products_at_any_position_are_those_of_the_package(show: Show) -> None:
    page = show(positional_encoding(16, 32, base=100.0)).page
    for position, shift in ((0, 0), (31, 16), (7, 1), (20, 13)):
        slide(page, "position", position)
        slide(page, "shift", shift)
        at = torch.tensor([position, position + shift])
        here, there = sinusoidal_encoding(at, 16, base=100.0).double()
        rows = torch.stack([here.view(-1, 2), there.view(-1, 2)], dim=1).flatten()
        cells = page.locator('[data-part="component"]').all_text_contents()
        assert cells == [fixed(number) for number in rows.tolist()]
        assert texts(page, "said") == [
            f"Positions {position} and {position + shift}: dot product "
            f"{fixed((here @ there).item())} of at most 8, as for any two positions {shift} apart."
            + (f" The curve ends before position {at[1]}." if at[1] >= 32 else "")
        ]
        every = sinusoidal_encoding(torch.arange(32), 16, base=100.0).double()
        curve = page.locator(".gb-line").get_attribute("d") or ""
        heights = [float(point.split()[1]) for point in re.split("[ML]", curve)[1:]]
        low = min(float(page.locator("[data-low]").get_attribute("data-low") or 0), 0.0)
        drawn = (1 - (every @ here / 8 - low) / (1 - low)) * 100
        assert heights == pytest.approx(drawn.tolist(), abs=0.051)
        assert page.locator(".gb-dot.gb-there").is_visible() == (position + shift < 32)


def test_the_dot_product_of_a_shift_is_the_same_everywhere(show: Show) -> None:
    page = show(positional_encoding(shift=4)).page
    said = set()
    for position in (0, 17, 63):
        slide(page, "position", position)
        said.add(re.sub(r"Positions \d+ and \d+|(?<=apart\.).*", "", texts(page, "said")[0]))
    assert len(said) == 1


def test_arrows_turn_as_python_draws_them(show: Show) -> None:
    q, k = [1.0, 0.2, 0.5, -1.0, 0.3, 0.3], [0.8, 0.0, -0.3, 0.9, 1.0, -0.5]
    page = show(rotary_arrows(q, k, 32, base=50.0)).page
    for position, distance in ((0, 0), (31, 16), (9, 4)):
        slide(page, "position", position)
        slide(page, "distance", distance)
        drawn = page.locator(".gb-turns").inner_html(), texts(page, "said")
        other = show(rotary_arrows(q, k, 32, base=50.0, position=position, distance=distance))
        assert drawn == (other.page.locator(".gb-turns").inner_html(), texts(other.page, "said"))
        page = other.page


def test_moving_query_and_key_together_turns_the_arrows_and_keeps_the_score(show: Show) -> None:
    page = show(rotary_arrows([1, 0.2, 0.5, -1], [0.8, 0, -0.3, 0.9], distance=4)).page
    scores, arrows = set(), set()
    for position in (0, 17, 63):
        slide(page, "position", position)
        scores.add(texts(page, "said")[0].split(": ")[1])
        arrows.add(part(page, "arrow").first.get_attribute("d"))
    assert (len(scores), len(arrows)) == (1, 3)


def current(page: Page) -> str:
    return page.locator(".gb-frames > li:visible > p").inner_text()


def test_steps_go_forward_and_back_by_buttons_keys_and_slider(show: Show) -> None:
    page = show(WIDGETS["stepper"](WORDS)).page
    page.get_by_role("button", name="Next").click()
    assert current(page) == "A pair."
    assert texts(page, "said") == ["A pair."]
    assert texts(page, "frame-shown") == ["2"]
    page.keyboard.press("ArrowRight")
    assert current(page) == "A token."
    page.keyboard.press("ArrowRight")
    assert current(page) == "A token."
    assert part(page, "next").get_attribute("aria-disabled") == "true"
    page.get_by_role("button", name="Back").click()
    assert current(page) == "A pair."
    page.keyboard.press("ArrowLeft")
    assert current(page) == "Letters."
    part(page, "frame").focus()
    page.keyboard.press("End")
    assert current(page) == "A token."
    page.keyboard.press("ArrowLeft")
    assert current(page) == "A pair."


def test_steps_are_played_to_the_end_and_again(show: Show) -> None:
    frames: list[Any] = [(f"Step {i}.", [["word"]]) for i in range(4)]
    page = show(stepper(frames, start=2, seconds=0.2), own=True).page
    page.clock.install(time=0)  # no time goes by but what is told to
    page.clock.pause_at(1)
    play = part(page, "play")
    play.click()
    assert play.inner_text() == "Pause"
    page.clock.run_for(200)
    assert (current(page), play.inner_text()) == ("Step 3.", "Play")
    play.click()
    assert current(page) == "Step 0."
    page.clock.run_for(399)
    assert (current(page), play.inner_text()) == ("Step 1.", "Pause")
    play.click()
    assert play.inner_text() == "Play"
    page.clock.run_for(10_000)
    assert current(page) == "Step 1."


@width
def test_nothing_moves_while_a_reader_plays(show: Show, width: int) -> None:
    page = show(*every_widget(), width=width).page
    heights = "[...document.querySelectorAll('.gb-widget')].map((e) => e.offsetHeight)"
    before = page.evaluate(heights)
    part(page, "next").click()
    slide(page, "temperature", 50)
    slide(page, "shift", 9)
    part(page, "query").first.fill("-8.25")
    page.get_by_label("arrow asks", exact=True).check()
    assert page.evaluate(heights) == before


def test_several_widgets_on_a_page_do_not_disturb_one_another(show: Show) -> None:
    shown = show(*every_widget(), *every_widget())
    page = shown.page
    states = "[...document.querySelectorAll('.gb-widget')].map((e) => e.innerHTML + " + (
        "[...e.querySelectorAll('input')].map((i) => i.value + i.checked))"
    )
    before = page.evaluate(states)
    numbers = "input[type=range], input[type=number]"
    for number in range(len(WIDGETS)):
        page.locator(".gb-widget").nth(number).locator(numbers).first.fill("2")
        after = page.evaluate(states)
        changed = [i for i in range(2 * len(WIDGETS)) if before[i] != after[i]]
        assert changed == [number]
        before = after
    page.locator("input[type=radio]").nth(1).check()
    assert page.locator("input[type=radio]:checked").count() == 2
    assert is_clean(shown)


@pytest.mark.parametrize(("width", "dark"), [(1400, False), (390, True)])
def test_axe_finds_nothing_and_nothing_is_wider_than_the_page(
    show: Show, width: int, dark: bool
) -> None:
    wide = playground(["extraordinarily", "flies", "arrow"], features=("noun", "verb"))
    shown = show(*every_widget(), wide, width=width, dark=dark)
    page = shown.page
    page.wait_for_selector("[data-awake]")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.locator("details").evaluate_all("all => all.forEach((each) => { each.open = true })")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert axe.run(page, "main", runOnly=axe.RULES) == []
    part(page, "key").first.fill("9")
    part(page, "next").click()
    slide(page, "temperature", -177)
    assert axe.run(page, "main", runOnly=axe.RULES) == []
    assert is_clean(shown)


def test_what_has_the_focus_is_outlined(show: Show) -> None:
    page = show(*every_widget()).page
    seen = set()
    for _ in range(40):
        page.keyboard.press("Tab")
        style = page.evaluate(
            """() => {
                const at = document.activeElement;
                return at.closest('.gb-widget') &&
                    [at.dataset.part ?? at.tagName, getComputedStyle(at).outlineStyle, at.type];
            }"""
        )
        if style:
            seen.add(style[0])
            assert style[1] == ("none" if style[2] == "range" else "solid"), style
    assert {"temperature", "query", "reset", "position", "shift", "SUMMARY", "play"} <= seen
    slider = page.locator("input[type=range]").first  # its knob has the outline
    page.evaluate("document.activeElement.blur()")
    before = slider.screenshot()
    page.keyboard.press("Tab")
    slider.focus()
    assert slider.screenshot() != before


@pytest.mark.parametrize("how", ["without scripts", "on paper"])
def test_all_is_there_without_scripts_and_on_paper(show: Show, how: str) -> None:
    options = {"java_script_enabled": False} if how == "without scripts" else {}
    page = show(*every_widget(), **options).page
    if how == "on paper":
        page.emulate_media(media="print")
    for text in ("Letters.", "A pair.", "A token.", "time gives", "Positions 3 and 5"):
        assert page.get_by_text(text).first.is_visible()
    for control in page.locator("button, input[type=range]").all():
        assert not control.is_visible()
    boxes = [row.bounding_box() for row in page.locator(".gb-frames > li").all()]
    tops = [box["y"] for box in boxes if box]
    assert tops == sorted(set(tops))


def test_an_output_of_its_own_plays_where_there_is_no_site(show: Show) -> None:
    shown = show(*every_widget(), mode="inline", head="", body='data-jp-theme-light="true"')
    page = shown.page
    slide(page, "temperature", 177)
    assert texts(page, "temperature-shown") == ["20.0"]
    part(page, "key").first.fill("4")
    assert texts(page, "context") == attend(page)["context"]
    part(page, "next").click()
    assert current(page) == "A pair."
    assert is_clean(shown)


def test_colours_follow_the_light_or_dark_of_jupyterlab(show: Show) -> None:
    page = show(playground(), mode="inline", head="", body='data-jp-theme-light="true"').page
    ink = "getComputedStyle(document.querySelector('.gb-widget')).color"
    assert page.evaluate(ink) == "rgb(35, 40, 44)"
    page.evaluate("document.body.dataset.jpThemeLight = 'false'")
    assert page.evaluate(ink) == "rgb(216, 216, 216)"


def test_jupyterlab_s_server_gives_committed_outputs_their_script_once(show: Show) -> None:
    shown = show(*every_widget(), head=LAB)
    page = shown.page
    awake = "n => document.querySelectorAll('[data-awake]').length === n"
    page.wait_for_function(awake, arg=len(WIDGETS))
    scripts = page.locator(f"script[src$='{assets.SCRIPT_NAME}']")
    assert scripts.count() == 1
    slide(page, "temperature", 177)
    assert texts(page, "temperature-shown") == ["20.0"]
    assert is_clean(shown)


def test_a_page_without_site_and_server_keeps_the_first_state(show: Show) -> None:
    shown = show(*every_widget(), head="")
    assert shown.page.locator("[data-awake]").count() == 0
    assert texts(shown.page, "weight")[:3] == [
        fixed(a, 3) for a in torch.tensor(SCORES[:3]).softmax(dim=0).tolist()
    ]
    assert is_clean(shown)


def test_the_numbers_of_these_tests_are_not_trivial() -> None:
    weights = scaled_dot_product_attention(*(torch.tensor(a) for a in (QUERY, KEY, VALUE)))[1]
    assert len({fixed(w) for w in weights.flatten().tolist()}) > 3
