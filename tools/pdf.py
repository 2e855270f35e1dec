"""Print the built site as one PDF: a title page, contents with page numbers, and every chapter.

The pages are combined into one, so that links lead from chapter to chapter, and printed by Chromium
twice: the first pass finds the page of each heading.
"""

import re
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

import yaml
from playwright.sync_api import Page

from tests.conftest import NO_BROWSER, chromium
from tools.build_site import INDEX, ROOT
from tools.serve import serving

PDF = ROOT / "_build" / "pdf" / "the-glass-box-transformer.pdf"
PATIENCE = 600_000  # ms
#: Pages that are not printed: the title page replaces the front page, and the reference of the
#: package is for looking up.
LEFT_OUT = ("intro", "chapters/api")
HEADING = re.compile(
    r'<section[^>]*? id="(?P<anchor>[^"]+)">\s*(?:<span id="[^"]*"></span>\s*)*'
    r'<h(?P<level>[12])>(?:<span class="section-number">(?P<number>[^<]*)</span>)?(?P<title>.*?)'
    r'<a class="headerlink"',
    re.DOTALL,
)
MINIATURE = re.compile(r'<nav class="gb-here".*?</nav>', re.DOTALL)
DEFINITIONS = '<div class="gb-definitions" hidden>'  # at the end of an article, shown on hover
SCRIPTED = re.compile(r"<iframe.*?</iframe>|<script.*?</script>", re.DOTALL)


@dataclass(frozen=True)
class Sheet:
    """A page of the site as a part of the book."""

    name: str  # of its file, without folder and suffix; its address in the book
    part: str  # the part of the book that it begins, or empty
    html: str  # its article; every id begins with its name
    styles: tuple[str, ...]  # the addresses of its style sheets
    headings: tuple[Mapping[str, str], ...]  # anchor, level, number and title


def sheets(site: Path, toc: Mapping[str, Any]) -> Iterator[Sheet]:
    """Yield the pages to print, in the order of the book."""
    listed = [
        (chapter["file"], part["caption"] if first == 0 else "")
        for part in toc["parts"]
        for first, chapter in enumerate(part["chapters"])
        if chapter["file"] not in LEFT_OUT
    ]
    names = {Path(file).name for file, _ in listed}
    for file, part in listed:
        yield sheet(site / f"{file}.html", part, names)


def sheet(page: Path, part: str, names: set[str]) -> Sheet:
    """Read a page, and convert its anchors and links to those of the book.

    Parameters
    ----------
    page : Path
        A page of the built site.
    part : str
        The part that it begins, or empty.
    names : set of str
        The pages to print. Links to others lose their target.

    Returns
    -------
    Sheet
    """
    html, name = page.read_text(encoding="utf-8"), page.stem
    article = html[html.index('<article class="bd-article') : html.index("</article>")]
    article = MINIATURE.sub("", SCRIPTED.sub("", article.partition(DEFINITIONS)[0])) + "</article>"

    def target(found: re.Match[str]) -> str:
        path, _, anchor = found["address"].partition("#")
        where = Path(path).stem or name
        if "//" in path:
            return found[0]
        if where not in names or (path and not path.endswith(".html")):
            return ""
        return f'{found["name"]}="#{where}{f"-{anchor}" if anchor else ""}"'

    article = article.replace('="../', '="../html/')  # the book is next to the site
    article = re.sub(r'\bid="', f'id="{name}-', article)
    article = re.sub(r"url\(#", f"url(#{name}-", article)
    article = re.sub(r'(?P<name>\b(?:xlink:)?href)="(?P<address>[^"]*)"', target, article)
    article = re.sub(r' (loading="lazy"|name="[^"]*"|aria-\w+by="[^"]*")', "", article)
    html = html.replace('="../', '="../html/')
    styles = re.findall(r'<link[^>]*rel="stylesheet"[^>]*>', html)
    return Sheet(
        name,
        part,
        article.replace("<details", "<details open"),
        tuple(re.findall(r'href="([^"]*)"', " ".join(styles))),
        tuple(found.groupdict("") for found in HEADING.finditer(article)),
    )


def book(title: str, parts: list[Sheet], pages: Mapping[str, int]) -> str:
    """Return the whole book as one page.

    Parameters
    ----------
    title : str
        The title of the book.
    parts : list of Sheet
        The pages of the book.
    pages : mapping
        The page number of each anchor; empty if not yet known.

    Returns
    -------
    str
        HTML for a folder next to the site.
    """
    styles = dict.fromkeys(style for part in parts for style in part.styles)
    links = "".join(f'<link rel="stylesheet" href="{style}">' for style in styles)
    heads = "".join(
        f'@page p{place} {{ @top-left {{ content: "{_running(part)}"; font: 9pt "Book Sans"; '
        f"color: #58646b; }} }} #{_css(part.name)} {{ page: p{place}; }}"
        for place, part in enumerate(parts)
    )
    style = Path(__file__).with_suffix(".css").read_text(encoding="utf-8")
    logo = (ROOT / "images" / "favicon.svg").read_text(encoding="utf-8")
    bodies = "".join(f'<div class="gb-printed" id="{p.name}">{p.html}</div>' for p in parts)
    return (
        f'<!doctype html><html lang="en" data-theme="light"><head><meta charset="utf-8">'
        f"<title>{escape(title)}</title>{links}<style>{style}{heads}</style></head><body>"
        f'<header class="gb-title">{logo}<h1>{escape(title)}</h1>'
        "<p>How a Transformer works, from the first token to the finished translation.</p>"
        "<p>Text and figures: CC BY 4.0. Code: Apache 2.0.</p></header>"
        f'<nav class="gb-contents"><h1>Contents</h1>{"".join(contents(parts, pages))}</nav>'
        f"{bodies}</body></html>"
    )


def contents(parts: list[Sheet], pages: Mapping[str, int]) -> Iterator[str]:
    """Yield the lines of the contents."""
    for part in parts:
        if part.part:
            yield f"<p>{escape(part.part)}</p>"
        for heading in part.headings:
            if heading["level"] == "1" or heading["number"]:
                kind = "gb-chapter" if heading["level"] == "1" else "gb-section"
                yield (
                    f'<a class="{kind}" href="#{heading["anchor"]}">'
                    f"<span>{heading['number'].strip()}</span><span>{heading['title']}</span>"
                    f"<span>{pages.get(heading['anchor'], '')}</span></a>"
                )


def _running(part: Sheet) -> str:
    first = part.headings[0]
    words = re.sub("<.*?>", "", f"{first['number'].strip()}  {first['title']}").strip()
    return words.replace("\\", "").replace('"', r"\"")


def _css(name: str) -> str:
    return re.sub(r"^\d", lambda digit: f"\\3{digit[0]} ", name)


def pages_of(pdf: bytes) -> dict[str, int]:
    """Return the page of each anchor that a link in the book leads to.

    Chromium writes the pages in order, each as a numbered object, and the anchors as names with the
    number of a page.
    """
    order = re.findall(rb"(\d+) 0 obj\s*<</Type /Page\s", pdf)
    place = {number: page for page, number in enumerate(order, start=1)}
    anchors = re.findall(rb"/(\S+) \[(\d+) 0 R /XYZ", pdf)
    return {_unescaped(name): place[number] for name, number in anchors}


def _unescaped(name: bytes) -> str:
    return re.sub(rb"#([0-9A-Fa-f]{2})", lambda c: bytes.fromhex(c[1].decode()), name).decode()


def print_book(page: Page, url: str, folder: Path, title: str, parts: list[Sheet]) -> bytes:
    """Print, and print again with page numbers in the contents.

    Parameters
    ----------
    page : Page
        A page of a browser.
    url : str
        The address under which the site's folder and those next to it are served.
    folder : Path
        The folder for the printed page, next to the site.
    title : str
        The title of the book.
    parts : list of Sheet
        The pages of the book.

    Returns
    -------
    bytes
        The PDF.
    """
    folder.mkdir(exist_ok=True)
    pdf = b""
    for _ in range(2):
        (folder / "book.html").write_text(book(title, parts, pages_of(pdf)), encoding="utf-8")
        page.goto(f"{url}{folder.name}/book.html", wait_until="load")
        pdf = page.pdf(prefer_css_page_size=True, outline=True, tagged=True)
    return pdf


def main() -> None:
    if not INDEX.is_file():
        sys.exit("There is no site yet. Build it: make book")
    toc = yaml.safe_load((ROOT / "_toc.yml").read_text(encoding="utf-8"))
    title = yaml.safe_load((ROOT / "_config.yml").read_text(encoding="utf-8"))["title"]
    site, folder = INDEX.parent, PDF.parent
    with chromium() as browser, serving(site.parent) as url:
        if browser is None:
            sys.exit(NO_BROWSER)
        page = browser.new_page()
        page.set_default_timeout(PATIENCE)
        pdf = print_book(page, url, folder, title, list(sheets(site, toc)))
    PDF.write_bytes(pdf)
    pages = len(re.findall(rb"<</Type /Page\s", pdf))
    print(f"{pages} pages, {len(pdf) / 1e6:.1f} MB: {PDF.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
