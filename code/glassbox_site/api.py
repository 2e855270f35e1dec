"""The reference of the package, generated from its docstrings.

A page names modules or packages (`{api} glassbox.positional`); every public class and function in
them is documented, whatever is added later. A signature shows where to import from, and its source
unfolds below it: this is a book of glass boxes.
"""

import re
from importlib import import_module
from pathlib import Path
from typing import Any

import yaml
from docutils import nodes
from docutils.statemachine import StringList
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective
from sphinx.util.nodes import make_id

from glassbox_site.folding import details, summary
from glassbox_site.objects import home, is_ours, modules, public_names
from glassbox_site.signatures import double_quotes

REFERENCE = "chapters/api"
NAMED = re.compile(r"^```\{api\} +(.+)$", re.MULTILINE)
OPTIONS = dict.fromkeys(("members", "no-value"), True)


def shown(root: str) -> list[str]:
    """Return the modules below a name that have something to show, those it exports first."""

    def exports(module: str) -> bool:
        return any(home(module, name) != module for name in public_names(module))

    below = [module for module in modules(root)[1:] if public_names(module)]
    return [root, *sorted(below, key=lambda module: (not exports(module), module))]


def pages(source: Path) -> dict[str, list[str]]:
    """Return the modules that each page of the reference names, in the order of the contents."""
    toc = yaml.safe_load((source / "_toc.yml").read_text(encoding="utf-8"))
    entries = [entry for part in toc["parts"] for entry in part["chapters"]]
    (reference,) = (entry for entry in entries if entry["file"] == REFERENCE)
    documents = [entry["file"] for entry in reference["sections"]]
    return {
        document: NAMED.findall((source / f"{document}.md").read_text(encoding="utf-8"))[0].split()
        for document in documents
    }


class Api(SphinxDirective):
    """Document modules, each in a section."""

    required_arguments = 1
    final_argument_whitespace = True

    def run(self) -> list[nodes.Node]:
        """Write a section for each module."""
        return [
            self.section(module) for root in self.arguments[0].split() for module in shown(root)
        ]

    def section(self, module: str) -> nodes.section:
        """Return a section for a module, with everything public that it defines."""
        section = nodes.section("", ids=[make_id(self.env, self.state.document, "", module)])
        section += nodes.title("", "", nodes.literal("", module))
        self.parse(["```{eval-rst}", f".. automodule:: {module}", "```"], section)
        if not public_names(module):  # a package: its names are defined in its modules
            section += self.parse([links([module])], nodes.container(classes=["gb-names"]))
        return section

    def parse(self, markdown: list[str], node: nodes.Element) -> nodes.Element:
        """Parse Markdown into a node."""
        self.state.nested_parse(StringList(markdown), 0, node)
        return node


class Overview(Api):
    """List the package's contents: each page, with the names that can be imported from it."""

    required_arguments = 0

    def run(self) -> list[nodes.Node]:
        """Write the list."""
        rows = [
            line
            for document, roots in pages(Path(self.env.srcdir)).items()
            for line in (f"{{doc}}`/{document}`", f": {links(roots)}", "")
        ]
        return [self.parse(rows, nodes.container(classes=["gb-names"]))]


def links(roots: list[str]) -> str:
    """Return Markdown links to the classes and functions importable from modules or packages."""
    things = [
        getattr(import_module(root), name)
        for root in roots
        for name in public_names(root) or sorted(vars(import_module(root)))
    ]
    paths = [f"{thing.__module__}.{thing.__qualname__}" for thing in things if is_ours(thing)]
    return " ".join(f"{{py:obj}}`~{path}`" for path in paths)


def finish(app: Sphinx, domain: str, kind: str, content: addnodes.desc_content) -> None:
    """Show the shortest path of a class or function, and fold its source below it."""
    signature = content.parent.next_node(addnodes.desc_signature)
    if domain != "py" or signature is None:
        return
    double_quotes(signature)
    if kind == "data":
        signature["_toc_name"] = ""  # the page's contents list only callables
    prefix = signature.next_node(addnodes.desc_addname)
    module, name = signature["module"], signature["fullname"]
    if prefix is None or name not in public_names(module):  # a method, or a constant
        return
    prefix[0] = nodes.Text(f"{home(module, name)}.")
    from glassbox_book.viz.source import source_text  # pulls in torch

    code = source_text(getattr(import_module(module), name))
    content += details(
        "",
        summary("", nodes.inline("", "Source")),
        nodes.literal_block(code, code, language="python"),
        classes=["gb-source"],
    )


def name_toggles(
    app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: nodes.document | None
) -> None:
    """Name the toggles that unfold pages in the contents, which the theme leaves unnamed."""
    contents = context.get("generate_toctree_html")
    if contents is not None:
        summary = '<summary aria-label="Pages below this one">'
        context["generate_toctree_html"] = lambda *args, **options: str(
            contents(*args, **options)
        ).replace("<summary>", summary)


def setup(app: Sphinx) -> None:
    """Register the directives, and act on every signature."""
    app.setup_extension("sphinx.ext.autodoc")
    app.config.autodoc_default_options = OPTIONS
    app.add_directive("api", Api)
    app.add_directive("api-overview", Overview)
    app.connect("object-description-transform", finish)
    app.connect("html-page-context", name_toggles, priority=900)
