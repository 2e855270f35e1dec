"""Self-attention without parameters is PyTorch's function with one vector for three parts."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.nn import functional

from glassbox import scaled_dot_product_attention
from glassbox.attention.self_attention import simple_self_attention


def drawn(*shape: int, seed: int = 0, scale: float = 1.0) -> torch.Tensor:
    return scale * torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


@pytest.mark.parametrize("shape", [(1, 1), (5, 8), (3, 7, 4), (2, 3, 6, 16)])
def test_it_is_the_general_function_with_one_vector_for_all_three_parts(shape):
    x = drawn(*shape)
    context, weights = simple_self_attention(x)
    expected, expected_weights = scaled_dot_product_attention(x, x, x, scale=1.0)
    torch.testing.assert_close(context, expected)
    torch.testing.assert_close(weights, expected_weights)
    torch.testing.assert_close(context, functional.scaled_dot_product_attention(x, x, x, scale=1.0))


@given(seed=st.integers(0, 2**16), scale=st.sampled_from([0.01, 1.0, 30.0]))
def test_the_order_of_the_tokens_is_the_order_of_the_outputs_and_nothing_else(seed, scale):
    x = drawn(6, 5, seed=seed, scale=scale)
    order = torch.randperm(6, generator=torch.Generator().manual_seed(seed))
    torch.testing.assert_close(
        simple_self_attention(x[order])[0],
        simple_self_attention(x)[0][order],
        rtol=1e-4,
        atol=1e-4 * scale,
    )


@given(seed=st.integers(0, 2**16), scale=st.sampled_from([0.01, 1.0, 30.0]))
def test_an_output_lies_between_the_inputs_in_every_direction(seed, scale):
    x = drawn(6, 5, seed=seed, scale=scale)
    context, weights = simple_self_attention(x)
    assert (weights >= 0).all()
    torch.testing.assert_close(weights.sum(-1), torch.ones(6))
    directions = drawn(5, 50, seed=seed + 1)
    low, high = torch.aminmax(x @ directions, dim=0)
    slack = 1e-5 * (1 + high - low)
    assert ((context @ directions >= low - slack) & (context @ directions <= high + slack)).all()


def test_equal_vectors_stay_as_they_are():
    x = drawn(1, 8).expand(4, 8)
    context, weights = simple_self_attention(x)
    torch.testing.assert_close(context, x.contiguous())
    torch.testing.assert_close(weights, torch.full((4, 4), 0.25))


def test_gradients_are_right():
    x = drawn(4, 3).double().requires_grad_()
    assert torch.autograd.gradcheck(lambda x: simple_self_attention(x)[0], (x,))


@pytest.mark.usefixtures("as_a_reader")
def test_whole_numbers_are_refused():
    with pytest.raises(TypeError, match="floating"):
        simple_self_attention(torch.ones(2, 3, dtype=torch.long))


@pytest.mark.usefixtures("as_a_reader")
def test_a_single_vector_is_refused():
    with pytest.raises(ValueError, match=r"\(3,\)"):
        simple_self_attention(torch.ones(3))
