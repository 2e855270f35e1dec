"""What does not fit is refused, with what was given, what was expected and how to mend it."""

import pytest
import torch

from glassbox import (
    MultiHeadAttention,
    additive_attention,
    causal_mask,
    padding_mask,
    scaled_dot_product_attention,
)
from glassbox.config import StackConfig
from glassbox.feed_forward import FeedForward
from glassbox.layers import EncoderLayer
from glassbox.normalization import LayerNorm, layer_norm
from glassbox.transformer import Encoder


def zeros(*shape, **options):
    return torch.zeros(shape, **options)


def attend(query=(2, 5, 8), key=(2, 7, 8), value=(2, 7, 8), mask=None, **options):
    tensors = [t if isinstance(t, torch.Tensor) else zeros(*t) for t in (query, key, value)]
    return scaled_dot_product_attention(tensors[0], tensors[1], tensors[2], mask, **options)


def attend_with_heads(query=(2, 5, 8), key=None, value=None, mask=None):
    tensors = [zeros(*t) if isinstance(t, tuple) else t for t in (query, key, value)]
    return MultiHeadAttention(8, 2)(tensors[0], tensors[1], tensors[2], mask)


def attend_additively(query_weight=(3, 8), key_weight=(3, 8), score_weight=(3,), **options):
    query, key = options.get("query", zeros(2, 5, 8)), options.get("key", zeros(2, 7, 8))
    weights = zeros(*query_weight), zeros(*key_weight), zeros(*score_weight)
    return additive_attention(query, key, zeros(2, 7, 8), *weights)


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
    "no width": (
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
        RuntimeError,
        ["[8]", "[2, 7]"],
    ),
    "a scale wider than what it scales": (
        lambda: layer_norm(zeros(2, 1), zeros(8), zeros(8)),
        ValueError,
        ["(2, 1)", "weight (8,)", "(..., d_model)"],
    ),
    "a shift of another width": (
        lambda: layer_norm(zeros(2, 8), zeros(8), zeros(1)),
        ValueError,
        ["(2, 8)", "bias (1,)", "(d_model,)"],
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
KINDS = {
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
        RuntimeError,
        ["Half", "Float"],
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
        ["mask is list", "torch.bool"],
    ),
    "False as mask": (lambda: attend(mask=False), TypeError, ["mask is bool", "torch.bool"]),
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
CASES = HEADS | SHAPES | KINDS | MASKS
CASES |= {
    f"configuration: {name}": (lambda sizes=sizes: StackConfig(**sizes), ValueError, says)
    for name, (sizes, says) in CONFIGURATIONS.items()
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
