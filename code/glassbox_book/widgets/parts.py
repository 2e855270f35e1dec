"""What several widgets are made of: numbers as text, sliders, drawings that stretch."""

from __future__ import annotations

import math
from collections.abc import Iterable
from decimal import ROUND_HALF_UP, Decimal
from html import escape


def fixed(number: float | int, digits: int = 2) -> str:
    """Return a number with so many decimals, rounded as the scripts round it.

    Halves go away from zero, the minus is a minus sign, and zero has none.
    """
    text = str(Decimal(float(number)).quantize(Decimal(1).scaleb(-digits), ROUND_HALF_UP))
    return text.replace("-", "" if not text.strip("-0.") else "\N{MINUS SIGN}")


def at(number: float | int) -> str:
    """Return a coordinate to a tenth, rounded as the scripts round it."""
    return f"{math.floor(10 * number + 0.5) / 10 + 0.0:.1f}"


def path(points: Iterable[Iterable[float | int]]) -> str:
    """Return what draws straight lines through points, in an SVG."""
    return "M" + "L".join(" ".join(map(at, point)) for point in points)


def slider(
    part: str,
    label: str,
    low: int,
    high: int,
    value: int,
    *,
    shown: str,
    said: str | None = None,
    after: str = "",
) -> str:
    """Return a labelled slider with its value beside it.

    Parameters
    ----------
    part : str
        By which name the script finds it; it finds the value as ``part-shown``.
    label : str
        What it sets, as HTML.
    low, high, value : int
        Its ends and where it stands; it moves in whole steps.
    shown : str
        Its value, as it stands beside it.
    said : str, optional
        Its value for screen readers, where that is another.
    after : str, optional
        What follows the value.

    Returns
    -------
    str
        HTML.
    """
    return (
        f'<label class="gb-slider"><span>{label}</span> '
        f'<input type="range" data-part="{part}" min="{low}" max="{high}" step="1" '
        f'value="{value}" autocomplete="off" disabled aria-valuetext="{escape(said or shown)}"> '
        f'<span><output data-part="{part}-shown">{shown}</output>{after}</span></label>'
    )


def plot(drawing: str, width: int, height: int, over: str = "", attributes: str = "") -> str:
    """Return a drawing that takes any width; its lines stay as thick as they are.

    Parameters
    ----------
    drawing : str
        What stands in the SVG.
    width, height : int
        Its size in units of its own.
    over : str, optional
        HTML that stands over it and is not stretched, with its place in per cent.
    attributes : str, optional
        Of the element around both.

    Returns
    -------
    str
        HTML.
    """
    return (
        f'<div class="gb-plot"{attributes}><svg viewBox="0 0 {width:g} {height:g}" '
        f'preserveAspectRatio="none" aria-hidden="true">{drawing}</svg>{over}</div>'
    )


def marks(places: Iterable[tuple[float | int, str]]) -> str:
    """Return an axis: texts at places from 0 to 1."""
    spans = " ".join(f'<span style="left:{at(100 * x)}%">{text}</span>' for x, text in places)
    return f'<div class="gb-marks" aria-hidden="true">{spans}</div>'
