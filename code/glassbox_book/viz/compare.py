"""Two models' attention: the first, the second, or their difference."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any, Literal

import numpy as np

from glassbox_book.viz import checks, geometry, views
from glassbox_book.viz.maps import AttentionMaps, gather
from glassbox_book.viz.static import one_head_table, picture_element, table_summary
from glassbox_book.viz.view import View, numbers

#: Float32 rounds at 1e-7; accumulated over layers, processors differ by less than 1e-5.
_DIFFERENCE_DIGITS = 5


def compare_heads(
    ours: Any,
    theirs: Any,
    tokens: Sequence[str],
    *,
    layer: int = 0,
    head: int = 0,
    view: Literal["neuron", "head", "model"] = "neuron",
    layers: Sequence[int] | None = None,
    key_tokens: Sequence[str] | None = None,
    names: tuple[str, str] = ("ours", "reference"),
    title: str | None = None,
) -> View:
    """Draw the same head of two models, and state how far apart their weights are.

    A switch shows the first, the second, their difference, or both, and keeps the chosen layer,
    head and token. Each line of the difference is drawn relative to the largest difference in the
    view, which is stated; if that rounds to zero, nothing is drawn.
    The difference is that of the full-precision weights. If two arrays agree to a tenth of the
    last digit that is sent for drawing, that digit is sent once for both.

    Parameters
    ----------
    ours, theirs : object
        As for :func:`glassbox_book.viz.neuron_view` or :func:`glassbox_book.viz.head_view`.
    tokens, layer, head, layers, key_tokens, title
        As for :func:`glassbox_book.viz.neuron_view`.
    view : {"neuron", "head", "model"}
        Draw queries, keys and weights; weights alone; or the weights of all heads.
    names : pair of str
        Names of the two models.

    Returns
    -------
    View
        A cell displays it.

    Raises
    ------
    ValueError
        If the two differ in layers, heads or positions, or as for the view that is drawn.
    """
    if view not in ("neuron", "head", "model"):
        raise ValueError(f"view={view!r}; it can be 'neuron', 'head' or 'model'")
    first, second = (gather(source, vectors=view == "neuron") for source in (ours, theirs))
    _check_alike(first, second)
    left, right = checks.token_texts(first, tokens, key_tokens)
    layers = checks.check_numbers("layer", layers, first.n_layers)
    checks.check_one("layer", layer, layers)
    checks.check_one("head", head, range(first.n_heads))

    apart = np.abs(first.weights - second.weights)
    differences = apart.max(axis=(2, 3))  # (layers, heads)
    largest = f"{differences.max():.{_DIFFERENCE_DIGITS}f}"
    said = (
        f"Largest difference between the two, over all {first.n_layers} layers × "
        f"{first.n_heads} heads: {largest}"
    )
    all_heads = view == "model"
    if view == "neuron":
        drawing = geometry.neuron_drawing(len(left), len(right))
        wide = geometry.neuron_drawing(len(left), len(right), expanded=True)
        extra: dict[str, Any] = {
            "expandedSize": wide.as_data(),
            "expanded": False,
            "head": head,
            "causal": first.is_causal,
        }
    elif all_heads:
        columns = max(first.n_heads, 6)
        drawing = geometry.model_drawing(len(left), len(right), len(layers), columns)
        extra = {"heads": list(range(first.n_heads)), "columns": columns}
    else:
        drawing = geometry.head_drawing(len(left), len(right), first.n_heads)
        squares = geometry.squares_in_a_row(first.n_heads)
        extra = {"heads": [head], "squares": squares}
    data = {
        "view": view,
        **views.shared_data(left, right, layers, drawing),
        **extra,
        "layer": layers.index(layer),
        "names": list(names),
        "differences": numbers(differences[layers], _DIFFERENCE_DIGITS),
        "models": _both(first.pick(layers), second.pick(layers)),
    }
    if differences[layers].max().round(_DIFFERENCE_DIGITS):
        data["apart"] = numbers(apart[layers], _DIFFERENCE_DIGITS)
    shown = f"{differences[layer, head]:.{_DIFFERENCE_DIGITS}f}"
    static = (
        f'<p class="glassbox-difference">Largest difference in layer {layer}, head {head}: '
        f"{shown}.</p>"
    ) + "".join(
        f"<p>{escape(name)}:</p>"
        + (picture_element(maps.pick(layers).weights, layers, extra["heads"]) if all_heads else "")
        + one_head_table(maps, layer, head, left, right)
        for name, maps in zip(names, (first, second), strict=True)
    )
    return View(
        text=f"{names[0]} and {names[1]}, "
        f"{views.extent(left, right, layers, range(first.n_heads))}"
        + ("" if all_heads else f", first layer {layer}, head {head}"),
        data=data,
        static=static,
        summary=f"All heads as pictures, layer {layer}, head {head} as a table"
        if all_heads
        else table_summary(layer, head),
        heights=views.heights(drawing, switch=True),
        title=title,
        said=f"{said}.",
    )


def _check_alike(first: AttentionMaps, second: AttentionMaps) -> None:
    for name in ("weights", "query", "key"):
        one, other = getattr(first, name), getattr(second, name)
        if one is not None and one.shape != other.shape:
            raise ValueError(
                f"ours and theirs cannot be compared: {name} of shape {one.shape} and "
                f"{other.shape} (layers, heads, positions, positions or d_k); run both models on "
                "the same tokens, and compare models of the same size"
            )


def _both(first: AttentionMaps, second: AttentionMaps) -> list[dict[str, Any]]:
    """Return the numbers of both, omitting arrays of the second that round to the first's."""
    data = [views.model_data(first), views.model_data(second)]
    for part, name, digits in (
        ("weights", "weights", views.WEIGHT_DIGITS),
        ("query", "queries", views.VECTOR_DIGITS),
        ("key", "keys", views.VECTOR_DIGITS),
    ):
        one, other = getattr(first, part), getattr(second, part)
        if one is not None and np.abs(one - other).max() < 0.1 * 10**-digits:
            del data[1][name]
    return data
