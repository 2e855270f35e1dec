"""Show the package's own code in a chapter instead of a copy."""

import ast
import inspect
import textwrap
from collections.abc import Callable
from typing import Any


class Source:
    """The source of one or more functions or classes, without docstrings; a cell displays it.

    Parameters
    ----------
    *objects : function or class
        The objects to show, in this order.

    Raises
    ------
    TypeError
        If an object has no Python source.
    """

    def __init__(self, *objects: Callable[..., Any]) -> None:
        self.text = "\n\n\n".join(source_text(thing) for thing in objects)

    def __repr__(self) -> str:
        return self.text

    def _repr_markdown_(self) -> str:
        return f"```python\n{self.text}\n```"


def source_text(thing: Callable[..., Any]) -> str:
    """Return the source of a function or class without its docstrings.

    Raises
    ------
    TypeError
        If ``thing`` has no Python source.
    """
    try:
        text = textwrap.dedent(inspect.getsource(thing))
    except (TypeError, OSError) as error:
        raise TypeError(f"{thing!r} has no Python source to show") from error
    lines = text.splitlines()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.ClassDef | ast.FunctionDef) and ast.get_docstring(node) is not None:
            docstring = node.body[0]
            for number in range(docstring.lineno - 1, docstring.end_lineno or docstring.lineno):
                lines[number] = "\0"
    return "\n".join(line for line in lines if line != "\0")
