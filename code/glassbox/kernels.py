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
from functools import wraps
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
    attention: Any,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    mask: Tensor | None = None,
    causal: bool = False,
    around: Any = None,
) -> Answer:
    # PyTorch's kernel keeps no map in memory (Dao et al., 2022).
    # Nobody looks into compiled code: a recorded model runs uncompiled.
    if not torch.compiler.is_compiling() and (observers.get() or _short_and_half(query, key)):
        return NotImplemented
    bias, (q_len, k_len) = around.bias, (query.size(2), key.size(2))
    for given in (mask, bias):
        if given is not None and not _fits_scores(given, given is mask, query, k_len):
            return NotImplemented  # the formula says what is wrong
    # The kernel counts positions from the first key: its own causality fits equal lengths alone.
    kernel_is_causal = causal and q_len == k_len and mask is None and bias is None
    if causal and not kernel_is_causal:
        mask = allowed_past(mask, q_len, k_len, query.device)
    if bias is not None:
        bias = bias.to(query.dtype)
        mask = bias if mask is None else bias.masked_fill(~mask, -math.inf)
    if mask is not None:  # the kernel's fast paths want all four axes
        mask = mask[(None,) * (4 - mask.dim())]
    grouped = query.size(1) != key.size(1)
    return F.scaled_dot_product_attention(
        query,
        key,
        value,
        mask,
        is_causal=kernel_is_causal,
        scale=attention.scale,
        enable_gqa=grouped,
    )


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
        query.requires_grad
        and query.device.type == "cpu"
        and query.dtype in (torch.bfloat16, torch.float16)
        and query.size(2) * key.size(2) <= 128 * 128
    )


@kernel("layer_norm")
def _layer_norm(x: Tensor, weight: Tensor, bias: Tensor, eps: float = 1e-5) -> Answer:
    if not (_fits(x, weight) and bias.shape == weight.shape):
        return NotImplemented  # the formula says what is wrong
    return F.layer_norm(x, weight.shape, weight, bias, eps)


@kernel("rms_norm")
def _rms_norm(x: Tensor, weight: Tensor, eps: float = 1e-6) -> Answer:
    return F.rms_norm(x, weight.shape, weight, eps) if _fits(x, weight) else NotImplemented


def _fits(x: Tensor, weight: Tensor) -> bool:
    # Under autocast the kernels convert what they are given.
    same = x.dtype == weight.dtype or torch.is_autocast_enabled(x.device.type)
    return same and x.shape[-1:] == weight.shape


@kernel("gelu")
def _gelu(x: Tensor) -> Tensor:
    return F.gelu(x)


@kernel("gelu_tanh")
def _gelu_tanh(x: Tensor) -> Tensor:
    return F.gelu(x, approximate="tanh")


@kernel("silu")
def _silu(x: Tensor) -> Tensor:
    return F.silu(x)


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


@kernel("linear")
def few_rows(x: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """Read the matrix of a linear map with all cores, where few vectors meet it.

    The time of such a product is that of reading the matrix once. PyTorch reads it with one core;
    cut into a piece for each core, all of them read.

    Parameters
    ----------
    x : Tensor
        ``(..., d_in)``.
    weight, bias : Tensor
        ``(d_out, d_in)`` and ``(d_out,)``.

    Returns
    -------
    Tensor
        ``(..., d_out)``.

    Notes
    -----
    Pope et al. (2023), section 2.1.
    """
    single = x.dtype in (torch.float32, torch.float64)
    if torch.compiler.is_compiling() or torch.is_grad_enabled() or not single:
        return F.linear(x, weight, bias)
    pieces, rows = torch.get_num_threads(), x.numel() // x.size(-1)
    share = weight.size(0) // pieces
    if x.device.type != "cpu" or pieces == 1 or not share or rows >= MANY:
        return F.linear(x, weight, bias)
    even = pieces * share  # what is left over is less than one row for each core
    vectors = x.reshape(1, rows, -1).expand(pieces, -1, -1)
    matrix = weight[:even].view(pieces, share, -1).mT
    if bias is None:
        products = torch.bmm(vectors, matrix)
    else:
        products = torch.baddbmm(bias[:even].view(pieces, 1, share), vectors, matrix)
    out = products.transpose(0, 1).reshape(*x.shape[:-1], even)
    if even == weight.size(0):
        return out
    rest = F.linear(x, weight[even:], None if bias is None else bias[even:])
    return torch.cat([out, rest], dim=-1)
