"""Everything a view can be made of: tapes, records and tensors."""

from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

from glassbox.attention.multi_head import MultiHeadAttention
from glassbox.looking.record import record
from glassbox_book.viz import compare_heads, head_view, model_view, neuron_view
from glassbox_book.viz.maps import gather
from tests.viz.conftest import D_K, HEADS, LAYERS, TOKENS, records

SOURCES = {
    "records": lambda found: found,
    "tape": lambda found: {f"layers.{i}": record for i, record in enumerate(found)},
    "tensors": lambda found: [torch.tensor(each.weights) for each in found],
    "tuple of arrays": lambda found: tuple(each.weights for each in found),
    "half precision": lambda found: [torch.tensor(r.weights).bfloat16() for r in found],
}


@pytest.mark.parametrize("source", SOURCES.values(), ids=SOURCES)
def test_weights_are_found(source: Any) -> None:
    found = records()
    weights = gather(source(found)).weights
    assert weights.shape == (LAYERS, HEADS, 5, 5)
    np.testing.assert_allclose(weights[1], found[1].weights[0], atol=5e-3)
    assert "3 layers × 4 heads" in repr(head_view(source(found), TOKENS))
    assert "3 layers × 4 heads" in repr(model_view(source(found), TOKENS))


@pytest.mark.parametrize(
    "source",
    [lambda f: f, SOURCES["tape"]],
    ids=["records", "tape"],
)
def test_queries_and_keys_are_found(source: Any) -> None:
    found = records()
    maps = gather(source(found), vectors=True)
    assert maps.query is not None
    assert maps.key is not None
    assert maps.query.shape == maps.key.shape == (LAYERS, HEADS, 5, D_K)
    np.testing.assert_allclose(maps.key[2], found[2].key[0])


def test_a_recording_of_a_model_can_be_drawn() -> None:
    model = nn.ModuleDict({"first": MultiHeadAttention(8, 2), "second": MultiHeadAttention(8, 2)})
    x = torch.randn(1, 5, 8)
    with record(model) as tape:
        model["second"](model["first"](x, x, x), x, x)
    assert repr(neuron_view(tape, TOKENS)).startswith("Neuron view: 5 tokens, 2 layers × 2 heads")
    maps = gather(tape, vectors=True)
    torch.testing.assert_close(
        torch.tensor(maps.weights[1]).float(), tape["second"].weights[0].detach()
    )


def test_keys_shared_by_several_heads_are_drawn_for_each() -> None:
    found = records()
    for each in found:
        each.key = each.key[:, ::2]
    maps = gather(found, vectors=True)
    assert maps.key is not None
    np.testing.assert_array_equal(maps.key[0, 0], maps.key[0, 1])
    assert maps.key.shape[1] == HEADS


def test_queries_and_keys_may_differ_in_number() -> None:
    found = records(3, 5)
    queries = ["le", "chat", "dort"]
    for draw in (head_view, model_view, neuron_view):
        assert "3 query and 5 key tokens" in repr(draw(found, queries, key_tokens=TOKENS))
    view = compare_heads(found, found, queries, key_tokens=TOKENS)
    assert "3 query and 5 key tokens" in repr(view)


def test_a_sequence_of_one_token_can_be_drawn() -> None:
    found = records(1)
    for draw in (head_view, model_view, neuron_view):
        assert "1 token" in repr(draw(found, ["[CLS]"]))


def test_a_causal_model_is_recognised() -> None:
    found = records()
    assert not gather(found).is_causal
    for each in found:
        each.weights = np.tril(each.weights)
    assert gather(found).is_causal
