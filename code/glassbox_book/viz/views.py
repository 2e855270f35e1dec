"""bertviz's three attention views, for recordings of any model.

Layers, heads and positions are counted from zero, as in bertviz and in the code of the book.
"""

from collections.abc import Sequence
from typing import Any, Literal

from glassbox_book.viz import geometry
from glassbox_book.viz.checks import check_chosen, check_one, with_tokens
from glassbox_book.viz.maps import AttentionMaps, gather
from glassbox_book.viz.static import one_head_table, picture_element, table_summary
from glassbox_book.viz.view import View, numbers

#: The arrays of a model: their names here and in the scripts, and how many decimals are drawn.
ARRAYS = (("weights", "weights", 3), ("query", "queries", 2), ("key", "keys", 2))

Kind = Literal["neuron", "head", "model"]


def head_view(
    attention: Any,
    tokens: Sequence[str],
    *,
    layer: int | None = None,
    heads: Sequence[int] | None = None,
    layers: Sequence[int] | None = None,
    key_tokens: Sequence[str] | None = None,
    title: str | None = None,
) -> View:
    """Draw the attention of one layer as lines between tokens, one colour per head.

    Parameters
    ----------
    attention : object
        A tape of ``record(model)``, a list of its records, or a list with one
        ``(1, heads, q_len, k_len)`` tensor per layer.
    tokens : sequence of str, length q_len
        The query tokens, on the left.
    layer : int, optional
        The layer shown first. Defaults to the first of ``layers``.
    heads : sequence of int, optional
        The heads switched on at first. Defaults to all.
    layers : sequence of int, optional
        The layers the reader can choose from. Defaults to all.
    key_tokens : sequence of str, optional, length k_len
        The key tokens, on the right, if they differ from ``tokens`` (cross-attention).
    title : str, optional
        Shown above the view.

    Returns
    -------
    View
        An object that a notebook displays.

    Raises
    ------
    ValueError
        If tokens and weights differ in number, a layer or head does not exist, or the attention
        cannot be drawn (see :func:`glassbox_book.viz.maps.gather`).
    """
    maps = with_tokens(gather(attention), tokens, key_tokens)
    layers = check_chosen("layer", layers, maps.n_layers)
    start = check_one("layer", layers[0] if layer is None else layer, layers)
    shown = check_chosen("head", heads, maps.n_heads)
    drawing, data = parts("head", maps, layers, start, shown)
    return View(
        text=f"Head view: {extent(maps, layers, range(maps.n_heads))}, first layer {start}",
        data=data | {"models": [model_data(maps.pick(layers))]},
        static=one_head_table(maps, start, shown[0]),
        summary=table_summary(start, shown[0]),
        heights=geometry.frame_heights(drawing),
        title=title,
    )


def model_view(
    attention: Any,
    tokens: Sequence[str],
    *,
    layers: Sequence[int] | None = None,
    heads: Sequence[int] | None = None,
    key_tokens: Sequence[str] | None = None,
    title: str | None = None,
) -> View:
    """Draw all heads of all layers as thumbnails, each of which opens on a click.

    Parameters
    ----------
    attention, tokens, key_tokens, title
        As for :func:`head_view`.
    layers, heads : sequence of int, optional
        The rows and columns to draw. Defaults to all.

    Returns
    -------
    View
        A cell displays it.

    Raises
    ------
    TypeError, ValueError
        As for :func:`head_view`.
    """
    maps = with_tokens(gather(attention), tokens, key_tokens)
    layers = check_chosen("layer", layers, maps.n_layers)
    heads = check_chosen("head", heads, maps.n_heads)
    picked = maps.pick(layers, heads)
    drawing, data = parts("model", maps, layers, layers[0], heads)
    return View(
        text=f"Model view: {extent(maps, layers, heads)}",
        data=data | {"models": [model_data(picked)]},
        static=picture_element(picked.weights, layers, heads)
        + one_head_table(maps, layers[0], heads[0]),
        summary=f"All heads as a picture, layer {layers[0]}, head {heads[0]} as a table",
        heights=geometry.frame_heights(drawing),
        title=title,
    )


def neuron_view(
    attention: Any,
    tokens: Sequence[str],
    *,
    layer: int = 0,
    head: int = 0,
    layers: Sequence[int] | None = None,
    key_tokens: Sequence[str] | None = None,
    expanded: bool = False,
    title: str | None = None,
) -> View:
    """Draw how the queries and keys of one head determine its weights.

    Parameters
    ----------
    attention : object
        A tape of ``record(model)``, or a list of its records.
    tokens, layers, key_tokens, title
        As for :func:`head_view`.
    layer, head : int
        The layer and head shown first.
    expanded : bool
        Whether to start with queries, keys and their product instead of only tokens and lines.

    Returns
    -------
    View
        A cell displays it.

    Raises
    ------
    ValueError
        As for :func:`head_view`, and if ``attention`` has no queries and keys.
    """
    maps = with_tokens(gather(attention, vectors=True), tokens, key_tokens)
    layers = check_chosen("layer", layers, maps.n_layers)
    check_one("layer", layer, layers)
    check_one("head", head, range(maps.n_heads))
    drawing, data = parts("neuron", maps, layers, layer, [head])
    if expanded:
        data["expanded"] = True
        drawing = geometry.neuron_drawing(len(maps.rows), len(maps.columns), expanded=True)
    return View(
        text=f"Neuron view: {extent(maps, layers, range(maps.n_heads))}, "
        f"first layer {layer}, head {head}",
        data=data | {"models": [model_data(maps.pick(layers))]},
        static=one_head_table(maps, layer, head),
        summary=table_summary(layer, head),
        heights=geometry.frame_heights(drawing),
        title=title,
    )


def parts(
    kind: Kind, maps: AttentionMaps, layers: list[int], layer: int, heads: list[int]
) -> tuple[geometry.Drawing, dict[str, Any]]:
    """Return the size of a view and the data that its scripts read, except the numbers."""
    lengths, place = (len(maps.rows), len(maps.columns)), layers.index(layer)
    if kind == "neuron":
        drawing = geometry.neuron_drawing(*lengths)
        wide = geometry.neuron_drawing(*lengths, expanded=True).as_data()
        own = {"expandedSize": wide, "expanded": False, "head": heads[0], "causal": maps.is_causal}
        own["layer"] = place
    elif kind == "model":
        columns = max(len(heads), 6)  # fewer would make the thumbnails huge
        drawing = geometry.model_drawing(*lengths, len(layers), columns)
        own = {"heads": heads, "columns": columns}
    else:
        drawing = geometry.head_drawing(*lengths, maps.n_heads)
        squares = geometry.squares_in_a_row(maps.n_heads)
        own = {"layer": place, "heads": heads, "squares": squares}
    shared = {"view": kind, "left": maps.rows, "right": maps.columns, "layers": layers}
    return drawing, {**shared, "size": drawing.as_data(), **own}


def model_data(maps: AttentionMaps) -> dict[str, Any]:
    """Return the rounded numbers of one model."""
    arrays = ((name, getattr(maps, part), digits) for part, name, digits in ARRAYS)
    return {name: numbers(array, digits) for name, array, digits in arrays if array is not None}


def extent(maps: AttentionMaps, layers: Sequence[int], heads: Sequence[int]) -> str:
    """Describe how much a view shows."""
    positions = f"{len(maps.rows)} tokens"
    if maps.rows is not maps.columns:
        positions = f"{len(maps.rows)} query and {len(maps.columns)} key tokens"
    named = (("layer", len(layers)), ("head", len(heads)))
    counts = " × ".join(f"{count} {name}{'s' * (count != 1)}" for name, count in named)
    return f"{positions}, {counts}"
