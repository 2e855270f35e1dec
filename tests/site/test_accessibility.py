"""No page breaks a rule of WCAG 2.2, levels A and AA, frames of the views included."""

from tests.axe import run
from tests.site.accessibility import choose, in_colours, leave_out_innards
from tests.site.conftest import open_views

WITH_VIEWS = "chapters/04_scaled_dot_product.html"


def test_axe_finds_nothing(looks, any_page):
    assert {
        name: look.violations for name, look in looks(any_page).items() if look.violations
    } == {}


def test_the_parts_of_a_page_do_not_depend_on_its_theme(looks, any_page):
    # Axe judges them in one theme, and in the other the colours alone.
    light, dark = looks(any_page)["wide"].structure
    assert light == dark


def test_what_is_chosen_is_seen_in_forced_colours(read):
    page = read(WITH_VIEWS, forced_colors="active").page
    back = "(e, part) => getComputedStyle(e, part).backgroundColor"
    frame = open_views(page)[0]
    chosen = frame.locator(".switch :checked + span")
    assert chosen.evaluate(back) != frame.locator("body").evaluate(back)
    plot = page.locator(".gb-entropy .gb-plot")
    assert plot.evaluate(back, "::after") != page.locator(".gb-widget").first.evaluate(back)
    slider = page.locator(".gb-entropy input")
    with_track = slider.screenshot()
    page.add_style_tag(content="::-webkit-slider-runnable-track { background: none !important }")
    assert slider.screenshot() != with_track
    option = page.locator(".gb-right summary").first
    option.click()
    mark = option.evaluate("e => getComputedStyle(e, '::before').backgroundImage")
    assert mark.startswith("radial-gradient")


def test_a_button_that_does_nothing_is_seen_in_forced_colours(read):
    for where in ("intro.html", "chapters/02_tokens_and_embeddings.html"):
        page = read(where, forced_colors="active").page
        page.wait_for_selector("button[aria-disabled=true]", state="attached")
        colours = page.evaluate(
            """() => [true, false].map((off) => {
                const found = document.querySelectorAll(`.bd-article button[aria-disabled=${off}]`);
                return [...found].map((button) => getComputedStyle(button).color);
            })"""
        )
        assert all(colours)
        assert not {*colours[0]} & {*colours[1]}


def test_axe_would_find_a_fault_in_a_frame(read):
    page = read(WITH_VIEWS).page
    frame = open_views(page)[0]
    frame.evaluate("document.body.append(document.createElement('button'))")
    assert [line.split(":")[0] for line in run(page, runOnly=["button-name"])] == ["button-name"]


def test_axe_would_find_one_faint_word_among_thousands(read, dark):
    page = read(WITH_VIEWS, dark=dark).page
    page.evaluate("look.unfold()")
    faint = (
        f"word => {{ word.style.color = '{'#555' if dark else '#aaa'}'; word.title = 'faint'; }}"
    )
    for place in (
        page.locator(".cell_input pre span:visible").last,
        open_views(page)[0].locator("label").last,
    ):
        place.evaluate(faint)
    choose(page)
    leave_out_innards(page)
    found = in_colours(page)
    assert len(found) == 2
    assert all(line.startswith("color-contrast") and "faint" in line for line in found)


def test_letters_in_diagrams_stand_out_from_the_page(looks, any_page):
    # Axe passes over letters in SVG.
    for facts in looks(any_page)["wide"].facts.values():
        assert facts["faintLetters"] == []


def test_faint_letters_in_a_diagram_would_be_found(read, dark):
    page = read("chapters/tour.html", dark=dark).page
    assert page.evaluate("look.faintLetters()") == []
    page.add_style_tag(content=".gb-drawing text { fill: #777 !important; }")
    assert len(page.evaluate("look.faintLetters()")) > 5
