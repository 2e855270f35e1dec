"""Every page, light and dark, on a wide and a narrow screen."""

from tests.site.conftest import SITE, open_views, views_of

HORIZONTAL = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
#: Formulas that take no room, that the browser could not lay out, or that were not understood.
BROKEN_FORMULAS = """() => [...document.querySelectorAll('math, merror, .gb-bad-formula')].filter(
    (formula) => {
        if (formula.closest('[hidden], details:not([open])')) return false;
        const { width, height } = formula.getBoundingClientRect();
        return formula.localName !== 'math' || width < 2 || height < 2;
    }).map((formula) => formula.outerHTML)"""


def test_page_opens_without_a_complaint(look, any_page, width, dark):
    seen = look(any_page, width=width, dark=dark)
    assert seen.problems == []
    assert seen.foreign == []


def test_page_does_not_scroll_sideways(look, any_page, width):
    assert look(any_page, width=width, dark=False).page.evaluate(HORIZONTAL) <= 0


def test_every_formula_is_set(look, any_page, width):
    assert look(any_page, width=width, dark=False).page.evaluate(BROKEN_FORMULAS) == []


def test_page_has_the_colours_its_reader_prefers(look, any_page, dark):
    page = look(any_page, width=1400, dark=dark).page
    assert page.evaluate("document.documentElement.dataset.theme") == ("dark" if dark else "light")
    paper = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert (max(int(part) for part in paper[4:-1].split(",")[:3]) < 64) == dark


def test_letters_are_those_of_the_site(look, chapter):
    page = look(chapter, width=1400, dark=False).page
    fonts = page.evaluate("[...document.fonts].map(font => [font.family, font.status])")
    loaded = {family.strip('"') for family, status in fonts if status == "loaded"}
    assert {"Book Math", "Book Serif", "Book Sans"} <= loaded
    assert page.locator("math").count() > 10


def test_site_works_from_a_folder_without_a_server(visit, chapter):
    seen = visit((SITE / chapter).as_uri())
    views = open_views(seen.page)
    assert len(views) == views_of(chapter)
    assert seen.problems == []
    assert seen.foreign == []


def test_page_can_be_read_without_scripts(visit, site, chapter):
    page = visit(f"{site}{chapter}", java_script_enabled=False).page
    formula = page.locator(".gb-equation math").first.bounding_box()
    assert formula is not None
    assert formula["width"] > 50
    if views_of(chapter):
        table = page.locator(".glassbox-view table").first.bounding_box()
        assert table is not None
        assert table["height"] > 50
