"""Resolve names in docstrings and signatures, without consulting another site.

A name that the API pages document becomes a link, under whatever path; one that can be imported
from elsewhere (`Tensor`, `Iterator`) stays text; an unknown name is a warning, and so an error.
"""

import builtins
import inspect
import pkgutil
import re
from collections import defaultdict
from functools import cache
from importlib import import_module
from itertools import accumulate, takewhile
from typing import Any

from docutils import nodes
from sphinx import addnodes
from sphinx.addnodes import pending_xref
from sphinx.application import Sphinx
from sphinx.domains.python import ObjectEntry, PythonDomain
from sphinx.environment import BuildEnvironment
from sphinx.util.nodes import make_refnode

PACKAGES = ("glassbox", "glassbox_book")
NOTHING = object()


@cache
def modules(*roots: str) -> tuple[str, ...]:
    """Return the names of modules, by default the packages, and of every module below them."""
    names: list[str] = []
    for root in roots or PACKAGES:
        below = pkgutil.walk_packages(getattr(import_module(root), "__path__", ()), f"{root}.")
        names += root, *(found.name for found in below)
    return tuple(names)


@cache
def public_names(module: str) -> list[str]:
    """Return the names of the classes and functions that a module defines, in their order there."""
    own = vars(import_module(module)).items()
    return [
        name
        for name, thing in own
        if not name.startswith("_")
        and getattr(thing, "__module__", None) == module
        and callable(thing)
        and getattr(thing, "__qualname__", None) == name
    ]


@cache
def home(module: str, name: str) -> str:
    """Return the shortest path to import a public name from, such as `glassbox.positional`."""
    thing = getattr(import_module(module), name)
    paths = accumulate(module.split("."), "{}.{}".format)
    return next(path for path in paths if vars(import_module(path)).get(name) is thing)


def look_up(name: str, module: str, within: str = "") -> Any:
    """Return what a dotted name means in a class, its module, or anywhere; or `NOTHING`."""
    scope = vars(import_module(module)) if module else {}
    scopes = [scope, vars(builtins)]
    if within in scope:
        scopes.insert(0, {part: getattr(scope[within], part) for part in dir(scope[within])})
    first, *rest = name.split(".")
    for names in scopes:
        thing = names.get(first, NOTHING)
        for part in rest:
            thing = getattr(thing, part, NOTHING)
        if thing is not NOTHING:
            return thing
    try:
        return pkgutil.resolve_name(name)
    except (ImportError, AttributeError, ValueError):
        return nearest(name, module)


def nearest(name: str, module: str) -> Any:
    """Return the public class or function of that name in the nearest module of the package."""

    def shared(home: str) -> int:
        pairs = zip(home.split("."), module.split("."), strict=False)
        return len(list(takewhile(lambda pair: pair[0] == pair[1], pairs)))

    homes = [home for home in modules() if name in public_names(home)]
    return getattr(import_module(max(homes, key=shared)), name) if homes else NOTHING


def is_ours(thing: Any) -> bool:
    """Whether the package defines a class or function under a public name."""
    module, name = (getattr(thing, key, "") for key in ("__module__", "__qualname__"))
    return module in modules() and name in public_names(module)


def is_attribute(name: str, module: str, within: str) -> bool:
    """Whether instances of a class have an attribute: declared, or set by the class itself."""
    owner, _, attribute = name.rpartition(".")
    thing = look_up(owner or within, module)
    if not isinstance(thing, type):
        return False
    source = inspect.getsource(thing)
    return bool(re.search(rf"\bself\.{attribute}\b|^    {attribute}:", source, re.MULTILINE))


def say_what_is_meant(app: Sphinx, doctree: nodes.document) -> None:
    """Give every reference to a Python name the path under which it is documented."""
    for reference in list(doctree.findall(pending_xref)):
        if reference.get("refdomain") != "py":
            continue
        place = (reference.get("py:module") or "", reference.get("py:class") or "")
        thing = look_up(reference["reftarget"], *place)
        module, name = (getattr(thing, key, None) for key in ("__module__", "__qualname__"))
        if module in modules() and name:
            reference["reftarget"], reference["refspecific"] = f"{module}.{name}", False


def resolve(
    app: Sphinx, env: BuildEnvironment, reference: pending_xref, text: nodes.TextElement
) -> nodes.Node | None:
    """Leave known names that are not in the reference as text."""
    if reference.get("refdomain") != "py":
        return None
    place = (reference.get("py:module") or "", reference.get("py:class") or "")
    target = reference["reftarget"]
    thing = look_up(target, *place)
    if thing is NOTHING:
        return text if _in_signature(reference) or is_attribute(target, *place) else None
    domain = env.get_domain("py")
    assert isinstance(domain, PythonDomain)
    for name, entry in by_last_name(domain)[target.rpartition(".")[2]]:
        if look_up(name, "") is thing:  # a constant does not know its own name
            page, place_there = entry.docname, entry.node_id
            return make_refnode(app.builder, reference["refdoc"], page, place_there, [text], name)
    return text


@cache
def by_last_name(domain: PythonDomain) -> dict[str, list[tuple[str, ObjectEntry]]]:
    """Return the entries of the reference by the last part of their names."""
    found: dict[str, list[tuple[str, ObjectEntry]]] = defaultdict(list)
    for name, entry in domain.objects.items():
        found[name.rpartition(".")[2]].append((name, entry))
    return found


def _in_signature(node: nodes.Node | None) -> bool:
    """Return whether this is in a signature, whose names Python itself has resolved."""
    while node is not None and not isinstance(node, addnodes.desc_signature):
        node = node.parent
    return node is not None


def setup(app: Sphinx) -> None:
    """Act when a page is read, and on what the Python domain could not resolve."""
    app.connect("doctree-read", say_what_is_meant)
    app.connect("missing-reference", resolve)
