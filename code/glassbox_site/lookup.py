"""Reference pages: a field that filters entries by a word, and tables as cards.

The field comes from `lookup.js`; without scripts there is none. On a phone, a row of a wide table
becomes a card, each line of which begins with the name of its column.
"""

from typing import Any

from bs4 import BeautifulSoup
from docutils import nodes
from sphinx.application import Sphinx

#: Pages, and what each lists.
LISTS = {
    "chapters/notation": "symbols",
    "chapters/glossary": "terms",
    "chapters/bibliography": "works",
}
CARDS = ("chapters/notation", "chapters/results")
WIDE = 4  # columns that do not fit on a phone
FIELD = (
    '<p class="gb-lookup"><label>Look up <input type="search" autocomplete="off" '
    'autocapitalize="off" spellcheck="false" placeholder="{what}"></label>'
    '<span role="status"></span></p>'
)


def add_field(app: Sphinx, page: nodes.document, docname: str) -> None:
    """Put the field below a page's introduction."""
    if docname in LISTS and app.builder.format == "html":
        first = next(page.findall(nodes.paragraph))
        field = nodes.raw("", FIELD.format(what=LISTS[docname]), format="html")
        first.parent.insert(first.parent.index(first) + 1, field)


def ask_for_it(
    app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: nodes.document | None
) -> None:
    """Link the script from pages with a field, and name the columns in the cells of tables."""
    if page in LISTS:
        app.add_js_file("lookup.js", loading_method="defer")
    if page in CARDS:
        context["body"] = with_names(context["body"])


def with_names(body: str) -> str:
    """Return a page with the column's name in each cell of its wide tables."""
    soup = BeautifulSoup(body, "html.parser")
    for table in soup.find_all("table"):
        names = [head.get_text(" ", strip=True) for head in table.select("thead th")]
        if len(names) < WIDE:
            continue
        table["class"] = " ".join(filter(None, (*table.get_attribute_list("class"), "gb-cards")))
        for row in table.select("tbody tr"):
            for name, cell in zip(names, row.find_all("td"), strict=True):
                cell["data-name"] = name
    return str(soup)


def setup(app: Sphinx) -> None:
    """Act when the references of a page are resolved, and when it is written."""
    app.connect("doctree-resolved", add_field, priority=450)
    app.connect("html-page-context", ask_for_it)
