"""On narrow screens nothing is cut off without a word."""

import re

import pytest

from glassbox_book.viz import head_view, model_view, neuron_view
from tests.viz.conftest import TOKENS, VIEWS, Show, every_view, records

MANY = [f"token{i}" for i in range(20)] + ["W" * 400]
SENTENCE = ["[CLS]", "time", "flies", "like", "an", "arrow", "[SEP]"]


@pytest.mark.parametrize("width", [320, 700])
def test_nothing_that_is_said_is_cut_off(show: Show, width: int) -> None:
    # A page takes a moment to make the room.
    fits = """() => [...document.querySelectorAll('.readout, .legend')].every((e) =>
      e.scrollHeight <= e.clientHeight && e.scrollWidth <= e.clientWidth)"""
    for frame in show(*every_view(MANY), width=width).frames:
        frame.wait_for_function(fits)
        for opener in frame.locator(".expand, .map").all()[:1]:
            opener.click()
            frame.wait_for_function(fits)
        for index in (0, -1):
            frame.locator("text[role=button]:visible").nth(index).focus()
            frame.wait_for_function(fits)


def test_a_telephone_has_room_for_all_of_seven_keys(show: Show) -> None:
    frame = show(VIEWS["compare"](SENTENCE), width=390).frame
    frame.locator("text[role=button]:visible").first.focus()
    said = [text.split()[0] for text in frame.locator(".weight").all_text_contents()]
    assert sorted(said) == sorted(SENTENCE)
    assert "more" not in (frame.locator(".readout").text_content() or "")


def test_keys_that_are_left_out_are_counted(show: Show) -> None:
    tokens = [f"token{i}" for i in range(40)]
    for frame in show(*every_view(tokens, ["neuron", "compare"]), width=390).frames:
        frame.locator("text[role=button]:visible").first.focus()
        [left] = re.findall(r"… and (\d+) more", frame.locator(".readout").text_content() or "")
        assert frame.locator(".weight").count() + int(left) == 40


def test_a_drawing_fades_where_it_goes_on_beyond_an_edge(show: Show) -> None:
    frame = show(neuron_view(records(), TOKENS, expanded=True), width=390).frame
    drawing = frame.get_by_role("region", name="Drawing: scrolls sideways")
    faded = "e => [e.style.getPropertyValue('--before'), e.style.getPropertyValue('--after')]"
    assert drawing.evaluate(faded) == ["0px", "32px"]
    assert frame.locator(".sideways").is_visible()
    drawing.focus()
    drawing.press("ArrowRight")
    now = f"({faded})(document.querySelector('.scroller')).join()"
    frame.wait_for_function(f"{now} === '32px,32px'")
    drawing.evaluate("e => (e.scrollLeft = e.scrollWidth)")
    frame.wait_for_function(f"{now} === '32px,0px'")
    frame.locator(".expand").click()
    assert frame.get_by_role("region").count() == 0
    assert frame.locator(".sideways").is_hidden()


@pytest.mark.parametrize("width", [720, 390])
def test_the_columns_of_a_view_are_as_far_apart_as_there_is_room(show: Show, width: int) -> None:
    for frame in show(*every_view(TOKENS, ["head", "neuron"]), width=width).frames:
        used, room = frame.evaluate("""() => {
          const words = [...document.querySelectorAll('#vis .labels text')].at(-1);
          return [words.getBoundingClientRect().right, innerWidth];
        }""")
        assert 0.9 * room <= used <= room


@pytest.mark.parametrize("width", [720, 390, 320])
@pytest.mark.parametrize("heads", [4, 12, 16])
def test_squares_of_heads_are_large_enough_for_fingers(show: Show, width: int, heads: int) -> None:
    frame = show(head_view(records(heads=heads), TOKENS), width=width).frame
    boxes = [square.bounding_box() for square in frame.locator("[role=checkbox]").all()]
    assert len({(box["x"], box["y"]) for box in boxes if box}) == heads
    assert all(box and min(box["width"], box["height"]) >= 24 for box in boxes)


def test_a_view_makes_room_when_its_window_grows_or_shrinks(show: Show) -> None:
    shown = show(neuron_view(records(), TOKENS), width=390)
    frame, page = shown.frame, shown.page
    whole = """() => {
      const { scrollHeight, clientHeight } = document.documentElement;
      const drawing = document.querySelector('#vis svg').getBoundingClientRect();
      return scrollHeight <= clientHeight && innerHeight - main.offsetHeight <= 2
        && document.querySelector('.readout').getBoundingClientRect().top >= drawing.bottom;
    }""".replace("main.", "document.querySelector('main').")
    frame.locator(".expand").click()
    for width in (390, 1400, 700, 390):
        page.set_viewport_size({"width": width, "height": 900})
        frame.wait_for_function(whole)
    assert frame.locator(".scroller.wide").count() == 1
    page.set_viewport_size({"width": 1400, "height": 900})
    frame.wait_for_selector(".scroller:not(.wide)")


def test_what_is_said_of_the_drawing_follows_its_width(show: Show) -> None:
    shown = show(model_view(records(heads=12), TOKENS))
    said = shown.frame.locator(".readout")
    assert "Scroll sideways" not in (said.text_content() or "")
    shown.page.set_viewport_size({"width": 320, "height": 800})
    said.get_by_text("Scroll sideways to see all").wait_for()


def test_a_wide_drawing_scrolls_inside_the_frame(show: Show) -> None:
    frame = show(model_view(records(), TOKENS), width=390).frame
    assert frame.locator(".scroller").evaluate("e => e.scrollWidth > e.clientWidth")
    frame.locator(".map").nth(3).click()
    detail = frame.locator("rect.detail").bounding_box()
    seen = frame.locator(".scroller").bounding_box()
    assert detail is not None
    assert seen is not None
    assert seen["x"] <= detail["x"]
    assert detail["x"] + detail["width"] <= seen["x"] + seen["width"]


@pytest.mark.parametrize("width", [1400, 390])
def test_headings_of_a_table_are_not_broken_and_a_long_table_scrolls(
    show: Show, width: int
) -> None:
    views = [head_view(records(n), (SENTENCE * 3)[:n], heads=[0]) for n in (7, 21)]
    page = show(*views, width=width).page
    page.evaluate("document.querySelectorAll('details').forEach((d) => (d.open = true))")
    short, long = page.get_by_role("region").all()
    assert short.evaluate("e => e.scrollWidth <= e.clientWidth")
    assert long.evaluate("e => e.scrollWidth > e.clientWidth")
    for table in (short, long):
        lines = table.locator("thead bdi").evaluate_all(
            "all => all.map((e) => e.offsetHeight / parseFloat(getComputedStyle(e).fontSize))"
        )
        assert max(lines) < 2
        caption = table.locator("caption").bounding_box()
        assert caption is not None
        assert caption["width"] <= width
    long.focus()
    long.press("ArrowRight")
    page.wait_for_function("document.querySelectorAll('.glassbox-scroll')[1].scrollLeft > 0")
