"""Attention in blocks: memory grows with the length and not with its square."""

import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from glassbox import causal_mask, scaled_dot_product_attention
from glassbox.blockwise import blockwise_attention


def qkv(q_len=20, k_len=20, d_k=8, d_v=8, batch=(2, 3), **options):
    """Random query, key, value."""
    return (
        torch.randn(*batch, q_len, d_k, **options),
        torch.randn(*batch, k_len, d_k, **options),
        torch.randn(*batch, k_len, d_v, **options),
    )


class Seen(TorchDispatchMode):
    """Keep the size of every tensor that is made, and the names of what makes them."""

    def __init__(self) -> None:
        super().__init__()
        self.sizes: list[int] = []
        self.products = 0

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        out = func(*args, **(kwargs or {}))
        for tensor in tree_leaves(out):
            if isinstance(tensor, torch.Tensor):
                # What is stored: an expanded view is no larger than what it views.
                self.sizes.append(tensor.untyped_storage().nbytes() // tensor.element_size())
        self.products += func.overloadpacket in (torch.ops.aten.bmm, torch.ops.aten.mm)
        return out


def largest(attend, length, **options):
    """Return the number of entries of the largest tensor of a forward and a backward pass."""
    tensors = qkv(length, length, batch=(2,), requires_grad=True)
    with Seen() as forward:
        context = attend(*tensors, **options)
    with Seen() as backward:
        context.backward(torch.ones_like(context))
    assert all(tensor.grad is not None for tensor in tensors)
    return max(forward.sizes), max(backward.sizes)


def plain(*tensors):
    return scaled_dot_product_attention(*tensors)[0]


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("masked", [False, True])
def test_no_tensor_of_all_queries_times_all_keys_is_ever_made(causal, masked):
    mask = torch.rand(2, 1, 160) < 0.5 if masked else None
    forward, backward = largest(blockwise_attention, 160, mask=mask, causal=causal, block_size=32)
    inputs = 2 * 160 * 8
    assert forward == backward == inputs  # the gradients are as large, and nothing is larger
    whole_map = 2 * 160 * 160
    assert largest(plain, 160) == (whole_map, whole_map)  # so what is counted is what is made


@pytest.mark.slow
def test_the_memory_of_both_passes_grows_with_the_length_and_not_with_its_square():
    """What lives at the same time, by the allocator's own count."""

    def peak(length):
        query, key, value = qkv(length, length, batch=(2,), requires_grad=True)
        with torch.profiler.profile(profile_memory=True) as profile:
            blockwise_attention(query, key, value, causal=True, block_size=32).sum().backward()
        events = profile.profiler.kineto_results.events()
        changes = [event.nbytes() for event in events if event.name() == "[memory]"]
        now = highest = 0
        for change in changes:
            now += change
            highest = max(highest, now)
        return highest

    short, long = peak(256), peak(1024)
    assert 3 * short < long < 5 * short


def test_blocks_in_the_future_are_not_computed():
    query, key, value = qkv(64, 64, batch=(), d_k=4, d_v=4)
    counts = {}
    for causal in (False, True):
        with Seen() as seen:
            blockwise_attention(query, key, value, causal=causal, block_size=8)
        counts[causal] = seen.products
    assert counts == {False: 2 * 8 * 8, True: 2 * (8 * 9 // 2)}  # scores and context of each


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16, torch.float64])
@pytest.mark.parametrize("block_size", [1, 3, 16, 100])
def test_a_query_with_nothing_to_attend_to_gets_zeros_and_passes_no_gradient_back(
    dtype, block_size, device
):
    tensors = qkv(device=device, dtype=dtype, requires_grad=True)
    mask = torch.rand(20, 20, device=device) < 0.7
    mask[[2, 11]] = False
    mask[5], mask[5, 19] = False, True  # allowed only behind many blocks of nothing
    mask[:, 7] = False
    query, key, value = tensors
    context = blockwise_attention(query, key, value, mask, block_size=block_size)
    assert (context[..., [2, 11], :] == 0).all()
    assert torch.equal(context[..., 5, :], value[..., 19, :])
    grads = torch.autograd.grad(context.square().sum(), tensors)
    assert all(grad.isfinite().all() for grad in grads)
    assert (grads[0][..., [2, 11], :] == 0).all()
    assert (grads[1][..., 7, :] == 0).all()
    assert (grads[2][..., 7, :] == 0).all()
    assert (grads[2][..., 6, :] != 0).any()


def test_where_nobody_may_attend_to_anything_all_is_zero():
    tensors = qkv(requires_grad=True)
    nothing = torch.zeros(20, 20, dtype=torch.bool)
    context = blockwise_attention(tensors[0], tensors[1], tensors[2], nothing, block_size=7)
    assert (context == 0).all()
    assert all((grad == 0).all() for grad in torch.autograd.grad(context.sum(), tensors))


@pytest.mark.parametrize("shape", [(), (1,), (17,), (15, 1), (15, 17), (3, 1, 1), (2, 1, 1, 17)])
def test_a_mask_means_the_same_broadcast_or_written_out(shape, device):
    query, key, value = qkv(15, 17, device=device)
    mask = torch.rand(shape, device=device) < 0.6
    written_out = mask.expand(2, 3, 15, 17).contiguous()
    out = blockwise_attention(query, key, value, mask, block_size=4)
    expected = blockwise_attention(query, key, value, written_out, block_size=4)
    torch.testing.assert_close(out, expected)


def test_causal_is_the_causal_mask_with_the_queries_last(device):
    for q_len, k_len in ((1, 9), (4, 9), (9, 9)):
        query, key, value = qkv(q_len, k_len, device=device)
        out = blockwise_attention(query, key, value, causal=True, block_size=3)
        mask = causal_mask(q_len, k_len, device=device)
        expected = blockwise_attention(query, key, value, mask, block_size=100)
        torch.testing.assert_close(out, expected)


@pytest.mark.parametrize("block_size", [1, 2, 5, 16])
def test_changing_the_future_changes_nothing_before_it(block_size, device):
    query, key, value = qkv(device=device)
    context = blockwise_attention(query, key, value, causal=True, block_size=block_size)
    for tensor in (query, key, value):
        tensor[..., 11:, :] = torch.randn_like(tensor[..., 11:, :])
    changed = blockwise_attention(query, key, value, causal=True, block_size=block_size)
    assert torch.equal(changed[..., :11, :], context[..., :11, :])
    assert not torch.isclose(changed[..., 11:, :], context[..., 11:, :]).any()


@pytest.mark.parametrize("rising", [True, False])
def test_huge_scores_stay_finite_wherever_the_largest_comes(rising, device):
    """Rising scores correct the running sum in every block, falling ones in none."""
    query = torch.full((1, 8), 1e3, device=device, requires_grad=True)
    key = torch.linspace(-1e3, 1e3, 20, device=device)[:, None].expand(-1, 8)
    key = key if rising else key.flip(0)
    value = torch.randn(20, 8, device=device)
    context = blockwise_attention(query, key, value, block_size=3)
    assert torch.equal(context[0], value[-1 if rising else 0])
    assert torch.autograd.grad(context.sum(), query)[0].isfinite().all()


def test_the_scale_multiplies_the_scores():
    query, key, value = qkv()
    out = blockwise_attention(query, key, value, scale=0.7, block_size=6)
    expected, _ = scaled_dot_product_attention(query * 0.7 * 8**0.5, key, value)
    torch.testing.assert_close(out, expected)


def test_neighbouring_query_heads_share_keys_and_values():
    query, _, _ = qkv(batch=(2, 6))
    _, key, value = qkv(batch=(2, 2))
    shared = blockwise_attention(query, key, value, block_size=6)
    for head in range(6):
        alone = blockwise_attention(query[:, head], key[:, head // 3], value[:, head // 3])
        torch.testing.assert_close(shared[:, head], alone)


def test_no_input_is_modified():
    tensors = qkv()
    mask = torch.rand(20, 20) < 0.5
    kept = [tensor.clone() for tensor in (*tensors, mask)]
    query, key, value = (tensor.requires_grad_() for tensor in tensors)
    blockwise_attention(query, key, value, mask, causal=True, block_size=6).sum().backward()
    for tensor, copy in zip((*tensors, mask), kept, strict=True):
        assert torch.equal(tensor, copy)
        assert tensor._version == 0


def test_strided_inputs_give_the_same():
    """Heads that were split off a projection do not lie in one piece."""
    query, key, value = (torch.randn(2, 20, 3, 8).transpose(1, 2) for _ in range(3))
    out = blockwise_attention(query, key, value, block_size=6)
    expected, _ = scaled_dot_product_attention(query, key, value)
    torch.testing.assert_close(out, expected)


@pytest.mark.usefixtures("compiler")
def test_inside_a_compiled_function_it_gives_the_same():
    def attend(query, key, value):
        return blockwise_attention(query.sin(), key, value.exp(), causal=True, block_size=6)

    tensors = qkv(requires_grad=True)
    out, expected = torch.compile(attend, backend="aot_eager")(*tensors), attend(*tensors)
    torch.testing.assert_close(out, expected)
    for a, b in zip(
        torch.autograd.grad(out.sum(), tensors),
        torch.autograd.grad(expected.sum(), tensors),
        strict=True,
    ):
        torch.testing.assert_close(a, b)


@pytest.mark.parametrize("loss", [torch.sum, torch.norm])
def test_second_derivatives_are_refused(loss):
    query, key, value = qkv(requires_grad=True)
    context = blockwise_attention(query, key, value)
    with pytest.raises(RuntimeError, match=r"first derivatives only.* use scaled_dot_product"):
        torch.autograd.grad(loss(context), query, create_graph=True)


def test_autocast_does_not_make_its_sums_shorter():
    """Scores of half the digits would not fit those that the backward pass computes again."""
    query, key, value = qkv(requires_grad=True)
    expected = blockwise_attention(query, key, value, block_size=6)
    with torch.autocast("cpu", torch.bfloat16):
        context = blockwise_attention(query, key, value, block_size=6)
        inside = torch.autograd.grad(context.sum(), (query, key, value), retain_graph=True)
    assert torch.equal(context, expected)
    outside = torch.autograd.grad(context.sum(), (query, key, value))
    wanted = torch.autograd.grad(expected.sum(), (query, key, value))
    for gradients in zip(inside, outside, wanted, strict=True):
        assert all(torch.equal(x, gradients[-1]) for x in gradients)
