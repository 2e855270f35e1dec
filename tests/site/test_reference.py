"""Where things are looked up: the search, the notation, the glossary, the bibliography, results."""

import json
import re
from collections import Counter
from typing import Any
from urllib.parse import urlsplit

import pytest

from glassbox_site.search import in_a_line
from tests.site.conftest import SITE, chapters

INDEX = SITE / "_static" / "search-index.js"
ASKED = {
    "cross-attention": ["4.7 Cross-attention is the same function"],
    "KV cache": ["10.7 What a token costs"],
    "causal mask": ["4.6 Masks"],
    "sqrt d_k": ["4.5 Why divide by the root of the width"],
    "why divide": ["4.5 Why divide by the root of the width"],
    "BLEU": ["9.12 How good is a translation"],
    "masks": ["4.6 Masks"],
    "Vaswani attention": ["Attention is all you need"],
    "scaled_dot_product_attention": ["scaled_dot_product_attention"],
}
FOUND = """() => [...document.querySelectorAll(".gb-found li")].map((hit) => ({
    term: hit.matches(".gb-term"), title: hit.querySelector("a").textContent.replace(/\\s+/g, " "),
    href: hit.querySelector("a").getAttribute("href"), text: hit.querySelector("p").textContent,
    marked: hit.querySelectorAll("mark").length }))"""


@pytest.fixture(scope="module")
def index():
    """Pages of the index, by their addresses: the parts of each."""
    text = INDEX.read_text(encoding="utf-8").removeprefix("glassboxIndex=")
    return {address: parts for address, _, _, parts in json.loads(text)}


def ask(page, words):
    """What the page of the search finds."""
    page.fill("main input[type=search]", words)
    return page.evaluate(FOUND)


def test_search_finds_the_section_that_is_meant_and_shows_its_text(visit, index):
    page = visit((SITE / "search.html").as_uri()).page  # from a folder, without a server
    page.wait_for_function("'glassboxIndex' in window && document.activeElement.matches('input')")
    for words, expected in ASKED.items():
        hits = [hit for hit in ask(page, words) if not hit["term"]]
        assert [hit["title"] for hit in hits[: len(expected)]] == expected, words
        for hit in hits[:5]:
            address, _, anchor = hit["href"].removeprefix("./").partition("#")
            [whole] = [part[3] for part in index[address] if part[0] == anchor]
            assert hit["text"].strip(" …") in whole
            assert hit["marked"]


def test_search_begins_with_what_the_words_mean(read, index):
    page = read("search.html?q=KV+cache").page
    page.wait_for_selector(".gb-found li")
    first = page.evaluate(FOUND)[0]
    assert (first["term"], first["title"]) == (True, "key–value cache")
    assert first["text"] in [part[3] for part in index["chapters/glossary.html"]]


#: How readers may write a word, and how the book does, or what it is about.
WRITTEN = {
    "encoder-decoder": "encoder–decoder",
    "kullback-leibler": "Kullback–Leibler",
    "kv-cache": "KV cache",
    "tokeniser": "tokenizer",
    "initialization": "initialisation",
    "quantize": "quantise",
    "optimizer": "optimiser",
    "neighbor": "neighbour",
    "rope": "rotary",
    "gqa": "grouped-query",
    "llm": "language model",
}


def test_search_finds_a_word_however_it_is_spelled(read):
    page = read("search.html").page
    page.wait_for_function("'glassboxIndex' in window")
    for asked, written in WRITTEN.items():
        found = {hit["href"] for hit in ask(page, asked)}
        assert found, asked
        assert found >= {hit["href"] for hit in ask(page, written)[:2]}, asked


def test_a_word_longer_than_the_page_wraps(read):
    page = read(f"search.html?q={'a' * 120}", width=390).page
    page.wait_for_selector(".gb-found .gb-status:not(:empty)")
    assert page.evaluate("document.documentElement.scrollWidth") == 390


@pytest.mark.parametrize("address", ["chapters/glossary.html", "chapters/07_encoder.html"])
def test_an_address_with_a_damaged_hash_is_that_of_the_page(read, address):
    seen = read(address + "#%E0%A4%A")
    seen.page.wait_for_load_state()
    assert seen.problems == []


@pytest.mark.parametrize("page_at", ["search.html", "chapters/02_tokens_and_embeddings.html"])
def test_an_index_that_could_not_be_loaded_is_asked_for_again(visit, site, page_at):
    page = visit().page
    page.route("**/search-index.js", lambda route: route.abort())
    page.goto(f"{site}{page_at}")
    page.keyboard.press("Control+k")
    page.get_by_text("The index could not be loaded").locator("visible=true").wait_for()
    page.unroute("**/search-index.js")
    # On the page of the search another field takes the focus by itself, before the key or after it.
    field = page.locator("form.bd-search input").locator("visible=true").first
    field.press_sequentially("softmax")
    page.locator(".gb-found li").locator("visible=true").first.wait_for()


def test_many_sections_are_counted_as_the_book_writes_numbers(read):
    page = read("search.html").page
    page.wait_for_function("'glassboxIndex' in window")
    assert len(ask(page, "the")) > 1000
    assert re.fullmatch(r"\d,\d{3} results.*", page.inner_text(".gb-status"))


def test_search_says_when_nothing_or_not_all_was_found(read):
    page = read("search.html").page
    page.wait_for_function("'glassboxIndex' in window")
    assert ask(page, "qwortz") == []
    assert "Nothing" in page.inner_text(".gb-status")
    assert ask(page, "perplexity of tokenizer.model mayonnaise")
    assert "No section contains all" in page.inner_text(".gb-status")
    assert ask(page, "constructor") == []  # a word that JavaScript's own objects have
    assert "Nothing" in page.inner_text(".gb-status")


def test_search_in_the_dialog_answers_while_one_types_and_loads_nothing_before(read):
    page = read("chapters/04_scaled_dot_product.html").page
    asked = (
        "performance.getEntriesByType('resource').filter(({ name }) => /search/.test(name)).length"
    )
    assert page.evaluate(asked) == 0
    page.keyboard.press("Control+k")
    page.keyboard.type("why divide")
    page.wait_for_selector("#pst-search-dialog .gb-found li")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Escape")
    page.wait_for_selector("#pst-search-dialog", state="hidden")
    page.keyboard.press("Control+k")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    page.wait_for_url("**/04_scaled_dot_product.html#why-divide-by-the-root-of-the-width")


def test_the_dialog_closes_over_a_page_that_has_what_was_found(read):
    page = read("chapters/05_multi_head_attention.html").page
    page.keyboard.press("Control+k")
    page.keyboard.type("split heads")
    found = page.locator("#pst-search-dialog .gb-found a[href*='05_multi_head_attention.html#']")
    found.first.click()
    page.wait_for_selector("#pst-search-dialog", state="hidden")
    assert page.url.endswith(found.first.get_attribute("href").removeprefix("../"))


def test_index_has_every_section_of_every_chapter_and_stays_small(index, soup):
    assert INDEX.stat().st_size < 65_000 * len(chapters())
    for chapter in chapters():
        titles = soup(chapter).select("article section > h2:not(.gb-machine *)")
        assert {heading.parent["id"] for heading in titles} <= {part[0] for part in index[chapter]}


def test_index_has_no_minutes_of_a_section(index):
    texts = [part[3] for chapter in chapters() for part in index[chapter]]
    assert [text for text in texts if re.search(r"^\d+ min |Going deeper, \d", text)] == []


@pytest.mark.parametrize(
    ("latex", "line"),
    [
        (r"\operatorname{softmax}\left(\frac{QK^\top}{\sqrt{d_k}}\right)V", "softmax(QKᵀ/√d_k)V"),
        (r"a_{ij} = \frac{e^{s_{ij}}}{\sum_l e^{s_{il}}}", "a_ij = e^s_ij/Σ_l e^s_il"),
        (r"C \in \mathbb{R}^{n \times d_{\text{model}}}", "C ∈ R^(n × d_model)"),
    ],
)
def test_formula_is_found_as_a_line_of_text(latex, line):
    assert " ".join(in_a_line(latex).split()) == line


BROKEN = """() => [...document.querySelectorAll("table code .pre, table td.text-right p")]
    .filter((name) => name.checkVisibility()).flatMap((name) => {
        const texts = document.createTreeWalker(name, NodeFilter.SHOW_TEXT), broken = [];
        while (texts.nextNode()) {
            const letters = document.createRange();
            letters.selectNodeContents(texts.currentNode);
            if (letters.getClientRects().length > 1) broken.push(texts.currentNode.data);
        }
        return broken;
    })"""


@pytest.mark.parametrize("window", [1400, 390])
@pytest.mark.parametrize("page_at", ["chapters/results.html", "chapters/notation.html"])
def test_no_name_and_no_number_in_a_table_breaks(glance, page_at, window):
    page = glance(page_at, width=window).page
    assert page.evaluate(BROKEN) == []
    inside = """() => [...document.querySelectorAll(".gb-cards")].map((table) =>
        table.scrollWidth <= table.closest(".pst-scrollable-table-container").clientWidth + 1)"""
    assert set(page.evaluate(inside)) == {True}


def test_a_row_is_a_card_on_a_telephone_and_says_the_names_of_its_columns(glance):
    page = glance("chapters/notation.html", width=390).page
    cell = page.locator(".gb-cards tbody tr").first.locator("td").nth(1)
    assert (
        cell.evaluate("cell => getComputedStyle(cell, '::before').content") == '"Name in the code"'
    )
    assert cell.evaluate("cell => getComputedStyle(cell.parentElement).display") == "block"


@pytest.mark.parametrize(
    ("page_at", "words", "found"),
    [
        ("chapters/notation.html", "d_ff", "inner width of the feed-forward network"),
        ("chapters/glossary.html", "key-value", "key–value cache"),
        ("chapters/bibliography.html", "Papineni", "Bleu: a method"),
    ],
)
def test_looking_up_leaves_what_has_the_words(read, page_at, words, found):
    page = read(page_at).page
    entries = page.locator("dl.glossary dt:visible, .citation:visible, .gb-cards tbody tr:visible")
    whole = entries.count()
    page.fill(".gb-lookup input", words)
    assert 0 < entries.count() < whole / 4
    assert found.lower() in page.locator("article.bd-article").inner_text().lower()
    page.fill(".gb-lookup input", "")
    assert entries.count() == whole


@pytest.mark.parametrize(
    ("page_at", "words", "letter"),
    [("chapters/glossary.html", "rotary", "b"), ("chapters/bibliography.html", "Papineni", "d")],
)
def test_what_looking_up_hides_is_shown_to_whoever_goes_there(read, page_at, words, letter):
    page = read(page_at).page
    link, heading = (f".gb-letters a[href='#letter-{letter}']", f"#letter-{letter}")
    ink = f'getComputedStyle(document.querySelector("{link}")).color'
    usual = page.evaluate(ink)
    ways = [
        lambda: page.click(link),
        lambda: page.click(link),  # the address stays the same
        lambda: page.evaluate("hash => { location.hash = ''; location.hash = hash }", heading),
    ]
    for go in ways:
        page.fill(".gb-lookup input", words)
        assert not page.locator(heading).is_visible()
        assert "Nothing below this letter" in page.get_attribute(link, "aria-description")
        assert page.evaluate(ink) != usual
        go()
        page.locator(heading).wait_for(state="visible")
        page.wait_for_function(
            "id => Math.abs(document.querySelector(id).getBoundingClientRect().top - 125) < 25",
            arg=heading,
        )
        assert page.input_value(".gb-lookup input") == ""
        assert page.get_attribute(link, "aria-description") is None
        assert page.evaluate(ink) == usual


def test_what_looking_up_hides_can_be_previewed(read):
    page = read("chapters/bibliography.html").page
    page.fill(".gb-lookup input", "Papineni")
    entry = page.locator(".citation[hidden]").first.get_attribute("id")
    page.evaluate(
        "id => document.querySelector('.gb-lookup').insertAdjacentHTML('afterend',"
        " `<p><a class='reference internal' href='#${id}'>a work</a></p>`)",
        entry,
    )
    page.locator(".gb-lookup + p a").focus()
    page.locator(".gb-tooltip .citation").wait_for(state="visible")


@pytest.mark.parametrize("page_at", ["chapters/glossary.html", "chapters/bibliography.html"])
def test_each_letter_is_jumped_to_once_and_has_its_own_below_it(soup, page_at):
    page = soup(page_at)
    letters = [link.get_text() for link in page.select(".gb-letters a")]
    assert letters == sorted(set(letters)) == [h.get_text() for h in page.select(".gb-letter")]
    if page_at == "chapters/glossary.html":
        for heading in page.select(".gb-letter"):
            names = heading.find_next("dl").find_all("dt")
            assert {name.get_text()[0].upper() for name in names} == {heading.get_text()}


def test_a_term_leads_to_the_section_that_introduces_it(soup):
    page = soup("chapters/glossary.html")
    introduced: dict[str, Any] = {}
    for definition in page.select("dl.glossary dd"):
        link = definition.select_one(".gb-uses a")
        term = definition.find_previous_sibling("dt")["id"]
        introduced[term] = (link.get_text(), link["href"]) if link else None
    assert introduced["term-causal-mask"] == ("4.6 Masks", "04_scaled_dot_product.html#masks")
    assert introduced["term-query"][0].startswith("4.2")
    missing = [term for term, place in introduced.items() if place is None]
    assert len(missing) < len(introduced) / 10


def test_a_work_leads_to_every_section_that_cites_it(soup):
    cited: Counter[tuple[str, str]] = Counter()
    for chapter in chapters():
        for link in soup(chapter).select('a[href^="bibliography.html#"]'):
            headings = (s.find(["h1", "h2"], recursive=False) for s in link.find_parents("section"))
            number = next(filter(None, headings)).select_one(".section-number").get_text(strip=True)
            cited[urlsplit(link["href"]).fragment, number] += 1
    page = soup("chapters/bibliography.html")
    said = {
        (work["id"], link.get_text()): link["href"]
        for work in page.select(".citation")
        for link in work.select(".gb-uses a")
    }
    assert said.keys() == cited.keys()
    for href in said.values():
        address, _, anchor = href.partition("#")
        assert "bibtex-citation" in soup(f"chapters/{address}").find(id=anchor)["class"]


def test_every_column_of_results_has_a_name(soup):
    for head in soup("chapters/results.html").select("table thead"):
        names = [cell.get_text(strip=True) for cell in head.select("th")]
        assert all(names[1:]), names
    verdicts = soup("chapters/results.html").select('[data-name="verdict"]')
    assert {re.sub(r"\s+", " ", cell.get_text(strip=True)) for cell in verdicts} <= {
        *("", "met", "missed", "not measured")
    }
