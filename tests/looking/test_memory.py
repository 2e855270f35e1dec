"""The bytes that a computation holds are counted, whatever computes them."""

import torch
from torch import nn

from glassbox.attention import scaled_dot_product_attention
from glassbox.blockwise import blockwise_attention
from glassbox.looking import MemoryCount


def test_a_tensor_counts_while_it_exists() -> None:
    with MemoryCount() as memory:
        x = torch.ones(1000)
        assert memory.held == 4000
        y = x + 1
        assert (memory.held, memory.peak, memory.largest) == (8000, 8000, 4000)
        del y
        assert (memory.held, memory.peak) == (4000, 8000)
    del x
    assert memory.held == 0


def test_shared_memory_counts_once_and_what_was_there_does_not() -> None:
    old = torch.ones(10)
    with MemoryCount() as memory:
        x = torch.ones(10, 10)
        _ = x.view(100), x.T, x[0], x.mul_(2), old.view(2, 5), old.add_(1)
    assert memory.held == 400


def test_what_waits_for_the_backward_pass_counts() -> None:
    x = torch.randn(100, requires_grad=True)
    with MemoryCount() as memory:
        y = x.exp().sin().sum()  # keeps both the exponentials and, for the sine, its input
        assert memory.held == 400 + 4
        y.backward()
    del y
    assert memory.held == 400  # the gradient


def test_shapes_without_numbers_count_like_tensors() -> None:
    with torch.device("meta"):
        layer, x = nn.Linear(8, 8), torch.empty(5, 8)
    with MemoryCount() as memory:
        out = layer(x)
    assert memory.held == out.nbytes == 160


def test_blockwise_attention_keeps_a_row_where_the_formula_keeps_a_square() -> None:
    held = {}
    for way in (scaled_dot_product_attention, blockwise_attention):
        inputs = [torch.randn(128, 8, requires_grad=True) for _ in range(3)]
        with MemoryCount() as memory:
            out = way(*inputs)
        held[way] = memory.held
        del out
    assert held[blockwise_attention] == 128 * (8 + 1) * 4
    assert held[scaled_dot_product_attention] > 128 * 128 * 4
