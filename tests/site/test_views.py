"""The attention views of the built pages answer to their reader."""

from tests.site.conftest import SITE, open_views, views_of
from tests.site.look import wait_for_theme

ONE = "chapters/04_scaled_dot_product.html"
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


def choose_another_layer(frame):
    """Choose a layer, or open a map, and wait until it is drawn."""
    layers = frame.locator("select").first
    before = frame.evaluate(LINES)
    if has_all_heads(frame):
        frame.locator(".map").last.click()
    else:
        values = [option.get_attribute("value") for option in layers.locator("option").all()]
        others = [value for value in values if value != layers.input_value()]
        if not others:  # a view of a single layer
            return
        layers.select_option(others[-1])
    frame.wait_for_function(f"before => {LINES} !== before", arg=before)


def hover_a_token(frame):
    """Point at a token and wait until its weights are said."""
    before = frame.locator("body").inner_text()
    frame.locator(TOKENS).nth(1).hover()
    frame.wait_for_function("before => document.body.innerText !== before", arg=before)


def test_views_answer_to_their_reader_from_a_folder_without_a_server_too(visit, chapter_with_views):
    seen = visit((SITE / chapter_with_views).as_uri())
    seen.page.set_default_timeout(300_000)
    frames = open_views(seen.page)
    assert len(frames) == views_of(chapter_with_views)
    for frame in frames:
        choose_another_layer(frame)
        hover_a_token(frame)
    problems = sorted(seen.problems)
    if seen.page.locator(".gb-machine").count():  # browsers load its modules from a server only
        blocked, failed, *problems = problems
        assert "machine.js" in blocked
        assert "ERR_FAILED" in failed
    assert problems == []
    assert seen.foreign == []


def test_views_answer_to_their_reader_from_a_server(read):
    for frame in open_views(read(ONE).page):
        choose_another_layer(frame)
        hover_a_token(frame)


def test_frames_have_the_letters_of_the_page(glance):
    for frame in open_views(glance(ONE).page):
        faces = "[...document.fonts].map((face) => `${face.weight} ${face.status}`)"
        assert frame.evaluate(faces) == ["400 loaded", "600 loaded"]
        family = frame.locator("#vis svg text").first.evaluate(
            "e => getComputedStyle(e).fontFamily"
        )
        assert family.startswith('"Book Sans"')


def test_frames_follow_the_switch_of_the_page(read):
    page = read(ONE).page
    frames = open_views(page)
    for theme in ("light", "dark"):
        for frame in (page.main_frame, *frames):
            wait_for_theme(frame, theme)
        page.locator(".theme-switch-button").first.click()
