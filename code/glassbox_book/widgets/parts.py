"""Parts of several widgets: numbers as text, sliders, drawings that stretch."""

from __future__ import annotations

import math
from collections.abc import Iterable
from decimal import ROUND_HALF_UP, Decimal
from html import escape


def fixed(number: float | int, digits: int = 2) -> str:
    """Return a number with ``digits`` decimals, rounded as in the scripts.

    Halves round away from zero, the minus is a true minus sign, and zero has none.
    """
    text = str(Decimal(float(number)).quantize(Decimal(1).scaleb(-digits), ROUND_HALF_UP))
    return text.replace("-", "" if not text.strip("-0.") else "\N{MINUS SIGN}")


def at(number: float | int) -> str:
    """Return a coordinate to a tenth, rounded as in the scripts."""
    return f"{math.floor(10 * number + 0.5) / 10 + 0.0:.1f}"


def path(points: Iterable[Iterable[float | int]]) -> str:
    """Return the SVG path of straight lines through points."""
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
    """Return a labelled slider with its value next to it.

    Parameters
    ----------
    part : str
        The name by which the script finds it; the value's name is ``part-shown``.
    label : str
        What it sets, as HTML.
    low, high, value : int
        Its ends and its position; it moves in whole steps.
    shown : str
        Its value as displayed.
    said : str, optional
        Its value for screen readers, if different.
    after : str, optional
        HTML after the value.

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
    """Return a drawing that stretches to any width without thickening its lines.

    Parameters
    ----------
    drawing : str
        The content of the SVG.
    width, height : int
        Its size in its own units.
    over : str, optional
        HTML on top of it that is not stretched, with its position in per cent.
    attributes : str, optional
        Attributes of the element around both.

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
    """Return an axis: texts at positions from 0 to 1."""
    spans = " ".join(f'<span style="left:{at(100 * x)}%">{text}</span>' for x, text in places)
    return f'<div class="gb-marks" aria-hidden="true">{spans}</div>'
