"""How a fast version stands in for a formula, and the fast versions of the layers.

A formula is a function whose body is an equation of the book, and everything calls it by its name.
A kernel computes the same sooner. It is registered on the formula by that name, runs by default,
and answers ``NotImplemented`` where it does not apply; then, and inside ``with formulas():``, the
formula itself runs.
"""

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import partial, wraps
from types import NotImplementedType
from typing import Any, TypeVar, cast

import torch
import torch.nn.functional as F
from torch import Tensor

from glassbox.checks import broadcasts, check_kind
from glassbox.masks import allowed_past

Formula = TypeVar("Formula", bound=Callable[..., Any])
Answer = Tensor | NotImplementedType  # where a kernel does not apply

#: The kernels by the names of their formulas.
KERNELS: dict[str, Callable[..., Any]] = {}
#: From so many vectors on PyTorch lets all cores read a matrix itself.
MANY = 9
#: Matrices with fewer numbers are read sooner than they are cut.
LARGE = 500_000
#: The formulas that run themselves now.
_shown: ContextVar[frozenset[str]] = ContextVar("shown", default=frozenset())
#: Whoever is looking now (see ``record``): the formula of attention calls them with its tensors.
observers: ContextVar[tuple[Callable[..., None], ...]] = ContextVar("observers", default=())


@contextmanager
def formulas(*names: str) -> Iterator[None]:
    """Run formulas themselves inside the ``with`` block, so that a debugger steps into them.

    Parameters
    ----------
    *names : str
        Which, by the names in :data:`KERNELS`; all of them if none is given.

    Yields
    ------
    None
        While none of their kernels runs in this thread. Compiled code keeps its own.

    Raises
    ------
    ValueError
        If a name is not that of a formula that has a kernel.

    Examples
    --------
    >>> with glassbox.formulas():
    ...     logits = model(source_ids, target_ids)
    """
    for name in names:
        check_kind("name", name, tuple(KERNELS))
    token = _shown.set(frozenset(names or KERNELS))
    try:
        yield
    finally:
        _shown.reset(token)


def formula(function: Formula) -> Formula:
    """Let the kernel of a formula stand in for it, where there is one and it applies.

    Parameters
    ----------
    function : callable
        The formula; its kernel is registered by its qualified name.

    Returns
    -------
    callable
        What is called in its place.
    """
    name = function.__qualname__

    @wraps(function)
    def run(*inputs: Any, **options: Any) -> Any:
        if name in KERNELS and (torch.compiler.is_compiling() or name not in _shown.get()):
            output = KERNELS[name](*inputs, **options)
            if output is not NotImplemented:
                return output
        return function(*inputs, **options)

    return cast(Formula, run)


def kernel(name: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Register a function as the kernel of the formula with this name.

    Parameters
    ----------
    name : str
        The formula's qualified name, such as ``layer_norm`` or ``Decoder.forward``.

    Returns
    -------
    callable
        A decorator that leaves the function as it is.
    """

    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        KERNELS[name] = function
        return function

    return register


@kernel("MultiHeadAttention.attend")
def _attend(
    attention: Any, query: Tensor, key: Tensor, value: Tensor, mask: Any, causal: bool, around: Any
) -> Answer:
    # PyTorch's kernel keeps no map in memory (Dao et al., 2022). Compiled code has no observers.
    live = not torch.compiler.is_compiling()
    if live and (observers.get() or (query.requires_grad and _short_and_half(query, key))):
        return NotImplemented
    # It counts positions from the first key: its own causality fits equal lengths alone.
    alone = causal and query.size(2) == key.size(2) and mask is None and around.bias is None
    if not alone and (causal or mask is not None or around.bias is not None):
        mask = _added(query, key, mask, causal, around.bias)
        if mask is NotImplemented:
            return NotImplemented  # the formula says what is wrong
    grouped = query.size(1) != key.size(1)
    return F.scaled_dot_product_attention(
        query, key, value, mask, is_causal=alone, scale=attention.scale, enable_gqa=grouped
    )


def _added(
    query: Tensor, key: Tensor, mask: Tensor | None, causal: bool, bias: Tensor | None
) -> Any:
    """Return mask, causality and bias in one tensor of four axes, if they fit."""
    q_len, k_len = query.size(2), key.size(2)
    for given in (mask, bias):
        if given is not None and not _fits_scores(given, given is mask, query, k_len):
            return NotImplemented
    if causal:
        mask = allowed_past(mask, q_len, k_len, query.device)
    if bias is not None:
        bias = bias.to(query.dtype)
        mask = bias if mask is None else bias.masked_fill(~mask, -math.inf)
    # The kernel's fast paths want all four axes.
    return None if mask is None else mask[(None,) * (4 - mask.dim())]


def _fits_scores(given: Any, boolean: bool, query: Tensor, k_len: int) -> bool:
    return (
        isinstance(given, Tensor)
        and (given.dtype == torch.bool if boolean else given.is_floating_point())
        and given.device == query.device
        and broadcasts(given.shape, (*query.shape[:3], k_len))
    )


def _short_and_half(query: Tensor, key: Tensor) -> bool:
    # Trained in half precision on a CPU, the kernel takes up to six times as long as the formula
    # where texts are short.
    return (
        query.device.type == "cpu"
        and query.dtype in (torch.bfloat16, torch.float16)
        and query.size(2) * key.size(2) <= 128 * 128
    )


@kernel("LayerNorm.forward")
def _layer_norm(norm: Any, x: Tensor) -> Answer:
    # Under autocast it converts what it is given. The formula says what is wrong.
    fit = x.dtype == norm.weight.dtype or torch.is_autocast_enabled(x.device.type)
    if not fit or x.shape[-1:] != norm.weight.shape:
        return NotImplemented
    return F.layer_norm(x, norm.weight.shape, norm.weight, norm.bias, norm.eps)


kernel("gelu")(F.gelu)
kernel("gelu_tanh")(partial(F.gelu, approximate="tanh"))


@kernel("dropout")
def _dropout(x: Tensor, p: float) -> Answer:
    if not 0 <= p <= 1:
        return NotImplemented  # the formula says so
    # A compiler makes something faster of PyTorch's own, and so does a GPU.
    if x.device.type != "cpu" or torch.compiler.is_compiling():
        return F.dropout(x, p)
    if p == 1:
        return x * 0
    # A generator on a CPU makes 64 bits at a time, one after the other. That is what takes long,
    # so each draw decides over four values.
    draws = torch.empty(-(-x.numel() // 4), dtype=torch.int64, device=x.device)
    bits = draws.random_(-(2**63), None).view(torch.int16)[: x.numel()].view(x.shape)
    kept = bits >= round(p * 2**16) - 2**15
    return x * kept.to(x.dtype).mul_(1 / (1 - p))


@kernel("Linear.forward")
def _few_rows(linear: Any, x: Tensor) -> Tensor:
    # For few vectors PyTorch reads a matrix with one core. Cut into pieces, all cores read it.
    weight, bias = linear.weight, linear.bias
    off = torch.compiler.is_compiling() or torch.is_grad_enabled() or weight.numel() < LARGE
    off = off or x.device.type != "cpu" or x.itemsize < 4 or torch.is_autocast_enabled("cpu")
    pieces = 1 if off else min(torch.get_num_threads(), len(weight))
    if pieces == 1 or x.numel() >= MANY * x.size(-1):
        return F.linear(x, weight, bias)
    even = len(weight) // pieces * pieces  # what is left over is less than one row for each core
    matrix = weight[:even].unflatten(0, (pieces, -1)).mT
    products = torch.bmm(x.reshape(1, -1, x.size(-1)).expand(pieces, -1, -1), matrix)
    parts = products.transpose(0, 1).reshape(*x.shape[:-1], even), F.linear(x, weight[even:])
    out = torch.cat(parts, dim=-1)
    return out if bias is None else out + bias
