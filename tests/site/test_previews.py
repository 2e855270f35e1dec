"""What a link refers to is shown where the link stands, and a tap does not leave the chapter."""

import pytest

ONE = "chapters/04_scaled_dot_product.html"
SHOWN = [  # a link, and what its preview shows
    ("a[href='#equation-eq-attention']", ".gb-equation math"),
    ("a[href='#lst-attention']", ".code-block-caption, pre"),
    ("a[href='#sec-why-scale']", "h2, p"),
    ("a[href*='bibliography.html']", "p"),
    ("a[href*='06_positional_encoding.html#ch']", "h1, blockquote"),
]
LINK = ".bd-main .bd-article a.reference.internal"


def test_card_shows_equations_listings_sections_citations_and_other_pages(read):
    page = read(ONE).page
    card = page.locator(".gb-tooltip")
    for link, parts in SHOWN:
        page.locator(f"{LINK}{link.removeprefix('a')}").first.focus()
        card.locator(parts).first.wait_for(state="visible")
        box = card.bounding_box()
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= 1400
        page.keyboard.press("Escape")
        card.wait_for(state="hidden")


@pytest.mark.parametrize("status", [None, 503])
def test_another_page_that_could_not_be_loaded_is_asked_for_again(visit, site, status):
    page = visit().page
    page.goto(f"{site}{ONE}")

    def refuse(route):
        return route.fulfill(status=status) if status else route.abort()

    page.route("**/06_positional_encoding.html", refuse)
    link = page.locator(f"{LINK}[href*='06_positional_encoding.html#ch']").first
    with page.expect_event("response" if status else "requestfailed"):
        link.focus()
    page.wait_for_timeout(100)
    assert not page.locator(".gb-tooltip").is_visible()
    page.unroute("**/06_positional_encoding.html")
    link.blur()
    link.focus()
    page.locator(".gb-tooltip h1").first.wait_for()


def test_copy_brings_no_second_id(read):
    page = read(ONE).page
    page.locator(f"{LINK}[href='#lst-attention']").first.focus()
    page.locator(".gb-tooltip pre").wait_for(state="visible")
    assert page.evaluate("document.querySelectorAll('.gb-tooltip [id]:not(svg [id])').length") == 0


def test_a_tap_shows_a_sheet_and_leaves_only_when_asked(read):
    page = read(ONE, width=390, has_touch=True, is_mobile=True).page
    sheet = page.locator(".gb-sheet")
    term = page.locator("a:has(> .std-term)").first
    there = term.get_attribute("href").split("/")[-1]
    term.tap()
    sheet.wait_for(state="visible")
    assert page.url.endswith(ONE)
    definition = page.locator(f"#{term.get_attribute('aria-describedby')}")
    shown = page.locator(".gb-sheet-body").inner_text()
    assert shown.split() == definition.text_content().split()
    page.keyboard.press("Escape")
    sheet.wait_for(state="hidden")
    term.tap()
    page.locator(".gb-go").tap()
    page.wait_for_url(f"**/{there}")


def test_a_sheet_fits_a_phone(read):
    page = read(ONE, width=390, has_touch=True, is_mobile=True).page
    page.locator(f"{LINK}[href='#lst-attention']").first.tap()
    page.locator(".gb-sheet pre").wait_for(state="visible")
    box = page.locator(".gb-sheet").bounding_box()
    assert (box["x"], box["width"]) == (0, 390)
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    for way in page.locator(".gb-sheet > p > *").all():
        assert way.bounding_box()["height"] >= 44


@pytest.mark.parametrize("place", ["equation-eq-attention", "lst-attention"])
def test_previewed_things_are_on_the_page(soup, place):
    assert soup(ONE).find(id=place)
