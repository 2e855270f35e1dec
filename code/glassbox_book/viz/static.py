"""The attention views without scripts: a table of one head and a picture of all heads."""

from __future__ import annotations

import base64
import io
from collections.abc import Sequence
from html import escape

import numpy as np
from PIL import Image

from glassbox_book.viz.maps import Array, AttentionMaps

#: With more cells, a table lists only the strongest keys of each query.
MOST_CELLS = 1600

_QUERY_RGB = (0, 114, 178)
_SHADE = 0.6  # the deepest shade of a cell that keeps dark and light text legible


def table_summary(layer: int, head: int) -> str:
    """Return the label of the fold that contains a table."""
    return f"The weights of layer {layer}, head {head} as a table"


def one_head_table(
    maps: AttentionMaps, layer: int, head: int, left: Sequence[str], right: Sequence[str]
) -> str:
    """Return the scrollable table of one head."""
    caption = (
        f"Attention weights of layer {layer}, head {head} (layers and heads count from zero). "
        "Each row is a query position, each column a key position."
    )
    table = weights_table(maps.weights[layer, head], left, right, caption=caption)
    return (
        '<div class="glassbox-scroll" tabindex="0" role="region" '
        f'aria-label="Weights of layer {layer}, head {head}">{table}</div>'
    )


def weights_table(
    weights: Array, query_tokens: Sequence[str], key_tokens: Sequence[str], *, caption: str
) -> str:
    """Return the weights of one head as an HTML table.

    Parameters
    ----------
    weights : array, shape (q_len, k_len)
        Attention weights of one head.
    query_tokens, key_tokens : sequences of str, lengths q_len and k_len
        Tokens as returned by :func:`glassbox_book.viz.tokens.visible`.
    caption : str
        What the table shows.
    """
    if weights.size > MOST_CELLS:
        return _strongest_table(weights, query_tokens, key_tokens, caption)
    head = "".join(f"<th scope=col>{_token(token)}</th>" for token in key_tokens)
    rows = "".join(
        f"<tr><th scope=row>{_token(token)}</th>{''.join(map(_cell, row))}</tr>"
        for token, row in zip(query_tokens, weights, strict=True)
    )
    return (
        f"<table><caption>{escape(caption)}</caption>"
        f"<thead><tr><th scope=col>query&nbsp;↓ key&nbsp;→</th>{head}</tr></thead>"
        f"<tbody>{rows}</tbody></table>"
    )


def _strongest_table(
    weights: Array, query_tokens: Sequence[str], key_tokens: Sequence[str], caption: str
) -> str:
    rows = []
    for token, row in zip(query_tokens, weights, strict=True):
        strongest = np.argsort(-row.round(2), kind="stable")[:3]
        keys = "".join(_cell(row[key], f"{_token(key_tokens[key])} ") for key in strongest)
        rows.append(f"<tr><th scope=row>{_token(token)}</th>{keys}</tr>")
    return (
        f"<table><caption>{escape(caption)} The three strongest keys of each query.</caption>"
        "<thead><tr><th scope=col>query</th><th scope=col>strongest key</th>"
        "<th scope=col>second</th><th scope=col>third</th></tr></thead>"
        f"<tbody>{''.join(rows)}</tbody></table>"
    )


def _token(token: str) -> str:
    return f"<bdi>{escape(token)}</bdi>"


def _cell(weight: float, before: str = "") -> str:
    red, green, blue = _QUERY_RGB
    shade = f"rgba({red},{green},{blue},{_SHADE * weight:.2f})"
    return f"<td style='background:{shade}'>{before}{weight:.2f}</td>"


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
    picture = Image.fromarray(np.ascontiguousarray(pixels[:-1, :-1]))
    picture.putpalette(_QUERY_RGB * 16)
    opacity = bytes([0, *(18 + round(237 * level / 14) for level in range(15))])
    file = io.BytesIO()
    picture.save(file, "PNG", transparency=opacity, optimize=True)
    return file.getvalue()


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
