"""What a mouse can do in a view, a keyboard can; and what is seen can be heard."""

import pytest

from glassbox_book.viz import head_view, model_view, neuron_view
from tests import axe
from tests.viz.conftest import TOKENS, Drawn, Show, every_view, luminance, records, site

FOCUSED = "document.activeElement.getAttribute('aria-label')"


OPEN = "all => all.forEach((each, i) => { each.open = %s; })"
CONTRAST = "color-contrast"  # takes axe most of its time, so each word is judged once in a theme
NO_CONTRAST = {CONTRAST: {"enabled": False}}


@pytest.mark.parametrize(("theme", "width"), [("light", 1400), ("dark", 390)])
def test_axe_finds_nothing(show: Show, theme: str, width: int) -> None:
    shown = show(*every_view(), attributes=site(theme), width=width)
    tables = shown.page.locator("details")
    if theme == "light":  # the page of these tests has no dark colours
        assert axe.run(shown.page, runOnly=axe.RULES, rules=NO_CONTRAST) == []
        tables.evaluate_all(OPEN % "true")
    for frame in shown.frames:
        for opener in frame.locator(".expand, .map").all()[:1]:
            opener.click()
        frame.locator("text[role=button]:visible").first.focus()
    assert axe.run(shown.page, runOnly=axe.RULES, rules=NO_CONTRAST) == []
    if theme == "light":
        tables.evaluate_all(OPEN % "i === 0")  # the tables have the same colours
    assert axe.run(shown.page, runOnly=[CONTRAST]) == []


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_text_stands_out_from_the_paper(drawn: Drawn, theme: str) -> None:
    for frame in drawn(theme).frames:
        ratios = frame.evaluate(r"""() => {
          const luminance = (color) => {
            const [r, g, b] = color.match(/[\d.]+/g).map((c) =>
              c <= 10.31 ? c / 3294.6 : ((c / 255 + 0.055) / 1.055) ** 2.4);
            return 0.2126 * r + 0.7152 * g + 0.0722 * b;
          };
          const paper = luminance(getComputedStyle(document.body).backgroundColor);
          return [...document.querySelectorAll('svg text, .readout, label, strong, button')]
            .filter((e) => !e.closest('.numbers'))
            .map((e) => luminance(getComputedStyle(e)[e.closest('svg') ? 'fill' : 'color']))
            .map((ink) => (Math.max(ink, paper) + 0.05) / (Math.min(ink, paper) + 0.05));
        }""")
        assert min(ratios) >= 4.5


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_numbers_on_squares_are_legible(show: Show, theme: str) -> None:
    view = head_view(records(heads=12), TOKENS, heads=[0, 1, 2, 3, 4, 5, 6, 7])
    frame = show(view, attributes=site(theme)).frame
    assert frame.locator(".numbers .off").count() == 4
    colours = """(all) => all.map((e) => getComputedStyle(e).fill.match(/[\\d.]+/g).map(Number))"""
    squares = frame.locator("[aria-checked=true]").evaluate_all(colours)
    numbers = frame.locator(".numbers :is(.on-light, .on-dark)").evaluate_all(colours)
    assert len(squares) == len(numbers) == 8
    for pair in zip(squares, numbers, strict=True):
        darker, lighter = sorted(map(luminance, pair))
        assert (lighter + 0.05) / (darker + 0.05) >= 4.5


def test_everything_that_answers_to_the_mouse_has_a_role_and_a_name(drawn: Drawn) -> None:
    reachable = "[role][aria-label][tabindex]"
    for frame in drawn("light").frames:
        # D3 keeps the listeners that bertviz sets in a property of the element.
        unreachable = frame.evaluate(f"""() => {{
          const listening = (type) => [...document.querySelectorAll('#vis *')].filter((e) =>
            e.__on?.some((listener) => listener.type === type));
          return [
            listening('click').length + listening('mouseover').length,
            listening('click').filter((e) => !e.matches('{reachable}')).length,
            listening('mouseover').filter((e) =>
              !e.matches('{reachable}') && !e.querySelector('text{reachable}')).length,
          ];
        }}""")
        assert unreachable[0] > 4
        assert unreachable[1:] == [0, 0]
        assert frame.locator("select:not([aria-label])").count() == 0


def test_the_head_view_by_keyboard(show: Show) -> None:
    shown = show(head_view(records(), TOKENS))
    frame, keyboard = shown.frame, shown.page.keyboard
    frame.locator(".alone").focus()
    keyboard.press("Tab")
    assert frame.evaluate(FOCUSED) == "Head 0"
    keyboard.press("ArrowRight")
    keyboard.press("Space")
    square = frame.locator("[role=checkbox]").nth(1)
    assert square.get_attribute("aria-checked") == "false"
    keyboard.press("Shift+Enter")
    squares = frame.locator("[role=checkbox]").all()
    on = [each.get_attribute("aria-checked") for each in squares]
    assert on == ["false", "true", "false", "false"]
    keyboard.press("Tab")
    keyboard.press("End")
    assert frame.evaluate(FOCUSED) == "query 4: [SEP]"
    assert frame.locator("line[visibility=visible][left-token-index='4']").count() == 20
    assert (frame.locator(".readout").text_content() or "").startswith("[SEP] attends to")
    keyboard.press("Tab")
    keyboard.press("ArrowDown")
    assert frame.evaluate(FOCUSED) == "key 1: time"
    assert frame.locator("line[visibility=visible][right-token-index='1']").count() == 20
    keyboard.press("Escape")
    assert frame.locator("line[visibility=visible]").count() == 0


def test_the_neuron_view_by_keyboard(show: Show) -> None:
    shown = show(neuron_view(records(), TOKENS))
    frame, keyboard = shown.frame, shown.page.keyboard
    frame.locator(".expand").focus()
    keyboard.press("Tab")
    keyboard.press("ArrowDown")
    assert frame.evaluate(FOCUSED) == "query 1: time"
    keyboard.press("Tab")
    assert frame.evaluate(FOCUSED) == "Show queries and keys"
    keyboard.press("Enter")
    assert frame.locator("#expanded").get_attribute("visibility") == "visible"
    assert frame.locator(".expand").get_attribute("aria-expanded") == "true"
    frame.locator(".expand").focus()
    keyboard.press("Tab")
    keyboard.press("ArrowDown")
    assert frame.locator("#product").evaluate("e => e.style.opacity") == "1"
    keyboard.press("Space")
    assert frame.locator("#collapsed").get_attribute("visibility") == "visible"
    frame.locator(".expand").press("Enter")
    assert frame.locator("#expanded").get_attribute("visibility") == "visible"


def test_the_model_view_by_keyboard(show: Show) -> None:
    shown = show(model_view(records(), TOKENS))
    frame, keyboard = shown.frame, shown.page.keyboard
    frame.locator(".map").first.focus()
    keyboard.press("ArrowDown")
    keyboard.press("ArrowRight")
    assert frame.evaluate(FOCUSED) == "Layer 1, head 1"
    keyboard.press("Enter")
    assert frame.locator("text.detail").text_content() == "Layer 1, Head 1"
    keyboard.press("Tab")
    keyboard.press("ArrowDown")
    assert frame.evaluate(FOCUSED) == "query 1: time"
    lit = frame.locator(".detail .attn-line-group")
    assert lit.evaluate_all("(all) => all.map((g) => +g.style.opacity)") == [0, 1, 0, 0, 0]
    keyboard.press("Escape")
    assert frame.locator(".detail").count() == 0
    assert frame.evaluate(FOCUSED) == "Layer 1, head 1"
