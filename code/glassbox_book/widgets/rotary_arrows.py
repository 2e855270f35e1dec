"""A query and a key as arrows that rotary positions turn, pair by pair."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from glassbox.checks import check_base
from glassbox_book.widgets.checks import check_numbers, check_whole
from glassbox_book.widgets.parts import at, fixed, marks, path, plot, slider
from glassbox_book.widgets.planes import head
from glassbox_book.widgets.widget import Widget

_WIDTH, _CURVE = 640, 100  # of the curve, in its own units
_RADIUS = 50  # of a dial; the longest arrow reaches it
_MOST_PAIRS = 6


def rotary_arrows(
    query: Sequence[float] | Any,
    key: Sequence[float] | Any,
    n_positions: int = 64,
    *,
    base: float = 10_000.0,
    position: int = 3,
    distance: int = 2,
) -> Widget:
    r"""Show how rotary positions turn a query and a key, and how this changes their dot product.

    One slider moves the key to a position :math:`j` and the query along with it, a second sets how
    many positions later the query is. Each pair of components is a dial with two arrows. The first
    slider turns both arrows of a dial alike, so their product stays; the second changes it. A
    curve shows the score by distance.

    Parameters
    ----------
    query, key : sequence of float
        Two to six pairs of components, side by side, before they are turned.
    n_positions : int, optional
        Number of positions for the key, 8 to 512.
    base : float, optional
        As for :func:`rotary_frequencies`.
    position, distance : int, optional
        Initial positions of the sliders; the distance goes up to half the number of positions.

    Returns
    -------
    Widget
        A cell displays it.

    Raises
    ------
    TypeError
        If query or key holds something that is not a number.
    ValueError
        If they do not have the same two to six pairs, or a number is outside its range.

    Notes
    -----
    Su et al. (2024), section 3.2. Chapter 6, equation ``eq-rotary``.
    """
    q, k = check_numbers("query", query), check_numbers("key", key)
    if q.shape != k.shape or q.ndim != 1 or q.size % 2 or not 4 <= q.size <= 2 * _MOST_PAIRS:
        raise ValueError(
            f"query has shape {q.shape}, key {k.shape}; pass 4 to {2 * _MOST_PAIRS} numbers "
            "each, pairs side by side"
        )
    check_base(base)
    check_whole("n_positions", n_positions, 8, 512)
    check_whole("position", position, 0, n_positions - 1)
    check_whole("distance", distance, 0, n_positions // 2)
    speeds = base ** (-np.arange(0, q.size, 2) / q.size)
    every = np.array([products(q, k, d * speeds).sum() for d in range(n_positions // 2 + 1)])
    shares = products(q, k, distance * speeds)
    said = _said(position, distance, shares.sum())
    controls = slider(
        "position", "key at <i>j</i>", 0, n_positions - 1, position, shown=str(position)
    ) + slider("distance", "query later by", 0, n_positions // 2, distance, shown=str(distance))
    low, high = _ends(every)
    body = (
        f'<div data-part="numbers" data-query="{q.tolist()}" data-key="{k.tolist()}" '
        f'data-base="{base:g}" '
        f'data-low="{low:g}" data-high="{high:g}" data-last="{n_positions // 2}">'
        f'<div class="gb-controls" hidden>{controls}</div>'
        f"{_dials(q, k, speeds, position, distance, shares)}"
        f"{_curve(every, distance, low, high)}"
        f'<p aria-live="polite" data-part="said">{said}</p></div>'
    )
    return Widget("rotary_arrows", "Query and key turned by rotary positions", body, said)


def products(query: np.ndarray, key: np.ndarray, angles: np.ndarray) -> np.ndarray:
    """Return each pair's share of the score if the query is turned further by these angles."""
    return np.array(
        [
            turned(q, angle) @ k
            for q, k, angle in zip(_pairs(query), _pairs(key), angles, strict=True)
        ]
    )


def turned(pair: np.ndarray, angle: float) -> np.ndarray:
    """Turn a pair counterclockwise."""
    cos, sin = math.cos(angle), math.sin(angle)
    return np.array([pair[0] * cos - pair[1] * sin, pair[1] * cos + pair[0] * sin])


def _pairs(vector: np.ndarray) -> np.ndarray:
    return vector.reshape(-1, 2)


def _ends(scores: np.ndarray) -> tuple[float, float]:
    """Return round numbers around all scores and zero."""
    return min(0.0, float(math.floor(scores.min()))), max(1.0, float(math.ceil(scores.max())))


def _said(position: int, distance: int, score: float) -> str:
    """Describe the sliders' positions, in the words of the script."""
    return (
        f"Key at {position}, query at {position + distance}: score {fixed(score)}, "
        f"as for any two positions {distance} apart."
    )


def _dials(
    query: np.ndarray,
    key: np.ndarray,
    speeds: np.ndarray,
    position: int,
    distance: int,
    shares: np.ndarray,
) -> str:
    """Draw each pair of both vectors, before and after it is turned."""
    longest = max(float(np.hypot(*pair)) for x in (query, key) for pair in _pairs(x)) or 1.0
    figures = []
    for q, k, speed, share in zip(_pairs(query), _pairs(key), speeds, shares, strict=True):
        lines = [f'<circle r="{_RADIUS}"/>']
        for kind, pair in (("query", q), ("key", k)):
            lines.append(
                f'<path class="gb-{kind} gb-faint" d="{path([(0, 0), _tip(pair, longest)])}"/>'
            )
        for kind, pair, where in (("query", q, position + distance), ("key", k, position)):
            tip = _tip(turned(pair, where * speed), longest)
            lines.append(f'<path class="gb-{kind}" data-part="arrow" d="{head(*tip)}"/>')
        figures.append(
            f'<figure><svg viewBox="-56 -56 112 112" aria-hidden="true">{"".join(lines)}</svg>'
            f"<figcaption>{speed:.3g} radian{'' if speed == 1 else 's'} a position, adds "
            f'<output data-part="share">{fixed(share)}</output></figcaption></figure>'
        )
    return (
        '<p class="gb-legend gb-planes"><span class="gb-query">query</span> and '
        '<span class="gb-key">key</span>, pair by pair, turned from the faint lines</p>'
        f'<div class="gb-planes gb-turns">{"".join(figures)}</div>'
    )


def _tip(pair: np.ndarray, longest: float) -> tuple[float, float]:
    """Return where an arrow ends; the second component points up."""
    return _RADIUS * pair[0] / longest, -_RADIUS * pair[1] / longest


def _curve(scores: np.ndarray, distance: int, low: float, high: float) -> str:
    """Draw the score by distance, with a dot at the chosen one."""
    last = len(scores) - 1
    heights = [_CURVE * (high - score) / (high - low) for score in scores]
    points = [(_WIDTH * d / last, height) for d, height in enumerate(heights)]
    zero = at(_CURVE * high / (high - low))
    lines = (
        f'<path class="gb-axis" d="M0 {zero}H{_WIDTH}"/><path class="gb-line" d="{path(points)}"/>'
    )
    over = (
        f'<span class="gb-top">{high:g}</span> <span class="gb-bottom" style="top:{zero}%">0</span>'
        f'<span class="gb-dot gb-here" style="left:{at(100 * distance / last)}%;'
        f'top:{at(heights[distance])}%"></span>'
    )
    return (
        '<p class="gb-legend">Score, the sum over the pairs, by how much later the query is</p>'
        + plot(lines, _WIDTH, _CURVE, over, ' data-part="products"')
        + marks((quarter / 4, str(quarter * last // 4)) for quarter in range(5))
    )
