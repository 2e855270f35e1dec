"""What a reader does with a page: look a term up, unfold, answer, search, print."""

TERM = "a:has(> .std-term)"


def test_definition_appears_on_hover_and_on_focus_and_goes_with_escape(read, chapter):
    page = read(chapter).page
    link = page.locator(TERM).first
    tooltip = page.locator(".gb-tooltip")
    assert not tooltip.is_visible()
    link.hover()
    assert tooltip.is_visible()
    described = page.locator(f"#{link.get_attribute('aria-describedby')}")
    assert tooltip.inner_text().split() == described.text_content().split()
    page.keyboard.press("Escape")
    assert not tooltip.is_visible()
    page.mouse.move(0, 0)
    link.focus()
    assert tooltip.is_visible()


def test_definition_stays_inside_a_narrow_page(read, chapter):
    page = read(chapter, width=390).page
    for link in page.locator(TERM).all():
        link.focus()
        box = page.locator(".gb-tooltip").bounding_box()
        assert box is not None
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= 390


def test_solutions_are_folded_until_asked_for(read, chapter):
    page = read(chapter).page
    solutions = page.locator("details.solution")
    assert solutions.count() >= 4
    assert page.locator("details.solution[open]").count() == 0
    solutions.first.locator("summary").click()
    assert solutions.first.locator(".cell").first.is_visible()


def test_link_to_something_folded_opens_it(read, chapter):
    page = read(chapter).page
    name = page.locator("details.solution").nth(1).get_attribute("id")
    page.evaluate("name => { location.hash = name }", name)
    page.wait_for_selector(f'details[id="{name}"][open]')


def test_one_answer_of_a_question_is_open_at_a_time(read, chapter):
    question = read(chapter).page.locator(".gb-quiz").first
    options = question.locator("details")
    for place in range(options.count()):
        options.nth(place).locator("summary").click()
        assert question.locator("details[open]").count() == 1


def test_search_finds_softmax(read):
    page = read("search.html?q=softmax").page
    page.wait_for_selector("#search-results li a")
    found = page.locator("#search-results li a").all_inner_texts()
    assert any("attention" in title.lower() for title in found)


def test_search_opens_with_the_keyboard(read, any_page):
    page = read(any_page).page
    if any_page == "search.html":
        assert page.locator("main input[type=search]").is_visible()
        return
    page.keyboard.press("Control+k")
    page.locator("#pst-search-dialog input").wait_for(state="visible")
    page.keyboard.type("softmax")
    page.keyboard.press("Enter")
    page.wait_for_url("**/search.html?q=softmax")


def test_what_scrolls_sideways_can_be_reached_with_the_keyboard(read, chapter):
    page = read(chapter, width=390).page
    page.wait_for_function("document.querySelectorAll('pre[tabindex]').length > 0")
    stuck = page.evaluate(
        """() => [...document.querySelectorAll('pre, .gb-formula')].filter(
            box => box.scrollWidth > box.clientWidth + 1 && box.tabIndex < 0
        ).length"""
    )
    assert stuck == 0


def test_paper_shows_what_is_folded_and_no_buttons(read, chapter):
    page = read(chapter).page
    page.emulate_media(media="print")
    solution = page.locator("details.solution").first.locator(".cell").first.bounding_box()
    assert solution is not None
    assert solution["height"] > 10
    assert not page.locator(".bd-sidebar-primary").is_visible()
    assert not page.locator(".copybtn").first.is_visible()


def test_paper_is_white_and_its_letters_dark_in_either_mode(read, chapter):
    colours = """() => ['body', 'h1', 'p', 'pre', 'pre .n', '.exercise', 'figcaption', 'math'].map(
        (place) => getComputedStyle(document.querySelector(`.bd-article ${place}`) ?? document.body)
    ).map(style => [style.color, style.backgroundColor])"""
    printed = []
    for dark in (False, True):
        page = read(chapter, dark=dark).page
        page.emulate_media(media="print")
        printed.append(page.evaluate(colours))
    assert printed[0] == printed[1]
    assert printed[0][0][1] == "rgb(255, 255, 255)"


def test_numbers_follow_the_file_name_of_the_chapter(read, chapter):
    page = read(chapter).page
    number = str(int(chapter.removeprefix("chapters/").split("_")[0]))
    assert page.locator("h1 .section-number").inner_text().split()[-1] == number
    captions = page.locator(".caption-number").all_inner_texts()
    equations = [text.strip("()#") for text in page.locator(".eqno").all_inner_texts()]
    assert len(captions) > 4
    assert len(equations) > 2
    for found in (*(caption.split()[-1] for caption in captions), *equations):
        assert found.split(".")[0] == number
