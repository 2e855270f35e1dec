"""Link a script and its style only from pages that need them."""

from collections.abc import Callable
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx

Link = Callable[[Sphinx, str, str, dict[str, Any], nodes.document | None], None]


def asked_for(mark: str, files: str, **script: Any) -> Link:
    """Return a function that links a script and a style sheet from pages that contain a mark.

    Parameters
    ----------
    mark
        A piece of the page's HTML.
    files
        The path of both files below `_static`, without their suffixes.
    script
        Attributes of the script, such as `loading_method`.
    """

    def link(app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: Any) -> None:
        if mark in context.get("body", ""):
            app.add_css_file(f"{files}.css", priority=900)
            app.add_js_file(f"{files}.js", **script)

    return link
