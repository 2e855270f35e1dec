"""Attention in blocks: memory grows with the length and not with its square."""

import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from glassbox import scaled_dot_product_attention
from glassbox.blockwise import blockwise_attention


def qkv(q_len=20, k_len=20, d_k=8, d_v=8, batch=(2, 3), **options):
    """Random query, key, value."""
    return (
        torch.randn(*batch, q_len, d_k, **options),
        torch.randn(*batch, k_len, d_k, **options),
        torch.randn(*batch, k_len, d_v, **options),
    )


class Seen(TorchDispatchMode):
    """Keep the size of every tensor that is made."""

    def __init__(self) -> None:
        super().__init__()
        self.sizes: list[int] = []

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        out = func(*args, **(kwargs or {}))
        for tensor in tree_leaves(out):
            if isinstance(tensor, torch.Tensor):
                # What is stored: an expanded view is no larger than what it views.
                self.sizes.append(tensor.untyped_storage().nbytes() // tensor.element_size())
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


def test_no_tensor_of_all_queries_times_all_keys_is_ever_made():
    forward, backward = largest(blockwise_attention, 160, block_size=32)
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
            blockwise_attention(query, key, value, block_size=32).sum().backward()
        events = profile.profiler.kineto_results.events()
        changes = [event.nbytes() for event in events if event.name() == "[memory]"]
        now = highest = 0
        for change in changes:
            now += change
            highest = max(highest, now)
        return highest

    short, long = peak(256), peak(1024)
    assert 3 * short < long < 5 * short


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


def test_no_input_is_modified():
    tensors = qkv()
    kept = [tensor.clone() for tensor in tensors]
    query, key, value = (tensor.requires_grad_() for tensor in tensors)
    blockwise_attention(query, key, value, block_size=6).sum().backward()
    for tensor, copy in zip(tensors, kept, strict=True):
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
        return blockwise_attention(query.sin(), key, value.exp(), block_size=6)

    tensors = qkv(requires_grad=True)
    out, expected = torch.compile(attend, backend="aot_eager")(*tensors), attend(*tensors)
    torch.testing.assert_close(out, expected)
    for a, b in zip(
        torch.autograd.grad(out.sum(), tensors),
        torch.autograd.grad(expected.sum(), tensors),
        strict=True,
    ):
        torch.testing.assert_close(a, b)


def test_second_derivatives_are_refused():
    query, key, value = qkv(requires_grad=True)
    context = blockwise_attention(query, key, value)
    grad = torch.autograd.grad(context.square().sum(), query, create_graph=True)[0]
    with pytest.raises(RuntimeError, match="once_differentiable"):
        grad.sum().backward()
