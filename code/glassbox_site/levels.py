"""Show code at three levels: the cell with the idea is open, everything else folds under its name.

The kind of a cell follows from its code (`kind`), or, where that is ambiguous, from a tag: one of
the keys of `NAMES`, `idea` for a cell that stays open, `quiz` for one whose code is hidden. The
code of a solution is not folded again. A helper that starts with a comment is named by it.
"""

import ast
from collections.abc import Callable, Mapping
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.transforms.post_transforms import SphinxPostTransform

from glassbox_site.folding import details, summary

#: The label on the fold of each kind of cell.
NAMES = {
    "imports": "imports",
    "data": "data",
    "models": "loading the models",
    "check": "check: these numbers hold",
    "drawing": "how this figure is drawn",
    "table": "how this table is made",
    "listing": "where this listing comes from",
    "numbers": "how these numbers are computed",
    "helper": "helpers for what follows",
}
#: Tags that state the kind of a cell; at most one per cell.
KINDS = {"idea", "quiz", *NAMES}
#: What a cell of imports may also do: set styles, and seed the random numbers.
SETTINGS = ("manual_seed", "set_printoptions", "use_book_style")
ASSERTIONS = ("assert_close", "assert_equal")
#: A cell of at most this many lines shows its code with its output.
SHORT = 5


def kind(source: str, metadata: Mapping[str, Any]) -> str:
    """Return the kind of a cell, from its tag or else from its code.

    Parameters
    ----------
    source : str
        The cell's Python code.
    metadata : mapping
        Of the cell.

    Returns
    -------
    str
        One of `KINDS`.
    """
    for tag in metadata.get("tags", ()):
        if tag in KINDS:
            return str(tag)
    figure = metadata.get("mystnb", {}).get("figure", {}).get("name", "")
    body = ast.parse(source).body
    if not body:
        return "idea"
    called = _called(body[-1])
    if called == "quiz":
        return "quiz"
    if figure:
        return "listing" if figure.startswith("lst-") else "drawing"
    if _most(body, _imports):
        return "imports"
    if _asserts(body[-1]) and _most(body, _asserts) and "print(" not in source:
        return "check"
    if all(isinstance(node, ast.Assign) and _is_literal(node.value) for node in body):
        return "data"
    if len(source.splitlines()) <= SHORT:
        return "idea"
    if called == "Table":
        return "table"
    return "numbers" if _called(_last(body[-1])) == "print" else "idea"


def is_solution(metadata: Mapping[str, Any]) -> bool:
    """Whether a cell with this metadata is the solution of an exercise."""
    return bool(metadata.get("jupyter", {}).get("source_hidden"))


def name(what: str, source: str) -> str:
    """Return the label on the fold of a cell.

    Parameters
    ----------
    what : str
        The kind of the cell, one of `NAMES`.
    source : str
        The cell's Python code.

    Returns
    -------
    str
        For a helper what the comment in its first line says, if there is one.
    """
    first = source.partition("\n")[0]
    if what == "helper" and first.startswith("# "):
        return f"helper: {first[2:]}"
    return NAMES[what]


def _called(node: ast.stmt) -> str:
    """Return the name that a statement calls, without the part before its last dot."""
    function = getattr(getattr(node, "value", None), "func", None)
    return str(getattr(function, "attr", getattr(function, "id", "")))


def _most(body: list[ast.stmt], holds: Callable[[ast.stmt], bool]) -> bool:
    return 2 * sum(map(holds, body)) >= len(body) + (holds is _imports)


def _imports(node: ast.stmt) -> bool:
    return isinstance(node, ast.Import | ast.ImportFrom) or _called(node) in SETTINGS


def _asserts(node: ast.stmt) -> bool:
    """Whether a statement is an assertion, or a block that ends in one."""
    last = _last(node)
    return isinstance(last, ast.Assert) or _called(last) in ASSERTIONS


def _last(node: ast.stmt) -> ast.stmt:
    """Return the statement that a block ends in; any other statement is its own."""
    return _last(node.body[-1]) if isinstance(node, ast.For | ast.With) else node


def _is_literal(node: ast.expr) -> bool:
    try:
        ast.literal_eval(node)
    except ValueError:
        return False
    return True


class FoldCode(SphinxPostTransform):
    """Fold the code of cells that are not the idea."""

    default_priority = 390  # before solutions are folded
    formats = ("html",)

    def run(self, **kwargs: object) -> None:
        """Fold it in this document."""
        for cell in list(self.document.findall(is_cell)):
            source, metadata = cell[0], cell["cell_metadata"]
            if is_solution(metadata):
                continue
            what = kind(source.astext(), metadata)
            if what == "quiz":
                cell.remove(source)
            elif what != "idea":
                head = summary("", nodes.Text(name(what, source.astext())))
                cell.replace(source, details("", head, source, classes=["gb-code", f"gb-{what}"]))


def is_cell(node: nodes.Node) -> bool:
    """Whether a node is a cell of code, which holds its source first."""
    return (
        isinstance(node, nodes.container)
        and node.get("nb_element") == "cell_code"
        and bool(node.children)
        and node[0].get("nb_element") == "cell_code_source"
    )


def setup(app: Sphinx) -> None:
    """Register the transform."""
    app.add_post_transform(FoldCode)
