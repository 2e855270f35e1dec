"""When the largest part of a chapter's page is painted, in a browser, served from this machine."""

from dataclasses import dataclass
from operator import itemgetter

from playwright.sync_api import Browser

from tests.conftest import chromium
from tools.build_site import INDEX
from tools.notebooks import notebooks
from tools.serve import serving

WHAT = "largest paint of a chapter's page"
LOADS = 3  # the best counts: other load on the machine is not the page's fault
WATCH = """
window.largest = 0;
new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) window.largest = entry.startTime;
}).observe({ type: 'largest-contentful-paint', buffered: true });
"""


@dataclass(frozen=True)
class Paint:
    """Milliseconds to the largest paint of each chapter's page, the best of its loads."""

    pages: dict[str, float]

    def sentence(self) -> str:
        """Say which page is slowest, and how slow."""
        name, longest = max(self.pages.items(), key=itemgetter(1))
        return f"{WHAT}: at most {longest:.0f} ms, that of {name}."


def measure() -> Paint | None:
    """Open every chapter of the built site; return None without a site or a Chromium."""
    if not INDEX.is_file():
        return None
    with chromium() as browser, serving(INDEX.parent) as url:
        if browser is None:
            return None
        addresses = {path.stem: f"{url}chapters/{path.stem}.html" for path in notebooks()}
        pages = {
            name: min(largest(browser, address) for _ in range(LOADS))
            for name, address in addresses.items()
        }
    return Paint(pages)


def largest(browser: Browser, url: str) -> float:
    """Return when the largest part of a page was painted, loaded with an empty cache."""
    with browser.new_context(viewport={"width": 1400, "height": 900}) as context:
        page = context.new_page()
        page.add_init_script(WATCH)
        page.goto(url, wait_until="networkidle")
        return float(page.evaluate("window.largest"))
