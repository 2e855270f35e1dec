"""What the reader sees: nothing of the answer before choosing, then why."""

import re
from html.parser import HTMLParser

import pytest

from glassbox_book.quiz import Option, Question, Quiz, quiz
from tests import axe

QUIZ = quiz("scaled_dot_product")
PAGE = """<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Quiz</title>
<meta name="viewport" content="width=device-width"><style>
:root {{ color-scheme: light dark; }} body {{ font: 16px/1.5 sans-serif; margin: 16px;
background: light-dark(#fff, #121212); color: light-dark(#333, #d8d8d8); }}</style></head>
<body><main><h1>Quiz</h1>{}</main></body></html>"""
HOSTILE = "<script>alert(1)</script> </details> \"'& <img src=x onerror=alert(1)>"


class Tags(HTMLParser):
    def __init__(self, source):
        super().__init__()
        self.opened, self.open = [], []
        self.feed(source)

    def handle_starttag(self, tag, attributes):
        self.opened.append(tag)
        self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def hostile():
    options = tuple(Option(HOSTILE, HOSTILE, right) for right in (True, False, False))
    return Quiz("hostile", [Question("bad", HOSTILE, options)])


def test_html_is_well_formed_and_has_no_script():
    for shown in (QUIZ, hostile()):
        tags = Tags(shown._repr_html_())
        assert not tags.open
        allowed = {"style", "section", "p", "details", "summary", "strong", "code", "em"}
        assert set(tags.opened) <= allowed
        assert re.search(r"url\(|@import|https?:", shown._repr_html_()) is None


def test_text_lists_options_without_answers():
    text = repr(QUIZ)
    for question in QUIZ.questions:
        assert question.text in text
        for option in question.option:
            assert option.text in text
            assert option.why not in text
    assert "Right" not in text


def test_code_and_emphasis_are_set_and_nothing_else():
    text = "`d_k` *may* **be** [a](b) <b>"
    shown = Quiz("x", [Question("x", text, (Option("o", "w"),))])._repr_html_()
    assert "<code>d_k</code> <em>may</em> <strong>be</strong> [a](b) &lt;b&gt;" in shown


def test_same_quiz_gives_the_same_html():
    assert quiz("scaled_dot_product")._repr_html_() == QUIZ._repr_html_()


@pytest.fixture
def page(request, revisit):
    """A phone, light unless a test asks for both themes."""
    page = revisit(width=390, dark=getattr(request, "param", "light") == "dark").page
    page.set_content(PAGE.format(QUIZ._repr_html_()))
    return page


both_themes = pytest.mark.parametrize("page", ["light", "dark"], indirect=True)


@both_themes
def test_nothing_gives_the_answer_away(page):
    looks = page.eval_on_selector_all(
        ".gb-option",
        """options => options.map(option => {
            const of = (node, pseudo) => {
                const style = getComputedStyle(node, pseudo);
                return [style.color, style.backgroundColor, style.borderTopColor,
                    style.borderLeftColor, style.fontWeight, style.content];
            };
            const summary = option.firstElementChild;
            return JSON.stringify([of(option), of(summary), of(summary, '::before')]);
        })""",
    )
    assert len(looks) == 24
    assert len(set(looks)) == 1
    assert not page.get_by_text("Right.").first.is_visible()


def test_keyboard_reaches_and_opens_every_option(page):
    for summary in page.locator("summary").all():
        page.keyboard.press("Tab")
        assert summary.evaluate("node => node === document.activeElement")
        assert summary.evaluate("node => getComputedStyle(node).outlineStyle") == "solid"
        page.keyboard.press("Enter")
        assert summary.locator("xpath=..").get_attribute("open") is not None
        assert summary.locator("xpath=../p").is_visible()


def test_one_option_of_a_question_is_open_at_a_time(page):
    for summary in page.locator("summary").all():
        summary.click()
    sections = page.locator(".gb-quiz").all()
    assert len(sections) == 6
    assert [section.locator("details[open]").count() for section in sections] == [1] * 6


def test_right_and_wrong_are_words(page):
    for details in page.locator("details").all():
        word = "Right." if "gb-right" in (details.get_attribute("class") or "") else "Wrong."
        assert details.locator("p strong").first.text_content() == word


def open_all(page):
    """Open every option at once: those that share a name exclude one another."""
    opened = page.locator("details").evaluate_all(
        """all => all.map(option => {
            option.removeAttribute('name');
            option.open = true;
            return option.lastElementChild.checkVisibility();
        })"""
    )
    assert opened == [True] * 24


def test_nothing_is_wider_than_a_phone(page):
    width = "document.documentElement.scrollWidth"
    assert page.evaluate(width) <= 390
    open_all(page)
    assert page.evaluate(width) <= 390


@both_themes
def test_axe_finds_nothing_before_choosing_and_after(page):
    assert axe.run(page) == []
    open_all(page)
    page.locator("summary").first.hover()
    assert axe.run(page) == []


def test_hostile_text_stays_text(visit):
    seen = visit()
    seen.page.on("dialog", lambda dialog: seen.problems.append("a dialog"))
    seen.page.set_content(PAGE.format(hostile()._repr_html_()))
    assert seen.page.locator(".gb-question").inner_text() == f"1. {HOSTILE}"
    assert seen.page.locator(".gb-option").count() == 3
    assert not seen.problems
    assert not seen.foreign
