"""Convert formulas to MathML when the site is built, so that showing them needs no script.

docutils translates the LaTeX; small errors that affect browsers are corrected here. Capital Q, K
and V carry the colours that query, key and value have in every figure.
"""

import re
import xml.etree.ElementTree as ET

from docutils import nodes
from docutils.utils.math import MathError
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.application import Sphinx
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util import logging
from sphinx.util.math import get_node_equation_number
from sphinx.writers.html5 import HTML5Translator

logger = logging.getLogger(__name__)

MATHML = "http://www.w3.org/1998/Math/MathML"
ET.register_namespace("", MATHML)
ROLES = {"Q": "gb-query", "K": "gb-key", "V": "gb-value"}
SYNONYMS = {
    "dots": r"\ldots",
    "iff": r"\;\Longleftrightarrow\;",
    "implies": r"\;\Longrightarrow\;",
}
BARS = {"|", "‖", "∣"}
FENCES = {"(": ")", "[": "]", "{": "}"}
APPLY = "\u2061"  # between a function and its argument
THIN = "0.1667em"
BRACES = {"⏞", "⏟"}
BEFORE = re.compile(r"[(\[“‘]+$")
AFTER = re.compile(r"[^\s\w—–]+")  # a comma, a full stop, the hyphen of `d`-dimensional


def to_mathml(latex: str, *, block: bool = False) -> str:
    r"""Return the MathML of a formula.

    Parameters
    ----------
    latex
        The text between the dollars; `\begin{equation}` and `\begin{align}` are understood.
    block
        Whether the formula is on its own line.

    Raises
    ------
    MathError
        If a command is not understood, naming it.
    """
    latex = latex.strip()
    latex = re.sub(r"\\(begin|end)\{(equation|gather)\*?\}", "", latex).strip()
    latex = re.sub(r"\\(begin|end)\{align\*?\}", r"\\\1{aligned}", latex)
    latex = re.sub(r"\\(dots|iff|implies)\b", lambda name: SYNONYMS[name[1]], latex)
    mathml = tex2mathml(latex, as_block=block).replace("&ApplyFunction;", APPLY)
    root = ET.fromstring(mathml)
    for element in root.iter():
        if not element.tag.endswith("}mtext") and not (element.text or "").strip():
            element.text = None
        element.tail = None
        element.tag = element.tag.removeprefix(f"{{{MATHML}}}")
        element.attrib.pop("columnalign", None)  # deprecated; the style sheet aligns
    for element in root.iter():
        _mend(element)
    return ET.tostring(root, encoding="unicode")


def _mend(element: ET.Element) -> None:
    """Correct the children of one element."""
    if element.tag == "mi" and element.text in ROLES and "mathvariant" not in element.attrib:
        element.set("class", ROLES[element.text])
    children = list(element)
    # \left … \right is its own row; \lVert has its own class and does not grow.
    fenced = element.tag == "mrow" and len(children) > 2 and "class" not in children[0].attrib
    for place, child in enumerate(children):
        stretches = "minsize" in child.attrib or (fenced and place in (0, len(children) - 1))
        if child.tag == "mo" and child.text in BARS and not stretches:
            child.set("stretchy", "false")
        # The label of an under- or overbrace goes under or over it, not beside it.
        if child.tag in ("msub", "msup") and len(child[0]) == 2 and child[0][1].text in BRACES:
            child.tag = "munder" if child.tag == "msub" else "mover"
        _mend_script(child, children[:place])
    _space_functions(element)


def _mend_script(child: ET.Element, before: list[ET.Element]) -> None:
    """Correct the base of an index or exponent, and the index: `{0, 1}^n` and `y_{<t}`."""
    if child.tag not in ("msub", "msup", "msubsup"):
        return
    base, *scripts = child
    if base.tag == "mo" and base.text in FENCES.values():  # otherwise the pair would differ in size
        base.set("stretchy", "false")
        for opening in reversed(before):
            if FENCES.get(opening.text or "") == base.text:
                opening.set("stretchy", "false")
                break
    for script in scripts:
        if script.tag == "mrow" and len(script) and script[0].tag == "mo":
            script[0].set("lspace", "0")
            script[0].set("rspace", "0")


def _space_functions(element: ET.Element) -> None:
    """Put thin spaces around a function without parentheses, as in `sin a sin b`."""
    children = list(element)
    for place, child in enumerate(children):
        if child.tag != "mo" or child.text != APPLY:
            continue
        if place + 1 < len(children):
            argument = children[place + 1]
            first = argument[0] if argument.tag == "mrow" and len(argument) else argument
            if first.text not in FENCES:
                child.set("rspace", THIN)
        if place > 1 and children[place - 2].tag != "mo":
            space = ET.Element("mspace", width=THIN)
            element.insert(list(element).index(children[place - 1]), space)


def _translate(translator: HTML5Translator, node: nodes.math | nodes.math_block) -> None:
    try:
        block = isinstance(node, nodes.math_block)
        translator.body.append(to_mathml(node.astext(), block=block))
    except (MathError, ET.ParseError) as problem:
        logger.warning("formula not understood: %s", problem, location=node)
        latex = translator.encode(node.astext())
        translator.body.append(f'<code class="gb-bad-formula">{latex}</code>')


def visit_inline(translator: HTML5Translator, node: nodes.math) -> None:
    """Write a formula in running text."""
    _translate(translator, node)
    raise nodes.SkipNode


def visit_block(translator: HTML5Translator, node: nodes.math_block) -> None:
    """Write a formula on its own line, with its number and a link to it."""
    translator.body.append(translator.starttag(node, "div", CLASS="gb-equation"))
    translator.body.append('<div class="gb-formula">')
    _translate(translator, node)
    translator.body.append("</div>")
    if node["number"]:
        number = get_node_equation_number(translator, node)
        translator.body.append(f'<span class="eqno">({number})')
        translator.add_permalink_ref(node, "Link to this equation")
        translator.body.append("</span>")
    translator.body.append("</div>\n")
    raise nodes.SkipNode


class Punctuation(SphinxPostTransform):
    """Keep a formula in running text on one line with the punctuation that touches it."""

    default_priority = 391
    formats = ("html",)

    def run(self, **kwargs: object) -> None:
        """Act on this document."""
        for formula in list(self.document.findall(nodes.math)):
            parent, place = formula.parent, formula.parent.index(formula)
            texts = {at: text for at, text in enumerate(parent) if isinstance(text, nodes.Text)}
            before, after = texts.get(place - 1, ""), texts.get(place + 1, "")
            opening, closing = BEFORE.search(before), AFTER.match(after)
            if not opening and not closing:
                continue
            unbroken = nodes.inline("", classes=["gb-unbroken"])
            if opening:
                parent[place - 1] = nodes.Text(before[: opening.start()])
                unbroken += nodes.Text(opening[0])
            parent[place] = unbroken
            unbroken += formula
            if closing:
                parent[place + 1] = nodes.Text(after[closing.end() :])
                unbroken += nodes.Text(closing[0])


def setup(app: Sphinx) -> None:
    """Offer the renderer; `html_math_renderer: mathml` chooses it."""
    app.add_post_transform(Punctuation)
    app.add_html_math_renderer("mathml", (visit_inline, None), (visit_block, None))
