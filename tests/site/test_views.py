"""The attention views of the built pages answer to their reader."""

from tests.site.conftest import open_views, views_of
from tests.site.look import wait_for_theme

LINES = "[...document.querySelectorAll('#vis svg *')].map(l => l.outerHTML).join()"
TOKENS = "#vis svg text[role=button]:visible"


def test_every_view_is_drawn_in_the_colour_mode_of_its_page(looks, chapter):
    for look in looks(chapter).values():
        for theme, facts in look.facts.items():
            assert len(facts["views"]) == views_of(chapter)
            for view in facts["views"]:
                assert view["theme"] == theme
                assert view["drawn"]
                assert view["texts"] > 4
                assert view["width"] > 100


def has_all_heads(frame):
    """Whether it is a model view, which has no layer to choose: a click enlarges a map."""
    return frame.locator("main.model").count() > 0


def test_choosing_a_layer_draws_another(read, chapter_with_views):
    for frame in open_views(read(chapter_with_views).page):
        layers = frame.locator("select").first
        before = frame.evaluate(LINES)
        if has_all_heads(frame):
            frame.locator(".map").last.click()
        else:
            values = [option.get_attribute("value") for option in layers.locator("option").all()]
            others = [value for value in values if value != layers.input_value()]
            assert others
            layers.select_option(others[-1])
        frame.wait_for_function(f"before => {LINES} !== before", arg=before)


def test_hovering_a_token_says_its_weights(read, chapter_with_views):
    for frame in open_views(read(chapter_with_views).page):
        if has_all_heads(frame):
            frame.locator(".map").last.click()
        before = frame.locator("body").inner_text()
        frame.locator(TOKENS).nth(1).hover()
        frame.wait_for_function("before => document.body.innerText !== before", arg=before)


def test_frames_follow_the_switch_of_the_page(read):
    page = read("chapters/04_scaled_dot_product.html").page
    frames = open_views(page)
    for theme in ("light", "dark"):
        for frame in (page.main_frame, *frames):
            wait_for_theme(frame, theme)
        page.locator(".theme-switch-button").first.click()
