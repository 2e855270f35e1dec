"""The book on paper: what is printed, on which page, and that nothing is cut."""

import re
import shutil
import zlib

import pytest
from bs4 import BeautifulSoup

from tests.site.conftest import ROOT, SITE
from tools.pdf import pages_of, print_book, sheet

CHAPTER = "chapters/04_scaled_dot_product.html"
NAME = "04_scaled_dot_product"
PAPER = 642  # px: A4 without its margins
CUT = """() => {
    const right = document.querySelector(".bd-article").getBoundingClientRect().right + 1;
    const all = ".bd-article :is(math, svg, img, pre, table, .glassbox-view, .gb-widget)";
    return [...document.querySelectorAll(all)].filter((part) => part.checkVisibility())
        .filter((part) => part.getBoundingClientRect().right > right)
        .map((part) => part.outerHTML.slice(0, 100));
}"""


def test_what_only_paper_has_gets_no_style_of_the_site():
    style, names = ROOT / "tools" / "pdf.css", r"\.(gb-[\w-]+)"
    styles = "".join(path.read_text("utf-8") for path in (SITE / "_static").rglob("*.css"))
    assert not {*re.findall(names, style.read_text("utf-8"))} & {*re.findall(names, styles)}


def test_paper_is_white_in_the_dark(read):
    page = read(CHAPTER, dark=True).page
    page.evaluate("document.documentElement.dataset.theme = 'dark'")
    page.emulate_media(media="print", color_scheme="dark")
    assert page.evaluate("getComputedStyle(document.documentElement).colorScheme") == "light"


class Paper:
    """The text of a PDF that Chromium wrote, page by page."""

    def __init__(self, pdf: bytes) -> None:
        found = re.finditer(rb"(?:^|\n)(\d+) 0 obj\n(.*?)\nendobj", pdf, re.DOTALL)
        self.objects = {int(part[1]): part[2] for part in found}
        pages = (part for part in self.objects.values() if part.startswith(b"<</Type /Page\n"))
        self.pages = [self.text(page) for page in pages]

    def stream(self, number: int) -> str:
        """What an object holds, unpacked."""
        head, _, rest = self.objects[number].partition(b" stream\n")
        body = rest.rpartition(b"\nendstream")[0]
        return (zlib.decompress(body) if b"FlateDecode" in head else body).decode("latin-1")

    def letters(self, font: int) -> dict[int, str]:
        """The letters of a font by their numbers."""
        link = re.search(rb"/ToUnicode (\d+)", self.objects[font])
        assert link is not None
        known = {}
        for table in re.findall(
            r"beginbf(?:char|range)(.*?)endbf", self.stream(int(link[1])), re.S
        ):
            for line in table.strip().splitlines():
                first, *last, text = (int(number, 16) for number in re.findall(r"<(\w+)>", line))
                for code in range(first, (last or [first])[0] + 1):
                    known[code] = chr(min(text + code - first, 0x10FFFF))
        return known

    def text(self, page: bytes) -> str:
        """All letters of a page, without spaces."""
        names = re.findall(r"/(F\d+) (\d+) 0 R", page.decode("latin-1"))
        fonts = {name: self.letters(int(number)) for name, number in names}
        contents = re.search(rb"/Contents (\d+)", page)
        assert contents is not None
        letters: list[str] = []
        font: dict[int, str] = {}
        for name, code in re.findall(r"/(F\d+) \S+ Tf|<(\w+)> Tj", self.stream(int(contents[1]))):
            font = fonts[name] if name else font
            letters += [font.get(int(code[at : at + 4], 16), "") for at in range(0, len(code), 4)]
        return "".join("".join(letters).split())


@pytest.fixture(scope="module")
def printed(browser, serve):
    """A chapter on paper: the PDF, what was printed, and what would not fit."""
    folder = SITE.parent / "paper"
    part = sheet(SITE / CHAPTER, "Attention", {NAME})
    page = browser.new_page(viewport={"width": PAPER, "height": 900})
    page.set_default_timeout(120_000)
    try:
        pdf = print_book(page, serve(SITE.parent), folder, "A book", [part])
        html = (folder / "book.html").read_text(encoding="utf-8")
        page.emulate_media(media="print")
        cut = page.evaluate(CUT)
    finally:
        page.close()
        shutil.rmtree(folder, ignore_errors=True)
    return pdf, BeautifulSoup(html, "html.parser"), cut


@pytest.mark.slow
def test_contents_say_on_which_page_each_section_stands(printed):
    pdf, html, _ = printed
    paper, pages = Paper(pdf), pages_of(pdf)
    lines = html.select(".gb-contents a")
    assert len(lines) > 10
    for line in lines:
        number, title, page = (span.get_text(strip=True) for span in line.find_all("span")[:3])
        assert int(page) == pages[line["href"][1:]]
        assert f"{number}{title}".replace(" ", "") in paper.pages[int(page) - 1]


@pytest.mark.slow
def test_every_page_but_the_title_carries_its_number(printed):
    paper = Paper(printed[0])
    assert len(paper.pages) > 20
    for number, text in enumerate(paper.pages[1:], start=2):
        assert text.startswith((f"4Scaleddot-productattention{number}", str(number))), number
    assert paper.pages[0].startswith("Abook")


@pytest.mark.slow
def test_paper_has_every_figure_and_cuts_nothing(printed, soup):
    pdf, html, cut = printed
    captions = [caption.get_text() for caption in soup(CHAPTER).select(".caption-number")]
    text = "".join(Paper(pdf).pages)
    assert [c for c in captions if "".join(c.split()) not in text] == []
    assert cut == []
    assert not html.select("iframe, script, [loading]")


@pytest.mark.slow
def test_every_link_inside_the_printed_book_leads_somewhere(printed):
    _, html, _ = printed
    places = {part["id"] for part in html.find_all(id=True)}
    links = [link["href"] for link in html.find_all(href=re.compile("^#"))]
    assert len(links) > 50
    assert [link for link in links if link[1:] not in places] == []


def test_an_anchor_is_on_the_page_that_the_file_puts_it_on():
    pdf = b"""7 0 obj
<</Type /Page
>>
3 0 obj
<</Type /Page
>>
9 0 obj
<</Type /Pages
/Kids [7 0 R 3 0 R]>>
4 0 obj
<</a-b [3 0 R /XYZ 6 8 0]
/c#2fd [7 0 R /XYZ 6 8 0]>>"""
    assert pages_of(pdf) == {"a-b": 2, "c/d": 1}
