"""A query and a key as arrows that rotary positions turn, pair by pair."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from glassbox.checks import check_base
from glassbox_book.templates import fill, fixed, path
from glassbox_book.widgets.checks import check_integer, check_numbers
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
    check_integer("n_positions", n_positions, 8, 512)
    check_integer("position", position, 0, n_positions - 1)
    check_integer("distance", distance, 0, n_positions // 2)
    pairs = {"query": _as_complex(q), "key": _as_complex(k)}
    speeds = base ** (-np.arange(0, q.size, 2) / q.size)
    distances = np.arange(n_positions // 2 + 1)[:, None]
    products = (pairs["query"] * np.exp(1j * speeds * distances) * pairs["key"].conj()).real
    every, shares = products.sum(axis=1), products[distance]
    score = f"score {fixed(every[distance])}, as wherever the query is {distance} after the key."
    said = f"Key at {position}, query at {position + distance}: {score}"
    places = {"query": position + distance, "key": position}
    turned = {kind: pairs[kind] * np.exp(1j * speeds * places[kind]) for kind in pairs}
    low, high = min(0.0, math.floor(every.min())), max(1.0, math.ceil(every.max()))
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
        dials=_dials(pairs, turned),
        speeds=speeds,
        shares=shares,
        scores=every,
        places=[(quarter / 4, quarter * (n_positions // 2) // 4) for quarter in range(5)],
        said=said,
    )
    return Widget("rotary_arrows", "Query and key turned by rotary positions", body, said)


def _as_complex(vector: np.ndarray) -> np.ndarray:
    """Return the pairs of a vector as complex numbers, which a factor of length 1 turns."""
    return vector[::2] + 1j * vector[1::2]


def _dials(
    pairs: dict[str, np.ndarray], turned: dict[str, np.ndarray]
) -> list[tuple[dict[str, str], dict[str, str]]]:
    """Return the paths of a query and a key, pair by pair, before and after they are turned."""
    longest = float(np.abs([*pairs.values()]).max()) or 1.0

    def tip(pair: complex) -> tuple[float, float]:  # the second component points up
        return _RADIUS * pair.real / longest, -_RADIUS * pair.imag / longest

    return [
        (
            {kind: path([(0, 0), tip(found[i])]) for kind, found in pairs.items()},
            {kind: head(*tip(found[i])) for kind, found in turned.items()},
        )
        for i in range(len(pairs["key"]))
    ]
