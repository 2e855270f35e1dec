"""What others read of a page: its description, its address, and the page of a wrong address."""

from types import SimpleNamespace
from typing import Any

import pytest
from docutils.core import publish_doctree
from PIL import Image

from glassbox_site.head import LONGEST, description, find_address, write_files
from tests.site.conftest import SITE, chapters, pages


def test_a_page_says_what_it_is_about_in_whole_words(soup, any_page):
    head = soup(any_page).head
    (described,) = head.select("meta[name=description]")
    assert described["content"]
    assert len(described["content"]) <= LONGEST
    if not any_page.startswith("search"):
        assert head.select_one("meta[property='og:title']")["content"].strip()
        assert described["content"][-1] in ".?…"
    assert len(head.select("meta[name=viewport]")) == 1
    if any_page in chapters():
        assert "?" in described["content"]


def test_a_long_first_sentence_ends_at_a_word():
    text = "Title\n=====\n\n" + "many words " * 40 + "end."
    said = description(publish_doctree(text, settings_overrides={"doctitle_xform": False}))
    assert len(said) <= LONGEST
    assert said.endswith(("many…", "words…"))


def test_the_font_of_formulas_is_fetched_ahead_where_there_are_formulas(soup):
    for page in pages():
        text = str(soup(page).head)
        assert ("mathematics.woff2" in text) == bool(soup(page).select("article math")), page


def test_a_site_is_entered_by_its_front_page_which_leads_to_the_first_chapter(soup):
    assert (SITE / "index.html").read_bytes() == (SITE / "intro.html").read_bytes()
    following = soup("intro.html").select_one(".prev-next-area a.right-next")
    assert following["href"] == chapters()[0]


def test_the_page_of_a_wrong_address_asks_for_no_other_file(soup):
    page = soup("404.html")
    assert not page.select("link:not([href^='data:']), img, script[src]")
    (home,) = page.find_all("a")
    assert home["href"].startswith(("/", "https://"))
    assert page.h1


@pytest.mark.parametrize(
    ("path", "home"),
    [("/some-book/chapters/x.html", "/some-book/"), ("/some-book/x/y/z.html", "/some-book/")],
)
def test_a_wrong_address_below_a_path_leads_home(visit, path, home):
    page = visit().page
    page.route("**/*", lambda route: route.fulfill(path=SITE / "404.html", status=404))
    page.goto(f"http://someone.github.io{path}")
    assert page.locator("#home").get_attribute("href") == home


@pytest.mark.parametrize(
    ("setting", "workflow", "address"),
    [
        ("https://x.org/book", "someone/some-book", "https://x.org/book/"),
        ("", "Someone/some-book", "https://someone.github.io/some-book/"),
        ("", "someone/someone.github.io", "https://someone.github.io/"),
        ("", "", ""),
    ],
)
def test_the_address_is_the_setting_or_that_of_the_workflow(
    setting, workflow, address, monkeypatch
):
    monkeypatch.setenv("GITHUB_REPOSITORY", workflow)
    config: Any = SimpleNamespace(html_baseurl=setting)
    find_address(SimpleNamespace(), config)  # type: ignore[arg-type]
    assert config.html_baseurl == address


@pytest.mark.parametrize("address", ["", "https://x.org/book/"])
def test_a_site_with_an_address_has_a_map_and_any_has_a_picture(tmp_path, address):
    (tmp_path / "_static").mkdir()
    (tmp_path / "intro.html").write_text("front")
    config = SimpleNamespace(html_baseurl=address, root_doc="intro")
    app: Any = SimpleNamespace(
        builder=SimpleNamespace(format="html"),
        outdir=tmp_path,
        config=config,
        env=SimpleNamespace(found_docs={"intro", "chapters/about"}),
    )
    write_files(app, None)
    assert (tmp_path / "index.html").read_text() == "front"
    with Image.open(tmp_path / "_static" / "card.png") as picture:
        assert picture.size == (1200, 630)
    assert (tmp_path / "sitemap.xml").exists() == bool(address)
    if address:
        places = (tmp_path / "sitemap.xml").read_text()
        assert "<loc>https://x.org/book/chapters/about.html</loc>" in places
