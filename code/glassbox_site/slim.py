"""Reduce each page's scripts and styles to what it uses.

The theme includes an icon library of 1.5 MB and 400 KB of styles, and its extensions include
scripts for features that this book does not use. Scripts that no page needs are not linked; a style
rule stays when every class in its selector occurs in a page or a script.
"""

import re
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx

UNUSED_SCRIPTS = ("design-tabs", "togglebutton", "thebe", "fontawesome")
UNUSED_STYLES = ("togglebutton", "thebe", "exercise.css")
STYLES = ("pydata-sphinx-theme.css", "sphinx-book-theme.css", "sphinx-design.min.css", "mystnb")


def drop_assets(
    app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: nodes.document | None
) -> None:
    """Drop scripts and styles that the book does not use from a page."""
    for kind, unused in (("script_files", UNUSED_SCRIPTS), ("css_files", UNUSED_STYLES)):
        context[kind] = [
            asset
            for asset in context[kind]
            if not any(name in str(getattr(asset, "filename", asset)) for name in unused)
        ]


def keep_rules(css: str, words: set[str]) -> str:
    """Return the rules of a style sheet whose selectors can match, at any depth of nesting."""
    kept, place = [], 0
    while (opening := css.find("{", place)) >= 0:
        head = css[place:opening]
        # what ends with a semicolon before the rule (@charset, @import) stays
        statement, _, selector = head.rpartition(";")
        closing = _closing(css, opening)
        body = css[opening + 1 : closing]
        place = closing + 1
        kept.append(f"{statement};" if statement else "")
        selector = re.sub(r"/\*.*?\*/", "", selector, flags=re.DOTALL).strip()
        if selector.startswith(("@media", "@supports", "@layer")):
            if inner := keep_rules(body, words):
                kept.append(f"{selector}{{{inner}}}")
        elif selector.startswith("@font-face"):
            continue  # the icon fonts; the book's own fonts are in its own style sheets
        elif selector.startswith("@"):
            kept.append(f"{selector}{{{body}}}")
        else:
            used = [s for s in re.split(r",(?![^(]*\))", selector) if _matches(s, words)]
            if used:
                kept.append(f"{','.join(used)}{{{body}}}")
    return "".join(kept)


def in_rem(text: str) -> str:
    """Return style or script with the theme's breakpoints in the unit of its columns, rem."""
    return re.sub(
        r"(?<=-width:)( ?)([\d.]+)px(?=\))", lambda m: f"{m[1]}{float(m[2]) / 16:.10g}rem", text
    )


def _matches(selector: str, words: set[str]) -> bool:
    plain = re.sub(r":not\([^)]*\)", "", selector)  # what must be absent need not occur
    return all(name in words for name in re.findall(r"[.#](-?[A-Za-z_][\w-]*)", plain))


def _closing(css: str, opening: int) -> int:
    depth = 0
    for brace in re.finditer(r"[{}]", css[opening:]):
        depth += 1 if brace[0] == "{" else -1
        if depth == 0:
            return opening + brace.start()
    raise ValueError("a style sheet with a brace that is not closed")


def trim_styles(app: Sphinx, error: Exception | None) -> None:
    """Trim the theme's style sheets, and drop their source maps."""
    if error is not None or app.builder.format != "html":
        return
    out = Path(app.outdir)
    static = out / "_static"
    words: set[str] = set()
    for file in (*out.rglob("*.html"), *static.rglob("*.js")):
        if file.stem != "fontawesome":
            words.update(re.findall(r"-?[A-Za-z_][\w-]*", file.read_text(encoding="utf-8")))
    for file in static.rglob("*.css"):
        if file.name.startswith(STYLES):
            css = re.sub(r"/\*# sourceMappingURL=.*?\*/", "", file.read_text(encoding="utf-8"))
            file.write_text(in_rem(keep_rules(css, words)), encoding="utf-8")
    for file in static.rglob("sphinx-book-theme.js"):
        file.write_text(in_rem(file.read_text(encoding="utf-8")), encoding="utf-8")
    for file in {*static.rglob("*.map"), *static.rglob("fontawesome.js*")}:
        file.unlink()


def setup(app: Sphinx) -> None:
    """Act on each page, and once at the end."""
    app.connect("html-page-context", drop_assets, priority=900)
    app.connect("build-finished", trim_styles)
