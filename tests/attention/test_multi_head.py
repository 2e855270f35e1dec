"""Several heads side by side: shared keys, biases, turns, caches, masks of every kind."""

import copy
import math
from contextlib import nullcontext
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from glassbox import MultiHeadAttention, causal_mask, record, scaled_dot_product_attention
from glassbox.around import Around
from glassbox.cache import KeyValueCache
from glassbox.positional import AlibiPositions, RotaryPositions
from tests.machines import assert_near, randomize

RECORDED = pytest.mark.parametrize("recorded", [False, True], ids=["fused", "recorded"])
#: What is passed to the constructor, beside width 16 and 4 heads.
KINDS: dict[str, dict[str, Any]] = {
    "all its own": {},
    "grouped queries": {"n_kv_heads": 2},
    "multi-query": {"n_kv_heads": 1},
    "narrow heads": {"d_k": 3},
    "wide heads, no bias": {"d_k": 10, "bias": False},
    "another scale": {"scale": 1.0, "n_kv_heads": 2},
}


def make(kind="all its own", device="cpu"):
    attention = MultiHeadAttention(16, 4, **KINDS[kind]).to(device)
    randomize(attention)
    return attention


def looking(attention, recorded):
    return record(attention) if recorded else nullcontext()


@pytest.fixture(params=KINDS)
def attention(request, device):
    return make(request.param, device)


def test_scores_are_scaled_by_the_head_s_width_not_the_model_s():
    attention = MultiHeadAttention(d_model=32, n_heads=8)
    with torch.no_grad(), record(attention) as tape:
        attention(torch.randn(1, 5, 32))
    look = tape[""]
    products = (look.query[:, :, :, None] * look.key[:, :, None]).sum(dim=-1)
    torch.testing.assert_close(look.scores, products / math.sqrt(32 // 8))


def test_the_fused_pass_gives_such_a_query_the_output_bias_alone(device):
    attention = MultiHeadAttention(16, 4).to(device)
    x = torch.randn(2, 5, 16, device=device)
    mask = torch.ones(5, 5, dtype=torch.bool, device=device)
    mask[2] = False
    out = attention(x, mask=mask)
    torch.testing.assert_close(out[:, 2], attention.output.bias.expand(2, 16))
    gradients = torch.autograd.grad(out.square().sum(), list(attention.parameters()))
    assert all(gradient.isfinite().all() for gradient in gradients)


SHAPES = [(), (1,), (5,), (6, 1), (6, 5), (1, 5), (4, 1, 1), (4, 6, 5), (2, 1, 1, 5), (2, 4, 6, 5)]


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@RECORDED
def test_a_mask_means_the_same_broadcast_or_written_out(shape, recorded, device):
    attention = MultiHeadAttention(16, 4).to(device)
    query, memory = torch.randn(2, 6, 16, device=device), torch.randn(2, 5, 16, device=device)
    mask = torch.rand(shape, device=device) < 0.6

    def attend(mask):
        with record(attention) if recorded else nullcontext():
            return attention(query, memory, mask=mask)

    torch.testing.assert_close(attend(mask), attend(mask.expand(2, 4, 6, 5).contiguous()))


def test_each_head_attends_with_its_own_slice_of_the_projections():
    attention = MultiHeadAttention(d_model=12, n_heads=3)
    x = torch.randn(2, 5, 12)
    heads = []
    for head in range(3):
        rows = slice(4 * head, 4 * head + 4)
        query, key, value = (
            x @ projection.weight[rows].T + projection.bias[rows]
            for projection in (attention.query, attention.key, attention.value)
        )
        heads.append(scaled_dot_product_attention(query, key, value)[0])
    torch.testing.assert_close(attention(x), attention.output(torch.cat(heads, dim=-1)))


def test_left_out_keys_are_the_queries_and_left_out_values_the_keys():
    attention = MultiHeadAttention(16, 4)
    x, memory = torch.randn(2, 5, 16), torch.randn(2, 7, 16)
    torch.testing.assert_close(attention(x), attention(x, x, x))
    torch.testing.assert_close(attention(x, memory), attention(x, memory, memory))


def test_self_attention_without_positions_does_not_know_the_order(device):
    attention = MultiHeadAttention(16, 4).to(device)
    x, order = torch.randn(2, 7, 16, device=device), torch.randperm(7, device=device)
    torch.testing.assert_close(attention(x[:, order]), attention(x)[:, order])


def test_a_text_gives_the_same_alone_and_in_a_batch(device):
    attention, x = MultiHeadAttention(16, 4).to(device), torch.randn(5, 7, 16, device=device)
    together = attention(x)
    for i in range(5):
        torch.testing.assert_close(attention(x[i : i + 1]), together[i : i + 1])


@pytest.mark.parametrize("n_heads", [1, 2, 4, 16])
@pytest.mark.parametrize("bias", [True, False])
def test_the_number_of_heads_does_not_change_the_number_of_parameters(n_heads, bias):
    attention = MultiHeadAttention(16, n_heads, bias=bias)
    assert sum(p.numel() for p in attention.parameters()) == 4 * 16 * 16 + 4 * 16 * bias
    assert attention(torch.randn(1, 3, 16)).shape == (1, 3, 16)


def test_shared_keys_and_values_are_those_of_an_attention_that_repeats_them(device):
    """Grouped-query attention, written as one in which groups of heads have equal projections."""
    for kind in ("grouped queries", "multi-query"):
        shared, plain = make(kind, device), MultiHeadAttention(16, 4).to(device)
        weights = shared.state_dict()
        for name in ("key.weight", "key.bias", "value.weight", "value.bias"):
            heads = weights[name].unflatten(0, (shared.n_kv_heads, 4))
            weights[name] = heads.repeat_interleave(4 // shared.n_kv_heads, dim=0).flatten(0, 1)
        plain.load_state_dict(weights)
        x, memory = torch.randn(2, 5, 16, device=device), torch.randn(2, 7, 16, device=device)
        assert_near(shared(x), plain(x), 1e-6)
        assert_near(shared(x, memory), plain(x, memory), 1e-6)


def test_query_heads_side_by_side_share_a_head_of_keys(device):
    attention, x = make("grouped queries", device), torch.randn(2, 5, 16, device=device)
    with record(attention) as tape:
        attention(x)
    look = tape[""]
    assert look.key.shape == look.value.shape == (2, 4, 5, 4)
    for a, b, same in ((0, 1, True), (2, 3, True), (1, 2, False)):
        assert torch.equal(look.key[:, a], look.key[:, b]) == same
        assert torch.equal(look.value[:, a], look.value[:, b]) == same
        assert not torch.equal(look.query[:, a], look.query[:, b])


def test_shared_heads_save_parameters():
    sizes = {kind: sum(p.numel() for p in make(kind).parameters()) for kind in KINDS}
    pair = 2 * (16 * 4 + 4)  # a head of keys and one of values
    assert sizes["all its own"] - sizes["grouped queries"] == 2 * pair
    assert sizes["all its own"] - sizes["multi-query"] == 3 * pair
    assert sizes["narrow heads"] == 4 * 16 * 12 + 3 * 12 + 16
    assert sizes["wide heads, no bias"] == 4 * 16 * 40


def test_the_scale_is_one_over_the_root_of_the_head_s_width_unless_given(device):
    x = torch.randn(2, 5, 16, device=device)
    for kind, scale in (("narrow heads", 3**-0.5), ("another scale", 1.0)):
        attention = make(kind, device)
        with record(attention) as tape:
            attention(x)
        products = tape[""].query @ tape[""].key.mT
        torch.testing.assert_close(tape[""].scores, products * scale)


@given(
    kind=st.sampled_from(list(KINDS)),
    sizes=st.tuples(*(st.integers(1, 6) for _ in range(3))),
    options=st.tuples(*(st.booleans() for _ in range(4))),
    share=st.sampled_from([0.0, 0.5, 0.9]),
    seed=st.integers(0, 2**16),
)
def test_recorded_and_fused_are_equal_whatever_is_asked_for(kind, sizes, options, share, seed):
    torch.manual_seed(seed)
    batch, q_len, further = sizes
    masked, causal, biased, crosses = options
    attention = make(kind)
    x = torch.randn(batch, q_len, 16, requires_grad=True)
    memory = torch.randn(batch, q_len + further, 16) if crosses else None
    k_len = q_len + further if crosses else q_len
    mask = torch.rand(batch, 1, q_len, k_len) < share if masked else None
    around = Around(torch.randn(4, q_len, k_len) if biased else None)
    results = []
    for recorded in (False, True):
        with looking(attention, recorded):
            out = attention(x, memory, mask=mask, causal=causal, around=around)
        assert out.isfinite().all()
        gradients = torch.autograd.grad(out.square().sum(), [x, *attention.parameters()])
        results.append((out, torch.cat([gradient.flatten() for gradient in gradients])))
    for fused, plain in zip(*results, strict=True):
        assert_near(fused, plain, 1e-6)


@RECORDED
@pytest.mark.parametrize(("q_len", "k_len"), [(5, 5), (3, 5), (1, 5)])
def test_causal_means_the_causal_mask_aligned_to_the_last_key(
    attention, q_len, k_len, recorded, device
):
    x, memory = torch.randn(2, q_len, 16, device=device), torch.randn(2, k_len, 16, device=device)
    mask = torch.rand(2, 1, 1, k_len, device=device) < 0.7
    past = causal_mask(q_len, k_len, device=device)
    with looking(attention, recorded):
        assert_near(attention(x, memory, causal=True), attention(x, memory, mask=past), 1e-6)
        out = attention(x, memory, mask=mask, causal=True)
        assert_near(out, attention(x, memory, mask=mask & past), 1e-6)


@RECORDED
def test_a_bias_is_added_to_the_scores(attention, recorded, device):
    x = torch.randn(2, 5, 16, device=device)
    with looking(attention, recorded):
        plain = attention(x)
        assert_near(
            attention(x, around=Around(bias=torch.zeros(4, 5, 5, device=device))), plain, 1e-6
        )
        # Alike for all keys of a query it changes nothing; a large one picks a key.
        assert_near(
            attention(x, around=Around(bias=torch.randn(4, 5, 1, device=device))), plain, 1e-6
        )
        chosen = torch.full((5, 5), -1e4, device=device).fill_diagonal_(0.0)
        only = torch.eye(5, dtype=torch.bool, device=device)
        assert_near(attention(x, around=Around(bias=chosen)), attention(x, mask=only), 1e-6)


@RECORDED
def test_a_bias_for_each_text_is_added_to_its_own_scores(recorded, device):
    attention, x = make(device=device), torch.randn(2, 5, 16, device=device)
    bias = torch.randn(2, 4, 5, 5, device=device)
    with looking(attention, recorded):
        together = attention(x, around=Around(bias=bias))
        for i in range(2):
            assert_near(
                attention(x[i : i + 1], around=Around(bias=bias[i])), together[i : i + 1], 1e-6
            )


@RECORDED
@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "narrow heads"])  # odd ones
def test_turns_are_for_queries_and_keys_and_not_for_values(kind, recorded, device):
    attention, x = make(kind, device), torch.randn(2, 5, 16, device=device)
    d_k = attention.query.out_features // 4
    scheme = RotaryPositions(d_k)
    turned = scheme.rotation(torch.arange(5, device=device))
    with record(attention) as tape:
        expected = attention(x)
        attention(x, around=Around(rotation=turned))
    plain, look = tape.runs[""]
    assert torch.equal(look.value, plain.value)
    for a, b in ((look.query, plain.query), (look.key, plain.key)):
        assert torch.equal(a[:, :, 0], b[:, :, 0])  # the first position is not turned
        assert not torch.isclose(a[:, :, 1:], b[:, :, 1:]).all(dim=-1).any()
        torch.testing.assert_close(a.norm(dim=-1), b.norm(dim=-1))
    moved = scheme.rotation(torch.arange(100, 105, device=device))
    with looking(attention, recorded):
        out = attention(x, around=Around(rotation=turned))
        assert_near(attention(x, around=Around(rotation=moved)), out)
    assert not torch.isclose(out, expected).all()


# Nothing to attend to.

#: By what means rows 1 (of the first text) and all of the second see nothing.
EMPTY = ["mask", "mask and bias", "mask and causal", "mask, causal and bias"]
DTYPES = [torch.float16, torch.bfloat16, torch.float32, torch.float64]


@RECORDED
@pytest.mark.parametrize(
    ("kind", "length", "dtype", "path"),
    [
        *(("all its own", 5, torch.float32, path) for path in EMPTY),
        *(("all its own", 64, dtype, "mask") for dtype in DTYPES),
        *(("multi-query", 64, dtype, "mask, causal and bias") for dtype in DTYPES),
    ],
    ids=str,
)
def test_a_query_with_nothing_to_attend_to_gets_the_output_bias_alone_and_no_gradient(
    kind, length, dtype, path, recorded, device
):
    attention = make(kind, device).to(dtype)
    x = torch.randn(2, length, 16, device=device, dtype=dtype, requires_grad=True)
    mask = torch.ones(2, 1, length, length, dtype=torch.bool, device=device)
    mask[0, :, 1], mask[1] = False, False
    bias = torch.randn(4, length, length, device=device, dtype=dtype, requires_grad=True)
    causal, biased = "causal" in path, "bias" in path
    with looking(attention, recorded):
        out = attention(x, mask=mask, causal=causal, around=Around(bias if biased else None))
    assert torch.equal(out[0, 1], attention.output.bias)
    assert torch.equal(out[1], attention.output.bias.expand(length, -1))
    assert not torch.equal(out[0, 2], attention.output.bias)
    wanted = [x, *attention.parameters(), *([bias] if biased else [])]
    gradients = torch.autograd.grad(out.square().sum(), wanted)
    assert all(gradient.isfinite().all() for gradient in gradients)
    assert (gradients[0][1] == 0).all()
    if biased:
        assert (gradients[-1][:, 1] == 0).all()


@RECORDED
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_padding_on_the_left_leaves_causal_rows_empty_and_the_rest_as_it_was(
    dtype, recorded, device
):
    attention = make(device=device).to(dtype)
    x = torch.randn(2, 6, 16, device=device, dtype=dtype)
    mask = (torch.arange(6, device=device) >= 2)[None, None, None]
    with looking(attention, recorded):
        out = attention(x, mask=mask, causal=True)
        assert torch.equal(out[:, :2], attention.output.bias.expand(2, 2, -1))
        alone = attention(x[:, 2:], causal=True)
    step = 20 * torch.finfo(dtype).eps
    torch.testing.assert_close(out[:, 2:], alone, atol=step, rtol=step)


@RECORDED
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_a_memory_that_is_hidden_whole_gives_zeros_and_gets_no_gradient(dtype, recorded, device):
    attention = make(device=device).to(dtype)
    x = torch.randn(2, 3, 16, device=device, dtype=dtype)
    memory = torch.randn(2, 5, 16, device=device, dtype=dtype, requires_grad=True)
    mask = torch.tensor([True, False], device=device)[:, None, None, None]
    with looking(attention, recorded):
        out = attention(x, memory, mask=mask)
    assert torch.equal(out[1], attention.output.bias.expand(3, -1))
    (gradient,) = torch.autograd.grad(out.square().sum(), memory)
    assert (gradient[1] == 0).all()
    assert gradient[0].abs().sum() > 0


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_a_single_precision_bias_fits_every_dtype_fused_and_recorded(dtype, device):
    """As ALiBi's is, in a model that was cast."""
    attention = make(device=device).to(dtype)
    x = torch.randn(2, 6, 16, device=device, dtype=dtype)
    positions = torch.arange(6, device=device)
    bias = AlibiPositions(4).bias(positions, positions)
    fused = attention(x, around=Around(bias=bias))
    with record(attention) as tape:
        out = attention(x, around=Around(bias=bias))
    assert fused.dtype == out.dtype == tape[""].scores.dtype == tape[""].weights.dtype == dtype
    step = 8 * torch.finfo(dtype).eps
    torch.testing.assert_close(out, fused, atol=step, rtol=step)


# Steps.


@RECORDED
@pytest.mark.parametrize("steps", [[1] * 7, [4, 1, 2], [7]], ids=str)
def test_step_by_step_with_a_cache_it_gives_the_same(attention, steps, recorded, device):
    x, cache, outputs, start = torch.randn(2, 7, 16, device=device), KeyValueCache(9), [], 0
    mask = torch.rand(2, 1, 1, 7, device=device) < 0.8
    with looking(attention, recorded):
        expected = attention(x, mask=mask, causal=True)
        for length in steps:
            end = start + length
            step = attention(
                x[:, start:end], mask=mask[..., :end], causal=True, around=Around(cache=cache)
            )
            outputs.append(step)
            start = end
    assert cache.length == 7
    assert_near(torch.cat(outputs, dim=1), expected, 1e-6)


def test_keys_that_are_the_queries_are_no_memory(attention, device):
    x, cache = torch.randn(2, 4, 16, device=device), KeyValueCache(4)
    for step in (x[:, :2], x[:, 2:]):
        out = attention(step, step, step, around=Around(cache=cache))
    assert cache.length == 4
    assert_near(out, attention(x[:, 2:], x), 1e-6)


def test_a_memory_is_projected_once(attention, device):
    memory, cache, calls = torch.randn(2, 5, 16, device=device), KeyValueCache(), []
    uncached = copy.deepcopy(attention)
    for name in ("key", "value"):
        getattr(attention, name).register_forward_hook(lambda *_, name=name: calls.append(name))
    for length in (1, 3, 2):
        x = torch.randn(2, length, 16, device=device)
        assert_near(attention(x, memory, around=Around(cache=cache)), uncached(x, memory), 1e-6)
    assert calls == ["key", "value"]
    assert cache.length == cache.max_len == 5
