"""The reference of the package, generated from its docstrings.

A page names modules or packages (`{api} glassbox.positional`); every public class and function in
them is documented, whatever is added later. A signature shows where to import from, and its source
unfolds below it: this is a book of glass boxes.
"""

import inspect
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
OPTIONS = {"members": True, "no-value": True, "special-members": "__call__"}
#: How long the value of a constant may be to stand after its name.
SHORT = 60


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
        parts = re.findall(r"[^.]+\.?", module)  # on a phone, a long name breaks between them
        section += nodes.title("", "", *(nodes.literal("", part) for part in parts))
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
        """Write the list, in which a name that can be imported from two places stands once."""
        rows: list[str] = []
        listed: set[str] = set()
        for document, roots in pages(Path(self.env.srcdir)).items():
            rows += f"{{doc}}`/{document}`", f": {links(roots, listed)}", ""
        return [self.parse(rows, nodes.container(classes=["gb-names"]))]


def links(roots: list[str], listed: set[str] | None = None) -> str:
    """Return Markdown links to the classes and functions importable from modules or packages.

    Those already `listed` are left out. A single word in small letters, which says little by
    itself, follows the name of its module: `read_text` stands alone, `files.remove` does not.
    """
    listed = set() if listed is None else listed
    found = []
    for root in roots:
        for name in public_names(root) or sorted(vars(import_module(root))):
            thing = getattr(import_module(root), name)
            if (
                is_ours(thing)
                and (path := f"{thing.__module__}.{thing.__qualname__}") not in listed
            ):
                listed.add(path)
                found.append(f"{{py:obj}}`{_said(thing)} <{path}>`")
    return " ".join(found)


def _said(thing: Any) -> str:
    """Return the name of a thing as the lists of names have it."""
    name: str = thing.__qualname__
    if "_" in name or name != name.lower():
        return name
    return f"{home(thing.__module__, name).rpartition('.')[2]}.{name}"


def value(thing: Any) -> str:
    """Return the value of a constant if it is short: a number, a string, or a tuple of these."""
    parts = thing if isinstance(thing, tuple) else (thing,)
    plain = all(isinstance(part, int | float | str) for part in parts)
    return f" = {thing!r}" if plain and len(repr(thing)) <= SHORT else ""


def skip(
    app: Sphinx, what: str, name: str, thing: Any, left_out: bool, options: Any
) -> bool | None:
    """Leave out what every class of a kind has: the fields of a named tuple, PyTorch's hooks."""
    return True if name == "extra_repr" or _is_field(thing) else None


def _is_field(thing: Any) -> bool:
    """Whether this is a field of a named tuple, which its signature and docstring describe."""
    return inspect.isdatadescriptor(thing) and (thing.__doc__ or "").startswith("Alias for field")


def finish(app: Sphinx, domain: str, kind: str, content: addnodes.desc_content) -> None:
    """Show the shortest path of a class or function, and fold its source below it."""
    signature = content.parent.next_node(addnodes.desc_signature)
    if domain != "py" or signature is None:
        return
    if kind == "data":
        signature["_toc_name"] = ""  # the page's contents list only callables
        shown_value = value(getattr(import_module(signature["module"]), signature["fullname"]))
        signature += addnodes.desc_annotation("", "", nodes.Text(shown_value))
    double_quotes(signature)
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
    app.connect("autodoc-skip-member", skip)
    app.connect("object-description-transform", finish)
    app.connect("html-page-context", name_toggles, priority=900)
