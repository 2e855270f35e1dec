"""Masks: True means may attend, everywhere."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from glassbox import causal_mask, padding_mask


@given(q_len=st.integers(1, 8), earlier=st.integers(0, 5))
def test_a_causal_mask_allows_each_query_itself_and_what_came_before(q_len, earlier):
    k_len = earlier + q_len
    mask = causal_mask(q_len, k_len)
    assert mask.dtype == torch.bool
    assert mask.tolist() == [[j <= earlier + i for j in range(k_len)] for i in range(q_len)]


def test_as_many_keys_as_queries_are_the_default():
    assert torch.equal(causal_mask(4), causal_mask(4, 4))


def test_fewer_queries_than_keys_are_the_last_positions():
    assert torch.equal(causal_mask(2, 5), causal_mask(5)[-2:])
    assert causal_mask(1, 5).all()


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::torch.jit.TracerWarning")
@pytest.mark.usefixtures("as_a_reader")  # a length is a tensor then
def test_a_model_that_makes_one_can_be_traced():
    traced = torch.jit.trace(lambda x: x * causal_mask(x.size(0), x.size(1)), torch.ones(2, 3))
    assert torch.equal(traced(torch.ones(4, 6)), causal_mask(4, 6).float())


def test_a_causal_mask_is_made_where_it_is_asked_for(device):
    assert causal_mask(3, device=device).device.type == device
    assert causal_mask(3, device="meta").device.type == "meta"


@pytest.mark.parametrize("dtype", [torch.int64, torch.int32], ids=str)
def test_a_padding_mask_allows_real_tokens_to_every_query_of_every_head(dtype, device):
    ids = torch.tensor([[5, 0, 6], [7, 7, 7], [7, 0, 0]], dtype=dtype, device=device)
    mask = padding_mask(ids, pad_id=7)
    assert mask.shape == (3, 1, 1, 3)
    assert mask.device.type == device
    assert mask[:, 0, 0].tolist() == [[True, True, True], [False] * 3, [False, True, True]]


def test_masks_combine_to_what_both_allow():
    ids = torch.tensor([[4, 4, 0], [4, 0, 0]])
    both = causal_mask(3) & padding_mask(ids, pad_id=0)
    assert both.shape == (2, 1, 3, 3)
    assert both[0, 0].tolist() == [[1, 0, 0], [1, 1, 0], [1, 1, 0]]
    assert both[1, 0].tolist() == [[1, 0, 0], [1, 0, 0], [1, 0, 0]]
