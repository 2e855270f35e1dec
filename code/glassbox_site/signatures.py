"""Write a signature on one line, or one per parameter; Sphinx writes a list without terms.

What is not valid code in Python's notation (the default of a field with a factory) becomes an
ellipsis, so that the rest can be parsed as code and its names become links. A class has the
signature of its `__init__`, where autodoc prefers a `__new__` that only checks what it is given.
"""

import inspect
import re
from typing import Any

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.util.inspect import signature as read
from sphinx.util.inspect import stringify_signature
from sphinx.writers.html5 import HTML5Translator

#: A string, which is code whatever it holds, or what stands between angle brackets.
NO_CODE = re.compile(r"""("[^"]*"|'[^']*')|<[^<>]+>""")


def readable(
    app: Sphinx, what: str, name: str, thing: Any, options: Any, signature: str, returns: str
) -> tuple[str | None, str | None]:
    """Remove everything from a signature that is not code."""
    if inspect.isclass(thing) and not issubclass(thing, tuple):  # a named tuple has no `__init__`
        signature = of_class(thing)
    return NO_CODE.sub(lambda found: found[1] or "...", signature or ""), returns


def of_class(thing: type) -> str:
    """Return the signature of a class, or nothing if it names no argument."""
    called = read(thing.__init__, bound_method=True)  # type: ignore[misc]  # of this very class
    if called.parameters.keys() == {"args", "kwargs"}:  # as in object, nn.Module and a Protocol
        return ""
    return stringify_signature(called, show_return_annotation=False, unqualified_typehints=True)


def visit_list(translator: HTML5Translator, node: addnodes.desc_parameterlist) -> None:
    """Open the parenthesis."""
    translator.body.append('<span class="sig-paren">(</span>')


def depart_list(translator: HTML5Translator, node: addnodes.desc_parameterlist) -> None:
    """Close it."""
    translator.body.append('<span class="sig-paren">)</span>')


def visit_parameter(translator: HTML5Translator, node: addnodes.desc_parameter) -> None:
    """Begin a parameter, on a line of its own if the signature is long."""
    own_line = node.parent.get("multi_line_parameter_list")
    translator.body.append('<span class="sig-line">' if own_line else "")
    translator.body.append('<em class="sig-param">')


def depart_parameter(translator: HTML5Translator, node: addnodes.desc_parameter) -> None:
    """End it, with a comma if another follows or a line ends."""
    last = node is node.parent[-1]
    translator.body.append("</em>")
    if node.parent.get("multi_line_parameter_list"):
        translator.body.append(",</span>")
    elif not last:
        translator.body.append(", ")


def double_quotes(signature: nodes.Element) -> None:
    """Write strings with the quotes of the code."""
    for text in list(signature.findall(nodes.Text)):
        if "'" in text:
            text.parent.replace(text, nodes.Text(text.replace("'", '"')))


def setup(app: Sphinx) -> None:
    """Write signatures this way."""
    app.setup_extension("sphinx.ext.autodoc")
    # autodoc reads sources here, which a NamedTuple does not have on Python 3.13.
    for listener in list(app.events.listeners["autodoc-before-process-signature"]):
        app.disconnect(listener.id)
    app.connect("autodoc-process-signature", readable)
    app.add_node(addnodes.desc_parameterlist, override=True, html=(visit_list, depart_list))
    app.add_node(addnodes.desc_parameter, override=True, html=(visit_parameter, depart_parameter))
