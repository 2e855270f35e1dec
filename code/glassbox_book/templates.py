"""HTML from templates that Jinja fills, and numbers as the scripts of the pages write them."""

import math
import re
from collections.abc import Iterable
from decimal import ROUND_HALF_UP, Decimal
from functools import cache, partial
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from jinja2.ext import Extension


class _Joined(Extension):
    """Make an indented line of a template continue the line above it."""

    def preprocess(self, source: str, name: str | None, filename: str | None = None) -> str:
        return re.sub(r"\n +", "", source)


@cache
def environment() -> Environment:
    """Return what finds the templates, with the filters that they use.

    Returns
    -------
    Environment
        The same at every call.
    """
    made = Environment(
        loader=PackageLoader("glassbox_book", ""),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        extensions=[_Joined],
    )
    made.filters |= {"fixed": fixed, "at": at, "path": path, "zip": partial(zip, strict=True)}
    return made


def fill(template: str, **slots: Any) -> str:
    """Return the HTML of a template, in which everything that is filled in is escaped.

    In the HTML, an indented line of a template continues the line above it.

    Parameters
    ----------
    template : str
        A file of this package, such as ``"widgets/page/stepper.html"``.
    **slots
        The values of the names in the template.

    Returns
    -------
    str
        HTML; quotation marks are spelled as by :func:`html.escape`.

    Raises
    ------
    jinja2.UndefinedError
        If the template has a name without a value.
    """
    filled = environment().get_template(template).render(slots)
    return filled.replace("&#34;", "&quot;").replace("&#39;", "&#x27;")


def fixed(number: float | int, digits: int = 2) -> str:
    """Return a number with ``digits`` decimals, rounded as in the scripts.

    Halves round away from zero, the minus is a true minus sign, and zero has none.

    Parameters
    ----------
    number : float
        Any finite number.
    digits : int
        The number of decimals.

    Returns
    -------
    str
        The number.
    """
    text = str(Decimal(float(number)).quantize(Decimal(1).scaleb(-digits), ROUND_HALF_UP))
    return text.replace("-", "" if not text.strip("-0.") else "\N{MINUS SIGN}")


def at(number: float | int) -> str:
    """Return a coordinate to a tenth, rounded as in the scripts.

    Parameters
    ----------
    number : float
        Any finite number.

    Returns
    -------
    str
        The number.
    """
    return f"{math.floor(10 * number + 0.5) / 10 + 0.0:.1f}"


def path(points: Iterable[Iterable[float | int]]) -> str:
    """Return the SVG path of straight lines through points.

    Parameters
    ----------
    points : iterable of (x, y)
        The points in order.

    Returns
    -------
    str
        The attribute ``d``.
    """
    return "M" + "L".join(" ".join(map(at, point)) for point in points)
