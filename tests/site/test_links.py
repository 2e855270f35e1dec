"""Links inside the site lead somewhere, and nothing comes from anywhere else."""

from collections import Counter
from pathlib import Path
from urllib.parse import unquote, urljoin, urlsplit

import pytest
from bs4 import BeautifulSoup

from tests.site.conftest import SITE, chapters

HERE = "http://book/"


@pytest.fixture(scope="module")
def soups(soup):
    names = [page.relative_to(SITE) for page in SITE.rglob("*.html")]
    pages = {
        name.as_posix(): soup(name.as_posix()) for name in names if "_static" not in name.parts
    }
    if not pages:
        pytest.fail(f"there is no site in {SITE}: build it with make book", pytrace=False)
    return pages


def places(soups):
    """What a link can lead to in each page."""
    return {page: {part["id"] for part in soup.find_all(id=True)} for page, soup in soups.items()}


def broken(soups, page, ids):
    """Links of a page that lead to no file or to no place in it."""
    for link in soups[page].find_all("a", href=True):
        target = urlsplit(urljoin(HERE + page, link["href"]))
        if target.netloc != "book":
            continue
        path = unquote(target.path).lstrip("/") or "index.html"
        place = unquote(target.fragment)
        if not (SITE / path).is_file() or (place and path in soups and place not in ids[path]):
            yield link["href"]


def test_every_internal_link_and_anchor_resolves(soups):
    ids = places(soups)
    assert {page: found for page in soups if (found := list(broken(soups, page, ids)))} == {}


def test_a_broken_link_would_be_found(soups):
    text = '<a href="b.html"></a><a href="index.html#nowhere"></a><a href="index.html#here"></a>'
    page = {name: BeautifulSoup(text, "html.parser") for name in ("a.html", "index.html")}
    ids = {"a.html": set(), "index.html": {"here"}}
    assert list(broken(page, "a.html", ids)) == ["b.html", "index.html#nowhere"]


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


def test_the_front_page_leads_to_every_chapter_and_says_what_it_asks(soups):
    cards = {card["href"]: card for card in soups["intro.html"].select("a.gb-card")}
    assert list(cards) == chapters()
    for page, card in cards.items():
        epigraph = soups[page].select_one("blockquote.epigraph p")
        assert card.q.get_text().split() == epigraph.get_text().split()
        assert soups[page].h1.find(string=True, recursive=False).strip() in card.get_text()
        assert card.svg
