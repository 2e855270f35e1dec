"""The built site, its pages, and a browser that has one of them open."""

from collections.abc import Callable, Iterator
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import nbformat
import pytest
import yaml
from bs4 import BeautifulSoup
from playwright.sync_api import Browser, Frame, Page

from tests.conftest import Open, Visit, pages_of, window_options
from tests.site.look import LOOK, WIDTHS, Look, look_at, wait_for_theme
from tools.notebooks import entries

ROOT = Path(__file__).resolve().parents[2]
SITE = ROOT / "_build" / "html"
DARK = {False: "light", True: "dark"}
PATIENCE = 60_000  # ms; what else the machine does is not the page's doing


@cache
def pages() -> list[str]:
    """Return the address of every page, from the table of contents, below the site's root."""
    toc = yaml.safe_load((ROOT / "_toc.yml").read_text(encoding="utf-8"))
    return [f"{name}.html" for name in (*entries(toc), "search")]


@cache
def chapters() -> list[str]:
    """Return the addresses of the chapters."""
    return [page for page in pages() if page.removeprefix("chapters/")[0].isdigit()]


@cache
def views_of(page: str) -> int:
    """Return how many attention views the outputs of a page's notebook hold."""
    path = ROOT / Path(page).with_suffix(".ipynb")
    if not path.is_file():
        return 0
    outputs = (
        output.get("data", {}).get("text/html", "")
        for cell in nbformat.read(path, as_version=4).cells
        for output in cell.get("outputs", [])
    )
    return sum("".join(page).count('class="glassbox-view') for page in outputs)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run a test for every page, chapter, chapter with views, width and colour mode it asks for."""
    values: dict[str, list[Any]] = {
        "any_page": pages(),
        "chapter": chapters(),
        "chapter_with_views": [chapter for chapter in chapters() if views_of(chapter)],
        "width": list(WIDTHS.values()),
        "dark": list(DARK),
    }
    names = [name for name in values if name in metafunc.fixturenames]
    if names:
        views = list(product(*(values[name] for name in names)))
        ids = ["-".join(DARK[v] if isinstance(v, bool) else str(v) for v in view) for view in views]
        metafunc.parametrize(names, views, ids=ids)


@pytest.fixture(scope="session")
def site(serve: Callable[[Path], str]) -> str:
    """The URL of the built site, served on this machine."""
    if not (SITE / "index.html").is_file():
        pytest.fail(f"there is no site in {SITE}: build it with make book", pytrace=False)
    return serve(SITE)


@pytest.fixture(scope="session")
def soup() -> Callable[[str], BeautifulSoup]:
    """Return a function that parses a page once for all tests that read and do not change it."""
    return cache(lambda page: BeautifulSoup((SITE / page).read_bytes(), "html.parser"))


def attentive(seen: Visit) -> Visit:
    """Let a page load as long as it takes, and note warnings and what was not answered."""
    seen.page.set_default_timeout(PATIENCE)
    seen.page.add_init_script(path=LOOK)

    def complain(wrong: object, what: str) -> None:
        if wrong:
            seen.problems.append(what)

    seen.page.on("requestfailed", lambda sent: complain(True, f"no answer: {sent.url}"))
    seen.page.on("response", lambda got: complain(not got.ok, f"{got.status} {got.url}"))
    seen.page.on("console", lambda line: complain(line.type == "warning", line.text))
    return seen


@pytest.fixture
def read(site: str, visit: Open) -> Callable[..., Visit]:
    """Return a function that opens a page for one test, to do with it what it likes."""

    def read(page: str, **options: Any) -> Visit:
        seen = attentive(visit(**options))
        seen.page.goto(f"{site}{page}", wait_until="load")
        return seen

    return read


@pytest.fixture(scope="session")
def glance(site: str, browser: Browser) -> Iterator[Callable[..., Visit]]:
    """Return a function that shows a page to tests that leave it as it is, loaded once for them.

    As for a reader, width and theme change on the loaded page.
    """
    with pages_of(browser) as visit:
        window = cache(lambda **context: attentive(visit(**context)))

        def glance(page: str, *, width: int = 1400, dark: bool = False, **context: Any) -> Visit:
            seen, options = window(**context), window_options(width, dark)
            if seen.page.url != f"{site}{page}":
                seen.page.goto(f"{site}{page}", wait_until="load")
            seen.page.set_viewport_size(options["viewport"])
            seen.page.emulate_media(media="null", color_scheme=options["color_scheme"])
            wait_for_theme(seen.page.main_frame, DARK[dark])
            return seen

        yield glance


@pytest.fixture(scope="session")
def looks(site: str, browser: Browser) -> Iterator[Callable[[str], dict[str, Look]]]:
    """Return a function that looks at a page, wide and narrow, once for all tests."""
    with pages_of(browser) as visit:
        window = attentive(visit())  # one for all: to open a window takes as long as to read a page
        network = window.page.context.new_cdp_session(window.page)
        network.send("Network.setCacheDisabled", {"cacheDisabled": True})  # as at a first visit

        @cache
        def look(page: str, width: int) -> Look:
            return look_at(
                window,
                f"{site}{page}",
                open_views,
                width=width,
                is_chapter=page in chapters(),
            )

        yield lambda page: {name: look(page, width) for name, width in WIDTHS.items()}


def open_views(page: Page) -> list[Frame]:
    """Scroll to each attention view, wait until it is drawn, and return their frames."""
    frames = []
    for element in page.query_selector_all(".glassbox-view iframe"):
        element.evaluate("e => e.scrollIntoView()")
        frame = element.content_frame()
        assert frame is not None
        frame.wait_for_selector("#vis svg")
        frames.append(frame)
    return frames
