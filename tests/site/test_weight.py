"""A chapter's page is light and steady: bytes over the wire, and nothing jumps."""

MEGABYTE = 1_000_000
WATCH = """
window.seen = { shift: 0 };
new PerformanceObserver((list) => {
    for (const entry of list.getEntries().filter((entry) => !entry.hadRecentInput)) {
        window.seen.shift += entry.value;
    }
}).observe({ type: 'layout-shift', buffered: true });
"""


def test_chapter_transfers_at_most_a_megabyte(visit, site, chapter):
    seen = visit()
    session = seen.page.context.new_cdp_session(seen.page)
    session.send("Network.enable")
    received: list[float] = []
    session.on("Network.loadingFinished", lambda event: received.append(event["encodedDataLength"]))
    seen.page.goto(f"{site}{chapter}", wait_until="networkidle")
    assert len(received) > 10
    assert sum(received) <= MEGABYTE


def test_nothing_moves_while_a_page_loads_and_is_scrolled(visit, site, chapter, width):
    page = visit(width=width).page
    page.add_init_script(WATCH)
    page.goto(f"{site}{chapter}", wait_until="networkidle")
    height = page.evaluate("document.documentElement.scrollHeight")
    for top in range(0, height, 700):  # frames load on the way
        page.evaluate(f"scrollTo(0, {top})")
        page.wait_for_timeout(30)
    assert page.evaluate("window.seen.shift") < 0.01


def test_no_page_loads_what_it_does_not_use(look, any_page):
    unused = ("fontawesome", "thebe", "togglebutton", "design-tabs", "mathjax", "require")
    seen = look(any_page, width=1400, dark=False)
    loaded = seen.page.evaluate("performance.getEntriesByType('resource').map(entry => entry.name)")
    assert not [name for name in loaded if any(word in name.lower() for word in unused)]
