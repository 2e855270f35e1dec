"""Every scheme of positions against the reference library's."""

import math

import numpy as np
import pytest
import torch
from torch import nn
from transformers import GPT2Config, GPT2Model, LlamaConfig, T5Config
from transformers.models.bloom.modeling_bloom import build_alibi_tensor
from transformers.models.gptj import modeling_gptj as gptj
from transformers.models.llama import modeling_llama as llama
from transformers.models.marian.modeling_marian import MarianSinusoidalPositionalEmbedding
from transformers.models.mpt.modeling_mpt import build_mpt_alibi_tensor
from transformers.models.t5.modeling_t5 import T5Attention

from glassbox import causal_mask
from glassbox.positional import (
    AlibiPositions,
    LearnedPositions,
    RelativePositionBias,
    RotaryPositions,
    RotaryScaling,
    SinusoidalPositions,
    alibi_slopes,
    half_to_interleaved,
    interleaved_to_half,
    relative_buckets,
    rotate,
    sinusoidal_encoding,
)


@pytest.mark.parametrize(("length", "d_model"), [(1, 2), (7, 16), (100, 512), (3000, 64)])
def test_concatenated_sinusoids_equal_marian_s(length, d_model, device):
    theirs = MarianSinusoidalPositionalEmbedding(length, d_model).create_weight().to(device)
    positions = torch.arange(length, device=device)
    ours = sinusoidal_encoding(positions, d_model, concatenated=True)
    torch.testing.assert_close(ours, theirs, atol=1e-7, rtol=0)
    paper = sinusoidal_encoding(positions, d_model)
    torch.testing.assert_close(
        interleaved_to_half(paper, dim=-1, n_heads=1), theirs, atol=1e-7, rtol=0
    )


def timing_signal(length, channels, start=0):
    """Compute the positions of tensor2tensor, by the definition of its `get_timing_signal_1d`."""
    scales = channels // 2
    increment = math.log(10_000) / max(scales - 1, 1)
    time = np.arange(start, start + length)[:, None] * np.exp(-increment * np.arange(scales))
    return torch.from_numpy(np.concatenate([np.sin(time), np.cos(time)], axis=1)).float()


@pytest.mark.parametrize("start", [0, 1], ids=["tensor2tensor", "OpenNMT-tf"])
@pytest.mark.parametrize(("length", "d_model"), [(1, 2), (100, 512), (3000, 64)])
def test_sinusoids_with_both_ends_equal_those_of_the_paper_s_own_code(length, d_model, start):
    ours = SinusoidalPositions(d_model, concatenated=True, endpoint=True, first_position=start)
    added = ours.embed(torch.zeros(1, length, d_model), torch.arange(length))[0]
    torch.testing.assert_close(added, timing_signal(length, d_model, start), atol=1e-6, rtol=0)


def test_learned_positions_equal_gpt2_s(device):
    config = GPT2Config(n_positions=20, n_embd=16, n_layer=0, n_head=2, vocab_size=5)
    theirs = GPT2Model(config).to(device).wpe
    ours = LearnedPositions(20, 16).to(device)
    ours.table.load_state_dict(theirs.state_dict())
    x = torch.randn(2, 6, 16, device=device)
    positions = torch.tensor([[3, 4, 5, 6, 7, 8], [0, 0, 0, 1, 2, 19]], device=device)
    expected = x + theirs(positions)
    out = ours.embed(x, positions)
    assert torch.equal(out, expected)
    for y in (out, expected):
        y.square().sum().backward()
    torch.testing.assert_close(ours.table.weight.grad, theirs.weight.grad)


BUCKETS = [(32, 128), (32, 20), (16, 64), (4, 3), (64, 1000), (8, 500)]


@pytest.mark.parametrize("bidirectional", [True, False], ids=["both directions", "left only"])
@pytest.mark.parametrize(("n_buckets", "max_distance"), BUCKETS)
def test_buckets_equal_t5_s_for_every_distance(n_buckets, max_distance, bidirectional, device):
    relative = torch.arange(-3000, 3001, device=device)
    # The reference takes the logarithm of 0 for distance 0, and leaves the result unused.
    theirs = T5Attention._relative_position_bucket(relative, bidirectional, n_buckets, max_distance)
    ours = relative_buckets(relative, n_buckets, max_distance, bidirectional)
    assert torch.equal(ours, theirs)


@pytest.mark.parametrize("decoder", [False, True], ids=["encoder", "decoder"])
@pytest.mark.parametrize(
    ("q_len", "k_len", "past"), [(6, 6, 0), (200, 300, 0), (1, 9, 8), (3, 150, 147)]
)
def test_the_relative_bias_and_its_gradient_equal_t5_s(decoder, q_len, k_len, past, device):
    config = T5Config(d_model=24, num_heads=6, d_kv=4, is_decoder=decoder)
    theirs = T5Attention(config, has_relative_attention_bias=True, layer_idx=0).to(device)
    ours = RelativePositionBias(6, bidirectional=not decoder).to(device)
    ours.table.load_state_dict(theirs.relative_attention_bias.state_dict())
    q_positions = torch.arange(past, past + q_len, device=device)
    bias = ours.bias(q_positions, torch.arange(k_len, device=device))
    expected = theirs.compute_bias(q_len, k_len, past_seen_tokens=past)
    assert torch.equal(bias, expected[0])
    bias.square().sum().backward()
    expected.square().sum().backward()
    theirs_grad = theirs.relative_attention_bias.weight.grad
    torch.testing.assert_close(ours.table.weight.grad, theirs_grad)


SCALINGS = {
    "default": (None, {"rope_type": "default"}),
    "linear": (RotaryScaling(3.0), {"rope_type": "linear", "factor": 3.0}),
    "llama 3.1": (
        RotaryScaling(8.0, original_len=8192),
        {
            "rope_type": "llama3",
            "factor": 8.0,
            "low_freq_factor": 1.0,
            "high_freq_factor": 4.0,
            "original_max_position_embeddings": 8192,
        },
    ),
    "llama 3, other numbers": (
        RotaryScaling(5.0, original_len=300, low=2.0, high=9.0),
        {
            "rope_type": "llama3",
            "factor": 5.0,
            "low_freq_factor": 2.0,
            "high_freq_factor": 9.0,
            "original_max_position_embeddings": 300,
        },
    ),
}


def llama_rotary(d_k, base, parameters):
    """Make the reference's module."""
    config = LlamaConfig(
        hidden_size=4 * d_k,
        num_attention_heads=4,
        max_position_embeddings=2**17,
        rope_parameters={"rope_theta": base, **parameters},
    )
    return llama.LlamaRotaryEmbedding(config)


@pytest.mark.parametrize("kind", SCALINGS)
@pytest.mark.parametrize(("d_k", "base"), [(64, 10_000.0), (128, 500_000.0), (2, 10_000.0)])
def test_turned_queries_and_keys_and_their_gradients_equal_llama_s(kind, d_k, base):
    scaling, parameters = SCALINGS[kind]
    positions = torch.tensor([[0, 1, 2, 300, 4000], [7, 8, 9, 8191, 100_000]])
    ours = RotaryPositions(d_k, base=base, scaling=scaling).rotation(positions)
    query, key = torch.randn(2, 4, 5, d_k), torch.randn(2, 2, 5, d_k)
    cos, sin = llama_rotary(d_k, base, parameters)(query, positions)
    assert torch.equal(ours.cos[:, 0], cos)
    assert torch.equal(ours.sin[:, 0].abs(), sin.abs())

    tensors = [x.clone().requires_grad_() for x in (query, key, query, key)]
    theirs = llama.apply_rotary_pos_emb(tensors[0], tensors[1], cos, sin)
    for turned, expected in zip((rotate(x, ours) for x in tensors[2:]), theirs, strict=True):
        torch.testing.assert_close(turned, expected, atol=1e-6, rtol=0)
        direction = torch.randn_like(expected)
        turned.backward(direction)
        expected.backward(direction, retain_graph=True)
    for x, y in zip(tensors[:2], tensors[2:], strict=True):
        torch.testing.assert_close(x.grad, y.grad, atol=1e-6, rtol=0)


@pytest.mark.parametrize("kind", SCALINGS)
def test_on_every_device_the_first_turns_equal_llama_s(kind, device):
    scaling, parameters = SCALINGS[kind]
    positions = torch.arange(20, device=device)
    x = torch.randn(1, 4, 20, 64, device=device)
    cos, sin = llama_rotary(64, 10_000.0, parameters).to(device)(x, positions[None])
    expected, _ = llama.apply_rotary_pos_emb(x, x, cos, sin)
    out = rotate(x, RotaryPositions(64, scaling=scaling).rotation(positions))
    torch.testing.assert_close(out, expected, atol=1e-5, rtol=0)


@pytest.mark.parametrize(("length", "d_k"), [(1, 2), (9, 16), (500, 64)])
def test_interleaved_turns_equal_gpt_j_s(length, d_k):
    x = torch.randn(2, length, 3, d_k)  # the reference keeps the heads behind the length
    positions = torch.arange(length).expand(2, -1)
    table = gptj.get_embed_positions(gptj.create_sinusoidal_positions(length, d_k), positions)
    sin, cos = table.chunk(2, dim=-1)
    expected = gptj.apply_rotary_pos_emb(x, sin, cos).transpose(1, 2)
    rotation = RotaryPositions(d_k, interleaved=True).rotation(positions)
    out = rotate(x.transpose(1, 2), rotation)
    torch.testing.assert_close(out, expected, atol=1e-6, rtol=0)


def test_permuting_a_projection_turns_one_pairing_into_the_other(device):
    """GPT-J's turns with a weight, and LLaMA's with the same weight permuted, score alike."""
    n_heads, n_kv_heads, d_k, d_model, length = 6, 2, 8, 20, 11
    query = nn.Linear(d_model, n_heads * d_k, device=device)
    key = nn.Linear(d_model, n_kv_heads * d_k, device=device)
    x, positions = (
        torch.randn(2, length, d_model, device=device),
        torch.arange(length, device=device),
    )

    def scores(interleaved):
        rotation = RotaryPositions(d_k, interleaved=interleaved).rotation(positions)
        q, k = (
            rotate(y.unflatten(-1, (-1, d_k)).transpose(1, 2), rotation) for y in (query(x), key(x))
        )
        return q @ k.repeat_interleave(n_heads // n_kv_heads, dim=1).mT

    expected = scores(interleaved=True)
    assert not torch.isclose(scores(interleaved=False), expected)[..., 1:, 0].any()
    with torch.no_grad():
        for parameter in query.parameters():
            parameter.copy_(interleaved_to_half(parameter, dim=0, n_heads=n_heads))
        for parameter in key.parameters():
            parameter.copy_(interleaved_to_half(parameter, dim=0, n_heads=n_kv_heads))
    torch.testing.assert_close(scores(interleaved=False), expected, atol=1e-5, rtol=0)
    with torch.no_grad():
        for parameter in query.parameters():
            parameter.copy_(half_to_interleaved(parameter, dim=0, n_heads=n_heads))
        for parameter in key.parameters():
            parameter.copy_(half_to_interleaved(parameter, dim=0, n_heads=n_kv_heads))
    torch.testing.assert_close(scores(interleaved=True), expected, atol=1e-6, rtol=0)


def bloom_alibi(n_heads, length, device=None):
    """Return the reference's bias, `(n_heads, 1, length)`: a number for each key alone."""
    attend = torch.ones(1, length, dtype=torch.int64, device=device)
    return build_alibi_tensor(attend, n_heads, torch.float32)


@pytest.mark.parametrize("n_heads", [*range(1, 34), 48, 64, 112, 128])
def test_alibi_slopes_equal_bloom_s_for_any_number_of_heads(n_heads, device):
    theirs = bloom_alibi(n_heads, 2, device)[:, 0, 1]  # of the key at position 1
    ours = alibi_slopes(n_heads, device=device)
    torch.testing.assert_close(ours, theirs, atol=0, rtol=1e-5)


@pytest.mark.parametrize("n_heads", [8, 12])
def test_alibi_weights_equal_bloom_s(n_heads, device):
    """The reference adds to each key its position: after a softmax the same as its distance."""
    scores, positions = torch.randn(n_heads, 30, 30, device=device), torch.arange(30, device=device)
    future = ~causal_mask(30, device=device)
    ours = scores + AlibiPositions(n_heads).bias(positions, positions)
    theirs = scores + bloom_alibi(n_heads, 30, device)
    ours, theirs = (x.masked_fill(future, -torch.inf).softmax(dim=-1) for x in (ours, theirs))
    torch.testing.assert_close(ours, theirs, atol=1e-6, rtol=0)


@pytest.mark.parametrize("n_heads", [1, 4, 8, 32])
def test_the_alibi_of_the_newest_token_equals_mpt_s(n_heads, device):
    theirs = build_mpt_alibi_tensor(n_heads, 50, device=device)
    newest, keys = torch.tensor([49], device=device), torch.arange(50, device=device)
    ours = AlibiPositions(n_heads).bias(newest, keys)
    torch.testing.assert_close(ours, theirs, atol=1e-6, rtol=0)


def test_sinusoids_of_far_positions_are_right_to_the_last_place():
    positions = np.array([0, 1, 1000, 123_456, 10_000_000])
    angles = positions[:, None] / 10_000 ** (np.arange(0, 64, 2) / 64)
    ours = sinusoidal_encoding(torch.from_numpy(positions), 64)
    expected = torch.from_numpy(np.stack([np.sin(angles), np.cos(angles)], axis=-1)).flatten(-2)
    torch.testing.assert_close(ours, expected.float(), atol=1e-7, rtol=0)
