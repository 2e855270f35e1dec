"""The views in a real browser: drawn, independent, as high as said, in the page's colours."""

import re
from collections.abc import Sequence
from html import escape
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from playwright.sync_api import Page

from glassbox_book.outputs import read
from glassbox_book.viz import assets, head_view, model_view, neuron_view
from tests.viz.conftest import (
    HEADS,
    HOSTILE,
    SINGLE,
    TOKENS,
    VIEWS,
    Drawn,
    Show,
    every_view,
    luminance,
    records,
    switch,
)

PAPER = "getComputedStyle(document.body).backgroundColor"
LIGHT, DARK = "rgb(253, 253, 251)", "rgb(20, 25, 28)"

#: What webviews of VS Code allow: scripts and styles that stand in the page, and no others.
WEBVIEW = (
    '<meta http-equiv="Content-Security-Policy" content="default-src \'none\'; img-src data:; '
    "script-src 'unsafe-inline' 'unsafe-eval'; style-src 'unsafe-inline'; frame-src blob:\">"
)

#: Where pages say whether they are light or dark, and how.
HOSTS = {
    "site": ("html", "data-theme", "light", "dark"),
    "JupyterLab": ("body", "data-jp-theme-light", "true", "false"),
    "VS Code": ("body", "class", "vscode-light", "vscode-dark"),
    "Colab": ("html", "theme", "light", "dark"),
}


def test_views_are_drawn_without_a_word_to_another_host(show: Show, drawn: Drawn) -> None:
    for shown in (drawn("light"), show(*every_view(), mode="inline")):
        assert len(shown.frames) == len(VIEWS)
        for frame in shown.frames:
            assert frame.locator("#vis line").count() > 20
        assert shown.is_clean()


def test_several_views_on_a_page_do_not_disturb_one_another(show: Show) -> None:
    lines = "[...document.querySelectorAll('line')].map((e) => e.getAttribute('stroke-opacity'))"
    shown = show(*every_view(names=SINGLE), *every_view(names=SINGLE))
    before = [frame.evaluate(lines) for frame in shown.frames]
    shown.frames[0].select_option("#layer", "2")
    shown.frames[2].select_option("#layer", "1")
    after = [frame.evaluate(lines) for frame in shown.frames]
    changed = [n for n, (was, now) in enumerate(zip(before, after, strict=True)) if was != now]
    assert changed == [0, 2]
    assert shown.is_clean()


def test_scripts_wait_until_the_reader_comes_near_and_nothing_moves(show: Show) -> None:
    asked: list[str] = []
    gap = '<div style="height: 5000px"></div>'
    shown = show(head_view(records(), TOKENS), before=gap, drawn=False, own=True)
    page = shown.page
    page.on("request", lambda request: asked.append(request.url))
    page.evaluate("""() => { window.moved = 0; new PerformanceObserver((list) =>
        list.getEntries().forEach((entry) => (window.moved += entry.value))
      ).observe({ type: 'layout-shift', buffered: true }); }""")
    page.wait_for_timeout(300)
    assert not asked
    assert shown.frame.locator("svg").count() == 0
    page.evaluate("scrollTo(0, document.body.scrollHeight)")
    shown.frame.wait_for_selector("#vis svg")
    assert [url.rsplit("/", 1)[1] for url in asked] == [assets.SCRIPT_NAME]
    assert page.evaluate("moved") == 0


@pytest.mark.parametrize("width", [1400, 320])
def test_frames_have_their_height_before_anything_is_drawn(
    show: Show, drawn: Drawn, width: int
) -> None:
    shown = drawn("light") if width == 1400 else show(*every_view(), width=width)
    page = shown.page
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    given = page.evaluate("[...document.querySelectorAll('iframe')].map((f) => f.style.height)")
    assert given == [""] * len(VIEWS)  # no script had to correct it
    for frame in shown.frames:
        assert frame.evaluate("document.documentElement.scrollWidth <= innerWidth")
        assert frame.evaluate("document.documentElement.scrollHeight <= innerHeight")
        assert frame.evaluate("innerHeight - document.querySelector('main').offsetHeight") <= 2


@pytest.mark.parametrize(("tokens", "heads"), [(1, 1), (2, 16), (5, 4), (30, 12)])
def test_nothing_that_is_drawn_is_cut_off(show: Show, tokens: int, heads: int) -> None:
    found, names = records(tokens, layers=2, heads=heads), [f"t{i}" for i in range(tokens)]
    views = [view(found, names) for view in (head_view, model_view, neuron_view)]
    shown = show(*views, neuron_view(found, names, expanded=True))
    for frame in shown.frames:
        edge_right, edge_top, edge_bottom, (_, top, right, bottom) = frame.evaluate("""() => {
          const seen = [...document.querySelectorAll('svg :is(text, line, rect)')].filter((e) =>
            getComputedStyle(e).visibility === 'visible' && e.id !== 'placeholder');
          const boxes = seen.map((e) => e.getBoundingClientRect());
          const view = document.querySelector('#vis svg').getBoundingClientRect();
          return [Math.max(...boxes.map((b) => b.right)), Math.min(...boxes.map((b) => b.top)),
                  Math.max(...boxes.map((b) => b.bottom)),
                  [view.left, view.top, view.right, view.bottom]];
        }""")
        assert edge_right <= right + 1
        assert edge_top >= top - 1
        assert edge_bottom <= bottom + 1


@pytest.mark.parametrize(("place", "name", "light", "dark"), HOSTS.values(), ids=HOSTS)
def test_views_have_the_colours_of_their_page(
    show: Show, place: str, name: str, light: str, dark: str
) -> None:
    said = f'{name}="{light}"'
    shown = show(
        head_view(records(), TOKENS),
        attributes='data-content_root="./" ' + (said if place == "html" else ""),
        body=said if place == "body" else "",
        dark=True,  # what the page says counts for more than the system
    )
    assert shown.frame.evaluate(PAPER) == LIGHT
    shown.page.evaluate(f"document.querySelector('{place}').setAttribute('{name}', '{dark}')")
    shown.frame.wait_for_function(f"{PAPER} === '{DARK}'")


def test_a_page_that_turns_before_its_view_is_near_has_it_in_its_colours(show: Show) -> None:
    gap = '<div style="height: 5000px"></div>'
    shown = show(head_view(records(), TOKENS), before=gap, drawn=False)
    shown.frame.wait_for_function("document.documentElement.dataset.theme === 'light'")
    shown.page.evaluate("document.documentElement.dataset.theme = 'dark'")
    shown.page.evaluate("scrollTo(0, document.body.scrollHeight)")
    shown.frame.wait_for_selector("#vis svg")
    assert shown.frame.evaluate(PAPER) == DARK


@pytest.mark.parametrize(("dark", "paper"), [(False, LIGHT), (True, DARK)])
def test_where_the_page_says_nothing_the_system_decides(show: Show, dark: bool, paper: str) -> None:
    attributes = 'data-content_root="./"'
    shown = show(head_view(records(), TOKENS), attributes=attributes, dark=dark)
    assert shown.frame.evaluate(PAPER) == paper


def test_what_was_chosen_stays_when_the_page_turns_dark(show: Show) -> None:
    shown = show(*every_view(), dark=True)  # the page says that it is light
    assert [frame.evaluate(PAPER) for frame in shown.frames] == [LIGHT] * len(VIEWS)
    head, model, neuron, compare, _, models = shown.frames
    switch(models, "both")
    head.select_option("#layer", "2")
    head.locator("[role=checkbox]").nth(1).click()
    model.locator(".map").nth(5).click()
    models.locator("#view-1 .map").nth(5).click()
    for frame in (neuron, compare):
        frame.locator("#att_head").first.select_option("3")
        frame.locator(".expand").first.click()
    shown.page.evaluate("document.documentElement.dataset.theme = 'dark'")
    for frame in shown.frames:
        frame.wait_for_function(f"{PAPER} === '{DARK}'")
    assert head.locator("#layer").input_value() == "2"
    off = head.locator("[role=checkbox][aria-checked=false]")
    assert off.get_attribute("aria-label") == "Head 1"
    for place in (model, models.locator("#view-0"), models.locator("#view-1")):
        opened = place.locator("[aria-expanded=true]")
        assert opened.get_attribute("aria-label") == "Layer 1, head 1"
    for frame in (neuron, compare):
        assert frame.locator("#att_head").first.input_value() == "3"
        assert frame.locator(".expand").first.get_attribute("aria-expanded") == "true"
    assert shown.is_clean()


def test_views_work_under_the_content_policy_of_a_webview(show: Show) -> None:
    body = 'class="vscode-dark"'
    views = every_view(names=SINGLE)
    shown = show(*views, mode="inline", head=WEBVIEW, attributes="", body=body)
    assert [frame.evaluate(PAPER) for frame in shown.frames] == [DARK] * len(views)
    assert shown.is_clean()


@pytest.mark.parametrize("sandbox", ["allow-scripts", "allow-scripts allow-same-origin"])
def test_views_work_in_an_output_that_cannot_see_the_page(
    show: Show, sandbox: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GLASSBOX_VIEW_SCRIPTS", "inline")
    views = every_view(names=SINGLE)
    output = escape("".join(view.html() for view in views))
    outer = f'<iframe sandbox="{sandbox}" width="700" height="2500" srcdoc="{output}"></iframe>'
    shown = show(before=outer, drawn=False)
    inner = shown.page.frame_locator("iframe[sandbox]").locator("iframe")
    for number in range(len(views)):
        inner.nth(number).scroll_into_view_if_needed()
        lines = inner.nth(number).content_frame.locator("#vis line")
        lines.first.wait_for(state="attached")
    assert inner.count() == len(views)
    assert shown.is_clean()


def test_without_the_site_s_scripts_the_table_opens_and_says_why(show: Show) -> None:
    shown = show(head_view(records(), TOKENS), attributes="", drawn=False)
    shown.frame.wait_for_selector("text=Run this cell to draw the view.")
    assert shown.page.locator("details[open] table").first.is_visible()
    assert shown.is_clean()


def test_on_the_site_a_reader_is_asked_for_no_cell(show: Show) -> None:
    nowhere = 'data-content_root="nowhere/"'
    shown = show(head_view(records(), TOKENS), attributes=nowhere, drawn=False)
    shown.frame.wait_for_selector("text=The view could not be loaded: check your connection")
    assert shown.page.locator("details[open] table").first.is_visible()


def test_a_notebook_server_s_scripts_are_found_below_its_base_address(show: Show) -> None:
    config = '<script id="jupyter-config-data" type="application/json">{"baseUrl": "/"}</script>'
    view = head_view(records(), TOKENS)
    shown = show(view, attributes="", head=config, folder="static/glassbox")
    assert shown.is_clean()


def test_in_print_and_without_scripts_tables_take_the_place_of_frames(show: Show) -> None:
    def seen(page: Page) -> tuple[bool, bool]:
        """Return whether any frame and whether every table can be seen."""
        frames, tables = page.locator("iframe").all(), page.locator("table").all()
        return any(f.is_visible() for f in frames), all(t.is_visible() for t in tables)

    views = every_view(names=SINGLE)
    page = show(*views).page
    assert seen(page) == (True, False)
    page.emulate_media(media="print")
    assert seen(page) == (False, True)
    silent = show(*views, drawn=False, java_script_enabled=False).page
    assert seen(silent) == (False, True)


@pytest.mark.parametrize(("mode", "names"), [("linked", VIEWS), ("inline", ["neuron"])])
def test_hostile_tokens_are_shown_as_text_in_their_order(
    show: Show, mode: str, names: Sequence[str]
) -> None:
    tokens, shown_as = list(HOSTILE), list(HOSTILE.values())
    shown = show(*every_view(tokens, names), mode=mode)
    for frame in shown.frames:
        if frame.locator(".map").count():
            frame.locator(".map").first.click()
        texts = frame.locator("text[role=button]:visible")
        drawn = texts.evaluate_all("""(all) => all.map((text) => ({
          name: text.getAttribute('aria-label'), text: text.textContent,
          title: text.parentNode.querySelector('title')?.textContent,
          top: text.getBoundingClientRect().top }))""")[: len(tokens)]
        names = [f"query {index}: {text}" for index, text in enumerate(shown_as)]
        assert [each["name"] for each in drawn] == names
        assert [each["top"] for each in drawn] == sorted(each["top"] for each in drawn)
        for each, whole in zip(drawn, shown_as, strict=True):
            if each["text"] != whole:  # too wide: begun here, whole on hovering
                assert each["text"].endswith("…")
                assert whole.startswith(each["text"][:-1])
                assert each["title"] == whole
        texts.first.hover()
        assert frame.locator(".readout .token").first.text_content() == shown_as[0]
        assert frame.locator("img, body script:not([id])").count() == 0
    assert shown.page.locator("img:not([alt^=Attention]), script").count() == 0
    assert shown.is_clean()


#: The lines of each view, and what their opacity is in the end.
DRAWN_LINES = {
    "head": "#attention line",
    "model": ".model svg > g > g > line",
    "neuron": "#collapsed .attn-line-group line",
}
OPACITY = """(lines) => lines.map((line) => {
  let seen = +getComputedStyle(line).strokeOpacity;
  for (let place = line; place.localName !== 'main'; place = place.parentElement) {
    const { opacity, filter } = getComputedStyle(place);
    if (filter !== 'none') return filter;
    seen *= opacity;
  }
  return seen;
})"""


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_a_line_is_as_strong_as_its_weight_in_light_and_dark(drawn: Drawn, theme: str) -> None:
    weights = np.stack([record.weights[0] for record in records()])
    expected = {"head": weights[0] / HEADS, "model": weights, "neuron": weights[0, 0]}
    frames = dict(zip(VIEWS, drawn(theme).frames, strict=True))
    for name, of_view in expected.items():
        seen = frames[name].locator(DRAWN_LINES[name]).evaluate_all(OPACITY)
        assert seen == pytest.approx(of_view.ravel(), abs=6e-4)
    linked = frames["neuron"].locator("#expanded .qk-line-group path")
    opacity = linked.evaluate_all("all => all.map((e) => +getComputedStyle(e).strokeOpacity)")
    assert opacity == pytest.approx(weights[0, 0].ravel(), abs=6e-4)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_strongest_line_stands_out_from_the_paper(drawn: Drawn, theme: str) -> None:
    def light(color: str) -> float:
        return luminance([float(part) for part in re.findall(r"[\d.]+", color)[:3]])

    frame = drawn(theme).frames[list(VIEWS).index("neuron")]
    paper = light(frame.evaluate(PAPER))
    read = "all => all.map((e) => getComputedStyle(e).stopColor)"
    inks = [light(color) for color in frame.locator("#vis stop").evaluate_all(read)]
    assert len(inks) == 2
    for ink in inks:
        assert (max(ink, paper) + 0.05) / (min(ink, paper) + 0.05) >= 3


def test_frames_have_the_colours_of_the_book() -> None:
    def colours(sheet: str) -> list[dict[str, str]]:
        """Return the colours of the light and of the dark block of a style sheet."""
        blocks = re.findall(r"\{([^{}]*--(?:gb-)?paper:[^{}]*)\}", sheet)
        return [dict(re.findall(r"--(?:gb-)?([\w-]+): (#\w+);", block)) for block in blocks]

    others = {"ink": "text", "quiet": "muted", "head-6": "amber", "head-7": "purple"}
    others |= {f"head-{n}": f"series-{n}" for n in range(1, 6)} | {"head-8": "neutral"}
    palette = Path(assets.__file__).parents[2] / "glassbox_site/static/palette.css"
    book = colours(palette.read_text(encoding="utf-8"))
    frame = colours(read("viz/frame/frame.css"))
    assert len(frame) == len(book) == 2
    for ours, theirs in zip(frame, book, strict=True):
        assert ours == {name: theirs[others.get(name, name)] for name in ours}


def test_bertviz_writes_nothing_to_the_console(show: Show) -> None:
    shown = show(*every_view(names=SINGLE), own=True)
    said: list[str] = []
    shown.page.on("console", lambda line: said.append(line.text))
    for frame in shown.frames:
        frame.evaluate("document.documentElement.dataset.theme = 'light'")
    shown.page.evaluate("document.documentElement.dataset.theme = 'dark'")  # all is drawn again
    for frame in shown.frames:
        frame.wait_for_function(f"{PAPER} === '{DARK}'")
    assert said == []


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_deepest_cell_of_a_table_keeps_its_text_legible(show: Show, theme: str) -> None:
    ink, paper = {"light": ((51,) * 3, (255,) * 3), "dark": ((216,) * 3, (18,) * 3)}[theme]
    certain = [SimpleNamespace(weights=np.eye(5)[None, None])]
    page = show(head_view(certain, TOKENS)).page
    deepest, adjust = page.locator("td").first.evaluate("""(cell) =>
      [getComputedStyle(cell).backgroundColor, getComputedStyle(cell).printColorAdjust]""")
    *color, opacity = map(float, re.findall(r"[\d.]+", deepest))
    cell = [opacity * c + (1 - opacity) * p for c, p in zip(color, paper, strict=True)]
    lighter, darker = sorted((luminance(cell), luminance(ink)), reverse=True)
    assert (lighter + 0.05) / (darker + 0.05) >= 4.5
    assert adjust == "exact"
