"""The attention views of the built pages answer to their reader."""

from tests.site.conftest import open_views, views_of

LINES = "[...document.querySelectorAll('#vis svg *')].map(l => l.outerHTML).join()"
TOKENS = "#vis svg text[role=button]:visible"


def test_every_view_is_drawn(look, chapter, width, dark):
    frames = look(chapter, width=width, dark=dark).page.frames[1:]
    assert len(frames) == views_of(chapter)
    for frame in frames:
        assert frame.locator("#vis svg > *").count() > 0
        assert frame.locator("#vis svg text").count() > 4
        box = frame.locator("#vis svg").first.bounding_box()
        assert box is not None
        assert box["width"] > 100


def has_all_heads(frame):
    """Whether it is a model view, which has no layer to choose: a click enlarges a map."""
    return frame.locator("main.model").count() > 0


def test_choosing_a_layer_draws_another(read, chapter):
    for frame in open_views(read(chapter).page):
        layers = frame.locator("select").first
        before = frame.evaluate(LINES)
        if has_all_heads(frame):
            frame.locator(".map").last.click()
            assert frame.evaluate(LINES) != before
            continue
        values = [option.get_attribute("value") for option in layers.locator("option").all()]
        others = [value for value in values if value != layers.input_value()]
        assert others
        layers.select_option(others[-1])
        frame.wait_for_function(f"before => {LINES} !== before", arg=before)


def test_hovering_a_token_says_its_weights(read, chapter):
    for frame in open_views(read(chapter).page):
        if has_all_heads(frame):
            frame.locator(".map").last.click()
        before = frame.locator("body").inner_text()
        frame.locator(TOKENS).nth(1).hover()
        frame.wait_for_function("before => document.body.innerText !== before", arg=before)


def test_frames_follow_the_colour_mode_of_the_page(read, chapter):
    page = read(chapter).page
    frames = open_views(page)
    for frame in frames:
        frame.wait_for_function("document.documentElement.dataset.theme === 'light'")
    page.locator(".theme-switch-button").first.click()
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"
    for frame in frames:
        frame.wait_for_function("document.documentElement.dataset.theme === 'dark'")
