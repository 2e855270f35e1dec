"""The header, the two sidebars, and notes in the margin, at the widths where they differ."""

import pytest

from tests.conftest import ARGUMENTS, find_chromium

ONE = "chapters/04_scaled_dot_product.html"
SIDEBAR = "#pst-primary-sidebar"
NOTE = '<aside class="margin sidebar"><p>In the margin.</p></aside>'


def test_targets_of_the_header_are_large_enough_for_a_finger(glance):
    page = glance(ONE, width=390, has_touch=True, is_mobile=True).page
    targets = page.locator(".bd-header-article :is(button, a):visible").all()
    assert len(targets) >= 6
    for target in targets:
        box = target.bounding_box()
        assert min(box["width"], box["height"]) >= 44
        assert target.get_attribute("data-bs-toggle") is None  # a tooltip that stays
    assert page.evaluate("document.documentElement.scrollWidth") == 390


@pytest.mark.parametrize("pixels", [390, 1180])
def test_folds_and_the_map_of_the_book_are_large_enough_for_a_finger(glance, pixels):
    page = glance(ONE, width=pixels, has_touch=True, is_mobile=True).page
    targets = page.locator(":is(.gb-fold, .gb-code) > summary:visible, .gb-here a")
    heights = targets.evaluate_all("all => all.map((e) => e.getBoundingClientRect().height)")
    assert len(heights) > 40
    assert min(heights) >= 24


def test_a_chapter_has_its_width_at_twice_the_size_of_letters(site, browser):
    large = [*ARGUMENTS, "--blink-settings=defaultFontSize=32"]
    with browser.browser_type.launch(executable_path=find_chromium(), args=large) as larger:
        page = larger.new_page(viewport={"width": 1280, "height": 900})
        page.goto(f"{site}{ONE}")
        assert page.locator("article").bounding_box()["width"] > 1000
        page.locator(".primary-toggle:visible").click()
        page.locator("#pst-primary-sidebar-modal[open]").wait_for()


def test_what_the_header_offers_has_words(glance):
    for width in (1400, 390, 360, 320):
        page = glance(ONE, width=width).page
        links = page.locator(".gb-notebook a:visible, .gb-switch button:visible").all_inner_texts()
        assert [text.removeprefix("↓ ") for text in links] == ["Notebook", "Key code", "All code"]
        assert page.evaluate("document.documentElement.scrollWidth") == width


def test_an_entry_of_the_drawer_closes_it(read):
    page = read(ONE, width=390, has_touch=True, is_mobile=True).page
    page.locator(".secondary-toggle:visible").tap()
    drawer = page.locator("#pst-secondary-sidebar-modal")
    entry = drawer.locator("a:visible").nth(3)
    address = entry.get_attribute("href")
    entry.tap()
    drawer.wait_for(state="hidden")
    assert page.url.endswith(address)


def test_logo_and_name_stand_together_in_the_drawer(read):
    page = read(ONE, width=768, has_touch=True, is_mobile=True).page
    page.locator(".primary-toggle:visible").tap()
    logo, name = (page.locator(f"dialog[open] .gb-brand {part}") for part in ("svg", "span"))
    name.wait_for()
    gap = name.bounding_box()["x"] - logo.bounding_box()["x"] - logo.bounding_box()["width"]
    assert 8 < gap < 16


SKIP = """() => {
  const link = document.activeElement, probe = document.createElement("i");
  document.body.append(probe);
  probe.style.color = "var(--gb-accent)";
  const behind = getComputedStyle(link.parentElement).backgroundColor;
  return [link.textContent, behind, getComputedStyle(probe).color];
}"""


def test_the_link_past_the_header_has_the_colours_of_the_book(read, dark):
    page = read(ONE, dark=dark).page
    page.keyboard.press("Tab")
    words, behind, accent = page.evaluate(SKIP)
    assert words == "Skip to main content"
    assert behind == accent


def test_an_entry_without_a_number_hangs_by_less_than_one_with(read):
    for place, least, most in (("chapters/machine.html", -20, -5), (ONE, -50, -25)):
        entry = read(place).page.locator(".bd-sidebar-secondary .toc-h2 > a").first
        indent = entry.evaluate("entry => parseFloat(getComputedStyle(entry).textIndent)")
        assert least <= indent <= most


def test_the_copyright_names_the_book_s_authors(soup):
    footer = soup(ONE).select_one("footer.bd-footer-content").get_text()
    assert "The Glass-Box Transformer authors" in footer


def test_the_button_of_the_colours_says_which_come_next(read):
    page = read(ONE).page
    button = page.locator(".theme-switch-button")
    for now, then, theme in (("as your system", "dark", "light"), ("dark", "light", "dark")):
        assert button.get_attribute("aria-label") == f"Colours: {now}. Next: {then}"
        assert page.evaluate("document.documentElement.dataset.theme") == theme
        button.click()


def test_a_button_that_was_pressed_keeps_the_focus_and_says_what_it_did(read):
    page = read(ONE).page
    for name in (".theme-switch-button", ".bd-main .primary-toggle"):
        button = page.locator(name)
        for _ in range(2):
            button.press("Enter")
            assert page.evaluate("name => document.activeElement.matches(name)", name)
    toggle = page.locator(".bd-main .primary-toggle")
    for shown in ("false", "true"):
        toggle.press("Enter")
        page.wait_for_function(
            "([name, shown]) => document.querySelector(name).ariaExpanded === shown",
            arg=[".bd-main .primary-toggle", shown],
        )


def test_contents_that_were_hidden_stay_hidden_on_the_next_page(read):
    page = read(ONE).page
    for hidden in (True, False):
        page.locator(".primary-toggle").click()
        page.locator(SIDEBAR).wait_for(state="hidden" if hidden else "visible")
        page.reload()
        assert page.locator(SIDEBAR).is_visible() is not hidden


CENTRED = """() => {
  const edges = (name) => document.querySelector(name).getBoundingClientRect();
  const main = edges("main");
  return [".bd-article p", ".cell > .cell_input pre"].map(edges).every(({ left, right }) =>
    left > main.left && Math.abs(left - main.left - main.right + right) <= 1);
}"""
AT_THE_EDGE = f"document.querySelector('{SIDEBAR}').getBoundingClientRect().left === 0"


def test_the_column_is_in_the_middle_and_the_contents_at_the_edge(glance):
    page = glance(ONE).page
    for width, holds in ((760, CENTRED), (900, CENTRED), (990, CENTRED), (2560, AT_THE_EDGE)):
        page.set_viewport_size({"width": width, "height": 900})
        page.wait_for_function(holds)  # the contents take a moment to move


def test_a_note_stands_in_the_margin_and_contents_make_room(read):
    page = read(ONE).page

    def with_note(route):
        html = route.fetch().text()
        place = html.index("</p>", html.index('<section id="masks">')) + 4
        route.fulfill(body=html[:place] + NOTE + html[place:], content_type="text/html")

    page.route("**/04_*.html", with_note)
    page.reload()
    page.locator("aside.margin").scroll_into_view_if_needed()
    page.wait_for_selector(".bd-sidebar-secondary.hide")
    page.wait_for_function(
        "getComputedStyle(document.getElementById('gb-contents')).opacity === '0'"
    )
    note, text = (page.locator(place).bounding_box() for place in ("aside.margin", "#masks"))
    assert note["x"] > text["x"] + text["width"]
    page.set_viewport_size({"width": 390, "height": 900})
    note, text = (page.locator(place).bounding_box() for place in ("aside.margin", "#masks"))
    assert text["x"] <= note["x"]
    assert note["x"] + note["width"] <= text["x"] + text["width"]
