"""Every page, light and dark, on a wide and a narrow screen."""

import re


def test_page_opens_without_a_complaint(looks, any_page):
    for look in looks(any_page).values():
        assert look.problems == []
        assert look.foreign == []


def test_page_does_not_scroll_sideways(looks, any_page):
    for look in looks(any_page).values():
        assert look.sideways <= 0


def test_every_formula_is_set(looks, any_page):
    for look in looks(any_page).values():
        assert look.facts["dark"]["brokenFormulas"] == []


def test_page_has_the_colours_its_reader_prefers(looks, any_page):
    for look in looks(any_page).values():
        for theme, facts in look.facts.items():
            assert facts["theme"] == theme
            levels = [int(level) for level in re.findall(r"\d+", facts["ground"])[:3]]
            assert (max(levels) < 64) == (theme == "dark")


def test_letters_are_those_of_the_site(looks, chapter, soup):
    loaded = {family.strip('"') for family in looks(chapter)["wide"].facts["light"]["fonts"]}
    assert {"Book Math", "Book Serif", "Book Sans"} <= loaded
    assert len(soup(chapter).find_all("math")) > 10


def test_text_in_pictures_can_be_read_on_every_screen(looks, chapter):
    assert looks(chapter)["narrow"].facts["dark"]["smallLetters"] == []
    assert looks(chapter)["wide"].facts["light"]["smallLetters"] == []


def test_text_that_is_scaled_down_would_be_found(read):
    page = read("chapters/08_decoder.html", width=390).page
    assert page.evaluate("look.smallLetters()") == []
    page.add_style_tag(content=".gb-drawing { width: 200px !important }")
    assert page.evaluate("look.smallLetters().length") > 10


def test_no_address_in_a_page_depends_on_where_the_site_stands(soup, any_page):
    """So that it can be read from a folder, and from below a path of its host."""
    for name in ("href", "src"):
        for element in soup(any_page).find_all(attrs={name: True}):
            assert not element[name].startswith(("/", "file:")), element


def test_page_can_be_read_without_scripts(read, soup, chapter):
    assert soup(chapter).select(".gb-equation math")
    if chapter != "chapters/04_scaled_dot_product.html":
        return
    page = read(chapter, java_script_enabled=False).page
    for place, height in (".gb-equation math", 10), (".glassbox-view table", 50):
        box = page.locator(place).first.bounding_box()
        assert box is not None
        assert box["width"] > 50
        assert box["height"] > height
