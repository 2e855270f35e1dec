"""The header, the two sidebars, and notes in the margin, at the widths where they differ."""

ONE = "chapters/04_scaled_dot_product.html"
SIDEBAR = "#pst-primary-sidebar"
NOTE = '<aside class="margin sidebar"><p>In the margin.</p></aside>'


def test_targets_of_the_header_are_large_enough_for_a_finger(read):
    page = read(ONE, width=390, has_touch=True, is_mobile=True).page
    targets = page.locator(".bd-header-article :is(button, a):visible").all()
    assert len(targets) >= 6
    for target in targets:
        box = target.bounding_box()
        assert min(box["width"], box["height"]) >= 44
        assert target.get_attribute("data-bs-toggle") is None  # a tooltip that stays
    assert page.evaluate("document.documentElement.scrollWidth") == 390


def test_the_button_of_the_colours_says_which_come_next(read):
    page = read(ONE).page
    button = page.locator(".theme-switch-button")
    for now, then, theme in (("as your system", "dark", "light"), ("dark", "light", "dark")):
        assert button.get_attribute("aria-label") == f"Colours: {now}. Next: {then}"
        assert page.evaluate("document.documentElement.dataset.theme") == theme
        button.click()


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


def test_the_column_is_in_the_middle_and_the_contents_at_the_edge(read):
    page = read(ONE).page
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
