"""Links inside the site lead somewhere, and nothing comes from anywhere else."""

from collections import Counter
from pathlib import Path
from urllib.parse import unquote, urljoin, urlsplit

import pytest
from bs4 import BeautifulSoup

from tests.site.conftest import SITE

HERE = "http://book/"


@pytest.fixture(scope="module")
def soups():
    pages = {
        page.relative_to(SITE).as_posix(): BeautifulSoup(page.read_bytes(), "html.parser")
        for page in SITE.rglob("*.html")
        if "_static" not in page.parts
    }
    if not pages:
        pytest.fail(f"there is no site in {SITE}: build it with make book", pytrace=False)
    return pages


def broken(soups, page):
    """Links of a page that lead to no file or to no place in it."""
    for link in soups[page].find_all("a", href=True):
        target = urlsplit(urljoin(HERE + page, link["href"]))
        if target.netloc != "book":
            continue
        path = unquote(target.path).lstrip("/") or "index.html"
        if not (SITE / path).is_file():
            yield link["href"]
        elif target.fragment and path in soups:
            place = unquote(target.fragment)
            if not soups[path].find(id=place):
                yield link["href"]


def test_every_internal_link_and_anchor_resolves(soups):
    assert {page: found for page in soups if (found := list(broken(soups, page)))} == {}


def test_a_broken_link_would_be_found(soups):
    page = {"a.html": BeautifulSoup('<a href="b.html"></a>', "html.parser")}
    assert list(broken(page, "a.html")) == ["b.html"]


def test_nothing_is_loaded_from_another_host(soups):
    loads = {"link": "href", "script": "src", "img": "src", "iframe": "src", "source": "src"}
    for page, soup in soups.items():
        for name, attribute in loads.items():
            for element in soup.find_all(name, attrs={attribute: True}):
                assert not urlsplit(element[attribute]).netloc, f"{page}: {element}"
    for style in Path(SITE, "_static").rglob("*.css"):
        assert "//fonts." not in style.read_text(encoding="utf-8")


def test_an_id_occurs_once_in_a_page(soups):
    for page, soup in soups.items():
        ids = Counter(element["id"] for element in soup.find_all(id=True))
        assert [name for name, count in ids.items() if count > 1] == [], page


def test_every_chapter_of_the_map_that_is_written_is_a_link(soups):
    links = {link["href"] for link in soups["intro.html"].select("svg a[href]")}
    written = {page for page in soups if page.removeprefix("chapters/")[0].isdigit()}
    assert links == written
