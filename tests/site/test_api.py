"""The reference of the package: everything public is there, once, with its source."""

import inspect
from importlib import import_module

import pytest
from bs4 import Tag

from glassbox_book.viz.source import source_text
from glassbox_site.api import pages, shown
from glassbox_site.docstrings import link_chapters, to_rst
from glassbox_site.objects import NOTHING, home, is_attribute, look_up, modules, public_names
from tests.site.accessibility import choose, in_colours, in_parts
from tests.site.conftest import ROOT, SITE

PAGES = pages(ROOT)
ATTENTION = "glassbox.attention.scaled_dot_product.scaled_dot_product_attention"


@pytest.fixture(scope="module")
def places(soup):
    """Every place of the reference that a link can lead to: its elements by their ids."""
    found: dict[str, list[Tag]] = {}
    for document in PAGES:
        for element in soup(f"{document}.html").find_all(id=True):
            found.setdefault(str(element["id"]), []).append(element)
    return found


@pytest.fixture
def entry(places):
    """Return a function that finds the signature of a class or function, and what it says."""

    def entry(name: str) -> tuple[Tag, Tag]:
        (signature,) = places[name]
        return signature, signature.find_next_sibling("dd")

    return entry


def test_every_module_is_on_one_page():
    """Name it on one page of chapters/api/, after {api}."""
    on = {
        module: [page for page, roots in PAGES.items() for root in roots if module in shown(root)]
        for module in modules()
        if public_names(module)
    }
    assert {module: found for module, found in on.items() if len(found) != 1} == {}


def test_every_public_class_function_and_method_is_on_its_page(places):
    wanted = set()
    for module in modules():
        for name in public_names(module):
            thing = getattr(import_module(module), name)
            wanted.add(f"{module}.{name}")
            for part, member in vars(thing).items() if inspect.isclass(thing) else ():
                if not part.startswith("_") and (
                    inspect.isfunction(member) or isinstance(member, property)
                ):
                    wanted.add(f"{module}.{name}.{part}")
    assert len(wanted) > 300
    assert {name for name in wanted if len(places.get(name, [])) != 1} == set()


def test_a_signature_names_the_shortest_path_to_import_from(entry):
    for name, path in {
        ATTENTION: "glassbox.scaled_dot_product_attention(",
        "glassbox.positional.rotary.RotaryPositions": "glassbox.positional.RotaryPositions(",
        "glassbox.attention.additive.additive_scores": "glassbox.attention.additive_scores(",
    }.items():
        assert path in entry(name)[0].get_text()


def test_shapes_stand_in_the_signature_as_they_are_written(entry):
    assert 'query: Float[Tensor, "*batch q_len d_k"],' in entry(ATTENTION)[0].get_text()


def test_every_signature_was_read_as_code(places):
    """Otherwise the paths of its types stand in it, and none of them is a link."""
    signatures = [
        e for found in places.values() for e in found if "sig-object" in e.get("class", [])
    ]
    assert len(signatures) > 200
    texts = [signature.get_text() for signature in signatures]
    assert [text for text in texts if "~" in text or "<" in text] == []


def test_a_long_signature_has_a_line_for_each_parameter(entry):
    lines = [line.get_text() for line in entry(ATTENTION)[0].select(".sig-line")]
    assert [line.partition(":")[0] for line in lines[:5]] == ["query", "key", "value", "mask", "*,"]
    assert all(line.endswith(",") for line in lines)
    short, _ = entry("glassbox.cache.KeyValueCache.crop")
    assert "crop(length: int) → None" in short.get_text()
    assert not short.select(".sig-line")


def test_parameters_results_and_exceptions_are_lists_of_names_and_meanings(entry):
    fields = entry(ATTENTION)[1].find("dl", class_="field-list")
    heads = [dt.get_text() for dt in fields.find_all("dt", recursive=False)]
    assert [head.removesuffix(":") for head in heads] == [
        "Parameters",
        "Returns",
        "Raises",
        "Notes",
    ]
    names = [dt.get_text(" ") for dt in fields.dd.dl.find_all("dt", recursive=False)]
    assert names[0] == "query Tensor"


def test_notes_link_to_the_equation_of_the_chapter(entry):
    links = [link["href"] for link in entry(ATTENTION)[1].select("dl.field-list a")]
    assert "../04_scaled_dot_product.html#equation-eq-attention" in links


def test_every_class_and_function_shows_its_source(entry):
    for module in modules():
        for name in public_names(module):
            _, said = entry(f"{module}.{name}")
            fold = said.find("details", class_="gb-source", recursive=False)
            thing = getattr(import_module(module), name)
            # Where types are checked, Python 3.13 does not find a class's decorators.
            assert fold.pre.get_text().strip().endswith(source_text(thing).strip())


def test_axe_finds_nothing_in_unfolded_source(read, dark):
    page = read("chapters/api/data.html", dark=dark).page
    page.evaluate("for (const fold of document.querySelectorAll('.gb-source')) fold.open = true")
    assert page.locator(".gb-source[open] pre").count() > 3
    choose(page, ".bd-article")
    if not dark:  # the parts are the same in either theme
        assert in_parts(page, ".bd-article") == []
    assert in_colours(page) == []


def test_search_finds_a_function_by_its_name(read):
    page = read("search.html?q=scaled_dot_product_attention").page
    link = page.locator(f".gb-found a[href*='#{ATTENTION}']").first
    link.wait_for()
    assert "api/attention.html" in str(link.get_attribute("href"))


def test_contents_of_every_page_are_short_names(soup):
    for document in PAGES:
        contents = soup(f"{document}.html").select(".bd-sidebar-secondary .toc-h3 code")
        names = [code.get_text() for code in contents]
        assert names, document
        assert [name for name in names if "." in name or "(" in name] == [], document


def test_the_longest_page_transfers_at_most_a_megabyte(visit, site):
    document = max(PAGES, key=lambda page: (SITE / f"{page}.html").stat().st_size)
    seen = visit()
    session = seen.page.context.new_cdp_session(seen.page)
    session.send("Network.enable")
    received: list[float] = []
    session.on("Network.loadingFinished", lambda event: received.append(event["encodedDataLength"]))
    seen.page.goto(f"{site}{document}.html", wait_until="networkidle")
    assert len(received) > 10
    assert sum(received) <= 1_000_000


DOCSTRING = """Add.

Parameters
----------
x, y : Tensor or KeyValueCache
    What to add.
*rest
z : int

Returns
-------
list of Positions
    The sum.

Raises
------
ValueError, TypeError
    If they do not fit.

Notes
-----
Nobody (2017). Chapter 4, equation
``eq-scores``.
"""


def test_a_docstring_becomes_a_list_of_fields():
    assert to_rst(DOCSTRING.splitlines(), "glassbox.attention.multi_head") == [
        "Add.",
        "",
        "",
        ":Parameters:",
        "   ``x``, ``y`` : Tensor or :class:`KeyValueCache`",
        "       What to add.",
        "   ``*rest``",
        "      ..",
        "   ``z`` : int",
        "      ..",
        "",
        "",
        ":Returns:",
        "   list of :class:`Positions`",
        "       The sum.",
        "",
        "",
        ":Raises:",
        "   ``ValueError``, ``TypeError``",
        "       If they do not fit.",
        "",
        "",
        ":Notes:",
        "   Nobody (2017). Chapter 4, equation",
        "   ``eq-scores``.",
        "",
    ]


def test_a_chapter_that_is_written_is_linked_and_any_other_is_not():
    chapters = {4: "chapters/04_x"}
    assert link_chapters("Chapter 4, equations ``eq-a`` and\n``eq-b``; Chapter 7.", chapters) == (
        ":doc:`Chapter 4 </chapters/04_x>`, equations :eq:`eq-a` and\n:eq:`eq-b`; Chapter 7."
    )
    assert (
        link_chapters("Chapter 7, equation ``eq-c``.", chapters) == "Chapter 7, equation ``eq-c``."
    )
    assert link_chapters("Chapter 4, section *Masks*.", chapters).endswith("x>`, section *Masks*.")


def test_a_name_means_what_it_means_where_it_is_written():
    from torch import Tensor

    from glassbox.looking import record
    from glassbox.positional import RotaryPositions, rotate

    assert look_up("Tensor", "glassbox.attention.multi_head") is Tensor
    assert look_up("rotate", "glassbox.positional.rotary") is rotate
    assert look_up("glassbox.looking.record.record", "glassbox.attention") is record
    assert look_up("RotaryPositions", "glassbox.attention") is RotaryPositions
    assert look_up("nosuchthing", "glassbox.attention") is NOTHING
    assert look_up("glassbox.nosuchthing", "") is NOTHING
    assert is_attribute("max_len", "glassbox.cache", "KeyValueCache")
    assert not is_attribute("max_length", "glassbox.cache", "KeyValueCache")


def test_the_shortest_path_is_that_of_a_package_that_offers_the_name():
    assert home("glassbox.attention.multi_head", "MultiHeadAttention") == "glassbox"
    assert home("glassbox.positional.rotary", "rotate") == "glassbox.positional"
    assert home("glassbox.attention.additive", "additive_scores") == "glassbox.attention"
    assert home("glassbox.looking.record", "record") == "glassbox"
