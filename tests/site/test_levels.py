"""Code in three levels: what a cell is, what is folded and under which name, and the switch."""

import pytest
from bs4 import BeautifulSoup
from pygments import highlight
from pygments.lexers import PythonLexer

from glassbox_site.highlighting import COLUMNS, Formatter
from glassbox_site.levels import NAMES, kind, name

ONE = "chapters/04_scaled_dot_product.html"
LISTINGS = "chapters/06_positional_encoding.html"
FIGURE = {"mystnb": {"figure": {"name": "fig-x"}}}
LISTING = {"mystnb": {"figure": {"name": "lst-x"}}}
KINDS = [
    ("import torch\n\ntorch.set_printoptions(precision=3)", {}, "imports"),
    (
        "from glassbox import record\nwith record(model) as tape:\n    model(x)\ny = f(x)",
        {},
        "idea",
    ),
    ('words = ["a", "b"]', {}, "data"),
    ("x = torch.ones(3)", {}, "idea"),
    ("viz.heat_map(weights);", FIGURE, "drawing"),
    ("viz.Source(f)", LISTING, "listing"),
    ("assert x == 1\nassert y == 2", {}, "check"),
    ("for x in y:\n    assert x", {}, "check"),
    ("torch.testing.assert_close(mine, theirs)", {}, "check"),
    ("def f(x):\n    return x\n\ny = f(1)\nassert y", {}, "idea"),
    ("x = 1\nassert x\nprint(x)", {}, "idea"),
    ("\n".join(["x = f(x)"] * 5 + ["print(x)"]), {}, "numbers"),
    ("\n".join(["x = f(x)"] * 5 + ["viz.Table(names, x)"]), {}, "table"),
    ('quiz("training")', {}, "quiz"),
    ("assert x", {"tags": ["idea"]}, "idea"),
    ("x = f(1)", {"tags": ["nbval-ignore-output", "helper"]}, "helper"),
    ("", {}, "idea"),
]


@pytest.mark.parametrize(("source", "metadata", "expected"), KINDS)
def test_a_cell_is_what_its_tag_says_or_else_its_code(source, metadata, expected):
    assert kind(source, metadata) == expected


def test_every_fold_of_code_says_what_is_inside(soup, chapter):
    folds = soup(chapter).select("details.gb-code")
    assert len(folds) > 10
    labels = {fold.summary.get_text().strip() for fold in folds}
    assert {label for label in labels if not label.startswith("helper: ")} <= set(NAMES.values())
    assert all(fold.select(".cell_input pre") and not fold.has_attr("open") for fold in folds)


def test_a_helper_is_named_by_the_comment_it_starts_with():
    assert name("helper", "# a map's rows\ndef rows(a):\n    return a") == "helper: a map's rows"
    assert name("helper", "def rows(a):  # of a map\n    return a") == NAMES["helper"]
    assert name("numbers", "# a map's rows\nprint(rows(a))") == NAMES["numbers"]


@pytest.mark.parametrize("page", ["03_self_attention", "04_scaled_dot_product"])
def test_the_helpers_of_a_chapter_have_different_names(soup, page):
    folds = soup(f"chapters/{page}.html").select("details.gb-helper > summary")
    labels = [fold.get_text().strip() for fold in folds]
    assert len(labels) > 2
    assert len(set(labels)) == len(labels)


def test_code_of_a_solution_is_folded_once(soup, chapter):
    inside = soup(chapter).select("details.solution .cell_input")
    assert inside
    assert not soup(chapter).select("details.solution .gb-code")


def test_no_code_stands_at_a_quiz(soup, chapter):
    (cell,) = {question.find_parent(class_="cell") for question in soup(chapter).select(".gb-quiz")}
    assert cell.select(".cell_output")
    assert not cell.select(".cell_input")


@pytest.mark.parametrize("indent", [0, 8])
def test_a_line_that_is_too_long_is_marked_with_its_indent_and_nothing_is_lost(indent):
    code = "if x:\n" + " " * indent + "y = " + "+".join(["1"] * COLUMNS) + "\nz = 1\n"
    html = BeautifulSoup(highlight(code, PythonLexer(), Formatter()), "html.parser")
    assert html.get_text().strip() == code.strip()
    (long,) = html.select(".gb-long")
    assert long["style"] == f"--in: {indent}"
    assert long.get_text().strip().startswith("y =")


def test_a_short_string_of_a_line_that_is_too_long_stays_in_one_piece():
    short, long = '"a b"', '"' + "a " * COLUMNS + '"'
    for string, whole in ((short, [short]), (long, [])):
        code = f"f({string}, {', '.join(['1'] * COLUMNS)})\n"
        html = BeautifulSoup(highlight(code, PythonLexer(), Formatter()), "html.parser")
        assert html.get_text().strip() == code.strip()
        assert [each.get_text() for each in html.select(".gb-long .gb-whole")] == whole


CUT = """() => [...document.querySelectorAll(".bd-article .literal-block-wrapper pre")]
  .filter((box) => box.scrollWidth > box.clientWidth + 1).map((box) => box.textContent)"""


def test_no_line_of_a_listing_is_cut_off_on_a_wide_screen(read):
    page = read(LISTINGS).page
    assert page.locator(".literal-block-wrapper .gb-long").count() > 0
    assert page.evaluate(CUT) == []


EDGES = """(selector) => [...document.querySelectorAll(selector)].slice(0, 9).map((box) => {
  const { left, right } = box.getBoundingClientRect();
  const style = getComputedStyle(box);
  return [left, right, style.paddingLeft, style.borderRightWidth];
})"""
OPEN = "section > .cell > .cell_input pre"
FOLDED = "section > .cell > .gb-code[open] pre"


def test_the_switch_opens_all_code_which_looks_like_the_rest_and_is_remembered(read):
    page = read(ONE).page
    folds = page.locator("details.gb-code")
    closed = page.locator("details.gb-code:not([open])")
    assert closed.count() == folds.count()
    page.locator(".gb-switch button", has_text="all").click()
    assert closed.count() == 0
    edges = {tuple(edge) for place in (OPEN, FOLDED) for edge in page.evaluate(EDGES, place)}
    assert len(edges) == 1
    page.reload()
    assert closed.count() == 0
    assert page.locator(".gb-switch [aria-pressed=true]").inner_text() == "All code"
    page.locator(".gb-switch button", has_text="key").click()
    assert closed.count() == folds.count()


def test_the_copy_button_is_there_for_a_finger(glance):
    page = glance(ONE, width=390, has_touch=True, is_mobile=True).page
    button = page.locator(".copybtn:visible").first
    assert button.evaluate("button => getComputedStyle(button).opacity") == "1"


def test_what_was_open_is_open_again_after_a_reload_but_not_on_a_new_visit(read):
    page = read(ONE).page
    address = page.url
    for fold in (page.locator("details.gb-code").nth(1), page.locator("details.gb-deeper").first):
        fold.locator("summary").first.click()
        page.reload()
        assert fold.get_attribute("open") is not None
    page.goto("about:blank")
    page.goto(address)
    assert fold.get_attribute("open") is None
