"""Two models' attention: the first, the second, or their difference."""

from collections.abc import Sequence
from dataclasses import replace
from html import escape
from typing import Any, get_args

import numpy as np

from glassbox_book.viz import checks, views
from glassbox_book.viz.maps import AttentionMaps, gather
from glassbox_book.viz.view import View, numbers

#: Float32 rounds at 1e-7; accumulated over layers, processors differ by less than 1e-5.
_DIFFERENCE_DIGITS = 5
_NAMES = "ours", "reference"


def compare_heads(
    ours: Any,
    theirs: Any,
    tokens: Sequence[str],
    *,
    layer: int = 0,
    head: int = 0,
    view: views.Kind = "neuron",
    key_tokens: Sequence[str] | None = None,
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
    tokens, layer, head, key_tokens
        As for :func:`glassbox_book.viz.neuron_view`.
    view : {"neuron", "head", "model"}
        Draw queries, keys and weights; weights alone; or the weights of all heads.

    Returns
    -------
    View
        A cell displays it.

    Raises
    ------
    ValueError
        If the two differ in layers, heads or positions, or as for the view that is drawn.
    """
    if view not in get_args(views.Kind):
        raise ValueError(f"view={view!r}; it can be 'neuron', 'head' or 'model'")
    first, second = (gather(source, vectors=view == "neuron") for source in (ours, theirs))
    _check_alike(first, second)
    first = checks.with_tokens(first, tokens, key_tokens)
    second = replace(second, rows=first.rows, columns=first.columns)

    apart = np.abs(first.weights - second.weights)
    differences = apart.max(axis=(2, 3))  # (layers, heads)
    largest = f"{differences.max():.{_DIFFERENCE_DIGITS}f}"
    said = (
        f"Largest difference between the two, over all {first.n_layers} layers × "
        f"{first.n_heads} heads: {largest}"
    )
    all_heads = view == "model"
    layers = list(range(first.n_layers))
    shown = list(range(first.n_heads)) if all_heads else [head]
    one, other = (
        views.draw(view, maps, layers, shown, layer, head, compared=True)
        for maps in (first, second)
    )
    models = [drawn.data.pop("models")[0] for drawn in (one, other)]
    data = one.data | {
        "layer": layer,
        "names": list(_NAMES),
        "differences": numbers(differences, _DIFFERENCE_DIGITS),
        "models": _once(models, first, second),
    }
    if differences.max().round(_DIFFERENCE_DIGITS):
        data["apart"] = numbers(apart, _DIFFERENCE_DIGITS)
    static = (
        f'<p class="glassbox-difference">Largest difference in layer {layer}, head {head}: '
        f"{differences[layer, head]:.{_DIFFERENCE_DIGITS}f}.</p>"
    ) + "".join(
        f"<p>{escape(name)}:</p>{drawn.static}"
        for name, drawn in zip(_NAMES, (one, other), strict=True)
    )
    start = "" if all_heads else f", first layer {layer}, head {head}"
    text = f"{' and '.join(_NAMES)}, {views.extent(first)}{start}"
    return replace(one, text=text, data=data, static=static, said=f"{said}.")


def _check_alike(first: AttentionMaps, second: AttentionMaps) -> None:
    for name in ("weights", "query", "key"):
        one, other = getattr(first, name), getattr(second, name)
        if one is not None and one.shape != other.shape:
            raise ValueError(
                f"ours and theirs cannot be compared: {name} of shape {one.shape} and "
                f"{other.shape} (layers, heads, positions, positions or d_k); run both models on "
                "the same tokens, and compare models of the same size"
            )


def _once(
    models: list[dict[str, Any]], first: AttentionMaps, second: AttentionMaps
) -> list[dict[str, Any]]:
    """Return the numbers of both without those arrays of the second that round to the first's."""
    for part, name, digits in views.ARRAYS:
        one, other = getattr(first, part), getattr(second, part)
        if one is not None and np.abs(one - other).max() < 0.1 * 10**-digits:
            del models[1][name]
    return models
