"""Argument checks, which refuse wrong inputs and say what was expected."""

import math
from collections.abc import Callable
from importlib import import_module
from numbers import Integral, Real
from textwrap import shorten
from types import ModuleType
from typing import Any

import torch
from torch import Tensor
from torch._C._functorch import is_functorch_wrapped_tensor as is_wrapped

#: The dtypes of token ids and positions, and of what is learned.
INTEGERS = (torch.int64, torch.int32)
FLOATS = (torch.float32, torch.float16, torch.bfloat16, torch.float64)
A_FLOAT = "floating-point numbers, torch.float32: call {0}.float()"
#: What is expected of a mask and of a bias, in which ``{0}`` is the given one's name.
A_MASK = (
    "torch.bool, True where a query may attend to a key. Turn a mask of ones and zeros into one "
    "with {0}.bool(), and one of 0 and -inf with {0} == 0"
)
A_BIAS = (
    "floating-point numbers, which are added to the scores. A boolean tensor of who may attend to "
    "whom is a mask"
)
#: Ranges of numbers, as messages state them.
RANGES: dict[str, Callable[[Any], bool]] = {
    "more than 0": lambda number: number > 0,
    "more than 0 and finite": lambda number: 0 < number < math.inf,
    "more than 0 and at most 1": lambda number: 0 < number <= 1,
    "more than 1 and finite": lambda number: 1 < number < math.inf,
    "at least 0 and finite": lambda number: 0 <= number < math.inf,
    "at least 1": lambda number: number >= 1,
    "at least 0 and less than 1": lambda number: 0 <= number < 1,
    "from 0 to 1": lambda number: 0 <= number <= 1,
    "from -10 to 10": lambda number: -10 <= number <= 10,
}
#: The axes of a mask, and those that a mask with fewer axes may mean.
MASK_AXES = ("batch", "n_heads", "q_len", "k_len")
FEWER_AXES = (
    ("k_len",),
    ("batch", "k_len"),
    ("q_len", "k_len"),
    ("batch", "q_len", "k_len"),
    ("n_heads", "q_len", "k_len"),
)


def check_type(name: str, given: Any, kind: Any, expected: str) -> None:
    """Reject what is not an instance of ``kind``; ``expected`` ends the message.

    Raises
    ------
    TypeError
        If ``given`` is not; the message names it.
    """
    if not isinstance(given, kind):
        raise wrong_type(name, given, expected)


def check_tensors(**given: Any) -> None:
    """Reject lists, arrays and numbers, given by name, where tensors are expected.

    Raises
    ------
    TypeError
        If one is not a tensor; the message names it.
    """
    for name, thing in given.items():
        if not isinstance(thing, Tensor):
            raise wrong_type(name, thing, f"a tensor: torch.as_tensor({name})")


def check_dtype(name: str, given: Any, dtypes: tuple[torch.dtype, ...], expected: str) -> None:
    """Reject what is not a tensor of one of these ``dtypes``; ``expected`` ends the message.

    Raises
    ------
    TypeError
        If ``given`` is not; the message names it.
    """
    kind = given.dtype if isinstance(given, Tensor) else f"of type {type(given).__name__}"
    if kind not in dtypes:
        raise TypeError(f"{name} is {kind}; expected {expected.format(name)}")


def check_device(name: str, given: Tensor, device: torch.device, other: str) -> None:
    """Reject a tensor on a different ``device`` from that of the ``other`` ones.

    Raises
    ------
    ValueError
        If ``given`` is; the message names both devices.
    """
    if given.device != device:
        raise ValueError(
            f"{name} is on {given.device}, {other} on {device}: "
            f"move it there with {name}.to('{device}')"
        )


def check_precision(name: str, given: Tensor, weight: Tensor, module: str) -> None:
    """Reject a tensor whose dtype differs from that of a ``module``'s ``weight``.

    Raises
    ------
    ValueError
        If the dtypes differ. Under autocast any is accepted, but PyTorch does not cast float64.
    """
    if given.dtype != weight.dtype and not torch.is_autocast_enabled(weight.device.type):
        raise ValueError(
            f"{name} is {given.dtype}, the weights of this {module} are {weight.dtype}: "
            f"convert it with .to({weight.dtype})"
        )


def check_whole(name: str, given: Any) -> None:
    """Reject a size that is not an integer.

    Raises
    ------
    TypeError
        If it is not; the message names it.
    """
    # A free length of a model being exported is a SymInt, of one being traced a tensor.
    free = torch.Tensor if torch.jit.is_tracing() else torch.SymInt
    if isinstance(given, bool) or not isinstance(given, Integral | free):
        raise wrong_type(name, given, "a whole number")


def check_causal(q_len: int, k_len: int) -> None:
    """Reject more queries than keys, where a query may attend to no position after its own.

    Raises
    ------
    ValueError
        If there are more.
    """
    if k_len < q_len:
        raise ValueError(
            f"k_len={k_len} is less than q_len={q_len}: the queries are the last of the keys' "
            "positions, so there must be at least as many keys as queries"
        )


def check_flags(config: Any, *names: str) -> None:
    """Reject options of a ``config`` that are neither true nor false.

    Raises
    ------
    TypeError
        If one is not; the message names it.
    """
    for name in names:
        check_type(name, getattr(config, name), bool, "True or False")  # "no" would count as true


def check_scale(scale: float | None) -> None:
    """Reject a scale that would make all scores equal or reverse their order.

    Raises
    ------
    ValueError
        If it is not positive and finite.
    """
    if scale is not None:
        check_number("scale", scale, "more than 0 and finite")


def check_attention_inputs(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    mask: Tensor | None = None,
    bias: Tensor | None = None,
    scale: float | None = None,
) -> None:
    """Reject queries, keys, values, masks and biases that do not belong together.

    Raises
    ------
    ValueError
        If shapes, dtypes or devices do not fit, with both in the message, or ``scale <= 0``.
    TypeError
        If the inputs are not floating-point tensors or the mask is not boolean.
    """
    check_tensors(query=query, key=key, value=value)
    check_scale(scale)

    if min(query.dim(), key.dim(), value.dim()) < 2:
        raise ValueError(f"each input needs a length and a width: {_shapes(query, key, value)}")
    if key.size(-2) != value.size(-2):
        raise ValueError(
            f"keys and values come in pairs, but there are {key.size(-2)} keys and "
            f"{value.size(-2)} values: {_shapes(query, key, value)}"
        )
    if not query.shape[:-2] == key.shape[:-2] == value.shape[:-2]:
        raise ValueError(f"the axes before the last two differ: {_shapes(query, key, value)}")
    if 0 in (*query.shape[-2:], *key.shape[-2:], value.size(-1)):
        raise ValueError(f"nothing to attend with: an axis is empty: {_shapes(query, key, value)}")
    for what in ("dtype", "device"):
        kinds = [getattr(tensor, what) for tensor in (query, key, value)]
        if not kinds[0] == kinds[1] == kinds[2]:
            raise ValueError(
                f"query, key and value differ in {what}: {', '.join(map(str, kinds))}. "
                "Bring them together with key.to(query) and value.to(query)"
            )
    check_dtype("query", query, FLOATS, A_FLOAT)
    scores_shape = (*query.shape[:-1], key.size(-2))
    if mask is not None:
        check_mask(mask, scores_shape, query.device)
    if bias is not None:
        check_bias(bias, scores_shape, query.device)


def check_scores(scores: Tensor, mask: Tensor | None) -> None:
    """Reject scores that are not floating-point numbers, and a mask that does not fit them.

    Raises
    ------
    TypeError
        If the scores are not a floating-point tensor or the mask is not boolean.
    ValueError
        If the mask does not broadcast to the scores, or is on another device.
    """
    check_dtype("scores", scores, FLOATS, A_FLOAT)
    if mask is not None:
        check_mask(mask, scores.shape, scores.device)


def _shapes(query: Tensor, key: Tensor, value: Tensor) -> str:
    return (
        f"query {tuple(query.shape)}, key {tuple(key.shape)}, value {tuple(value.shape)}; "
        "expected (..., q_len, d_k), (..., k_len, d_k), (..., k_len, d_v)"
    )


def check_sequences(weight: Tensor, query: Tensor, key: Tensor, value: Tensor) -> None:
    """Reject sequences of vectors that do not fit an attention with this ``weight``.

    Raises
    ------
    ValueError
        If shapes, dtypes or devices do not fit the weight or each other; the message names both.
    TypeError
        If one is not a floating-point tensor.
    """
    check_tensors(query=query, key=key, value=value)
    for name, x in (("query", query), ("key", key), ("value", value)):
        check_vectors(name, x, weight, "attention")
    check_attention_inputs(query, key, value)


def check_vectors(name: str, x: Tensor, weight: Tensor, module: str) -> None:
    """Reject a sequence of vectors that does not fit a ``module`` with this ``weight``.

    Raises
    ------
    ValueError
        If a shape, dtype or device does not fit; the message says which would.
    """
    width = weight.size(-1)
    if x.dim() != 3 or x.size(-1) != width:
        fits = f"(batch, length, {width}): {width} is the d_model of this {module}"
        raise wrong_shape(name, x, fits)
    check_device(name, x, weight.device, f"the weights of this {module} are")
    check_precision(name, x, weight, module)


def check_same_width(query: Tensor, key: Tensor) -> None:
    """Reject queries and keys that have no dot product.

    Raises
    ------
    TypeError
        If one is not a tensor.
    ValueError
        If their last axes differ; the message names both.
    """
    check_tensors(query=query, key=key)
    if query.size(-1) != key.size(-1):
        raise ValueError(
            f"a query of width {query.size(-1)} has no dot product with a key of width "
            f"{key.size(-1)}: project both to one width d_k first"
        )


def check_additive_weights(
    query: Tensor, key: Tensor, query_weight: Tensor, key_weight: Tensor, score_weight: Tensor
) -> None:
    """Reject weights of additive attention that do not fit the queries, the keys or each other.

    Raises
    ------
    TypeError
        If one is not a tensor.
    ValueError
        If a shape, dtype or device does not fit; the message names both.
    """
    weights = {"query_weight": query_weight, "key_weight": key_weight, "score_weight": score_weight}
    check_tensors(query=query, key=key, **weights)
    if score_weight.dim() != 1:
        raise wrong_shape("score_weight", score_weight, "one axis, (d_hidden,)")
    for name, x, weight in (("query", query, query_weight), ("key", key, key_weight)):
        if x.dim() < 2:
            raise wrong_shape(name, x, f"(..., length, width): a single vector is {name}[None]")
        for given in weights.values():
            check_device(name, x, given.device, "the weights of this attention are")
            check_precision(name, x, given, "attention")
        if weight.shape != (shape := (score_weight.numel(), x.size(-1))):
            why = f"as many rows as score_weight has entries, as many columns as the {name} is wide"
            raise wrong_shape(f"{name}_weight", weight, f"{shape}: {why}")


def check_model_mask(
    name: str, mask: Tensor | None, scores_shape: tuple[int, ...], device: torch.device
) -> None:
    """Reject a mask for a whole model that does not have the four axes of the scores.

    With fewer axes, ``(batch, k_len)`` would be mistaken for ``(q_len, k_len)`` in a batch of as
    many texts as each has tokens.

    Raises
    ------
    TypeError
        If ``mask`` is not a boolean tensor.
    ValueError
        If it does not have four axes, or for the reasons of :func:`check_mask`.
    """
    if mask is None:
        return
    check_dtype(name, mask, (torch.bool,), A_MASK)
    if mask.dim() != len(MASK_AXES):
        raise ValueError(
            f"{name} has shape {tuple(mask.shape)}; a model expects all four axes, "
            f"({', '.join(MASK_AXES)}) = {tuple(scores_shape)}, where each may also be 1"
            f"{_remedies(name, mask.shape, scores_shape)}"
        )
    _check_joins_scores(name, mask, scores_shape, device)


def check_mask(mask: Tensor, scores_shape: tuple[int, ...], device: torch.device) -> None:
    """Reject a mask that is not boolean, does not broadcast to the scores or is on another device.

    Raises
    ------
    TypeError
        If ``mask`` is not a boolean tensor.
    ValueError
        If its shape does not broadcast to ``scores_shape``, or it is on another device.
    """
    check_dtype("mask", mask, (torch.bool,), A_MASK)
    _check_joins_scores("mask", mask, scores_shape, device)


def check_bias(bias: Tensor, scores_shape: tuple[int, ...], device: torch.device) -> None:
    """Reject a bias that cannot be added to the scores.

    Raises
    ------
    TypeError
        If ``bias`` is not a floating-point tensor.
    ValueError
        If its shape does not broadcast to ``scores_shape``, or it is on another device.
    """
    check_dtype("bias", bias, FLOATS, A_BIAS)
    _check_joins_scores("bias", bias, scores_shape, device)


def _check_joins_scores(
    name: str, given: Tensor, scores_shape: tuple[int, ...], device: torch.device
) -> None:
    if not broadcasts(given.shape, scores_shape):
        raise ValueError(
            f"{name} has shape {tuple(given.shape)}, which does not broadcast to the scores' shape "
            f"{tuple(scores_shape)}, (..., q_len, k_len)"
            f"{_remedies(name, given.shape, scores_shape)}"
        )
    check_device(name, given, device, "the queries are")


def _remedies(name: str, shape: tuple[int, ...], scores_shape: tuple[int, ...]) -> str:
    """Show how to add the missing axes to a mask of this shape, for each meaning it may have."""
    axes = {4: MASK_AXES, 3: ("batch", "q_len", "k_len")}.get(len(scores_shape), ())
    sizes = dict(zip(axes, scores_shape, strict=False))  # no axes have names without a batch
    return "".join(
        f". If these are ({', '.join(kept)}): "
        f"{name}[{', '.join(':' if axis in kept else 'None' for axis in axes)}]"
        for kept in FEWER_AXES
        if len(kept) < len(axes) and tuple(sizes.get(axis) for axis in kept) == tuple(shape)
    )


def broadcasts(shape: tuple[int, ...], target: tuple[int, ...]) -> bool:
    """Return whether ``shape`` broadcasts to ``target`` without enlarging it."""
    sizes = zip(reversed(shape), reversed(target), strict=False)
    return len(shape) <= len(target) and all(size in (1, full) for size, full in sizes)


def check_normalizable(x: Tensor, weight: Tensor, bias: Tensor | None = None) -> None:
    """Reject vectors and a bias whose width or precision differs from that of a norm's weights.

    Raises
    ------
    TypeError
        If one is not a tensor.
    ValueError
        If either differs; the message names both. Under autocast any precision will do.
    """
    given = {"x": x, "weight": weight} | ({} if bias is None else {"bias": bias})
    check_tensors(**given)
    width = weight.numel()
    if not x.shape[-1:] == weight.shape == (weight if bias is None else bias).shape:
        expected = f"(..., {width}) and ({width},): {width} is the d_model of this norm"
        raise wrong_shapes(expected, **given)
    for name, one in given.items():
        check_precision(name, one, weight, "norm")


def check_heads(
    d_model: int, n_heads: int, n_kv_heads: int | None = None, d_k: int | None = None
) -> None:
    """Reject a width that does not divide evenly among the heads.

    Raises
    ------
    ValueError
        If a number is less than 1, ``n_heads`` does not divide ``d_model`` and no ``d_k`` is
        given, or ``n_kv_heads`` does not divide ``n_heads``.
    TypeError
        If one is not an integer.
    """
    sizes = {"d_model": d_model, "n_heads": n_heads, "n_kv_heads": n_kv_heads, "d_k": d_k}
    for name, given in sizes.items():
        if given is not None:
            check_whole(name, given)
            if given < 1:
                raise ValueError(f"{name}={given}: must be at least 1")
    if d_k is None and d_model % n_heads:
        raise ValueError(
            f"d_model={d_model} does not divide into n_heads={n_heads} heads: "
            f"choose n_heads among the divisors of {d_model}"
        )
    if n_kv_heads is not None and n_heads % n_kv_heads:
        raise ValueError(
            f"n_kv_heads={n_kv_heads} does not divide n_heads={n_heads}: each head of keys and "
            "values serves an equal number of query heads"
        )


def check_token_ids(
    what: str, ids: Any, vocab_size: int, device: torch.device, unmasked: int | None = None
) -> None:
    """Reject ids that are not integers ``(batch, length)``, not in the vocabulary, or ``unmasked``.

    Raises
    ------
    TypeError, ValueError
        If they are not, if none is given, on another device, or with ``unmasked``, the padding.
    """
    fit = isinstance(ids, Tensor) and ids.dim() == 2 and ids.dtype == torch.int64
    if not fit or 0 in ids.shape or ids.device != device:
        _check_ids(what, ids, device)
    if torch.compiler.is_compiling() or ids.is_meta or is_wrapped(ids):
        return  # only shapes, no values
    low, high = (int(end) for end in ids.aminmax())
    if low < 0 or high >= vocab_size:
        raise ValueError(
            f"{what} runs from {low} to {high}; this model knows 0 to {vocab_size - 1}. "
            "Was the text tokenized for another model?"
        )
    if unmasked is not None and (ids == unmasked).any():
        raise _unmasked_padding(what, unmasked)


def check_range(positions: Tensor, max_len: int) -> None:
    """Reject positions that are not in a table of ``max_len``, where the values can be seen.

    Raises
    ------
    ValueError
        If one is not, naming the lowest and the highest.
    """
    if torch.compiler.is_compiling() or positions.is_meta or is_wrapped(positions):
        return
    low, high = (int(end) for end in positions.aminmax()) if positions.numel() else (0, 0)
    if low < 0 or high >= max_len:
        raise ValueError(
            f"positions run from {low} to {high}; this table has {max_len}, 0 to {max_len - 1}: "
            "shorten the text or split it"
        )


def _unmasked_padding(what: str, pad_id: int) -> ValueError:
    mask = "mask" if what == "token_ids" else what.replace("_ids", "_mask")
    return ValueError(
        f"{what} hold pad_id={pad_id}, and {mask} is None: padding would be read as text; pass "
        f"{mask}=padding_mask({what}, {pad_id})"
    )


def _check_ids(what: str, ids: Any, device: torch.device) -> None:
    check_dtype(what, ids, INTEGERS, "a tensor of integers, torch.int64")
    if ids.dim() != 2 or 0 in ids.shape:
        raise wrong_shape(what, ids, "(batch, length) with at least one token")
    check_device(what, ids, device, "the model is")


def check_instead_of_ids(token_ids: Any, inputs_embeds: Any, weight: Tensor) -> None:
    """Reject vectors that cannot replace those of token ids, rows of this ``weight``.

    Raises
    ------
    ValueError
        If there are both or neither, or shape, dtype or device do not fit.
    TypeError
        If the vectors are not a tensor of floating-point numbers.
    """
    if (token_ids is None) == (inputs_embeds is None):
        raise ValueError("give either token_ids or inputs_embeds, and not both")
    check_dtype("inputs_embeds", inputs_embeds, FLOATS, f"vectors of {weight.dtype}")
    check_vectors("inputs_embeds", inputs_embeds, weight, "model")


def too_long(length: int, max_len: int) -> ValueError:
    """Return the error to raise for a text longer than a model's number of positions.

    Parameters
    ----------
    length : int
        Number of tokens in the text.
    max_len : int
        Number of positions.

    Returns
    -------
    ValueError
        The message names both.
    """
    return ValueError(
        f"the text has {length} tokens, but this model has positions for {max_len} only: "
        "shorten the text or split it"
    )


def wrong_type(name: str, given: Any, expected: str) -> TypeError:
    """Return the error to raise where something else was ``expected``.

    Parameters
    ----------
    name : str
        The name of what was given.
    given : object
        What was given.
    expected : str
        What would fit, in words.

    Returns
    -------
    TypeError
        The message names the type, and shows the beginning of what was given.
    """
    found = shorten(repr(given), 60, placeholder=" …")
    return TypeError(f"{name} is of type {type(given).__name__}, {found}; expected {expected}")


def wrong_shape(name: str, given: Tensor, expected: str) -> ValueError:
    """Return the error to raise for a tensor that has a shape other than the ``expected`` one.

    Parameters
    ----------
    name : str
        The tensor's name.
    given : Tensor
        The tensor.
    expected : str
        The shapes that fit, in words.

    Returns
    -------
    ValueError
        The message names both.
    """
    return ValueError(f"{name} has shape {tuple(given.shape)}; expected {expected}")


def wrong_shapes(expected: str, **given: Tensor) -> ValueError:
    """Return the error to raise for tensors whose shapes do not fit together.

    Parameters
    ----------
    expected : str
        The shapes that fit, in words.
    **given : Tensor
        The tensors, by name.

    Returns
    -------
    ValueError
        The message names them all.
    """
    shapes = ", ".join(f"{name} {tuple(x.shape)}" for name, x in given.items())
    return ValueError(f"the shapes are {shapes}; expected {expected}")


def check_same_shape(what: str, given: Tensor, shape: tuple[int, ...]) -> None:
    """Reject a tensor that does not have one number for each token.

    Raises
    ------
    ValueError
        If its shape is not ``shape``; the message names both.
    """
    if given.shape != shape:
        raise wrong_shape(what, given, f"that of the tokens, {tuple(shape)}")


def check_kind(name: str, given: str, known: tuple[str, ...]) -> None:
    """Reject an unknown option.

    Raises
    ------
    ValueError
        If ``given`` is not among ``known``; the message names both.
    """
    if given not in known:
        raise ValueError(f"{name}={given!r} is not known; expected one of {sorted(known)}")


def check_same_memory(memory: Tensor, key: Tensor) -> None:
    """Reject a memory of another shape than the one whose keys are in the cache.

    Another memory of the same shape is not noticed: the keys in the cache are used.

    Raises
    ------
    ValueError
        If batch or length differ; the message names both.
    """
    if (memory.size(0), memory.size(1)) != (key.size(0), key.size(2)):
        raise ValueError(
            f"key has shape {tuple(memory.shape)}, but the cache was filled from a memory of "
            f"{key.size(0)} texts with {key.size(2)} positions: make a new cache for a new memory"
        )


def check_continues(buffer: Tensor, new: Tensor, length: int, what: str) -> None:
    """Reject ``length`` keys or values that cannot continue those in a cache.

    Raises
    ------
    ValueError
        If batch, heads, length, width, dtype or device differ; the message names both.
    """
    if (new.dtype, new.device) != (buffer.dtype, buffer.device):
        raise ValueError(
            f"the new {what} are {new.dtype} on {new.device}, those in the cache {buffer.dtype} on "
            f"{buffer.device}: a cache belongs to one model and one batch"
        )
    if new.shape != (expected := (*buffer.shape[:2], length, buffer.size(3))):
        raise ValueError(
            f"the new {what} have shape {tuple(new.shape)}, those in the cache continue with "
            f"{expected}: a cache belongs to one model and one batch"
        )


def wrong_memory(memory: Tensor | None) -> ValueError:
    """Return the error to raise for no memory with cross-attention, or a memory without it.

    Parameters
    ----------
    memory : Tensor or None
        The memory that was given.

    Returns
    -------
    ValueError
        The error.
    """
    if memory is None:
        return ValueError("this layer has cross-attention: it needs a memory, the encoder's output")
    return ValueError(
        f"memory has shape {tuple(memory.shape)}, but this layer has no cross-attention: "
        "make it with cross_attention=True, or leave the memory out"
    )


def check_positions(positions: Tensor, name: str = "positions") -> None:
    """Reject positions that are not integers of shape ``(length,)`` or ``(batch, length)``.

    Raises
    ------
    TypeError
        If ``positions`` is not a tensor of integers, torch.int64 or int32.
    ValueError
        If it has any other number of axes.
    """
    check_dtype(name, positions, INTEGERS, "a tensor of integers, such as torch.arange(length)")
    if positions.dim() not in (1, 2):
        raise wrong_shape(name, positions, "(length,) or (batch, length)")


def check_embeddings(x: Tensor, positions: Tensor, d_model: int | None = None) -> None:
    """Reject positions that do not fit the embeddings ``x``, and a width other than ``d_model``.

    Raises
    ------
    TypeError
        If ``positions`` is not a tensor of integers.
    ValueError
        If shapes or devices do not fit together.
    """
    check_positions(positions)
    if x.dim() != 3 or positions.shape not in (x.shape[1:2], x.shape[:2], (1, x.size(1))):
        expected = "(batch, length, d_model), and (length,) or (batch, length)"
        raise wrong_shapes(expected, x=x, positions=positions)
    if d_model not in (None, x.size(-1)):
        width = f"(batch, length, {d_model}): {d_model} is the d_model of these positions"
        raise wrong_shape("x", x, width)
    check_device("positions", positions, x.device, "x is")


def check_pair_of_positions(q_positions: Tensor, k_positions: Tensor) -> None:
    """Reject positions of queries and keys that do not belong together.

    Raises
    ------
    TypeError
        If one is not a tensor of integers.
    ValueError
        If they belong to different batches or are on different devices.
    """
    check_positions(q_positions, "q_positions")
    check_positions(k_positions, "k_positions")
    batches = {positions.shape[:-1] for positions in (q_positions, k_positions)} - {()}
    if len(batches) > 1:
        expected = "(q_len,) and (k_len,), with the same batch in front if there is one"
        raise wrong_shapes(expected, q_positions=q_positions, k_positions=k_positions)
    check_device("k_positions", k_positions, q_positions.device, "q_positions is")


def check_even(name: str, size: int, why: str) -> None:
    """Reject a width that does not divide into pairs.

    Raises
    ------
    TypeError
        If ``size`` is not an integer.
    ValueError
        If ``size`` is odd or less than 2.
    """
    check_whole(name, size)
    if size < 2 or size % 2:
        raise ValueError(f"{name}={size}: must be even and at least 2, because {why}")


def check_base(base: float) -> None:
    """Reject a base with which the frequencies would not decrease.

    Raises
    ------
    ValueError
        If ``base`` is not greater than 1 and finite.
    """
    check_number("base", base, "more than 1 and finite", ", so that later pairs turn more slowly")


def check_number(name: str, given: Any, expected: str, hint: str = "") -> None:
    """Reject what is not a number in the range that :data:`RANGES` calls ``expected``.

    Raises
    ------
    ValueError
        If it is not; the message names it and the range, and ends with the ``hint``.
    """
    if isinstance(given, bool) or not isinstance(given, Real) or not RANGES[expected](given):
        raise ValueError(f"{name}={given!r}: expected a number, {expected}{hint}")


def check_at_least(name: str, given: Any, least: int, hint: str = "") -> None:
    """Reject a number that is not an integer or is too small; ``hint`` ends the message.

    Raises
    ------
    ValueError
        If it is either, or more than 10**18, close to the largest integer that PyTorch holds; the
        message names it and the limit.
    """
    # A free length of a model being exported is a SymInt.
    if not isinstance(given, int | torch.SymInt) or isinstance(given, bool) or given < least:
        raise ValueError(f"{name}={given!r}: expected an int, at least {least}{hint}")
    if given > 10**18:
        raise ValueError(f"{name}={given}: expected an int, at most 10**18")


def check_counts(config: object, *names: str) -> None:
    """Reject fields of a configuration, given by name, that are not whole numbers from 1 on.

    Raises
    ------
    ValueError
        If one is not; the message names it.
    """
    for name in names:
        check_at_least(name, getattr(config, name), 1)


def check_first_derivative(what: str, instead: str) -> None:
    """Refuse to differentiate a backward pass; for functions that have only a first derivative.

    PyTorch's own ``once_differentiable`` does so only where the incoming gradient requires one.

    Raises
    ------
    RuntimeError
        If the gradient was asked for with ``create_graph=True``.
    """
    if torch.is_grad_enabled():
        raise RuntimeError(
            f"{what} has first derivatives only; for second ones (create_graph=True) {instead}"
        )


def need(module: str, purpose: str, extra: str = "train") -> ModuleType:
    """Import a library that ``import glassbox`` does not need.

    Parameters
    ----------
    module : str
        Name of the library or of one of its modules.
    purpose : str
        What it is needed for, as worded in the message.
    extra : str, optional
        The extra of this package that installs it.

    Returns
    -------
    ModuleType
        The library or module.

    Raises
    ------
    ModuleNotFoundError
        If it is not installed; the message says how to install it.
    """
    library = module.partition(".")[0]
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        if error.name != library:
            raise
        raise ModuleNotFoundError(
            f"{purpose} needs {library}, which is not installed: pip install {library}, or, with "
            f"the libraries used alongside it: pip install 'glassbox[{extra}]'",
            name=library,
        ) from error
