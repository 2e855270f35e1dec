"""What does not fit is refused, with what was given, what was expected and how to mend it."""

import re
from collections.abc import Callable
from functools import partial

import numpy as np
import pytest
import torch

from glassbox import (
    MultiHeadAttention,
    additive_attention,
    causal_mask,
    dot_product_scores,
    masked_softmax,
    padding_mask,
    scaled_dot_product_attention,
)
from glassbox.around import Around
from glassbox.attention import additive_scores
from glassbox.cache import Cache, KeyValueCache
from glassbox.config import StackConfig
from glassbox.layers import (
    DecoderLayer,
    EncoderLayer,
    FeedForward,
    GatedFeedForward,
    LayerNorm,
    RMSNorm,
    layer_norm,
    rms_norm,
)
from glassbox.positional import RotaryPositions, interleaved_to_half
from glassbox.transformer import Decoder, Encoder, Transformer, TransformerConfig
from tests.machines import config_of, make


def zeros(*shape, **options):
    return torch.zeros(shape, **options)


def with_a_wide_shift(norm):
    norm.bias.data = norm.bias.data.double()
    return norm


def attend(query=(2, 5, 8), key=(2, 7, 8), value=(2, 7, 8), mask=None, **options):
    tensors = [t if isinstance(t, torch.Tensor) else zeros(*t) for t in (query, key, value)]
    return scaled_dot_product_attention(tensors[0], tensors[1], tensors[2], mask, **options)


def attend_with_heads(query=(2, 5, 8), key=None, value=None, mask=None, causal=False, **options):
    tensors = [zeros(*t) if isinstance(t, tuple) else t for t in (query, key, value)]
    return MultiHeadAttention(8, 2)(
        tensors[0], tensors[1], tensors[2], mask, causal=causal, around=Around(**options)
    )


def attend_additively(query_weight=(3, 8), key_weight=(3, 8), score_weight=(3,), **options):
    query, key = options.get("query", zeros(2, 5, 8)), options.get("key", zeros(2, 7, 8))
    w, u, v = (
        zeros(*shape) if isinstance(shape, tuple) else shape
        for shape in (query_weight, key_weight, score_weight)
    )
    return additive_attention(query, key, zeros(2, 7, 8), w, u, v)


ADDITIVE = zeros(3, 8), zeros(3, 8), zeros(3)


def ids(*rows, **options):
    return torch.tensor(rows, **options)


def translate(source=None, target=None, kind="two vocabularies, rotary", **masks):
    """Run a model that knows 19 words of the source and 13 of the target."""
    source = ids([1, 2, 3], [4, 5, 6]) if source is None else source
    target = ids([1, 2], [3, 4]) if target is None else target
    return make(kind)(source, target, **masks)


def write(target=None, memory=(2, 3, 16), cache=None, kind="the paper's", **options):
    """Let a model write, with or without a cache."""
    target = ids([1, 2], [3, 4]) if target is None else target
    memory = zeros(*memory) if isinstance(memory, tuple) else memory
    return make(kind).decode(target, memory, cache=cache, **options)


def go_on(first, then, max_len=4, **options):
    """Write in two steps with one cache."""
    cache = Cache(2, max_len)
    write(cache=cache, **first)
    return write(cache=cache, **options, **then)


def keep(*steps, max_len=4):
    """Append keys and values of these shapes."""
    cache = KeyValueCache(max_len)
    for key, value in steps:
        cache.append(zeros(*key), zeros(*value))
    return cache


def keep_then(tensor):
    cache = keep(((2, 1, 2, 4), (2, 1, 2, 4)))
    return cache.append(tensor, tensor)


def decode_alone(memory=None, **options):
    layer = DecoderLayer(StackConfig(8, 2, 1, 16), **options)
    return layer(zeros(2, 5, 8), memory)


# What is tried: (the attempt, the error, what its message must hold).
HEADS = {
    "heads that do not divide the width": (
        lambda: MultiHeadAttention(10, 3),
        ValueError,
        ["d_model=10", "n_heads=3", "choose n_heads among the divisors of 10"],
    ),
    "no heads": (lambda: MultiHeadAttention(8, 0), ValueError, ["n_heads=0", "at least 1"]),
    "negative heads": (lambda: MultiHeadAttention(8, -2), ValueError, ["n_heads=-2", "at least 1"]),
    "no width": (lambda: MultiHeadAttention(0, 1), ValueError, ["d_model=0", "at least 1"]),
    "a layer whose heads do not divide": (
        lambda: EncoderLayer(StackConfig(16, 5, 1, 32)),
        ValueError,
        ["d_model=16", "n_heads=5"],
    ),
}
HEADS |= {
    "shared heads that do not divide the others": (
        lambda: MultiHeadAttention(12, 4, n_kv_heads=3),
        ValueError,
        ["n_kv_heads=3", "n_heads=4", "an equal number of query heads"],
    ),
    "more heads of keys than of queries": (
        lambda: MultiHeadAttention(12, 4, n_kv_heads=8),
        ValueError,
        ["n_kv_heads=8", "n_heads=4"],
    ),
    "no heads of keys": (
        lambda: MultiHeadAttention(12, 4, n_kv_heads=0),
        ValueError,
        ["n_kv_heads=0", "at least 1"],
    ),
    "negative heads of keys": (
        lambda: MultiHeadAttention(12, 4, n_kv_heads=-2),
        ValueError,
        ["n_kv_heads=-2"],
    ),
    "heads of no width": (lambda: MultiHeadAttention(8, 2, d_k=0), ValueError, ["d_k=0"]),
}
SHAPES = {
    "a query narrower than the keys": (
        lambda: attend(query=(2, 5, 4)),
        ValueError,
        ["query of width 4", "key of width 8", "project both to one width"],
    ),
    "keys without values": (
        lambda: attend(value=(2, 6, 8)),
        ValueError,
        ["7 keys", "6 values", "pairs", "(2, 6, 8)"],
    ),
    "another number of texts": (
        lambda: attend(query=(3, 5, 8)),
        ValueError,
        ["(3, 5, 8)", "(2, 7, 8)", "axes before the last two differ"],
    ),
    "a value of another text": (
        lambda: attend(value=(1, 7, 8)),
        ValueError,
        ["(2, 7, 8)", "(1, 7, 8)", "axes before the last two differ"],
    ),
    "another number of axes": (
        lambda: attend(key=(7, 8), value=(7, 8)),
        ValueError,
        ["(2, 5, 8)", "(7, 8)", "axes before the last two differ"],
    ),
    "a single vector": (
        lambda: attend(query=(8,)),
        ValueError,
        ["(8,)", "a length and a width", "(..., q_len, d_k)"],
    ),
    "a number": (lambda: attend(value=()), ValueError, ["value ()", "a length and a width"]),
    "no queries": (lambda: attend(query=(2, 0, 8)), ValueError, ["(2, 0, 8)", "an axis is empty"]),
    "no keys": (
        lambda: attend(key=(2, 0, 8), value=(2, 0, 8)),
        ValueError,
        ["(2, 0, 8)", "an axis is empty"],
    ),
    "queries and keys of no width": (
        lambda: attend(query=(2, 5, 0), key=(2, 7, 0)),
        ValueError,
        ["(2, 5, 0)", "an axis is empty"],
    ),
    "values of no width": (lambda: attend(value=(2, 7, 0)), ValueError, ["(2, 7, 0)", "empty"]),
    "additive queries of no width": (
        lambda: attend_additively(query=zeros(2, 5, 0)),
        ValueError,
        ["(2, 5, 0)", "an axis is empty"],
    ),
    "additive keys of no width": (
        lambda: attend_additively(key=zeros(2, 7, 0)),
        ValueError,
        ["(2, 7, 0)", "an axis is empty"],
    ),
    "a width the attention was not built for": (
        lambda: attend_with_heads(query=(2, 5, 6)),
        ValueError,
        ["query has shape (2, 5, 6)", "(batch, length, 8)", "d_model"],
    ),
    "a memory of another width": (
        lambda: attend_with_heads(key=(2, 5, 12)),
        ValueError,
        ["key has shape (2, 5, 12)", "(batch, length, 8)"],
    ),
    "a text without the batch axis": (
        lambda: attend_with_heads(query=(5, 8)),
        ValueError,
        ["query has shape (5, 8)", "(batch, length, 8)"],
    ),
    "a memory of other texts": (
        lambda: attend_with_heads(key=(3, 5, 8)),
        ValueError,
        ["(2, 5, 8)", "(3, 5, 8)", "axes before the last two differ"],
    ),
    "a memory without tokens": (
        lambda: attend_with_heads(key=(2, 0, 8)),
        ValueError,
        ["(2, 0, 8)", "an axis is empty"],
    ),
    "as many values as queries, not keys": (
        lambda: attend_with_heads(key=(2, 7, 8), value=(2, 5, 8)),
        ValueError,
        ["7 keys", "5 values"],
    ),
    "a projection for queries of another width": (
        lambda: attend_additively(query_weight=(3, 9)),
        ValueError,
        ["query_weight has shape (3, 9)", "(3, 8)", "as many columns as the query is wide"],
    ),
    "projections to different widths": (
        lambda: attend_additively(key_weight=(4, 8)),
        ValueError,
        ["key_weight has shape (4, 8)", "(3, 8)", "as many rows as score_weight"],
    ),
    "a matrix where the score's vector belongs": (
        lambda: attend_additively(score_weight=(3, 1)),
        ValueError,
        ["score_weight has shape (3, 1)", "(d_hidden,)"],
    ),
    "additive keys without values": (
        lambda: attend_additively(key=zeros(2, 6, 8)),
        ValueError,
        ["6 keys", "7 values"],
    ),
    "a norm of another width": (
        lambda: LayerNorm(8)(zeros(2, 7)),
        ValueError,
        ["x (2, 7)", "(..., 8)", "d_model of this norm"],
    ),
    "a norm of an array": (
        lambda: LayerNorm(8)(np.zeros((2, 8), np.float32)),
        TypeError,
        ["x is of type ndarray", "torch.as_tensor(x)"],
    ),
    "a scale wider than what it scales": (
        lambda: layer_norm(zeros(2, 1), zeros(8), zeros(8)),
        ValueError,
        ["(2, 1)", "weight (8,)", "(..., 8)"],
    ),
    "a shift of another width": (
        lambda: layer_norm(zeros(2, 8), zeros(8), zeros(1)),
        ValueError,
        ["(2, 8)", "bias (1,)", "(8,)"],
    ),
    "a shift of another precision": (
        lambda: layer_norm(zeros(2, 8), zeros(8), zeros(8, dtype=torch.float64)),
        ValueError,
        ["bias is torch.float64", "torch.float32"],
    ),
    "a norm whose shift has another precision": (
        lambda: with_a_wide_shift(LayerNorm(8))(zeros(2, 8)),
        ValueError,
        ["bias is torch.float64", "torch.float32"],
    ),
    "pairs of no heads": (
        lambda: interleaved_to_half(zeros(8), dim=0, n_heads=0),
        ValueError,
        ["n_heads=0", "at least 1"],
    ),
    "a network of another width": (
        lambda: FeedForward(8, 16)(zeros(2, 7)),
        RuntimeError,
        ["2x7", "8x16"],
    ),
    "an encoder of another width": (
        lambda: Encoder(StackConfig(8, 2, 1, 16))(zeros(2, 5, 6)),
        ValueError,
        ["(2, 5, 6)", "(batch, length, 8)"],
    ),
}
SHAPES |= {
    "a root mean square of another width": (
        lambda: RMSNorm(8)(zeros(2, 7)),
        ValueError,
        ["x (2, 7)", "(..., 8)", "d_model of this norm"],
    ),
    "a scale that is wider than its input": (
        lambda: rms_norm(zeros(2, 1), zeros(8)),
        ValueError,
        ["(2, 1)", "weight (8,)", "(..., 8)"],
    ),
    "a decoder of another width": (
        lambda: Decoder(StackConfig(8, 2, 1, 16), cross_attention=False)(zeros(2, 5, 6)),
        ValueError,
        ["(2, 5, 6)", "(batch, length, 8)"],
    ),
    "more queries than keys where none may look ahead": (
        lambda: attend_with_heads(key=(2, 3, 8), causal=True),
        ValueError,
        ["k_len=3", "q_len=5", "at least as many keys as queries"],
    ),
    "turns of another length": (
        lambda: attend_with_heads(rotation=RotaryPositions(4).rotation(torch.arange(3))),
        ValueError,
        ["(2, 2, 5, 4)", "(3, 4)"],
    ),
    "turns of another width": (
        lambda: attend_with_heads(rotation=RotaryPositions(6).rotation(torch.arange(5))),
        ValueError,
        ["(2, 2, 5, 4)", "(5, 6)"],
    ),
}
KINDS = {
    "a list for a layer norm": (
        lambda: layer_norm([[1.0, 2.0]], zeros(2), zeros(2)),  # type: ignore[arg-type]
        TypeError,
        ["x is of type list", "torch.as_tensor(x)"],
    ),
    "a list for the shift of a norm": (
        lambda: layer_norm(zeros(1, 2), zeros(2), [0.0, 0.0]),  # type: ignore[arg-type]
        TypeError,
        ["bias is of type list", "torch.as_tensor(bias)"],
    ),
    "a list for the scale of a root mean square": (
        lambda: rms_norm(zeros(1, 2), [1.0, 1.0]),  # type: ignore[arg-type]
        TypeError,
        ["weight is of type list", "torch.as_tensor(weight)"],
    ),
    "single and double precision": (
        lambda: attend(key=zeros(2, 7, 8, dtype=torch.float64)),
        ValueError,
        ["dtype", "torch.float32, torch.float64", "key.to(query)"],
    ),
    "whole numbers": (
        lambda: attend(*(zeros(2, 5, 8, dtype=torch.int64) for _ in range(3))),
        TypeError,
        ["torch.int64", "torch.float32", ".float()"],
    ),
    "half precision where the weights are single": (
        lambda: attend_with_heads(query=zeros(2, 5, 8, dtype=torch.float16)),
        ValueError,
        ["query is torch.float16", "are torch.float32", ".to(torch.float32)"],
    ),
    "a memory in double precision": (
        lambda: attend_with_heads(key=zeros(2, 5, 8, dtype=torch.float64)),
        ValueError,
        ["key is torch.float64", "are torch.float32", ".to(torch.float32)"],
    ),
    "a list of vectors": (
        lambda: scaled_dot_product_attention([[1.0]], zeros(1, 1), zeros(1, 1)),  # type: ignore[arg-type]
        TypeError,
        ["query is of type list", "torch.as_tensor(query)"],
    ),
    "an array of vectors": (
        lambda: attend_with_heads(key=np.ones((2, 5, 8), dtype=np.float32)),
        TypeError,
        ["key is of type ndarray", "torch.as_tensor(key)"],
    ),
    "lists to score": (
        lambda: dot_product_scores([[1.0]], zeros(1, 1)),  # type: ignore[arg-type]
        TypeError,
        ["query is of type list", "torch.as_tensor(query)"],
    ),
    "whole numbers as scores": (
        lambda: masked_softmax(torch.tensor([[1, 2, 3]])),
        TypeError,
        ["scores is torch.int64", "scores.float()"],
    ),
    "a mask of ones and zeros for scores": (
        lambda: masked_softmax(zeros(2, 3), torch.ones(2, 3)),
        TypeError,
        ["mask is torch.float32", "mask.bool()"],
    ),
    "a mask of other lengths without a batch": (
        lambda: scaled_dot_product_attention(
            zeros(2, 8), zeros(3, 8), zeros(3, 8), torch.ones(5, 5, dtype=torch.bool)
        ),
        ValueError,
        ["mask has shape (5, 5)", "(2, 3), (..., q_len, k_len)"],
    ),
    "a mask of more queries than the scores": (
        lambda: masked_softmax(zeros(1, 3), torch.ones(2, 3, dtype=torch.bool)),
        ValueError,
        ["mask has shape (2, 3)", "(1, 3)"],
    ),
    "an additive projection in double precision": (
        lambda: attend_additively(key_weight=zeros(3, 8, dtype=torch.float64)),
        ValueError,
        ["query is torch.float32", "are torch.float64", ".to(torch.float64)"],
    ),
    "additive keys in double precision": (
        lambda: additive_scores(zeros(5, 8), zeros(7, 8).double(), *ADDITIVE),
        ValueError,
        ["key is torch.float64", "torch.float32"],
    ),
    "a single additive query": (
        lambda: additive_scores(zeros(8), zeros(7, 8), *ADDITIVE),
        ValueError,
        ["query has shape (8,)", "query[None]"],
    ),
    "a score's vector elsewhere": (
        lambda: attend_additively(score_weight=zeros(3, device="meta")),
        ValueError,
        ["query is on cpu", "on meta", ".to('meta')"],
    ),
    "a list as a score's vector": (
        lambda: attend_additively(score_weight=[0.0] * 3),
        TypeError,
        ["score_weight is of type list", "torch.as_tensor(score_weight)"],
    ),
    "half a head": (
        lambda: MultiHeadAttention(8, 2.5),  # type: ignore[arg-type]
        TypeError,
        ["n_heads is of type float, 2.5", "a whole number"],
    ),
    "a scale of nothing": (lambda: attend(scale=0.0), ValueError, ["scale=0.0", "more than 0"]),
    "an endless scale": (lambda: attend(scale=np.inf), ValueError, ["scale=inf", "and finite"]),
    "a negative scale for all heads": (
        lambda: MultiHeadAttention(8, 2, scale=-1.0),
        ValueError,
        ["scale=-1.0", "more than 0"],
    ),
    "queries elsewhere": (
        lambda: attend(query=zeros(2, 5, 8, device="meta")),
        ValueError,
        ["device", "meta, cpu, cpu", "key.to(query)"],
    ),
    "inputs elsewhere than the weights": (
        lambda: attend_with_heads(query=zeros(2, 5, 8, device="meta")),
        ValueError,
        ["query is on meta", "on cpu", ".to('cpu')"],
    ),
    "a memory elsewhere": (
        lambda: attend_with_heads(key=zeros(2, 5, 8, device="meta")),
        ValueError,
        ["key is on meta", "on cpu", ".to('cpu')"],
    ),
}
MASKS = {
    "a mask of ones and zeros": (
        lambda: attend(mask=torch.ones(5, 7)),
        TypeError,
        ["torch.float32", "torch.bool", "mask.bool()", "mask == 0"],
    ),
    "a mask of integers": (
        lambda: attend(mask=torch.ones(5, 7, dtype=torch.int64)),
        TypeError,
        ["torch.int64", "torch.bool", "mask.bool()"],
    ),
    "a list as mask": (
        lambda: attend(mask=[[True] * 7] * 5),
        TypeError,
        ["mask is of type list", "torch.bool"],
    ),
    "False as mask": (
        lambda: attend(mask=False),
        TypeError,
        ["mask is of type bool", ".bool"],
    ),
    "a float mask in the fused pass": (
        lambda: attend_with_heads(mask=zeros(5, 5)),
        TypeError,
        ["torch.float32", "torch.bool"],
    ),
    "a mask with its axes swapped": (
        lambda: attend(mask=torch.ones(7, 5).bool()),
        ValueError,
        ["(7, 5)", "(2, 5, 7)", "(..., q_len, k_len)"],
    ),
    "a mask with too many axes": (
        lambda: attend(mask=torch.ones(1, 2, 5, 7).bool()),
        ValueError,
        ["(1, 2, 5, 7)", "(2, 5, 7)"],
    ),
    "a mask of keys without its two axes": (
        lambda: attend_with_heads(mask=torch.ones(2, 5).bool()),
        ValueError,
        ["(2, 5)", "(2, 2, 5, 5)", "mask[:, None, None, :]"],
    ),
    "a mask for another number of heads": (
        lambda: attend_with_heads(mask=torch.ones(2, 3, 5, 5).bool()),
        ValueError,
        ["(2, 3, 5, 5)", "(2, 2, 5, 5)"],
    ),
    "a mask elsewhere": (
        lambda: attend(mask=torch.ones(5, 7, device="meta").bool()),
        ValueError,
        ["mask is on meta", "queries are on cpu", "mask.to('cpu')"],
    ),
    "a causal mask without queries": (
        lambda: causal_mask(0),
        ValueError,
        ["q_len=0", "at least one"],
    ),
    "a causal mask of half a length": (
        lambda: causal_mask(3.0),  # type: ignore[arg-type]
        TypeError,
        ["q_len is of type float, 3.0", "a whole number"],
    ),
    "a causal mask of a truth value": (lambda: causal_mask(True), TypeError, ["q_len is of type"]),
    "a causal mask over letters": (
        lambda: causal_mask(3, "3"),  # type: ignore[arg-type]
        TypeError,
        ["k_len is of type str, '3'", "a whole number"],
    ),
    "a causal mask of negative length": (lambda: causal_mask(-3), ValueError, ["q_len=-3"]),
    "fewer keys than queries": (
        lambda: causal_mask(5, 3),
        ValueError,
        ["k_len=3", "q_len=5", "at least as many keys as queries"],
    ),
    "padding of a single text": (
        lambda: padding_mask(torch.ones(5, dtype=torch.int64), 0),
        ValueError,
        ["(5,)", "(batch, k_len)", "token_ids[None]"],
    ),
    "padding of embeddings": (
        lambda: padding_mask(torch.ones(2, 5, 8), 0),
        ValueError,
        ["(2, 5, 8)", "(batch, k_len)"],
    ),
    "padding of a list of ids": (
        lambda: padding_mask([[1, 0]], 0),  # type: ignore[arg-type]
        TypeError,
        ["token_ids is of type list", "torch.as_tensor(token_ids)"],
    ),
    "padding with no id of its own": (
        lambda: padding_mask(ids([1, 0]), None),  # type: ignore[arg-type]
        TypeError,
        ["pad_id is of type NoneType, None", "a whole number"],
    ),
}
BIASES = {
    "a mask in the place of a bias": (
        lambda: attend(bias=torch.ones(5, 7).bool()),
        TypeError,
        ["bias is torch.bool", "floating-point", "is a mask"],
    ),
    "a boolean bias with heads": (
        lambda: attend_with_heads(bias=torch.ones(5, 5).bool()),
        TypeError,
        ["bias is torch.bool", "floating-point"],
    ),
    "a bias of whole numbers": (
        lambda: attend_with_heads(bias=torch.ones(5, 5, dtype=torch.int64)),
        TypeError,
        ["bias is torch.int64", "floating-point"],
    ),
    "a number as bias": (
        lambda: attend_with_heads(bias=1.0),
        TypeError,
        ["bias is of type float", "floating-point"],
    ),
    "a bias with its axes swapped": (
        lambda: attend(bias=torch.ones(7, 5)),
        ValueError,
        ["bias has shape (7, 5)", "(2, 5, 7)"],
    ),
    "a bias for another number of heads": (
        lambda: attend_with_heads(bias=torch.ones(3, 5, 5)),
        ValueError,
        ["bias has shape (3, 5, 5)", "(2, 2, 5, 5)"],
    ),
    "a bias elsewhere": (
        lambda: attend_with_heads(bias=zeros(5, 5, device="meta")),
        ValueError,
        ["bias is on meta", "queries are on cpu", "bias.to('cpu')"],
    ),
}
MEMORIES = {
    "a decoder layer without the memory it looks at": (
        decode_alone,
        ValueError,
        ["has cross-attention", "needs a memory, the encoder's output"],
    ),
    "a memory that nobody looks at": (
        lambda: decode_alone(zeros(2, 7, 8), cross_attention=False),
        ValueError,
        ["(2, 7, 8)", "no cross-attention", "cross_attention=True"],
    ),
    "a memory of another width than the decoder": (
        lambda: decode_alone(zeros(2, 7, 6)),
        ValueError,
        ["key has shape (2, 7, 6)", "(batch, length, 8)"],
    ),
    "a memory of other texts than the decoder's": (
        lambda: decode_alone(zeros(3, 7, 8)),
        ValueError,
        ["(2, 5, 8)", "(3, 7, 8)"],
    ),
    "ids in the place of the memory": (
        lambda: write(memory=ids([1, 2, 3], [4, 5, 6])),
        ValueError,
        ["key has shape (2, 3)", "(batch, length, 16)"],
    ),
    "no memory to write from": (lambda: write(memory=None), ValueError, ["needs a memory"]),
    "a memory without words": (
        lambda: write(memory=(2, 0, 16)),
        ValueError,
        ["(2, 0, 16)", "an axis is empty"],
    ),
    "another memory in a later step": (
        lambda: go_on({}, {"target": ids([1], [2]), "memory": (2, 5, 16)}),
        ValueError,
        ["(2, 5, 16)", "2 texts with 3 positions", "new cache for a new memory"],
    ),
    "another number of texts in a later step": (
        lambda: go_on({}, {"target": ids([1]), "memory": (1, 3, 16)}),
        ValueError,
        ["(1, 4, 1, 4)", "(2, 4, 1, 4)", "one model and one batch"],
    ),
    "a memory mask of the target's length": (
        lambda: write(memory_mask=torch.ones(2, 1, 1, 2).bool()),
        ValueError,
        ["(2, 1, 1, 2)", "(2, 4, 2, 3)"],
    ),
    "a mask that leaves out what is in the cache": (
        lambda: go_on({}, {"target": ids([1], [2])}, mask=torch.ones(2, 1, 1, 2, dtype=torch.bool)),
        ValueError,
        ["(2, 1, 1, 2)", "(2, 4, 1, 3)"],
    ),
}
CACHES = {
    "a cache for nothing": (lambda: KeyValueCache(0), ValueError, ["max_len=0", "at least 1"]),
    "a model's cache for nothing": (
        lambda: make("the paper's").new_cache(-1),
        ValueError,
        ["max_len=-1", "at least 1"],
    ),
    "a cache for no layers": (lambda: Cache(0, 4), ValueError, ["n_layers=0", "at least 1"]),
    "the keys of an empty cache": (
        lambda: KeyValueCache(4).key,
        ValueError,
        ["the cache is empty", "after the first step"],
    ),
    "the values of an empty cache": (lambda: KeyValueCache(4).value, ValueError, ["is empty"]),
    "a first step longer than the cache": (
        lambda: keep(((2, 1, 5, 4), (2, 1, 5, 4))),
        ValueError,
        ["5 positions", "max_len=4", "make it longer"],
    ),
    "a step more than a cache holds": (
        lambda: keep(*[((2, 1, 2, 4), (2, 1, 2, 4))] * 3),
        ValueError,
        ["6 positions", "max_len=4"],
    ),
    "a text longer than the model's cache": (
        lambda: go_on({}, {"target": ids([1] * 3, [2] * 3)}),
        ValueError,
        ["5 positions", "max_len=4"],
    ),
    "keys of other heads": (
        lambda: keep(((2, 1, 2, 4), (2, 1, 2, 4)), ((2, 3, 1, 4), (2, 3, 1, 4))),
        ValueError,
        ["new keys have shape (2, 3, 1, 4)", "(2, 1, 1, 4)", "one model and one batch"],
    ),
    "values of another width": (
        lambda: keep(((2, 1, 2, 4), (2, 1, 2, 4)), ((2, 1, 1, 4), (2, 1, 1, 5))),
        ValueError,
        ["new values have shape (2, 1, 1, 5)", "(2, 1, 1, 4)"],
    ),
    "fewer values than keys": (
        lambda: keep(((2, 1, 2, 4), (2, 1, 1, 4))),
        ValueError,
        ["new values have shape (2, 1, 1, 4)", "(2, 1, 2, 4)"],
    ),
    "keys of another precision": (
        lambda: keep_then(zeros(2, 1, 1, 4, dtype=torch.float64)),
        ValueError,
        ["new keys are torch.float64", "torch.float32"],
    ),
    "keys from elsewhere": (
        lambda: keep_then(zeros(2, 1, 1, 4, device="meta")),
        ValueError,
        ["new keys", "on meta", "on cpu"],
    ),
    "more forgotten than there is": (
        lambda: keep(((2, 1, 2, 4), (2, 1, 2, 4))).crop(3),
        ValueError,
        ["length=3", "holds 2 positions"],
    ),
    "a negative length left": (
        lambda: keep(((2, 1, 2, 4), (2, 1, 2, 4))).crop(-1),
        ValueError,
        ["length=-1", "holds 2 positions"],
    ),
    "a model's cache cropped to more than was read": (
        lambda: Cache(2, 4).crop(1),
        ValueError,
        ["length=1", "holds 0 positions"],
    ),
    "the cache of a deeper model": (
        lambda: write(cache=Cache(3, 4)),
        ValueError,
        ["the cache has 3 layers", "this decoder 2", "new_cache(max_len)"],
    ),
    "rows in a list": (
        lambda: keep(((2, 1, 2, 4), (2, 1, 2, 4))).reorder([1, 0]),
        TypeError,
        ["rows is of type list", "torch.as_tensor(rows)"],
    ),
    "rows as a mask": (
        lambda: keep(((2, 1, 2, 4), (2, 1, 2, 4))).reorder(torch.tensor([True, False])),
        TypeError,
        ["rows is torch.bool", "integers, the rows to keep"],
    ),
    "rows that are not there": (
        lambda: keep(((2, 1, 2, 4), (2, 1, 2, 4))).reorder(torch.tensor([0, 2])),
        (IndexError, RuntimeError),
        ["out of"],
    ),
}
IDS = {
    "a word that the source's vocabulary does not have": (
        lambda: translate(source=ids([1, 19], [2, 3])),
        ValueError,
        ["source_ids runs from 1 to 19", "knows 0 to 18"],
    ),
    "a source word in the target": (
        lambda: translate(target=ids([1, 13], [2, 3])),
        ValueError,
        ["target_ids runs from 1 to 13", "knows 0 to 12"],
    ),
    "a negative id": (
        lambda: translate(source=ids([1, -100])),
        ValueError,
        ["source_ids runs from -100 to 1", "0 to 18"],
    ),
    "ids that are numbers of another kind": (
        lambda: translate(source=zeros(2, 3)),
        TypeError,
        ["source_ids is torch.float32", "torch.int64"],
    ),
    "a list of ids": (
        lambda: translate(target=[[1, 2]]),
        TypeError,
        ["target_ids is of type list", "torch.int64"],
    ),
    "a text instead of ids": (
        lambda: translate(source="a b"),
        TypeError,
        ["of type str", "int64"],
    ),
    "one text without its batch": (
        lambda: translate(source=torch.tensor([1, 2])),
        ValueError,
        ["source_ids has shape (2,)", "(batch, length)"],
    ),
    "a source without words": (
        lambda: translate(source=torch.ones(2, 0, dtype=torch.int64)),
        ValueError,
        ["source_ids has shape (2, 0)", "at least one token"],
    ),
    "a target without words": (
        lambda: translate(target=torch.ones(2, 0, dtype=torch.int64)),
        ValueError,
        ["target_ids has shape (2, 0)", "at least one token"],
    ),
    "no texts": (
        lambda: translate(source=torch.ones(0, 3, dtype=torch.int64)),
        ValueError,
        ["source_ids has shape (0, 3)"],
    ),
    "ids elsewhere": (
        lambda: translate(source=zeros(2, 3, dtype=torch.int64, device="meta")),
        ValueError,
        ["source_ids is on meta", "the model is on cpu", ".to('cpu')"],
    ),
    "fewer targets than sources": (
        lambda: translate(target=ids([1, 2, 3])),
        ValueError,
        ["(1, 3, 16)", "(2, 3, 16)", "axes before the last two differ"],
    ),
    "a text longer than the learned positions": (
        lambda: translate(source=torch.ones(2, 41, dtype=torch.int64), kind="pre-norm, learned"),
        ValueError,
        ["0 to 40", "this table has 40", "shorten the text"],
    ),
    "a source mask of ones and zeros": (
        lambda: translate(source_mask=torch.ones(2, 1, 1, 3)),
        TypeError,
        ["source_mask is torch.float32", "torch.bool", "source_mask.bool()"],
    ),
    "a target mask of the source's length": (
        lambda: translate(target_mask=torch.ones(2, 1, 1, 3).bool()),
        ValueError,
        ["target_mask has shape (2, 1, 1, 3)", "(2, 4, 2, 2)"],
    ),
    "positions that are no integers": (
        lambda: write(positions=torch.zeros(2, 2)),
        TypeError,
        ["positions is torch.float32", "integers"],
    ),
    "positions of another length": (
        lambda: write(positions=torch.zeros(2, 5, dtype=torch.int64)),
        ValueError,
        ["(2, 2, 16)", "(2, 5)"],
    ),
}
CONFIGURATIONS = {
    "heads": ({"d_model": 10, "n_heads": 3}, ["d_model=10", "n_heads=3"]),
    "no layers": ({"n_layers": 0}, ["n_layers=0", "at least 1"]),
    "no width inside": ({"d_ff": -1}, ["d_ff=-1", "at least 1"]),
    "everything dropped": ({"dropout": 1.0}, ["dropout=1.0", "less than 1"]),
    "negative dropout": ({"dropout": -0.1}, ["dropout=-0.1", "at least 0"]),
    "dropout that is no number": ({"dropout": float("nan")}, ["dropout=nan"]),
    "no epsilon": ({"norm_eps": 0.0}, ["norm_eps=0.0", "more than 0"]),
    "an unknown activation": (
        {"activation": "swish"},
        ["activation='swish'", "['gelu', 'gelu_tanh', 'relu', 'silu']"],
    ),
}
CONFIGURATIONS |= {
    "shared heads": ({"n_kv_heads": 3}, ["n_kv_heads=3", "n_heads=8"]),
    "no shared heads": ({"n_kv_heads": 0}, ["n_kv_heads=0"]),
    "heads of no width": ({"d_k": 0}, ["d_k=0", "at least 1"]),
    "heads for fewer layers": (
        {"n_heads": (8, 8)},
        ["n_heads=(8, 8)", "for 2 layers", "n_layers=6"],
    ),
    "heads for no layers": ({"n_heads": ()}, ["n_heads=()", "for 0 layers", "n_layers=6"]),
    "one layer whose heads do not divide": (
        {"n_heads": (8, 7), "n_layers": 2},
        ["d_model=512", "n_heads=7"],
    ),
    "one layer whose heads cannot be shared": (
        {"n_heads": (8, 2), "n_layers": 2, "n_kv_heads": 4},
        ["n_kv_heads=4", "n_heads=2"],
    ),
    "an unknown norm": ({"norm": "batch"}, ["norm='batch'", "['layer', 'rms']"]),
    "a scale of nothing": ({"scale": 0.0}, ["scale=0.0", "more than 0"]),
    "a scale that is no number": ({"scale": float("nan")}, ["scale=nan", "more than 0"]),
    "an endless scale": ({"scale": float("inf")}, ["scale=inf", "more than 0 and finite"]),
    "an endless epsilon": ({"norm_eps": float("inf")}, ["norm_eps=inf", "more than 0 and finite"]),
    "a negative epsilon": ({"norm_eps": -1e-5}, ["norm_eps=-1e-05", "more than 0"]),
}
TRANSFORMERS = {
    "no words": ({"vocab_size": 0}, ["vocab_size=0", "at least 1"]),
    "no words to write": ({"target_vocab_size": 0}, ["target_vocab_size=0", "at least 1"]),
    "no decoder": ({"n_decoder_layers": 0}, ["n_decoder_layers=0", "at least 1"]),
    "no positions to learn": ({"max_len": 0}, ["max_len=0", "at least 1"]),
    "padding outside the vocabulary": (
        {"pad_id": 37_000},
        ["pad_id=37000", "a vocabulary of 37000", "0 to 36999"],
    ),
    "a negative first word": ({"bos_id": -1}, ["bos_id=-1", "0 to 36999"]),
    "a last word that is the source's alone": (
        {"target_vocab_size": 10, "eos_id": 10},
        ["eos_id=10", "a vocabulary of 10"],
    ),
    "unknown positions": (
        {"positions": "absolute"},
        ["positions='absolute'", "'learned'", "'sinusoidal'"],
    ),
    "heads of a decoder with other layers": (
        {"n_heads": (4, 4), "n_layers": 2, "n_decoder_layers": 3},
        ["n_heads=(4, 4)", "n_layers=2", "n_decoder_layers=3"],
    ),
}
TRANSFORMERS |= {
    f"{positions} positions for layers that differ": (
        {"n_heads": (4, 2), "n_layers": 2, "positions": positions},
        [f"positions={positions!r}", "n_heads=(4, 2)", "'sinusoidal' or 'learned'"],
    )
    for positions in ("relative", "rotary", "alibi")
}
NO_NUMBERS = {
    "a list of heads": (
        {"n_heads": [8] * 6},
        ["n_heads is of type list, [8, 8, 8, 8, 8, 8]", "tuple(n_heads)"],
    ),
    "a width that is a fraction": (
        {"d_model": 64.0},
        ["d_model is of type float, 64.0", "a whole number"],
    ),
    "a text as number of layers": (
        {"n_layers": "5"},
        ["n_layers is of type str, '5'", "a whole number"],
    ),
    "a vocabulary that is a fraction": (
        {"vocab_size": 512.0},
        ["vocab_size is of type float, 512.0"],
    ),
    "no padding": ({"pad_id": None}, ["pad_id is of type NoneType, None", "a whole number"]),
    "no width between the two maps": ({"d_ff": None}, ["d_ff is of type NoneType, None"]),
    "a text as a switch": (
        {"norm_first": "false"},
        ["norm_first is of type str, 'false'", "True or False"],
    ),
    "a text as dropout": ({"dropout": "0.1"}, ["dropout is of type str, '0.1'", "a number"]),
    "one layer with half a head": (
        {"n_heads": (8, 2.5), "n_layers": 2},
        ["n_heads is of type float, 2.5"],
    ),
}
WHOLE = {
    "a preset of a field that is not there": (
        lambda: TransformerConfig.base(n_head=4),
        TypeError,
        ["TransformerConfig has no entry 'n_head'; there are: ['activation', ", "'n_heads'"],
    ),
    "a preset that contradicts itself": (
        lambda: TransformerConfig.big(n_heads=12),
        ValueError,
        ["d_model=1024", "n_heads=12"],
    ),
    "sinusoids of an odd width": (
        lambda: Transformer(config_of("the paper's", d_model=15, n_heads=3)),
        ValueError,
        ["d_model=15", "even", "a sine and a cosine"],
    ),
    "turns in heads of odd width": (
        lambda: Transformer(config_of("like LLaMA", d_k=5)),
        ValueError,
        ["d_k=5", "even", "turned in pairs"],
    ),
    "a gate of no known kind": (
        lambda: GatedFeedForward(8, 16, "swish"),
        ValueError,
        ["activation='swish'", "'silu'"],
    ),
}
CASES = HEADS | SHAPES | KINDS | MASKS | BIASES | MEMORIES | CACHES | IDS | WHOLE
CASES |= {
    f"configuration: {name}": (lambda sizes=sizes: StackConfig(**sizes), ValueError, says)
    for name, (sizes, says) in CONFIGURATIONS.items()
}
CASES |= {
    f"Transformer: {name}": (lambda sizes=sizes: TransformerConfig(**sizes), ValueError, says)
    for name, (sizes, says) in TRANSFORMERS.items()
}
CASES |= {
    f"Transformer: {name}": (lambda sizes=sizes: TransformerConfig(**sizes), TypeError, says)
    for name, (sizes, says) in NO_NUMBERS.items()
}
CASES["an unknown activation"] = (
    lambda: FeedForward(8, 16, "tanh"),
    ValueError,
    ["activation='tanh'", "['gelu', 'gelu_tanh', 'relu', 'silu']"],
)


@pytest.mark.usefixtures("as_a_reader")
@pytest.mark.parametrize(("attempt", "error", "says"), CASES.values(), ids=CASES)
def test_refused_with_both_values(attempt, error, says):
    with pytest.raises(error) as caught:
        attempt()
    for part in says:
        assert part in str(caught.value)


# A model has four heads: which mask, of which shape, for how many texts of how many words, and what
# the message proposes.
SHORT_MASKS = {
    "keys or queries, as many texts as words": (
        *("source_mask", (3, 3), (3, 3)),
        ["source_mask[:, None, None, :]", "source_mask[None, None, :, :]"],
    ),
    "keys, more words than texts": (
        *("target_mask", (2, 3), (2, 3)),
        ["target_mask[:, None, None, :]"],
    ),
    "keys of the source": (
        *("memory_mask", (2, 3), (2, 3)),
        ["memory_mask[:, None, None, :]"],
    ),
    "a causal mask": (*("target_mask", (3, 3), (2, 3)), ["target_mask[None, None, :, :]"]),
    "queries and keys of each text": (
        *("source_mask", (2, 3, 3), (2, 3)),
        ["source_mask[:, None, :, :]"],
    ),
    "queries and keys, as many texts as heads": (
        *("source_mask", (4, 3, 3), (4, 3)),
        ["source_mask[:, None, :, :]", "source_mask[None, :, :, :]"],
    ),
    "keys of all texts": (
        *("source_mask", (3,), (2, 3)),
        ["source_mask[None, None, None, :]"],
    ),
    "keys of longer texts": (*("source_mask", (2, 4), (2, 3)), []),
    "five axes": (*("target_mask", (2, 1, 1, 1, 3), (2, 3)), []),
    "four axes of longer texts": (*("memory_mask", (2, 1, 1, 4), (2, 3)), []),
}


@pytest.mark.usefixtures("as_a_reader")
@pytest.mark.parametrize(
    ("name", "shape", "size", "proposed"), SHORT_MASKS.values(), ids=SHORT_MASKS
)
def test_a_model_says_which_mask_lacks_which_axes(name, shape, size, proposed):
    model, words = make("the paper's"), torch.ones(size, dtype=torch.int64)
    mask = {name: torch.ones(shape, dtype=torch.bool)}
    calls: dict[str, Callable[..., torch.Tensor]] = {
        "source_mask": partial(model, words, words),
        "target_mask": partial(model, words, words),
        "memory_mask": partial(model.decode, words, model.encode(words)),
    }
    with pytest.raises(ValueError, match=f"^{name} has shape") as caught:
        calls[name](**mask)
    assert str(shape) in str(caught.value)
    assert str((size[0], 4, size[1], size[1])) in str(caught.value)
    assert re.findall(r"\w+\[.*?\]", str(caught.value)) == proposed


@pytest.mark.usefixtures("as_a_reader")
@pytest.mark.parametrize("norm", ["layer", "rms"])
@pytest.mark.parametrize("norm_first", [False, True], ids=["post-norm", "pre-norm"])
def test_a_stack_refuses_another_precision_and_width_in_its_own_words(norm_first, norm):
    config = StackConfig(8, 2, 1, 16, norm=norm, norm_first=norm_first)
    for stack in (Encoder(config), Decoder(config, cross_attention=False)):
        for dtype in (torch.float16, torch.float64):
            with pytest.raises(ValueError, match=rf"is {dtype}, .* are torch.float32: convert it"):
                stack(zeros(2, 5, 8, dtype=dtype))
        with pytest.raises(ValueError, match=r"\(2, 5, 6\).* expected .* 8 is the d_model"):
            stack(zeros(2, 5, 6))


@pytest.mark.parametrize("kind", ["the paper's", "pre-norm, learned"])
def test_under_autocast_other_precisions_are_converted_not_refused(kind):
    model, words = make(kind), torch.ones(2, 3, dtype=torch.int64)
    with torch.autocast("cpu", torch.bfloat16):
        assert model(words, words).shape == (2, 3, 19)
        assert model.encoder(zeros(2, 3, 16, dtype=torch.bfloat16)).shape == (2, 3, 16)


@pytest.mark.slow  # `make unit` does without annotations
@pytest.mark.parametrize(
    "attempt",
    [
        lambda: attend(query=(2, 5, 4)),
        lambda: attend(value=(2, 6, 8)),
        lambda: attend(mask=torch.ones(5, 7)),
        lambda: attend_with_heads(query=(5, 8)),
        lambda: attend_with_heads(query=zeros(2, 5, 8, dtype=torch.int64)),
        lambda: padding_mask(torch.ones(2, 5), 0),
        lambda: layer_norm(zeros(2, 7), zeros(8), zeros(8)),
        lambda: FeedForward(8, 16)(zeros(2, 5, 8, dtype=torch.int64)),
        lambda: causal_mask("5"),  # type: ignore[arg-type]
    ],
)
def test_the_annotations_are_executed_in_tests(attempt):
    with pytest.raises(Exception, match="Type-check error") as caught:
        attempt()
    assert type(caught.value).__name__ == "TypeCheckError"


@pytest.mark.usefixtures("as_a_reader")
def test_the_smallest_that_fits_is_not_refused():
    assert MultiHeadAttention(1, 1)(zeros(1, 1, 1)).shape == (1, 1, 1)
    assert Encoder(StackConfig(1, 1, 1, 1, dropout=0.0))(zeros(1, 1, 1)).shape == (1, 1, 1)
    assert attend((1, 1), (1, 1), (1, 1), torch.tensor(True))[1].shape == (1, 1)
    assert attend((0, 5, 8), (0, 7, 8), (0, 7, 8))[1].shape == (0, 5, 7)  # no texts, no weights
    assert attend_additively()[1].shape == (2, 5, 7)
    assert causal_mask(1).shape == (1, 1)
    assert padding_mask(torch.ones(1, 1, dtype=torch.int64), 1).shape == (1, 1, 1, 1)
    assert MultiHeadAttention(4, 4, n_kv_heads=1, d_k=1)(zeros(1, 1, 4)).shape == (1, 1, 4)
    one = Decoder(StackConfig(1, 1, 1, 1, dropout=0.0))
    assert one(zeros(1, 1, 1), zeros(1, 1, 1), cache=Cache(1, 1)).shape == (1, 1, 1)
    smallest = TransformerConfig(2, 1, 1, 1, vocab_size=1, pad_id=0, bos_id=0, eos_id=0, max_len=1)
    nothing = torch.zeros(1, 1, dtype=torch.int64)
    every_token = torch.ones(1, 1, 1, 1, dtype=torch.bool)  # the only one is the padding's, too
    assert Transformer(smallest)(nothing, nothing.int(), every_token).shape == (1, 1, 1)


def test_no_two_cases_have_one_name():
    tables: list[dict] = [HEADS, SHAPES, KINDS, MASKS, BIASES, MEMORIES, CACHES, IDS, WHOLE]
    sizes = [len(table) for table in (*tables, CONFIGURATIONS, TRANSFORMERS, NO_NUMBERS)]
    assert len(CASES) == sum(sizes) + 1
