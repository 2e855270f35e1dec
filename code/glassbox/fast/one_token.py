"""A decoder's step for one new token, without a module call for every operation.

The parameters, the kernels and the cache are those of the modules. What is saved is Python's own
share, which for a single token is most of the time that a small model takes.
"""

import math
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.nn.modules import module as every_module

from glassbox.attention.multi_head import MultiHeadAttention
from glassbox.cache import Cache, KeyValueCache
from glassbox.checks import check_bias, check_mask, check_same_memory
from glassbox.kernels import Answer, few_rows, kernel, observers
from glassbox.layers import DecoderLayer, Dropout, FeedForward, GatedFeedForward, LayerNorm, RMSNorm
from glassbox.positional import Rotation, rotate

#: The modules whose forward pass is written out here.
KNOWN = {
    *(DecoderLayer, MultiHeadAttention, FeedForward, GatedFeedForward, LayerNorm, RMSNorm),
    *(nn.Linear, Dropout, nn.ModuleList),
}


@kernel("Decoder.forward")
def _one_token(
    decoder: Any,
    x: Tensor,
    memory: Tensor | None = None,
    mask: Tensor | None = None,
    memory_mask: Tensor | None = None,
    *,
    bias: Tensor | None = None,
    rotation: Rotation | None = None,
    cache: Cache | None = None,
) -> Answer:
    """Pass one token through all layers, without a module call for every operation."""
    layers = decoder.layers
    if cache is None or not _applies(layers, x, cache):
        return NotImplemented
    n_heads = layers[0].self_attention.n_heads
    added = _added(mask, bias, (x.size(0), n_heads, 1, cache.length + 1), x)
    memory_added = None
    if memory is not None:
        kept = cache.layers[0].cross_attention
        check_same_memory(memory, kept.key)
        memory_added = _added(memory_mask, None, (x.size(0), n_heads, 1, kept.length), x)
    start = cache.length
    try:
        for layer, of_layer in zip(layers, cache, strict=True):
            y = layer.attention_norm(x) if layer.norm_first else x
            y = x + _attend(layer.self_attention, y, of_layer.self_attention, added, rotation)
            x = y if layer.norm_first else layer.attention_norm(y)
            if layer.cross_attention is not None:
                y = layer.cross_attention_norm(x) if layer.norm_first else x
                y = x + _look_up(layer.cross_attention, y, of_layer.cross_attention, memory_added)
                x = y if layer.norm_first else layer.cross_attention_norm(y)
            y = layer.feed_forward_norm(x) if layer.norm_first else x
            y = x + _transform(layer.feed_forward, y)
            x = y if layer.norm_first else layer.feed_forward_norm(y)
    except Exception:
        cache.crop(start)
        raise
    return x if decoder.norm is None else decoder.norm(x)


def _applies(layers: nn.ModuleList, x: Tensor, cache: Cache) -> bool:
    """Whether this gives what the layers give, and nobody would miss their calls.

    It does for a single token behind others, where no gradient is wanted, nothing is dropped,
    nobody looks, no hook waits for a call, and no module was put in the place of one of ours.
    """
    if x.dim() != 3 or x.size(1) != 1 or not cache.length or len(cache) != len(layers):
        return False
    if layers.training or torch.is_grad_enabled() or torch.compiler.is_compiling():
        return False
    if observers.get() or every_module._global_forward_hooks:
        return False
    if every_module._global_forward_pre_hooks:
        return False
    return all(
        type(part) in KNOWN and not part._forward_hooks and not part._forward_pre_hooks
        for part in layers.modules()
    )


def _attend(
    attention: MultiHeadAttention,
    x: Tensor,
    kept: KeyValueCache,
    added: Tensor | None,
    rotation: Rotation | None,
) -> Tensor:
    """Self-attention to what is kept and to itself."""
    query = _heads(attention.query, x, attention.n_heads)
    key = _heads(attention.key, x, attention.n_kv_heads)
    value = _heads(attention.value, x, attention.n_kv_heads)
    if rotation is not None:
        query, key = rotate(query, rotation), rotate(key, rotation)
    return _average(attention, query, *kept.append(key, value), added)


def _look_up(
    attention: MultiHeadAttention, x: Tensor, kept: KeyValueCache, added: Tensor | None
) -> Tensor:
    """Cross-attention to the memory."""
    query = _heads(attention.query, x, attention.n_heads)
    return _average(attention, query, kept.key, kept.value, added)


def _average(
    attention: MultiHeadAttention, query: Tensor, key: Tensor, value: Tensor, added: Tensor | None
) -> Tensor:
    context = F.scaled_dot_product_attention(
        query,
        key,
        value,
        attn_mask=added,
        scale=attention.scale,
        enable_gqa=attention.n_heads != attention.n_kv_heads,
    )
    output = attention.output
    return few_rows(context.view(context.size(0), 1, -1), output.weight, output.bias)


def _transform(network: FeedForward | GatedFeedForward, x: Tensor) -> Tensor:
    expand, contract = network.expand, network.contract
    hidden = few_rows(x, expand.weight, expand.bias)
    if isinstance(network, GatedFeedForward):
        gate = few_rows(x, network.gate.weight, network.gate.bias)
        hidden = network.activation(gate) * hidden
    else:
        hidden = network.activation(hidden)
    return few_rows(hidden, contract.weight, contract.bias)


def _heads(linear: nn.Linear, x: Tensor, n_heads: int) -> Tensor:
    # One position: there is nothing to transpose.
    return few_rows(x, linear.weight, linear.bias).view(x.size(0), n_heads, 1, -1)


def _added(
    mask: Tensor | None, bias: Tensor | None, scores_shape: tuple[int, ...], x: Tensor
) -> Tensor | None:
    """Return mask and bias in one, once for all layers."""
    if mask is not None:
        check_mask(mask, scores_shape, x.device)
    if bias is not None:
        check_bias(bias, scores_shape, x.device)
        bias = bias.to(x.dtype)
        mask = bias if mask is None else bias.masked_fill(~mask, -math.inf)
    return None if mask is None else mask[(None,) * (4 - mask.dim())]
