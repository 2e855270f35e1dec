"""What other sites read of a page: its address, its description, and its preview picture.

The address of publication is Sphinx's `html_baseurl`; if it is not set, a workflow on GitHub
publishes to the Pages of its repository. Without an address there is neither a site map nor a
preview picture, because both need one. The page for a wrong address is self-contained: it is served
under any path.
"""

import os
import re
import shutil
from collections.abc import Iterator
from html import escape
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.config import Config

from glassbox_site import card
from glassbox_site.times import chapters, count

LONGEST = 160  # characters of a description that search engines show
CARD = "_static/card.png"
VIEWPORT = re.compile(r'<meta[^>]*name="viewport"[^>]*>')


def find_address(app: Sphinx, config: Config) -> None:
    """Take the setting, or else the Pages of the repository whose workflow builds the site."""
    owner, _, name = os.environ.get("GITHUB_REPOSITORY", "").partition("/")
    if not config.html_baseurl and name:
        home = f"https://{owner.lower()}.github.io/"
        config.html_baseurl = (
            home if name.lower() == f"{owner.lower()}.github.io" else f"{home}{name}/"
        )
    if config.html_baseurl:
        config.html_baseurl = config.html_baseurl.rstrip("/") + "/"


def description(doctree: nodes.document | None) -> str:
    """Return the beginning of a page, its question if it has one: as many sentences as fit.

    A first sentence that is too long ends at a word.
    """
    kept = ""
    for sentence in sentences(doctree) if doctree else ():
        if kept and len(kept) + len(sentence) >= LONGEST:
            break
        kept = f"{kept} {sentence}".strip()
    if len(kept) > LONGEST:
        kept = kept[: LONGEST - 1].rpartition(" ")[0].rstrip(",;:") + "…"
    return kept


def sentences(doctree: nodes.document) -> Iterator[str]:
    """Yield the sentences of a page's own paragraphs, which are not rows of buttons."""
    for paragraph in doctree.findall(nodes.paragraph):
        text = " ".join(paragraph.astext().split())
        own = isinstance(paragraph.parent, nodes.section | nodes.container | nodes.block_quote)
        if own and text.endswith((".", "?")):
            yield from re.split(r"(?<=[.?]) ", text)


def describe(
    app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: nodes.document | None
) -> None:
    """Give a page's head what it needs; link the front page to the first chapter."""
    context["metatags"] = VIEWPORT.sub("", context.get("metatags", ""))  # the theme has one
    context["page_description"] = description(doctree)
    context["has_formulas"] = "<math" in context.get("body", "")
    context["licence_at"] = app.builder.get_relative_uri(page, "chapters/about") + "#licence"
    context["repository"] = app.config.glassbox_repository
    if app.config.html_baseurl:
        context["card"] = app.config.html_baseurl + CARD
    if page == app.config.root_doc and (first := chapters(Path(app.srcdir))):
        link = app.builder.get_relative_uri(page, f"chapters/{first[0].stem}")
        context["next"] = {"link": link, "title": escape(count(first[0])[0])}
    if page == app.config.root_doc:
        app.add_js_file("front.js", loading_method="defer")


def add_pages(app: Sphinx) -> Iterator[tuple[str, dict[str, Any], str]]:
    """Add the page that is served for a wrong address."""
    if app.builder.format == "html":
        yield "404", {"home": app.config.html_baseurl}, "404.html"


def write_files(app: Sphinx, error: Exception | None) -> None:
    """Write the front page under the name that hosts expect, the picture, and the site map."""
    if error is not None or app.builder.format != "html":
        return
    out, address = Path(app.outdir), app.config.html_baseurl
    shutil.copyfile(out / f"{app.config.root_doc}.html", out / "index.html")
    card.write(out / CARD)
    if address:
        pages = sorted(app.env.found_docs)
        places = "".join(f"<url><loc>{address}{name}.html</loc></url>\n" for name in pages)
        (out / "sitemap.xml").write_text(
            '<?xml version="1.0" encoding="UTF-8"?>\n'
            f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n{places}</urlset>\n',
            encoding="utf-8",
        )


def setup(app: Sphinx) -> None:
    """Act on each page, and at the end."""
    app.connect("config-inited", find_address)
    app.connect("html-page-context", describe, priority=800)
    app.connect("html-collect-pages", add_pages)
    app.connect("build-finished", write_files, priority=900)
