"""What the functions of this package refuse, and in which words."""

import torch
from torch import Tensor


def check_attention_inputs(
    query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None
) -> None:
    """Refuse queries, keys, values and masks that do not belong together.

    Raises
    ------
    ValueError
        If shapes, dtypes or devices do not fit, naming both.
    TypeError
        If the inputs are not floating-point or the mask is not boolean.
    """
    shapes = (
        f"query {tuple(query.shape)}, key {tuple(key.shape)}, value {tuple(value.shape)}; expected "
        "(..., q_len, d_k), (..., k_len, d_k), (..., k_len, d_v)"
    )
    if min(query.dim(), key.dim(), value.dim()) < 2:
        raise ValueError(f"each input needs a length and a width: {shapes}")
    if key.size(-2) != value.size(-2):
        raise ValueError(
            f"keys and values come in pairs, but there are {key.size(-2)} keys and "
            f"{value.size(-2)} values: {shapes}"
        )
    if not query.shape[:-2] == key.shape[:-2] == value.shape[:-2]:
        raise ValueError(f"the axes before the last two differ: {shapes}")
    if 0 in (*query.shape[-2:], *key.shape[-2:], value.size(-1)):
        raise ValueError(f"nothing to attend with: an axis is empty: {shapes}")
    for what in ("dtype", "device"):
        kinds = [getattr(tensor, what) for tensor in (query, key, value)]
        if len(set(kinds)) > 1:
            raise ValueError(
                f"query, key and value differ in {what}: {', '.join(map(str, kinds))}. "
                "Bring them together with key.to(query) and value.to(query)"
            )
    if not query.is_floating_point():
        raise TypeError(
            f"query, key and value are {query.dtype}; expected floating-point numbers, such as "
            "torch.float32: turn them into these with .float()"
        )
    if mask is not None:
        check_mask(mask, (*query.shape[:-1], key.size(-2)), query.device)


def check_same_width(query: Tensor, key: Tensor) -> None:
    """Refuse queries and keys that have no dot product.

    Raises
    ------
    ValueError
        If their last axes differ, naming both.
    """
    if query.size(-1) != key.size(-1):
        raise ValueError(
            f"a query of width {query.size(-1)} has no dot product with a key of width "
            f"{key.size(-1)}: project both to one width d_k first"
        )


def check_additive_weights(
    query: Tensor, key: Tensor, query_weight: Tensor, key_weight: Tensor, score_weight: Tensor
) -> None:
    """Refuse weights of additive attention that do not fit the queries, the keys or one another.

    Raises
    ------
    ValueError
        If a shape does not fit, naming both.
    """
    if score_weight.dim() != 1:
        raise ValueError(
            f"score_weight has shape {tuple(score_weight.shape)}; expected one axis, (d_hidden,)"
        )
    for name, tensor, weight in (("query", query, query_weight), ("key", key, key_weight)):
        if weight.shape != (score_weight.numel(), tensor.size(-1)):
            raise ValueError(
                f"{name}_weight has shape {tuple(weight.shape)}; expected "
                f"({score_weight.numel()}, {tensor.size(-1)}): as many rows as score_weight has "
                f"entries, as many columns as the {name} is wide"
            )


def check_mask(mask: Tensor, scores_shape: tuple[int, ...], device: torch.device) -> None:
    """Refuse a mask that is not boolean, does not broadcast to the scores or is elsewhere.

    Raises
    ------
    TypeError
        If ``mask`` is not a boolean tensor.
    ValueError
        If its shape does not broadcast to ``scores_shape``, or it is on another device.
    """
    if not isinstance(mask, Tensor) or mask.dtype != torch.bool:
        given = mask.dtype if isinstance(mask, Tensor) else type(mask).__name__
        raise TypeError(
            f"mask is {given}; expected torch.bool, True where a query may attend to a key. "
            "Turn a mask of ones and zeros into one with mask.bool(), "
            "and one of 0 and -inf with mask == 0"
        )
    sizes = zip(reversed(mask.shape), reversed(scores_shape), strict=False)
    if mask.dim() > len(scores_shape) or any(size not in (1, full) for size, full in sizes):
        raise ValueError(
            f"mask has shape {tuple(mask.shape)}, which does not broadcast to the scores' shape "
            f"{tuple(scores_shape)}, (..., q_len, k_len). A mask of keys, (batch, k_len), needs "
            "two more axes: mask[:, None, None, :]"
        )
    if mask.device != device:
        raise ValueError(
            f"mask is on {mask.device}, the queries are on {device}: "
            f"move it there with mask.to('{device}')"
        )


def check_heads(d_model: int, n_heads: int) -> None:
    """Refuse a width that cannot be shared out evenly among the heads.

    Raises
    ------
    ValueError
        If ``n_heads`` is less than 1 or does not divide ``d_model``.
    """
    if n_heads < 1 or d_model < 1:
        raise ValueError(f"d_model={d_model} and n_heads={n_heads}: both must be at least 1")
    if d_model % n_heads:
        raise ValueError(
            f"d_model={d_model} does not divide into n_heads={n_heads} heads: "
            f"choose n_heads among the divisors of {d_model}"
        )
