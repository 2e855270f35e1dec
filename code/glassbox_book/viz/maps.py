"""The data of the attention views, gathered from recordings or tensors."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from glassbox_book.viz.panels import check_range, numbers

Array = NDArray[np.float64]


@dataclass(frozen=True)
class AttentionMaps:
    """The attention of one text, in all layers and heads.

    Attributes
    ----------
    weights : array, shape (layers, heads, q_len, k_len)
        Attention weights, after the softmax.
    query : array, shape (layers, heads, q_len, d_k), or None
        Query vectors, if the source has them.
    key : array, shape (layers, heads, k_len, d_k), or None
        Key vectors, if the source has them.
    rows, columns : sequence of str
        The query and key tokens as they are shown, once they are known.
    """

    weights: Array
    query: Array | None = None
    key: Array | None = None
    rows: Sequence[str] = field(default=(), kw_only=True)
    columns: Sequence[str] = field(default=(), kw_only=True)

    @property
    def n_layers(self) -> int:
        """Number of layers."""
        return int(self.weights.shape[0])

    @property
    def n_heads(self) -> int:
        """Number of heads in each layer."""
        return int(self.weights.shape[1])

    @property
    def is_causal(self) -> bool:
        """Whether no query attends to a later position."""
        q_len, k_len = self.weights.shape[2:]
        return bool(q_len == k_len > 1 and not np.triu(self.weights, k=1).any())

    def pick(self, layers: Sequence[int], heads: Sequence[int] | None = None) -> "AttentionMaps":
        """Return the maps of some layers, and of some heads, in the order given."""
        chosen = slice(None) if heads is None else list(heads)
        arrays: dict[str, Any] = {"weights": self.weights, "query": self.query, "key": self.key}
        for name, array in arrays.items():
            arrays[name] = None if array is None else array[list(layers)][:, chosen]
        return replace(self, **arrays)


def gather(attention: Any, *, vectors: bool = False) -> AttentionMaps:
    """Return the attention maps found in ``attention``.

    Parameters
    ----------
    attention : object
        A recording (``with record(model) as tape``), or a list or tuple with one record, or tensor
        of weights ``(1, heads, q_len, k_len)``, per layer.
    vectors : bool
        Whether to gather queries and keys as well, and to require them.

    Raises
    ------
    ValueError
        If there is no layer, the batch holds more than one text, the layers differ in shape, the
        numbers are not attention weights, or required ``vectors`` are missing.
    """
    layers = list(attention.values()) if isinstance(attention, Mapping) else attention
    if not isinstance(layers, list | tuple):
        raise ValueError(
            f"cannot find attention in a {type(attention).__name__}: pass a tape, or a list with "
            "one record, or tensor of shape (1, heads, q_len, k_len), per layer"
        )
    if not layers:
        raise ValueError(
            "there is not one layer of attention to draw (got an empty "
            f"{type(attention).__name__}); run the model inside `with record(model) as tape:` "
            "and pass the tape after the block"
        )
    found = [_read_layer(number, layer, vectors) for number, layer in enumerate(layers)]
    first = found[0][0].shape
    for number, (weights, *_) in enumerate(found):
        if weights.shape != first:
            raise ValueError(
                f"layer 0 has weights of shape {first} and layer {number} of shape {weights.shape} "
                "(heads, queries, keys); one view draws one kind of attention: pass a list with "
                "the records of one kind, for instance "
                "[tape[name] for name in tape if 'cross' in name]"
            )
    maps = AttentionMaps(*map(np.stack, zip(*found, strict=True)))
    _check_weights(maps.weights)
    return maps


def _read_layer(number: int, layer: Any, vectors: bool) -> list[Array]:
    """Return the weights of a layer and, if they are wanted, its queries and keys."""
    weights = _single(number, "weights", getattr(layer, "weights", layer))
    if not vectors:
        return [weights]
    query, key = getattr(layer, "query", None), getattr(layer, "key", None)
    if query is None or key is None:
        raise ValueError(
            f"the neuron view draws queries and keys, and layer {number} brings only weights: "
            "pass a tape of `record(model)`, or draw the weights alone with head_view"
        )
    query, key = _single(number, "query", query), _single(number, "key", key)
    if len(weights) % len(key) == 0:  # keys that several query heads share
        key = np.repeat(key, len(weights) // len(key), axis=0)
    _check_vectors(number, weights.shape, query, key)
    return [weights, query, key]


def _single(number: int, name: str, value: Any) -> Array:
    """Return ``value`` as an array without its batch axis."""
    array: Array = numbers(value)
    if array.ndim != 4:
        raise ValueError(
            f"layer {number}: {name} has shape {array.shape}, which is not the four axes "
            "(1, heads, positions, positions or d_k); for one map write map[None, None]"
        )
    if array.shape[0] != 1:
        raise ValueError(
            f"layer {number}: {name} holds a batch of {array.shape[0]} texts and a view draws 1; "
            "run the model on one text, or pass [weights[i:i+1] for weights in attentions]"
        )
    if 0 in array.shape:
        raise ValueError(f"layer {number}: {name} has shape {array.shape}; there is nothing in it")
    return array[0]


def _check_weights(weights: Array) -> None:
    if not np.isfinite(weights).all():
        layer, head, query, key = np.argwhere(~np.isfinite(weights))[0]
        raise ValueError(
            f"the weight at layer {layer}, head {head}, query {query}, key {key} is "
            f"{weights[layer, head, query, key]}; a row that may attend to nothing should hold "
            "zeros: check the mask"
        )
    check_range("attention weights", weights)


def _check_vectors(number: int, shape: tuple[int, ...], query: Array, key: Array) -> None:
    heads, q_len, k_len = shape
    if query.shape[:2] != (heads, q_len) or key.shape[:2] != (heads, k_len):
        raise ValueError(
            f"layer {number}: weights of shape {(heads, q_len, k_len)} need queries "
            f"({heads}, {q_len}, d_k) and keys ({heads}, {k_len}, d_k); got {query.shape} "
            f"and {key.shape}"
        )
    if query.shape[2] != key.shape[2]:
        raise ValueError(
            f"layer {number}: queries have d_k={query.shape[2]} and keys d_k={key.shape[2]}; "
            "their dot product needs the same number"
        )
    for name, array in (("queries", query), ("keys", key)):
        if not np.isfinite(array).all():
            raise ValueError(f"layer {number}: the {name} hold {array[~np.isfinite(array)][0]}")
