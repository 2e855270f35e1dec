"""The built site, its pages, and a browser that has one of them open."""

from collections.abc import Callable, Iterator
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import nbformat
import pytest
import yaml
from playwright.sync_api import Browser, Frame, Page

from tests.conftest import Open, Visit, pages_of
from tools.notebooks import entries

ROOT = Path(__file__).resolve().parents[2]
SITE = ROOT / "_build" / "html"
DARK = {False: "light", True: "dark"}


def pages() -> list[str]:
    """Return the address of every page, from the table of contents, below the site's root."""
    toc = yaml.safe_load((ROOT / "_toc.yml").read_text(encoding="utf-8"))
    return [f"{name}.html" for name in (*entries(toc), "search")]


def chapters() -> list[str]:
    """Return the addresses of the chapters."""
    return [page for page in pages() if page.removeprefix("chapters/")[0].isdigit()]


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run a test for every page, chapter, width and colour mode it asks for.

    The pages of the reference are made of the same parts: each is seen wide and light, and narrow
    and dark, which is all there is of either.
    """
    values: dict[str, list[Any]] = {
        "any_page": pages(),
        "chapter": chapters(),
        "width": [1400, 390],
        "dark": [False, True],
    }
    names = [name for name in values if name in metafunc.fixturenames]
    views = [dict(zip(names, view, strict=True)) for view in product(*(values[n] for n in names))]
    if {"any_page", "width", "dark"} <= set(names):
        views = [
            view
            for view in views
            if "/api/" not in view["any_page"] or view["dark"] == (view["width"] == 390)
        ]
    if names:
        shown = [[v if n != "dark" else DARK[v] for n, v in view.items()] for view in views]
        ids = ["-".join(map(str, view)) for view in shown]
        metafunc.parametrize(names, [tuple(view.values()) for view in views], ids=ids)


@pytest.fixture(scope="session")
def site(serve: Callable[[Path], str]) -> str:
    """The URL of the built site, served on this machine."""
    if not (SITE / "index.html").is_file():
        pytest.fail(f"there is no site in {SITE}: build it with make book", pytrace=False)
    return serve(SITE)


def reading(visit: Open, url: str, **options: Any) -> Visit:
    """Open a page as a reader would, and note warnings and what was not answered."""
    seen = visit(**options)

    def complain(wrong: object, what: str) -> None:
        if wrong:
            seen.problems.append(what)

    seen.page.on("requestfailed", lambda sent: complain(True, f"no answer: {sent.url}"))
    seen.page.on("response", lambda got: complain(not got.ok, f"{got.status} {got.url}"))
    seen.page.on("console", lambda line: complain(line.type == "warning", line.text))
    seen.page.goto(url, wait_until="load")
    return seen


@pytest.fixture
def read(site: str, visit: Open) -> Callable[..., Visit]:
    """Return a function that opens a page for one test, to do with it what it likes."""
    return lambda page, **options: reading(visit, f"{site}{page}", **options)


@pytest.fixture(scope="session")
def look(site: str, browser: Browser) -> Iterator[Callable[..., Visit]]:
    """Return a function that opens a page once for all tests that look and touch nothing.

    Its attention views are drawn.
    """
    with pages_of(browser) as visit:

        @cache
        def look(page: str, width: int = 1400, dark: bool = False) -> Visit:
            seen = reading(visit, f"{site}{page}", width=width, dark=dark)
            open_views(seen.page)
            return seen

        yield look


def open_views(page: Page) -> list[Frame]:
    """Scroll to each attention view, wait until it is drawn, and return their frames."""
    frames = []
    for element in page.query_selector_all(".glassbox-view iframe"):
        element.scroll_into_view_if_needed()
        frame = element.content_frame()
        assert frame is not None
        frame.wait_for_selector("#vis svg")
        frames.append(frame)
    return frames


def views_of(chapter: str) -> int:
    """Return how many attention views the outputs of a chapter hold."""
    notebook = nbformat.read(ROOT / Path(chapter).with_suffix(".ipynb"), as_version=4)
    pages = (
        output.get("data", {}).get("text/html", "")
        for cell in notebook.cells
        for output in cell.get("outputs", [])
    )
    return sum("".join(page).count('class="glassbox-view') for page in pages)
