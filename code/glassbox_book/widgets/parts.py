"""The curve that several widgets draw below their sliders."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

_WIDTH, _HEIGHT = 640, 100  # in units of the drawing


def curve(
    numbers: np.ndarray,
    ends: tuple[float, float],
    dots: Mapping[str, int],
    *,
    top: str,
    marks: Sequence[tuple[float, str]],
) -> dict[str, Any]:
    """Return what the template ``parts.html`` needs to draw numbers over their places.

    Parameters
    ----------
    numbers : array, shape (n,)
        The numbers at the places 0 to n - 1.
    ends : pair of float
        The lower and the upper end of the vertical axis.
    dots : mapping of str to int
        The places of dots by their kinds; a dot beyond the last place is hidden.
    top : str
        What is written at the upper end.
    marks : sequence of (position, text)
        The marks below, at positions from 0 to 1.

    Returns
    -------
    dict
        The arguments of the macro ``curve``.
    """
    low, high = ends
    last = len(numbers) - 1
    heights = _HEIGHT * (high - numbers) / (high - low)
    return {
        "points": [(_WIDTH * p / last, height) for p, height in enumerate(heights)],
        "zero": _HEIGHT * high / (high - low),
        "top": top,
        "dots": [
            (kind, 100 * p / last, heights[p] if p <= last else None) for kind, p in dots.items()
        ],
        "marks": marks,
    }
