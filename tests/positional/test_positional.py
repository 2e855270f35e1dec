"""Properties of the ways to tell a model where its tokens stand."""

import copy
import math
import pickle
from collections.abc import Callable
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor, nn

from glassbox.positional import (
    AlibiPositions,
    LearnedPositions,
    Positions,
    RelativePositionBias,
    RotaryPositions,
    RotaryScaling,
    SinusoidalPositions,
    alibi_bias,
    alibi_slopes,
    half_to_interleaved,
    interleaved_to_half,
    relative_buckets,
    rotary_frequencies,
    rotate,
    sinusoidal_encoding,
)

SCHEMES: dict[str, Callable[[], Positions]] = {
    "none": Positions,
    "sinusoidal": lambda: SinusoidalPositions(8),
    "sinusoidal, concatenated": lambda: SinusoidalPositions(8, concatenated=True),
    "sinusoidal, from 1 on": lambda: SinusoidalPositions(8, endpoint=True, first_position=1),
    "learned": lambda: LearnedPositions(1000, 8),
    "relative": lambda: RelativePositionBias(4),
    "relative, to the left": lambda: RelativePositionBias(4, 16, 40, bidirectional=False),
    "rotary": lambda: RotaryPositions(8),
    "rotary, interleaved": lambda: RotaryPositions(8, interleaved=True),
    "rotary, scaled": lambda: RotaryPositions(8, scaling=RotaryScaling(4.0, original_len=64)),
    "alibi": lambda: AlibiPositions(6),
}


class Answers(nn.Module):
    """All that a scheme answers."""

    def __init__(self, scheme: Positions) -> None:
        super().__init__()
        self.scheme = scheme

    def forward(
        self, x: Tensor, q_positions: Tensor, k_positions: Tensor
    ) -> tuple[Tensor, Tensor | None, Tensor | None]:
        embedded = self.scheme.embed(x, q_positions)
        scheme: Any = self.scheme
        bias = scheme.bias(q_positions, k_positions) if hasattr(scheme, "bias") else None
        rotation = scheme.rotation(q_positions) if hasattr(scheme, "rotation") else None
        heads = x[:, None].expand(-1, 3, -1, -1)
        return embedded, bias, None if rotation is None else rotate(heads, rotation)


@pytest.fixture(params=SCHEMES)
def answers(request, device):
    return Answers(SCHEMES[request.param]()).to(device)


def assert_same(given, expected, atol=1e-6):
    for a, b in zip(given, expected, strict=True):
        assert (a is None) == (b is None)
        if a is not None:
            torch.testing.assert_close(a, b, atol=atol, rtol=0)


def only(answers, q, k=None):
    """Take queries, and keys if there are any, out of three answers about many."""
    embedded, bias, turned = answers
    if bias is not None:
        bias = bias[..., q, :] if k is None else bias[..., q, :][..., k]
    return embedded[:, q], bias, None if turned is None else turned[:, :, q]


def test_a_scheme_answers_at_one_place_and_at_no_other():
    x, positions = torch.randn(2, 5, 8), torch.arange(5)
    places = {}
    for name, make in SCHEMES.items():
        embedded, bias, turned = Answers(make())(x, positions, positions)
        said = {"embed": not torch.equal(embedded, x), "bias": bias is not None}
        said["rotation"] = turned is not None
        places[name.split(",")[0]] = [place for place, speaks in said.items() if speaks]
    assert places == {
        "none": [],
        "sinusoidal": ["embed"],
        "learned": ["embed"],
        "relative": ["bias"],
        "rotary": ["rotation"],
        "alibi": ["bias"],
    }


def test_a_position_means_the_same_alone_and_in_a_range(answers, device):
    """So a decoder with a cache may ask for its newest position."""
    x, positions = torch.randn(2, 7, 8, device=device), torch.arange(300, 307, device=device)
    together = answers(x, positions, positions)
    for i in range(7):
        alone = answers(x[:, i : i + 1], positions[i : i + 1], positions)
        assert_same(alone, only(together, slice(i, i + 1)))


def test_each_text_of_a_batch_may_stand_elsewhere(answers, device):
    """So a batch may be padded on the left."""
    x = torch.randn(3, 5, 8, device=device)
    positions = torch.tensor(
        [[0, 1, 2, 3, 4], [0, 0, 0, 1, 2], [90, 91, 92, 93, 94]], device=device
    )
    together = answers(x, positions, positions)
    for row in range(3):
        alone = answers(x[row : row + 1], positions[row], positions[row])
        bias = None if together[1] is None else together[1][row]
        turned = None if together[2] is None else together[2][row : row + 1]
        assert_same((together[0][row : row + 1], bias, turned), alone)


def test_the_order_of_the_positions_does_not_matter(answers, device):
    x, positions = torch.randn(2, 6, 8, device=device), torch.arange(6, device=device)
    order = torch.randperm(6, device=device)
    shuffled = answers(x[:, order], positions[order], positions[order])
    assert_same(shuffled, only(answers(x, positions, positions), order, order))


def test_keys_may_have_a_batch_where_queries_have_none(answers, device):
    q_positions, k_positions = (
        torch.arange(4, device=device),
        torch.randint(9, (2, 6), device=device),
    )
    if not hasattr(answers.scheme, "bias"):
        return
    bias = answers.scheme.bias(q_positions, k_positions)
    expected = answers.scheme.bias(q_positions.expand(2, -1), k_positions)
    assert_same([bias], [expected])


def test_around_every_layer_goes_what_a_scheme_answers(answers, device):
    where, seen = torch.tensor([5, 6], device=device), torch.arange(7, device=device)
    around, scheme = answers.scheme.around(where, seen), answers.scheme
    bias = scheme.bias(seen[-2:], seen) if hasattr(scheme, "bias") else None
    rotation = scheme.rotation(where) if hasattr(scheme, "rotation") else None
    assert (around.cache, around.memory_cache) == (None, None)
    assert (around.bias is None) == (bias is None)
    assert bias is None or torch.equal(around.bias, bias)
    assert (around.rotation is None) == (rotation is None)
    assert rotation is None or torch.equal(around.rotation.sin, rotation.sin)


def test_no_input_is_modified(answers, device):
    x, positions = torch.randn(2, 5, 8, device=device), torch.arange(5, device=device)
    kept = x.clone()
    answers(x, positions, positions)
    assert torch.equal(x, kept)
    assert positions.tolist() == [0, 1, 2, 3, 4]


@pytest.mark.parametrize("dtype", [torch.float64, torch.bfloat16, torch.float16], ids=str)
def test_embeddings_and_queries_keep_their_dtype(answers, dtype, device):
    x, positions = torch.randn(2, 5, 8, device=device, dtype=dtype), torch.arange(5, device=device)
    embedded, _, turned = answers.to(dtype)(x, positions, positions)
    assert embedded.dtype == dtype
    assert turned is None or turned.dtype == dtype


@pytest.mark.parametrize("dtype", [torch.int32, torch.int64], ids=str)
def test_positions_may_be_any_integers(answers, dtype, device):
    x, positions = torch.randn(2, 5, 8, device=device), torch.arange(5, device=device)
    expected = answers(x, positions, positions)
    assert_same(answers(x, positions.to(dtype), positions.to(dtype)), expected, atol=0)


@pytest.mark.parametrize("kind", [name for name in SCHEMES if name != "learned"])
def test_negative_and_far_positions_are_answered(kind):
    positions = torch.tensor([-100_000, -3, 0, 7, 10_000_000])
    for answer in Answers(SCHEMES[kind]())(torch.zeros(1, 5, 8), positions, positions):
        assert answer is None or answer.isfinite().all()


def test_casting_a_model_leaves_what_is_computed_for_it_in_single_precision():
    """Frequencies or slopes that were cast along would be wrong from the third place on."""
    positions = torch.tensor([1000])
    rotary, alibi = RotaryPositions(64), AlibiPositions(6)
    angle, bias = rotary.rotation(positions).cos, alibi.bias(positions, torch.arange(5))
    assert torch.equal(rotary.to(torch.bfloat16).rotation(positions).cos, angle)
    assert torch.equal(alibi.to(torch.bfloat16).bias(positions, torch.arange(5)), bias)


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))])
def test_a_copy_answers_the_same(answers, copied, device):
    x, positions = torch.randn(2, 5, 8, device=device), torch.arange(5, device=device)
    scheme = copied(answers.scheme)
    assert repr(scheme) == repr(answers.scheme)
    expected = answers(x, positions, positions)
    assert_same(Answers(scheme)(x, positions, positions), expected, atol=0)


def test_the_state_is_what_is_learned():
    states = {name: list(make().state_dict()) for name, make in SCHEMES.items()}
    learned = {"learned", "relative", "relative, to the left"}
    assert states == {name: ["table.weight"] if name in learned else [] for name in SCHEMES}
    assert not any(list(make().buffers()) for make in SCHEMES.values())


@pytest.mark.usefixtures("compiler")
def test_compiled_in_one_graph_it_answers_the_same(answers, device):
    x, positions = torch.randn(2, 5, 8, device=device), torch.arange(5, device=device)
    compiled = torch.compile(answers, backend="aot_eager", fullgraph=True)
    assert_same(compiled(x, positions, positions), answers(x, positions, positions))


@pytest.mark.usefixtures("compiler")
def test_exported_for_any_length_it_answers_the_same(answers, device):
    def inputs(length):
        x, positions = torch.randn(2, length, 8), torch.arange(length)
        return x.to(device), positions.to(device), positions.to(device)

    length = torch.export.Dim("length", min=2, max=900)
    shapes = {"x": {1: length}, "q_positions": {0: length}, "k_positions": {0: length}}
    exported = torch.export.export(answers, inputs(5), dynamic_shapes=shapes).module()
    longer = inputs(11)
    assert_same(exported(*longer), answers(*longer))


# Sinusoids.


@given(
    position=st.integers(-5000, 5000),
    d_model=st.sampled_from([2, 6, 64]),
    base=st.sampled_from([10.0, 1e4]),
)
def test_the_encoding_is_the_formula_s_component_by_component(position, d_model, base):
    encoding = sinusoidal_encoding(torch.tensor(position), d_model, base=base)
    for i in range(d_model // 2):
        angle = position / base ** (2 * i / d_model)
        assert encoding[2 * i].item() == pytest.approx(math.sin(angle), abs=1e-6)
        assert encoding[2 * i + 1].item() == pytest.approx(math.cos(angle), abs=1e-6)


@given(position=st.integers(-5000, 5000), shift=st.integers(-5000, 5000))
def test_moving_on_turns_each_pair_by_an_angle_that_does_not_depend_on_the_position(
    position, shift
):
    here, there = sinusoidal_encoding(torch.tensor([position, position + shift]), 16).double()
    for i in range(8):
        angle = shift / 10_000 ** (i / 8)
        turn = torch.tensor(
            [[math.cos(angle), math.sin(angle)], [-math.sin(angle), math.cos(angle)]],
            dtype=torch.float64,
        )
        pair = slice(2 * i, 2 * i + 2)
        torch.testing.assert_close(turn @ here[pair], there[pair], atol=1e-6, rtol=0)


def test_the_dot_product_of_two_encodings_depends_on_their_distance_alone():
    encoding = sinusoidal_encoding(torch.arange(100), 32)
    products = encoding @ encoding.T
    for distance in (0, 1, 13):
        diagonal = products.diagonal(distance)
        torch.testing.assert_close(diagonal, diagonal[:1].expand_as(diagonal), atol=1e-5, rtol=0)
    torch.testing.assert_close(products.diagonal(), torch.full((100,), 16.0))  # half of 32


def test_the_encoding_is_added_to_the_embeddings():
    x, positions = torch.randn(2, 5, 8), torch.arange(3, 8)
    for concatenated in (False, True):
        scheme = SinusoidalPositions(8, base=50.0, concatenated=concatenated)
        added = scheme.embed(x, positions) - x
        encoding = sinusoidal_encoding(positions, 8, base=50.0, concatenated=concatenated)
        torch.testing.assert_close(added, encoding.expand(2, -1, -1), atol=1e-6, rtol=0)


def test_to_interleave_and_to_concatenate_are_a_permutation_apart():
    positions = torch.randint(1000, (2, 7))
    interleaved = sinusoidal_encoding(positions, 12)
    concatenated = sinusoidal_encoding(positions, 12, concatenated=True)
    assert torch.equal(interleaved_to_half(interleaved, dim=-1, n_heads=1), concatenated)
    assert torch.equal(half_to_interleaved(concatenated, dim=-1, n_heads=1), interleaved)


def test_the_permutation_takes_even_components_first_in_each_head():
    components = torch.arange(12)
    of_one = interleaved_to_half(components, dim=0, n_heads=1)
    assert of_one.tolist() == [0, 2, 4, 6, 8, 10, 1, 3, 5, 7, 9, 11]
    of_heads = interleaved_to_half(components, dim=0, n_heads=2)
    assert of_heads.tolist() == [0, 2, 4, 1, 3, 5, 6, 8, 10, 7, 9, 11]
    assert half_to_interleaved(components, dim=0, n_heads=3).tolist() == [
        *(0, 2, 1, 3),
        *(4, 6, 5, 7),
        *(8, 10, 9, 11),
    ]


@given(
    shape=st.lists(st.integers(1, 3), max_size=2),
    pairs=st.integers(1, 4),
    n_heads=st.integers(1, 3),
    behind=st.lists(st.integers(1, 3), max_size=2),
)
def test_either_permutation_undoes_the_other_along_any_axis(shape, pairs, n_heads, behind):
    x = torch.randn(*shape, 2 * pairs * n_heads, *behind)
    for dim in (len(shape), -1 - len(behind)):
        there = interleaved_to_half(x, dim=dim, n_heads=n_heads)
        assert torch.equal(half_to_interleaved(there, dim=dim, n_heads=n_heads), x)
        back = half_to_interleaved(x, dim=dim, n_heads=n_heads)
        assert torch.equal(interleaved_to_half(back, dim=dim, n_heads=n_heads), x)


# Relative bias.


def test_near_distances_have_a_bucket_each_and_far_ones_share():
    one_way = relative_buckets(-torch.arange(200), 32, 128, bidirectional=False)
    assert one_way[:16].tolist() == list(range(16))
    assert (one_way.diff() >= 0).all()
    assert (one_way == 31).nonzero()[0].item() == 113  # 16 * 8 ** (15 / 16), rounded up
    assert one_way.bincount()[16:31].tolist() == [3, 2, 3, 3, 4, 4, 5, 6, 6, 7, 8, 10, 10, 12, 14]


@given(
    n_buckets=st.integers(1, 20).map(lambda n: 4 * n),
    further=st.integers(1, 300),
    relative=st.integers(-2000, 2000),
)
def test_buckets_rise_with_the_distance_and_stay_in_the_table(n_buckets, further, relative):
    distances = torch.arange(relative, relative + 5)
    for bidirectional in (True, False):
        max_distance = n_buckets // 2 + further
        buckets = relative_buckets(distances, n_buckets, max_distance, bidirectional)
        assert ((buckets >= 0) & (buckets < n_buckets)).all()
        for ahead, one in zip(distances.tolist(), buckets.tolist(), strict=True):
            assert (one >= n_buckets // 2) == (ahead > 0) or not bidirectional
        left = buckets[distances <= 0]
        assert (left.diff() <= 0).all()


def test_left_and_right_have_the_same_buckets_half_a_table_apart():
    distances = torch.arange(1, 300)
    left, right = relative_buckets(-distances), relative_buckets(distances)
    assert torch.equal(left + 16, right)


def test_to_the_left_only_the_future_counts_as_here():
    assert (relative_buckets(torch.arange(300), bidirectional=False) == 0).all()


def test_the_bias_is_the_table_s_entry_for_head_and_bucket():
    scheme = RelativePositionBias(3, 8, 20)
    q_positions, k_positions = torch.tensor([4, 9]), torch.tensor([0, 5, 30])
    bias = scheme.bias(q_positions, k_positions)
    assert bias.shape == (3, 2, 3)
    assert bias.is_contiguous()  # the fused kernel is several times slower on a strided one
    for i, q in enumerate(q_positions):
        for j, k in enumerate(k_positions):
            bucket = relative_buckets(k - q, 8, 20)
            assert torch.equal(bias[:, i, j], scheme.table.weight[bucket])


def test_the_gradient_reaches_the_buckets_that_are_asked_for():
    scheme = RelativePositionBias(4, bidirectional=False)
    scheme.bias(torch.arange(5), torch.arange(5)).sum().backward()
    assert scheme.table.weight.grad is not None
    reached = scheme.table.weight.grad.sum(dim=-1) != 0
    assert reached.tolist() == [True] * 5 + [False] * 27


# Rotary.


@pytest.mark.parametrize("interleaved", [True, False])
def test_turning_a_pair_is_multiplying_a_complex_number(interleaved):
    positions = torch.tensor([0, 1, 5, 700])
    x = torch.randn(2, 3, 4, 8)
    out = rotate(x, RotaryPositions(8, interleaved=interleaved).rotation(positions))
    if not interleaved:
        x, out = (half_to_interleaved(y, dim=-1, n_heads=1) for y in (x, out))
    for pair in range(4):
        angles = positions.double() / 10_000 ** (pair / 4)
        number = torch.complex(x[..., 2 * pair], x[..., 2 * pair + 1])
        turned = number * torch.polar(torch.ones_like(angles), angles)
        expected = torch.view_as_real(turned).float()
        torch.testing.assert_close(out[..., 2 * pair : 2 * pair + 2], expected, atol=1e-4, rtol=0)


@pytest.mark.parametrize("interleaved", [True, False])
@given(seed=st.integers(0, 2**16), shift=st.integers(-1000, 1000))
def test_scores_of_turned_queries_and_keys_depend_on_their_distance_alone(interleaved, seed, shift):
    generator = torch.Generator().manual_seed(seed)
    query, key = torch.randn(2, 6, 16, generator=generator, dtype=torch.float64)
    positions = torch.randint(0, 50, (6,), generator=generator)
    scheme = RotaryPositions(16, base=100.0, interleaved=interleaved)

    def scores(positions):
        rotation = scheme.rotation(positions)
        return rotate(query, rotation) @ rotate(key, rotation).mT

    # Angles are float32: a thousand radians have four places after the point.
    torch.testing.assert_close(scores(positions + shift), scores(positions), atol=2e-3, rtol=0)


@given(seed=st.integers(0, 2**16), position=st.integers(-(10**6), 10**6))
def test_turning_keeps_the_length(seed, position):
    x = torch.randn(1, 16, generator=torch.Generator().manual_seed(seed))
    for interleaved in (True, False):
        rotation = RotaryPositions(16, interleaved=interleaved).rotation(torch.tensor([position]))
        torch.testing.assert_close(rotate(x, rotation).norm(), x.norm(), atol=1e-5, rtol=1e-6)


def test_the_first_position_is_not_turned():
    x = torch.randn(3, 1, 16)
    assert torch.equal(rotate(x, RotaryPositions(16).rotation(torch.tensor([0]))), x)


def test_turning_back_undoes_turning():
    scheme, x, positions = RotaryPositions(16), torch.randn(3, 9, 16), torch.arange(9)
    there = rotate(x, scheme.rotation(positions))
    torch.testing.assert_close(rotate(there, scheme.rotation(-positions)), x, atol=1e-6, rtol=0)
    assert not torch.isclose(there[:, 1:], x[:, 1:]).all(dim=-1).any()


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16], ids=str)
@pytest.mark.parametrize("interleaved", [True, False])
def test_half_precision_is_turned_in_single_and_rounded_once(dtype, interleaved, device):
    x = torch.randn(2, 4, 50, 16, device=device, dtype=dtype)
    positions = torch.arange(50, device=device)
    rotation = RotaryPositions(16, interleaved=interleaved).rotation(positions)
    assert torch.equal(rotate(x, rotation), rotate(x.float(), rotation).to(dtype))


@pytest.mark.parametrize("interleaved", [True, False])
def test_the_derivative_of_a_turn_is_that_of_the_formula(interleaved):
    rotation = RotaryPositions(6, interleaved=interleaved).rotation(torch.arange(4))
    x = torch.randn(2, 4, 6, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(lambda x: rotate(x, rotation), x)


def test_linear_scaling_puts_longer_texts_where_shorter_ones_were():
    scaled = RotaryPositions(16, scaling=RotaryScaling(4.0)).rotation(torch.arange(0, 400, 4))
    plain = RotaryPositions(16).rotation(torch.arange(100))
    torch.testing.assert_close(scaled.cos, plain.cos, atol=1e-5, rtol=0)
    torch.testing.assert_close(scaled.sin, plain.sin, atol=1e-5, rtol=0)


def test_scaling_by_parts_leaves_fast_pairs_and_slows_slow_ones():
    plain = rotary_frequencies(64)
    scaled = rotary_frequencies(64, scaling=RotaryScaling(8.0, original_len=1000))
    turns = 1000 * plain / (2 * math.pi)
    ratio = plain / scaled
    assert torch.equal(ratio[turns >= 4], torch.ones_like(ratio[turns >= 4]))
    torch.testing.assert_close(ratio[turns <= 1], torch.full_like(ratio[turns <= 1], 8.0))
    between = ratio[(turns > 1) & (turns < 4)]
    assert ((between > 1) & (between < 8)).all()
    assert len(between) > 2
    assert (ratio.diff() >= 0).all()  # from fast to slow


def test_scaling_by_one_changes_nothing():
    assert torch.equal(rotary_frequencies(64, scaling=RotaryScaling(1.0)), rotary_frequencies(64))


# ALiBi.


def test_eight_heads_have_the_paper_s_slopes():
    assert alibi_slopes(8).tolist() == [2.0**-h for h in range(1, 9)]
    assert alibi_slopes(16).square()[::2].tolist() == pytest.approx(
        [2.0**-h for h in range(1, 17, 2)]
    )


@given(n_heads=st.integers(1, 200))
def test_no_two_heads_have_the_same_slope(n_heads):
    slopes = alibi_slopes(n_heads)
    assert slopes.shape == (n_heads,)
    assert len(set(slopes.tolist())) == n_heads
    assert ((slopes > 0) & (slopes < 1)).all()


def test_the_bias_falls_with_the_distance_on_both_sides():
    q_positions, k_positions = torch.tensor([3, 50]), torch.arange(60)
    slopes = torch.tensor([0.5, 0.01])
    bias = alibi_bias(q_positions, k_positions, slopes)
    for h, slope in enumerate(slopes.tolist()):
        for i, q in enumerate(q_positions.tolist()):
            expected = [-slope * abs(q - k) for k in range(60)]
            assert bias[h, i].tolist() == pytest.approx(expected)


def test_learned_positions_may_be_mapped_over():
    scheme = LearnedPositions(9, 8)
    x, positions = torch.randn(3, 1, 4, 8), torch.randint(9, (3, 1, 4))
    found = torch.func.vmap(scheme.embed)(x, positions)
    assert torch.equal(found, x + scheme.table(positions))
