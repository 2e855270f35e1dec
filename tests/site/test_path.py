"""Where a reader is and has been: minutes, what goes deeper, contents, marks, the way back."""

import pytest

from glassbox_site.times import count
from tests.site.conftest import ROOT, chapters

ONE = "chapters/04_scaled_dot_product.html"
NEXT = "chapters/05_multi_head_attention.html"
DEEPER = "the-measured-scale"
CURRENT = """() => {
  const [entry, ...more] = document.querySelectorAll("#gb-contents a.active");
  if (!entry || more.length) return null;
  const { top, bottom } = entry.getBoundingClientRect();
  const frame = entry.closest(".bd-sidebar-secondary").getBoundingClientRect();
  return top >= frame.top && bottom <= frame.bottom ? entry.hash.slice(1) : "out of view";
}"""
TO = "id => document.getElementById(id).scrollIntoView({ behavior: 'instant' })"
FOCUSED = """() => {
  const entry = document.activeElement, { top, bottom } = entry.getBoundingClientRect();
  const frame = entry.closest(".bd-sidebar-secondary")?.getBoundingClientRect();
  const isInView = top >= Math.max(0, frame?.top) && bottom <= Math.min(innerHeight, frame?.bottom);
  return [isInView, scrollY, entry.hash];
}"""
JUMP = "top => scrollTo({ top, behavior: 'instant' })"


def test_sections_tell_their_minutes_which_add_up_to_the_chapter(soup, chapter):
    told = [note.get_text() for note in soup(chapter).select(".gb-minutes")]
    assert len(told) > 5
    minutes = {words: int(words.removesuffix(" min")) for words in told}
    reading = count(ROOT / chapter.replace(".html", ".ipynb"))
    told_in_all = sum(minutes[words] for words in told) - 10 * reading.exercises
    assert told_in_all == pytest.approx(reading.core, rel=0.25)


def test_what_goes_deeper_is_folded_and_told(soup):
    folded = [fold for page in chapters() for fold in soup(page).select("details.gb-deeper")]
    assert folded
    for fold in folded:
        assert not fold.has_attr("open")
        assert fold.summary.get_text().strip().startswith("Going deeper, ")
        assert fold.find_previous_sibling(class_="gb-why").get_text().strip()
        assert fold.find_previous_sibling(["h2", "h3"])


def test_what_goes_deeper_opens_when_linked_to(read):
    page = read(ONE).page
    fold = page.locator(f"#{DEEPER} > details")
    assert fold.get_attribute("open") is None
    page.evaluate("name => { location.hash = name }", DEEPER)
    page.wait_for_selector(f"#{DEEPER} > details[open]")


def test_contents_follow_jumps_to_the_end_and_keep_the_entry_in_view(read):
    page = read("chapters/09_training.html").page
    page.set_viewport_size({"width": 1400, "height": 700})
    height = page.evaluate("document.documentElement.scrollHeight")
    for section in ("the-loop", "backward", "exercises"):
        page.evaluate(TO, section)
        page.wait_for_function(f"({CURRENT})() === '{section}'")
    page.evaluate(JUMP, height)
    page.wait_for_function(f"({CURRENT})() === 'further-reading'")
    page.wait_for_function("document.querySelector('.gb-progress').style.transform === 'scaleX(1)'")
    page.evaluate(JUMP, 0)
    page.wait_for_function("document.querySelectorAll('#gb-contents a.active').length === 0")


@pytest.mark.parametrize(("name", "height"), [(ONE, 1000), (NEXT, 700)])
def test_tab_goes_through_the_contents_and_leaves_the_page_where_it_is(read, name, height):
    page = read(name, viewport={"width": 1400, "height": height}).page
    page.locator(".right-next").focus()
    page.wait_for_function(f"({CURRENT})() === 'further-reading'")
    before = page.evaluate("scrollY")
    for entry in page.locator("#gb-contents a").all():
        page.keyboard.press("Tab")
        page.evaluate("() => new Promise(requestAnimationFrame)")  # what is scrolled is followed
        assert page.evaluate(FOCUSED) == [True, before, entry.get_attribute("href")]


def test_a_chapter_read_to_the_end_has_a_mark_and_a_way_back_until_it_is_forgotten(read):
    page = read(ONE).page
    assert page.locator(".gb-read-marks, .gb-path").count() == 0
    for entry in page.locator("#gb-contents .toc-h2 > a").all():
        section = entry.evaluate("link => link.hash.slice(1)")
        page.evaluate(TO, section)
        page.wait_for_function(f"({CURRENT})() === '{section}'")
    page.locator(".gb-quiz summary").first.click()
    page.goto(page.url.replace(ONE, NEXT))
    marks = page.locator("nav.bd-links a", has_text="Scaled dot-product").locator(".gb-read-marks")
    assert marks.inner_text().split()[:2] == ["quiz", "1/6"]
    assert marks.locator(".gb-tick").get_attribute("aria-label") == "read"
    assert page.locator(".gb-path a").get_attribute("href").partition("#")[0].endswith(ONE)
    page.locator(".gb-path summary").click()
    assert "localStorage" in page.locator(".gb-path").inner_text()
    page.evaluate("localStorage.setItem('glassbox:exercise:causal', '\"typed\"')")
    with page.expect_navigation():
        page.locator(".gb-path button").click()
    assert not any(
        key.startswith("glassbox:") for key in page.evaluate("Object.keys(localStorage)")
    )
    page.goto(page.url.replace(NEXT, ONE))
    assert page.locator(".gb-quiz details[open]").count() == 0
    assert page.locator(".gb-read-marks, .gb-path").count() == 0


@pytest.mark.parametrize("kept", [False, True])
def test_the_front_page_leads_back_to_where_the_reader_left_off(read, kept):
    page = read("intro.html").page
    place = {"page": ONE, "id": "masks", "title": "4.6 Masks"}
    if kept:
        page.evaluate("place => glassboxMemory.change(all => { all.path = { place } })", place)
    page.reload()
    links = page.locator(".gb-start [data-continue] a")
    assert links.all_inner_texts() == ["Continue at 4.6 Masks"] * kept


def test_a_quiz_that_is_started_over_has_no_mark(read):
    page = read(ONE).page
    page.locator(".gb-quiz summary").first.click()
    marks = page.locator("nav.bd-links .gb-read-marks")
    assert marks.inner_text().split() == ["quiz", "1/6"]
    page.locator(".gb-score button").click()
    assert marks.count() == 0
    # A search in the page opens what it finds in, which answers nothing.
    page.locator(".gb-quiz details").first.evaluate("option => { option.open = true }")
    page.reload()
    assert marks.count() == 0
