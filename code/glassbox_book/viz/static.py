"""The attention views without scripts: a table of one head and a picture of all heads."""

import base64
from collections.abc import Sequence

import numpy as np

from glassbox_book.templates import fill
from glassbox_book.viz.cells import png
from glassbox_book.viz.maps import Array, AttentionMaps

#: With more cells, a table lists only the strongest keys of each query.
MOST_CELLS = 1600

_QUERY_RGB = (0, 114, 178)
_SHADE = 0.6  # the deepest shade of a cell that keeps dark and light text legible


def one_head_table(maps: AttentionMaps, layer: int, head: int) -> str:
    """Return the scrollable table of one head, with the strongest keys alone if it is large."""
    weights = maps.weights[layer, head]
    strongest = weights.size > MOST_CELLS
    places = (-weights.round(2)).argsort(kind="stable")[:, :3] if strongest else None
    rows = [
        (token, [(key, row[key]) for key in (range(len(row)) if places is None else places[i])])
        for i, (token, row) in enumerate(zip(maps.rows, weights, strict=True))
    ]
    return fill(
        "viz/one_head.html",
        layer=layer,
        head=head,
        strongest=strongest,
        keys=maps.columns,
        rows=rows,
        shade=_SHADE,
    )


def heads_picture(weights: Array) -> bytes:
    """Return a PNG with one tile per head: layers downwards, heads to the right.

    One pixel per weight and one between tiles, in sixteen levels. The colour is that of queries;
    weights are opacities, which suits light and dark pages.

    Parameters
    ----------
    weights : array, shape (layers, heads, q_len, k_len)
    """
    n_layers, n_heads, q_len, k_len = weights.shape
    levels = 1 + np.rint(np.clip(weights, 0, 1) * 14).astype(np.uint8)  # level 0 is the gap
    padded = np.zeros((n_layers, n_heads, q_len + 1, k_len + 1), dtype=np.uint8)
    padded[:, :, :q_len, :k_len] = levels
    pixels = padded.transpose(0, 2, 1, 3).reshape(n_layers * (q_len + 1), n_heads * (k_len + 1))
    opacity = bytes([0, *(18 + round(237 * level / 14) for level in range(15))])
    return png(np.ascontiguousarray(pixels[:-1, :-1]), opacity, bytes(_QUERY_RGB))


def picture_element(weights: Array, layers: Sequence[int], heads: Sequence[int]) -> str:
    """Return :func:`heads_picture` as an ``img`` with a text alternative."""
    data = base64.b64encode(heads_picture(weights)).decode("ascii")
    n_layers, n_heads, q_len, k_len = weights.shape
    alternative = (
        f"Attention maps of {n_layers} layers (rows, {_span(layers)}) and {n_heads} heads "
        f"(columns, {_span(heads)}); in each map {q_len} queries downwards and {k_len} keys to "
        "the right, deeper where the weight is larger."
    )
    return f'<img width="720" alt="{alternative}" src="data:image/png;base64,{data}">'


def _span(numbers: Sequence[int]) -> str:
    return f"{numbers[0]} to {numbers[-1]}" if len(numbers) > 1 else str(numbers[0])
