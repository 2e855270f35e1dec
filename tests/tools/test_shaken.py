"""A shaken processor rounds otherwise, always in the same way, and nothing that is exact."""

import torch

from glassbox.positional import relative_buckets
from tools.shaken import Shaken, shake

X = torch.randn(5, 64, generator=torch.Generator().manual_seed(0))


def test_sums_and_functions_move_in_their_last_bits_alone() -> None:
    for compute in (lambda: X @ X.T, lambda: X.exp(), lambda: X.double().softmax(-1)):
        with Shaken(1):
            moved = compute()
        assert not torch.equal(moved, compute())
        torch.testing.assert_close(moved, compute(), rtol=1e-5, atol=1e-5)


def test_the_same_bits_come_out_every_time_and_others_with_another_salt() -> None:
    found = []
    for salt in (1, 1, 2):
        with Shaken(salt):
            found.append(X @ X.T)
    assert torch.equal(found[0], found[1])
    assert not torch.equal(found[0], found[2])


def test_what_is_exact_on_every_processor_stays_exact() -> None:
    whole = torch.arange(16.0).view(4, 4)
    with Shaken(1):
        assert torch.equal(torch.eye(4) @ whole, whole)
        assert torch.equal(torch.zeros(3).softmax(0).sum(), torch.zeros(3).softmax(0).sum())
        assert (X + X == 2 * X).all()


def test_the_smallest_numbers_stay_numbers() -> None:
    tiny = torch.tensor([1.3e-38, 3.1e-41, 1.4e-45, -2.2e-40])
    for salt in range(20):
        moved = tiny.clone()
        shake(moved, salt, 3)
        torch.testing.assert_close(moved, tiny)


def test_gradients_are_shaken_too() -> None:
    weight = torch.ones(64, 3, requires_grad=True)
    (exact,) = torch.autograd.grad((X @ weight).tanh().sum(), weight)
    with Shaken(1):
        (moved,) = torch.autograd.grad((X @ weight).tanh().sum(), weight)
    assert not torch.equal(moved, exact)
    torch.testing.assert_close(moved, exact, rtol=1e-4, atol=1e-4)


def test_buckets_of_relative_positions_do_not_depend_on_rounding() -> None:
    relative = torch.arange(-200, 200)
    for salt in range(4):
        with Shaken(salt):
            moved = relative_buckets(relative)
        assert torch.equal(moved, relative_buckets(relative))
