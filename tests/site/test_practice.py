"""Exercises wait without a verdict, can be done in the page, and a quiz remembers."""

from types import SimpleNamespace
from typing import Any

import pytest

from glassbox_book.exercises import EXERCISES
from glassbox_site.notebooks import colab_address
from tests import axe
from tests.site.conftest import SITE, chapters

PAGE = "chapters/10_generation.html"
NAME = "generation.acceptance"
CARD = f'.gb-try[data-exercise="{NAME}"]'
RIGHT = "def acceptance(target, draft):\n    return torch.minimum(target, draft).sum(dim=-1)"
HOSTILE = "def acceptance(target, draft):\n    return '<img src=x onerror=alert(1)>' + target"


def test_nothing_is_said_to_be_wrong_before_the_reader_tried(soup, chapter):
    text = [cell.get_text() for cell in soup(chapter).select(".gb-stub")]
    assert len(text) >= 4
    assert not [cell for cell in text if "Not yet" in cell or "Did you forget" in cell]
    for card in soup(chapter).select(".gb-try"):
        cases = len(EXERCISES[card["data-exercise"]].hidden_cases())
        state = card.select_one(".gb-state").get_text()
        assert state == f"Not tried yet: {cases} cases wait for your function."


def test_every_exercise_with_a_check_says_how_to_do_it(soup):
    cards = {chapter: soup(chapter).select(".gb-try") for chapter in chapters()}
    shown = [card["data-exercise"] for found in cards.values() for card in found]
    assert sorted(shown) == sorted(EXERCISES)
    for chapter, found in cards.items():
        for card in found:
            link = card.select_one("a[download]")
            assert ((SITE / chapter).parent / link["href"]).is_file()
    tried = [card for found in cards.values() for card in found if card.select("button")]
    assert len(tried) >= 40
    for card in tried:
        file = SITE / "_static/glassbox/exercises" / f"{card['data-exercise']}.js"
        assert 0 < file.stat().st_size < 80_000


def test_colab_opens_the_chapter_of_an_exercise_where_the_book_is_published():
    app: Any = SimpleNamespace(config=SimpleNamespace(glassbox_repository="https://github.com/a/b"))
    address = colab_address(app, "chapters/10_generation")
    assert address is not None
    assert address.endswith("github/a/b/blob/notebooks/10_generation.ipynb")
    app.config.glassbox_repository = ""
    assert colab_address(app, "chapters/10_generation") is None


def test_an_exercise_is_done_in_the_page_with_the_keyboard_alone(read, width, dark):
    seen = read(PAGE, width=width, dark=dark)
    page = seen.page
    asked: list[str] = []
    page.on("request", lambda sent: asked.append(sent.url.split("?")[0].rpartition("/")[2]))
    card = page.locator(CARD)
    card.get_by_role("button", name="Try it here").focus()
    assert "python.js" not in asked
    page.keyboard.press("Enter")
    field = card.get_by_label("Your function acceptance")
    page.keyboard.press("Control+a")
    page.keyboard.insert_text("def acceptance(target, draft):")
    page.keyboard.press("Enter")
    page.keyboard.type("return (target * draft).sum(-1)")
    assert field.input_value().splitlines()[1].startswith("    return")
    page.keyboard.press("Control+Enter")
    card.locator(".gb-not-yet").wait_for()
    said = "This is the chance that both draw the same token"
    assert said in card.locator(".gb-said").inner_text()
    assert {"python.js", f"{NAME}.js"} <= set(asked)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert axe.run(page, CARD) == []
    page.keyboard.press("Control+a")
    page.keyboard.insert_text(RIGHT)
    page.keyboard.press("Control+Enter")
    card.locator(".gb-passed").wait_for()
    assert card.locator(".gb-state").inner_text() == "Solved here."
    assert axe.run(page, CARD) == []
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Check"
    assert seen.problems == []
    assert seen.foreign == []


def test_an_untouched_stub_is_not_judged_and_leaves_no_trace(read):
    page = read(PAGE).page
    card = page.locator(CARD)
    before = card.locator(".gb-state").inner_text()
    card.get_by_role("button", name="Try it here").click()
    card.get_by_role("button", name="Check").click()
    assert card.locator(".gb-said").inner_text() == before
    assert card.locator(".gb-state").inner_text() == before
    assert page.evaluate(f"localStorage.getItem('glassbox:exercise:{NAME}')") is None


def test_what_was_written_is_kept_until_the_reader_starts_over(read):
    page = read(PAGE).page
    card = page.locator(CARD)
    card.get_by_role("button", name="Try it here").click()
    card.get_by_role("textbox").fill(HOSTILE)
    card.get_by_role("button", name="Check").click()
    card.locator(".gb-not-yet").wait_for()
    assert card.locator("img").count() == 0  # hostile text is text
    page.reload()
    assert card.locator(".gb-state").inner_text() == "Started here, not solved yet."
    card.get_by_role("button", name="Continue here").click()
    assert card.get_by_role("textbox").input_value() == HOSTILE
    card.get_by_role("button", name="Start over").click()
    assert (
        card.get_by_role("textbox")
        .input_value()
        .startswith("def acceptance(target, draft):\n    ...")
    )
    card.get_by_role("button", name="Close").click()
    assert page.locator(f".cell:has({CARD}) .cell_input").is_visible()
    assert card.locator(".gb-state").inner_text().startswith("Not tried yet")


def test_a_verdict_is_about_the_text_that_was_checked(read):
    page = read(PAGE).page
    card = page.locator(CARD)
    card.get_by_role("button", name="Try it here").click()
    field, said = card.get_by_role("textbox"), card.locator(".gb-said")
    field.fill(RIGHT)
    field.press("Control+Enter")
    card.locator(".gb-passed").wait_for()
    field.press("x")
    assert said.get_attribute("class") == "gb-said gb-earlier"
    assert card.locator(".gb-state").inner_text() == "Solved before."
    card.get_by_role("button", name="Check").click()
    card.locator(".gb-not-yet").wait_for()
    assert card.locator(".gb-state").inner_text() == "Started here, not solved yet."


def test_a_long_text_scrolls_and_undo_brings_it_back(read):
    page = read(PAGE).page
    card = page.locator(CARD)
    card.get_by_role("button", name="Try it here").click()
    field = card.get_by_role("textbox")
    field.fill(text := "# a line\n" * 400)
    assert field.bounding_box()["height"] < 900
    card.get_by_role("button", name="Start over").click()
    assert field.input_value().startswith("def acceptance")
    page.keyboard.press("Control+z")
    assert field.input_value() == text


def test_a_solved_exercise_stays_solved_when_undo_brings_it_back(read):
    page = read(PAGE).page
    card = page.locator(CARD)
    card.get_by_role("button", name="Try it here").click()
    field, state = card.get_by_role("textbox"), card.locator(".gb-state")
    field.fill(RIGHT)
    field.press("Control+Enter")
    card.locator(".gb-passed").wait_for()
    card.get_by_role("button", name="Start over").click()
    assert state.inner_text().startswith("Not tried yet")
    page.keyboard.press("Control+z")
    assert field.input_value() == RIGHT
    assert state.inner_text() == "Solved before."
    card.get_by_role("button", name="Start over").click()
    page.keyboard.press("x")
    assert state.inner_text() == "Started here, not solved yet."


def test_a_solved_exercise_stays_solved_where_nothing_can_be_stored(read):
    page = read(PAGE).page
    blocked = "() => { throw new Error('blocked'); }"
    page.evaluate(f"() => {{ Storage.prototype.getItem = Storage.prototype.setItem = {blocked}; }}")
    card = page.locator(CARD)
    card.get_by_role("button", name="Try it here").click()
    card.get_by_role("textbox").fill(RIGHT)
    card.get_by_role("textbox").press("Control+Enter")
    card.locator(".gb-passed").wait_for()
    card.get_by_role("textbox").press("x")
    assert card.locator(".gb-state").inner_text() == "Solved before."


@pytest.mark.parametrize(
    ("line", "indent"),
    [("def f():  # a note", "    "), ("    x = 1", "    "), ("\tif x:", "\t    "), ("x[1:2]", "")],
)
def test_a_new_line_is_indented_like_the_one_before_it(read, line, indent):
    page = read(PAGE).page
    card = page.locator(CARD)
    card.get_by_role("button", name="Try it here").click()
    card.get_by_role("textbox").fill(line)
    page.keyboard.press("Enter")
    assert card.get_by_role("textbox").input_value() == f"{line}\n{indent}"


def test_answers_of_the_quiz_are_counted_and_kept_on_this_machine(read):
    page = read(PAGE).page
    key = "localStorage.getItem('glassbox:quiz:10_generation')"
    page.evaluate(
        "document.addEventListener('glassbox:progress', (e) => { window.told = e.detail; })"
    )
    questions = page.locator(".gb-quiz")
    total = questions.count()
    assert page.evaluate(key) is None
    for place, side in ((0, "right"), (1, "wrong")):
        questions.nth(place).locator(f".gb-{side} summary").first.click()
        verdict = page.locator(".gb-score [role=status] .gb-aloud")
        assert verdict.text_content() == f"{side.capitalize()}. "
    said = f"2 of {total} answered, 1 right on the first try."
    assert said in page.locator(".gb-score").inner_text()
    assert page.evaluate(key) == f"2/{total}"
    told = {"page": "10_generation", "answered": 2, "total": total}
    assert page.evaluate("window.told") == told
    questions.nth(1).locator(".gb-right summary").click()  # a second try changes no score
    assert said in page.locator(".gb-score").inner_text()
    page.reload()
    assert said in page.locator(".gb-score").inner_text()
    assert questions.locator("details[open]").count() == 2
    assert axe.run(page, ".gb-score") == []
    page.locator(".gb-score").get_by_role("button", name="Start over").click()
    assert questions.locator("details[open]").count() == 0
    assert page.evaluate(key) == f"0/{total}"


def test_answers_given_in_another_tab_are_kept(read):
    one = read(PAGE).page
    other = one.context.new_page()
    other.goto(one.url)
    for place, page in enumerate((one, other)):
        page.locator(".gb-quiz").nth(place).locator(".gb-right summary").click()
    assert "2 of " in other.locator(".gb-score").inner_text()
    other.locator(".gb-score").get_by_role("button", name="Start over").click()
    one.locator(".gb-quiz").nth(2).locator(".gb-right summary").click()
    assert "1 of " in one.locator(".gb-score").inner_text()
    other.close()


@pytest.mark.parametrize("place", [".gb-stub", ".gb-quiz"])
def test_without_scripts_stub_links_and_quiz_are_there(read, place):
    page = read(PAGE, java_script_enabled=False).page
    assert page.locator(place).first.is_visible()
    assert page.locator(f"{CARD} a[download]").is_visible()
    assert not page.locator(f"{CARD} button").is_visible()
    assert page.locator(".gb-score").count() == 0


def test_only_pages_with_something_to_do_have_the_script(soup, any_page):
    has = bool(soup(any_page).select(".gb-try, .gb-quiz"))
    scripts = [tag.get("src", "") for tag in soup(any_page).find_all("script")]
    assert sum("practice.js" in source for source in scripts) == has


def test_exercises_in_the_page_need_no_other_host():
    for file in (SITE / "_static/glassbox/exercises").iterdir():
        assert "://" not in file.read_text(encoding="utf-8"), file
