"""bertviz's three attention views, for recordings of any model.

Layers, heads and positions are counted from zero, as in bertviz and in the code of the book.
"""

from collections.abc import Sequence
from typing import Any, Literal

from glassbox_book.viz import geometry
from glassbox_book.viz.checks import check_chosen, check_one, with_tokens
from glassbox_book.viz.maps import AttentionMaps, gather
from glassbox_book.viz.static import one_head_table, picture_element
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
    start = layers[0] if layer is None else layer
    shown = check_chosen("head", heads, maps.n_heads)
    return draw("head", maps, layers, shown, start, shown[0], title=title)


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
    return draw("model", maps, layers, heads, layers[0], heads[0], title=title)


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
    return draw("neuron", maps, layers, [head], layer, head, expanded=expanded, title=title)


def draw(
    kind: Kind,
    maps: AttentionMaps,
    layers: list[int],
    heads: list[int],
    layer: int,
    head: int,
    *,
    expanded: bool = False,
    compared: bool = False,
    title: str | None = None,
) -> View:
    """Return a view of some layers and heads.

    Parameters
    ----------
    kind : {"neuron", "head", "model"}
        What is drawn.
    maps : AttentionMaps
        The numbers, with their tokens.
    layers : list of int
        The layers to choose from, or the rows of the model view.
    heads : list of int
        The heads shown first, or the columns of the model view.
    layer, head : int
        The layer and head whose table replaces the view where there are no scripts; the head view
        has a table for each of ``heads``.
    expanded : bool
        As for :func:`neuron_view`.
    compared : bool
        Whether it is one of two views that a switch exchanges.
    title : str, optional
        Shown above the view.

    Returns
    -------
    View
        A cell displays it.

    Raises
    ------
    ValueError
        If there is no such layer or head.
    """
    layer = check_one("layer", layer, layers)
    head = check_one("head", head, range(maps.n_heads))
    lengths, place = (len(maps.rows), len(maps.columns)), layers.index(layer)
    tokens = {"left": maps.rows, "right": maps.columns}
    data: dict[str, Any] = {"view": kind, **tokens, "layers": layers}
    picked = maps.pick(layers, heads if kind == "model" else None)
    shown = heads if kind == "head" else [head]
    static = "".join(one_head_table(maps, layer, each) for each in shown)
    summary, first = f"The weights of layer {layer}, head {head} as a table", ""
    if kind == "neuron":
        drawing = geometry.neuron_drawing(*lengths)
        wide = geometry.neuron_drawing(*lengths, expanded=True)
        data |= {"size": drawing.as_data(), "expandedSize": wide.as_data(), "expanded": expanded}
        data |= {"head": head, "causal": maps.is_causal, "layer": place}
        drawing = wide if expanded else drawing
        first = f", first layer {layer}, head {head}"
    elif kind == "model":
        columns = max(len(heads), 6)  # fewer would make the thumbnails huge
        drawing = geometry.model_drawing(*lengths, len(layers), columns)
        data |= {"size": drawing.as_data(), "heads": heads, "columns": columns}
        static = picture_element(picked.weights, layers, heads) + static
        pictures = "pictures" if compared else "a picture"
        summary = f"All heads as {pictures}, layer {layer}, head {head} as a table"
    else:
        drawing = geometry.head_drawing(*lengths, maps.n_heads)
        squares = geometry.squares_in_a_row(maps.n_heads)
        data |= {"size": drawing.as_data(), "layer": place, "heads": heads, "squares": squares}
        first = f", first layer {layer}"
        if len(heads) > 1:
            summary = f"The weights of layer {layer} as tables, one for each head"
    data["models"] = [model_data(picked)]
    text = f"{kind.capitalize()} view: {extent(picked)}{first}"
    heights = geometry.frame_heights(drawing, switch=compared)
    return View(text, data, static, summary, heights, title)


def model_data(maps: AttentionMaps) -> dict[str, Any]:
    """Return the rounded numbers of one model."""
    arrays = ((name, getattr(maps, part), digits) for part, name, digits in ARRAYS)
    return {name: numbers(array, digits) for name, array, digits in arrays if array is not None}


def extent(maps: AttentionMaps) -> str:
    """Describe how much a view shows."""
    positions = f"{len(maps.rows)} tokens"
    if maps.rows is not maps.columns:
        positions = f"{len(maps.rows)} query and {len(maps.columns)} key tokens"
    named = (("layer", maps.n_layers), ("head", maps.n_heads))
    counts = " × ".join(f"{count} {name}{'s' * (count != 1)}" for name, count in named)
    return f"{positions}, {counts}"
