"""The parts of the extension that builds the site, each by itself."""

import re
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from bs4 import BeautifulSoup
from docutils import nodes
from docutils.utils import new_document
from docutils.utils.math import MathError
from pygments import highlight
from pygments.lexers import PythonLexer

from glassbox_site import drawings
from glassbox_site.cells import fitted, in_pieces
from glassbox_site.drawings import in_a_scroller, inline_both, inline_svg
from glassbox_site.highlighting import Formatter
from glassbox_site.mathematics import Punctuation, to_mathml
from glassbox_site.numbers import chapter_number
from glassbox_site.slim import keep_rules
from glassbox_site.units import Units
from glassbox_site.versions import substitute
from tests.site.conftest import ROOT

NUMBER = re.compile(r"\d+(?:\.\d+)?")
FORMULAS = [
    r"\operatorname{softmax}\left(\frac{QK^\top}{\sqrt{d_k}}\right)V",
    r"\begin{aligned} Q &= X W_Q \\ K &= X W_K \end{aligned}",
    r"\begin{bmatrix} 1 & 0 \\ \vdots & \ddots \end{bmatrix}",
    r"M_{ij} = \begin{cases} 0 & \text{if } j \le i \\ -\infty & \text{otherwise} \end{cases}",
    r"\sum_{j=1}^{n} \alpha_{ij} = 1, \quad \mathrm{Var}[\hat{y}], \quad \mathbb{R}^{n \times d_k}",
    r"\lVert x \rVert_2 \iff \{1, \dots, n\}, \quad \underbrace{QK^\top}_{\text{scores}}",
    r"\begin{align} a &= b \\ c &= d \end{align}",
]


@pytest.mark.parametrize("latex", FORMULAS)
@pytest.mark.parametrize("block", [False, True])
def test_formula_becomes_mathml_without_a_trace_of_latex(latex, block):
    mathml = to_mathml(latex, block=block)
    assert mathml.startswith("<math")
    assert "\\" not in mathml
    assert "merror" not in mathml
    assert ('display="block"' in mathml) == block


def test_query_key_and_value_have_their_colours_in_a_formula():
    assert re.findall(r'class="(gb-\w+)">(\w)<', to_mathml("QK + V + X")) == [
        ("gb-query", "Q"),
        ("gb-key", "K"),
        ("gb-value", "V"),
    ]


def test_number_and_unit_stay_on_one_line_in_text_alone():
    document = new_document("")
    text = "84 % of 12 MB in 5 ms and 2 seconds"
    document += [nodes.paragraph("", text), nodes.literal_block("", text), nodes.math("", text)]
    Units(document).run()
    joined = (
        "84\N{NO-BREAK SPACE}% of 12\N{NO-BREAK SPACE}MB in 5\N{NO-BREAK SPACE}ms and 2 seconds"
    )
    assert [node.astext() for node in document] == [joined, text, text]


@pytest.mark.parametrize(
    ("part", "entry", "joined"),
    [
        (nodes.tbody, "layer 0, head 2", True),
        (nodes.tbody, "0.80 to 0.91", True),
        (nodes.tbody, "LLaMA, 7 billion", True),
        (nodes.tbody, "the token before", False),
        (nodes.tbody, "training a small GPT-2", False),
        (nodes.thead, "largest of 12", False),
    ],
)
def test_a_short_entry_with_a_number_stays_on_one_line(part, entry, joined):
    document = new_document("")
    document += part("", nodes.row("", nodes.entry("", nodes.paragraph("", entry))))
    Units(document).run()
    shown = entry.replace(" ", "\N{NO-BREAK SPACE}") if joined else entry
    assert document.astext() == shown


@pytest.mark.parametrize(
    ("before", "after", "unbroken"),
    [
        ("so ", ", too", "m,"),
        ("so (", ") too", "(m)"),
        ("a “", "-dimensional” one", "“m-"),
        ("(see ", " and (", None),
        ("", "", None),
    ],
)
def test_formula_stays_on_one_line_with_the_punctuation_that_touches_it(before, after, unbroken):
    document = new_document("")
    texts = [nodes.Text(text) for text in (before, after)]
    document += nodes.paragraph("", "", texts[0], nodes.math("", "m"), texts[1])
    Punctuation(document).run()
    assert document.astext() == f"{before}m{after}"
    spans = [span.astext() for span in document.findall(nodes.inline)]
    assert spans == ([unbroken] if unbroken else [])


GAPS = """() => [...document.querySelectorAll("mi")].slice(1).map((letter, i) => {
  const before = document.querySelectorAll("mi")[i];
  return (letter.getBoundingClientRect().left - before.getBoundingClientRect().right) / 100;
})"""


def test_function_stands_off_what_it_is_applied_to_unless_that_has_parentheses(visit):
    page = visit().page

    def gaps(latex: str) -> list[float]:
        """The space from each name to the next, in widths of an m."""
        page.set_content(f'<p style="font-size: 100px">{to_mathml(latex)}</p>')
        return page.evaluate(GAPS)

    assert gaps(r"\sin a \sin b") == pytest.approx([1 / 6] * 3, abs=0.03)
    assert gaps(r"\sin(a)") == pytest.approx(gaps(r"f(a)"), abs=0.03)


def test_fences_of_a_pair_are_of_one_size():
    assert to_mathml(r"\{0, 1\}^n").count('stretchy="false"') == 2
    bars = to_mathml(r"\frac{a}{\lVert u \rVert \lVert v \rVert}")
    assert bars.count('stretchy="false"') == 4
    assert "stretchy" not in to_mathml(r"\left\lVert \frac{a}{b} \right\rVert")


def test_relation_that_opens_an_index_has_no_space_around_it():
    assert '<mo lspace="0" rspace="0">&lt;</mo>' in to_mathml(r"y_{<t}")


@pytest.mark.parametrize("latex", [r"x_{}", r"x^{}", r"\exp{}"])
def test_empty_group_is_a_formula_too(latex):
    assert to_mathml(latex).startswith("<math>")


def test_unknown_command_is_named():
    with pytest.raises(MathError, match="nosuchthing"):
        to_mathml(r"\nosuchthing x")


def test_chapter_is_numbered_by_its_file():
    assert chapter_number("chapters/04_scaled_dot_product") == 4
    assert chapter_number("chapters/12_efficiency_and_scale") == 12
    assert chapter_number("chapters/notation") is None
    assert chapter_number("intro") is None


SVG = """<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink"
 width="72pt" height="36pt" viewBox="0 0 72 36"><defs><clipPath id="p1"/></defs>
 <g clip-path="url(#p1)"><use xlink:href="#p1" style="fill: #333333; stroke: #0072b2"/></g></svg>"""


def test_drawing_has_ids_of_its_own_and_the_colour_of_the_text():
    svg = inline_svg(SVG, "d7-", "A map")
    assert 'id="d7-p1"' in svg
    assert "url(#d7-p1)" in svg
    assert 'href="#d7-p1"' in svg
    assert "fill: currentColor; stroke: var(--gb-query)" in svg
    assert 'role="img" aria-label="A map"' in svg
    assert "width: 96px" in svg


def test_drawing_for_telephones_stands_beside_the_other_with_ids_of_its_own():
    narrow = SVG.replace("<svg ", '<svg class="gb-narrow" display="none" ').replace("72pt", "36pt")
    both = inline_both(SVG.replace("</svg>", f"{narrow}</svg>"), "d7-", "A map")
    page = BeautifulSoup(both, "html.parser")
    broad, small = page.find_all("svg", recursive=False)
    assert "gb-broad" in broad["class"]
    assert "gb-narrow" in small["class"]
    assert not small.has_attr("display")
    assert "width: 48px" in small["style"]
    assert {svg["aria-label"] for svg in (broad, small)} == {"A map"}
    ids = [element["id"] for element in page.find_all(id=True)]
    assert len(set(ids)) == len(ids) == 2


def test_drawing_with_links_is_no_single_image():
    linked = SVG.replace("<g ", '<a href="x.html"><g ').replace("</g>", "</g></a>")
    assert 'role="group"' in inline_svg(linked, "d1-", "A map")


def test_wide_drawing_scrolls_in_a_box_that_the_keyboard_reaches():
    box = in_a_scroller(inline_svg(SVG, "d1-", "A map"))
    assert box.startswith('<div class="gb-wide" tabindex="0" role="region" aria-label=')
    assert 'role="img" aria-label="A map"' in box


def test_style_sheet_in_a_drawing_is_refused():
    with pytest.raises(ValueError, match="whole page"):
        inline_svg(SVG.replace("<defs>", "<style>rect { fill: red }</style><defs>"), "d1-", "x")


def test_style_rules_stay_when_their_classes_occur():
    css = (
        '@charset "UTF-8";.used{a:b}.used,.unused{c:d}@media print{.unused{e:f}p.used>a{g:h}}'
        "@keyframes k{from{i:j}}p:not(.unused){k:l}@font-face{font-family:Icons}"
    )
    assert keep_rules(css, {"used"}) == (
        '@charset "UTF-8";.used{a:b}.used{c:d}@media print{p.used>a{g:h}}'
        "@keyframes k{from{i:j}}p:not(.unused){k:l}"
    )


def test_code_is_marked_up_where_it_has_a_colour_and_nowhere_else():
    code = "class Layer(Module):\n    def forward(self, x):\n        return x is not None and 1"
    html = highlight(code, PythonLexer(), Formatter(nowrap=True))
    assert BeautifulSoup(html, "html.parser").get_text().strip() == code
    marked = re.findall(r'<span class="(\w+)">([^<]*)</span>', html)
    assert [word for _, word in marked if word.strip()] == [
        *("class", "Layer", "def", "forward", "return", "is", "not", "None", "and", "1")
    ]


def test_style_sheet_with_an_open_brace_is_refused():
    with pytest.raises(ValueError, match="brace"):
        keep_rules(".a{b:c", {"a"})


def test_a_page_can_name_every_pinned_version(tmp_path):
    (tmp_path / "requirements.txt").write_text(
        "# torch==1\ntorch==2.13.0  # the tensors\njupyter-book==1.0.4\nnumpy>=2\n"
    )
    config: Any = SimpleNamespace(myst_substitutions={"kept": "as it was"})
    substitute(cast(Any, SimpleNamespace(srcdir=tmp_path)), config)
    assert config.myst_substitutions == {
        "kept": "as it was",
        "version_torch": "2.13.0",
        "version_jupyter_book": "1.0.4",
    }


@pytest.mark.parametrize(
    "name", sorted(p.stem for p in (ROOT / "images").glob("*.py") if p.stem != "drawing")
)
def test_diagram_is_what_its_script_draws(name, tmp_path):
    for part in (*(ROOT / "images").glob("*.py"), ROOT / "_toc.yml", drawings.PALETTE):
        copy = tmp_path / part.relative_to(ROOT)
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_bytes(part.read_bytes())
    script = tmp_path / "images" / f"{name}.py"
    subprocess.run([sys.executable, str(script)], check=True, cwd=tmp_path, timeout=120)
    drawn = (tmp_path / "images" / f"{name}.svg").read_text(encoding="utf-8")
    committed = Path(ROOT, "images", f"{name}.svg").read_text(encoding="utf-8")
    again = f"draw it again: python images/{name}.py"
    assert NUMBER.sub("#", drawn) == NUMBER.sub("#", committed), again
    # A model's numbers differ in the last place from one processor to the next.
    numbers = [[float(n) for n in NUMBER.findall(text)] for text in (drawn, committed)]
    assert numbers[0] == pytest.approx(numbers[1], abs=0.1), again


def test_printed_tensors_become_cells_and_the_words_around_them_stay():
    text = (
        "sums\ntensor([[0.25, 0.75],\n        [1.00, -0.00]])\n\nof tensor([1.])\ntensor([3, 4])\n"
    )
    block = nodes.literal_block(text, text, classes=["output", "stream"], language="none")
    pieces = in_pieces(block)
    assert [type(piece) for piece in pieces] == [nodes.literal_block, nodes.raw] * 2
    assert [piece.astext() for piece in pieces[::2]] == ["sums", "of tensor([1.])"]
    assert all(piece["classes"] == ["output", "stream"] for piece in pieces[::2])
    cells = [re.findall(r"<td style[^>]*>([^<]*)", piece.astext()) for piece in pieces[1::2]]
    assert cells == [["0.25", "0.75", "1.00", "-0.00"], ["3", "4"]]


def test_an_output_without_a_tensor_stays_as_it_is():
    block = nodes.literal_block("", "tensor(0.5) torch.Size([2])", classes=["output"])
    assert in_pieces(block) == [block]


def test_a_map_has_the_name_of_its_figure_and_what_the_page_needs():
    html = (
        '<div class="gb-cells gb-map" role="group" aria-label="Map"><td>-0.5</td></div>\n'
        '<div class="gb-lines"><svg xmlns="http://www.w3.org/2000/svg" width="9pt" height="9pt" '
        'viewBox="0 0 9 9"><path id="a" fill="#333333"/></svg></div>\n<script>\nload()</script>'
    )
    raw = nodes.raw("", html, format="html")
    metadata = {"mystnb": {"image": {"alt": 'Two "maps"'}}}
    nodes.container("", raw, cell_metadata=metadata)
    assert (fixed := fitted(raw, "c1-")).count("<svg") == 1
    assert 'aria-label="Two &quot;maps&quot;"' in fixed
    assert "<td>\N{MINUS SIGN}0.5</td>" in fixed
    assert 'id="c1-a" fill="currentColor"' in fixed
    assert "<script" not in fixed
