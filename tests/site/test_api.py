"""The reference of the package: everything public is there, once, with its source."""

import inspect
import re
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
                if part == "extra_repr":  # PyTorch's hook for `print`
                    continue
                if (not part.startswith("_") or part == "__call__") and (
                    inspect.isfunction(member) or isinstance(member, property)
                ):
                    wanted.add(f"{module}.{name}.{part}")
    assert len(wanted) > 300
    assert "glassbox.models.fill_mask.FillMask.__call__" in wanted
    assert {name for name in wanted if len(places.get(name, [])) != 1} == set()


def test_what_every_class_of_a_kind_has_is_left_out(places, soup):
    assert [name for name in places if name.endswith((".extra_repr", ".Rotation.cos"))] == []
    assert [page for page in PAGES if "Alias for field" in soup(f"{page}.html").get_text()] == []


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
    texts = [re.sub(r'"[^"]*"', "", signature.get_text()) for signature in signatures]
    assert [text for text in texts if "~" in text or "<" in text] == []


def test_a_string_is_shown_as_it_is(entry):
    said = entry("glassbox.tokenization.bpe.BPE")[0].get_text()
    assert 'special_tokens: Sequence[str] = ("<|endoftext|>",),' in said
    said = entry("glassbox.layout.Layout")[0].get_text()
    assert "constants: Mapping[str, Any] = ...," in said
    assert 'ignored: str = "(?!)",' in said


def test_a_class_shows_what_it_is_made_of(entry, places):
    assert "d_model: int = 768," in entry("glassbox.models.bert.BertConfig")[0].get_text()
    assert "Bert(config: BertConfig)" in entry("glassbox.models.bert.Bert")[0].get_text()
    assert "in_features: int" in entry("glassbox.linear.Linear")[0].get_text()
    assert "Positions#" in entry("glassbox.positional.absolute.Positions")[0].get_text()
    assert "interleaved: bool" in entry("glassbox.around.Rotation")[0].get_text()
    signatures = [name for name in places if "sig-object" in places[name][0].get("class", [])]
    for name in signatures:
        said = entry(name)[0].get_text()
        assert "*_sizes" not in said, name
        assert "*args, **kwargs" not in said, name


def test_a_constant_that_is_short_shows_its_value(entry):
    assert entry("glassbox.training.masking.IGNORE")[0].get_text().endswith("IGNORE = -100#")
    assert entry("glassbox.tokenization.unigram.PAD")[0].get_text().endswith('PAD = "<pad>"#')
    for long in ("glassbox.tokenization.characters.LETTER", "glassbox.results.RUNS"):
        assert " = " not in entry(long)[0].get_text()


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


def test_no_equation_is_named_by_its_label(soup):
    texts = [
        text
        for document in PAGES
        for text in soup(f"{document}.html").article.find_all(string=re.compile(r"\beq-"))
        if not text.find_parent(class_="gb-source")
    ]
    assert texts == []


def test_every_page_begins_with_a_sentence(soup):
    for document in PAGES:
        below = soup(f"{document}.html").article.h1.find_next_sibling()
        assert below.name == "p", document
        assert below.get_text().endswith("."), document


def test_the_overview_names_everything_once_and_no_helper_by_a_bare_word(soup):
    names = [code.get_text() for code in soup("chapters/api.html").select(".gb-names code")]
    assert {"MultiHeadAttention", "read_text", "templates.at", "together.learn"} <= {*names}
    assert names.count("find_weights") == 1
    assert [name for name in names if name == name.lower() and not re.search("[._]", name)] == []


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
x, y : Tensor or KeyValueCache or nn.Linear
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
        "   ``x``, ``y`` : Tensor or :class:`KeyValueCache` or nn.Linear",
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
    assert link_chapters("Figure 2; chapter 4, equation ``eq-a``.", chapters) == (
        "Figure 2; :doc:`chapter 4 </chapters/04_x>`, equation :eq:`eq-a`."
    )
    assert link_chapters("As in equation ``eq-a``.", {}) == "As in equation :eq:`eq-a`."


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
