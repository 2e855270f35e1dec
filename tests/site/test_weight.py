"""A page is light and steady: bytes over the wire before a view is opened, and nothing jumps."""

MEGABYTE = 1_000_000
UNUSED = ("fontawesome", "thebe", "togglebutton", "design-tabs", "mathjax", "require")


def test_page_transfers_at_most_a_megabyte(looks, any_page):
    for look in looks(any_page).values():
        assert len(look.received) > 10
        assert 0 < sum(look.received.values()) <= MEGABYTE


def test_nothing_moves_while_a_chapter_loads_and_is_scrolled(looks, chapter):
    for look in looks(chapter).values():
        assert look.shift < 0.01


def test_no_style_asks_what_is_anywhere_on_the_page(glance, chapter):
    page = glance(chapter).page
    assert page.evaluate("look.askingEverywhere()") == []


def test_a_style_that_asks_everywhere_would_be_found(read):
    page = read("chapters/tour.html").page
    rules = ["main:not(:has(.gone)) p", "p a, body:has(> .gone)"]
    page.add_style_tag(
        content=" ".join(f"@media all {{ {rule} {{ color: red }} }}" for rule in rules)
    )
    assert page.evaluate("look.askingEverywhere()") == rules


def test_no_page_loads_what_it_does_not_use(looks, any_page):
    loaded = looks(any_page)["wide"].received
    assert not [name for name in loaded if any(word in name.lower() for word in UNUSED)]
