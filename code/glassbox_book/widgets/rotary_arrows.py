"""A query and a key as arrows that rotary positions turn, pair by pair."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from glassbox.checks import check_base
from glassbox_book.templates import fill, fixed, path
from glassbox_book.widgets.checks import check_numbers, check_whole
from glassbox_book.widgets.parts import curve
from glassbox_book.widgets.planes import head
from glassbox_book.widgets.widget import Widget

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
    low, high = _ends(every)
    drawn = curve(
        every,
        (low, high),
        {"here": distance},
        top=f"{high:g}",
        marks=[(quarter / 4, str(quarter * (n_positions // 2) // 4)) for quarter in range(5)],
    )
    body = fill(
        "widgets/page/rotary_arrows.html",
        query=q.tolist(),
        key=k.tolist(),
        base=base,
        low=low,
        high=high,
        n_positions=n_positions,
        position=position,
        distance=distance,
        dials=_dials(q, k, speeds, position, distance, shares),
        scores=drawn,
        said=said,
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
) -> list[tuple[dict[str, str], dict[str, str], float, float]]:
    """Return for each pair the paths before and after it is turned, its speed and its share."""
    longest = max(float(np.hypot(*pair)) for x in (query, key) for pair in _pairs(x)) or 1.0
    dials = []
    for q, k, speed, share in zip(_pairs(query), _pairs(key), speeds, shares, strict=True):
        pairs = {"query": (q, position + distance), "key": (k, position)}
        lines = {kind: path([(0, 0), _tip(pair, longest)]) for kind, (pair, _) in pairs.items()}
        arrows = {
            kind: head(*_tip(turned(pair, where * speed), longest))
            for kind, (pair, where) in pairs.items()
        }
        dials.append((lines, arrows, speed, share))
    return dials


def _tip(pair: np.ndarray, longest: float) -> tuple[float, float]:
    """Return where an arrow ends; the second component points up."""
    return _RADIUS * pair[0] / longest, -_RADIUS * pair[1] / longest
