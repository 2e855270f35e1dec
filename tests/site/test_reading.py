"""What a reader does with a page: look a term up, unfold, answer, search, print.

What a script or a style does, it does on every page alike, and is seen on one; what it needs of a
page is asked of every page.
"""

import pytest

from tests.site.conftest import chapters

ONE = "chapters/04_scaled_dot_product.html"
TERM = "a:has(> .std-term)"


def test_definition_appears_on_hover_and_on_focus_and_goes_with_escape(read):
    page = read(ONE).page
    link = page.locator(TERM).first
    tooltip = page.locator(".gb-tooltip")
    assert not tooltip.is_visible()
    link.hover()
    tooltip.wait_for(state="visible")
    described = page.locator(f"#{link.get_attribute('aria-describedby')}")
    assert tooltip.inner_text().split() == described.text_content().split()
    page.keyboard.press("Escape")
    tooltip.wait_for(state="hidden")
    page.mouse.move(0, 0)
    link.focus()
    tooltip.wait_for(state="visible")


def test_every_term_has_a_definition_that_fits_the_page(looks, any_page):
    for look in looks(any_page).values():
        assert any_page == "chapters/glossary.html" or look.bad_definitions == []


def test_solutions_are_folded_until_asked_for(soup, chapter):
    solutions = soup(chapter).select("details.solution")
    assert len(solutions) >= 4
    assert all(fold.select(".cell, p") and not fold.has_attr("open") for fold in solutions)


def test_a_click_unfolds_a_solution_and_so_does_a_link_to_it(read):
    page = read(ONE).page
    solutions = page.locator("details.solution")
    assert not solutions.first.locator(".cell").first.is_visible()
    solutions.first.locator("summary").click()
    solutions.first.locator(".cell").first.wait_for(state="visible")
    name = solutions.nth(1).get_attribute("id")
    page.evaluate("name => { location.hash = name }", name)
    page.wait_for_selector(f'details[id="{name}"][open]')


def test_the_mark_of_a_fold_stands_left_of_all_its_lines(glance):
    page = glance(ONE, width=390).page
    folds = page.locator(".solution > summary").evaluate_all(
        """all => all.map((summary) => {
          const text = document.createRange();
          text.selectNodeContents(summary);
          return [...text.getClientRects()].map(({ left, top }) => [left, top]);
        })"""
    )
    assert any(boxes[-1][1] > boxes[0][1] + 10 for boxes in folds)  # on two lines
    assert all(min(boxes)[0] == boxes[0][0] for boxes in folds)


def test_one_answer_of_a_question_is_open_at_a_time(read, soup):
    for chapter in chapters():
        for question in soup(chapter).select(".gb-quiz"):
            assert (
                len({option.get("name") for option in question.find_all("details")} - {None}) == 1
            )
    question = read(ONE).page.locator(".gb-quiz").first
    options = question.locator("details")
    for place in range(options.count()):
        options.nth(place).locator("summary").click()
        assert question.locator("details[open]").count() == 1


def test_search_finds_softmax(read):
    page = read("search.html?q=softmax").page
    page.wait_for_selector(".gb-found li a")
    found = page.locator(".gb-found li a").all_inner_texts()
    assert any("attention" in title.lower() for title in found)


@pytest.mark.parametrize("page_at", ["intro.html", ONE, "chapters/api/attention.html"])
def test_search_opens_with_the_keyboard(read, page_at):
    page = read(page_at).page
    page.keyboard.press("Control+k")
    page.locator("#pst-search-dialog input").wait_for(state="visible")
    page.keyboard.type("softmax")
    page.keyboard.press("Enter")
    page.wait_for_url("**/search.html?q=softmax")


def test_every_page_has_its_search(soup, any_page):
    action = "search.html" if any_page == "search.html" else "#pst-search-dialog form"
    place = "main input[type=search]" if action == "search.html" else f"{action} input"
    assert soup(any_page).select(place)


def test_what_scrolls_sideways_can_be_reached_with_the_keyboard(looks, any_page):
    for look in looks(any_page).values():
        assert look.facts["dark"]["outOfReach"] == []


def test_paper_shows_what_is_folded_and_is_white_in_either_mode(glance):
    printed = []
    for dark in (False, True):
        page = glance(ONE, dark=dark).page
        page.emulate_media(media="print")
        printed.append(page.evaluate("look.onPaper()"))
    assert printed[0] == printed[1]
    assert printed[0]["colours"][0][1] == "rgb(255, 255, 255)"
    assert printed[0]["solution"] > 10
    assert printed[0]["screenOnly"] == 0


def test_numbers_follow_the_file_name_of_the_chapter(soup, chapter):
    page = soup(chapter)
    number = str(int(chapter.removeprefix("chapters/").split("_")[0]))
    assert page.select_one("h1 .section-number").get_text().split()[-1] == number
    captions = [caption.get_text() for caption in page.select(".caption-number")]
    equations = [found.get_text().strip("()#") for found in page.select(".eqno")]
    assert len(captions) > 4
    assert len(equations) > 2
    for found in (*(caption.split()[-1] for caption in captions), *equations):
        assert found.split(".")[0] == number
