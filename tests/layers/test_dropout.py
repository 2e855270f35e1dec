"""Dropout leaves out the share that it is told to, each value for itself, and no more."""

import math

import pytest
import torch

from glassbox.layers import Dropout, dropout


@pytest.mark.parametrize("p", [0.0, 0.1, 0.5, 0.9])
def test_the_share_is_as_asked_and_the_mean_stays(p: float, device: str) -> None:
    n = 400_000
    y = dropout(torch.ones(n, device=device), p)
    left_out = (y == 0).double().mean().item()
    assert abs(left_out - p) <= 5 * math.sqrt(p * (1 - p) / n) + 2**-17
    kept = y[y != 0]
    torch.testing.assert_close(kept, torch.full_like(kept, 1 / (1 - p)))


def test_every_share_is_met_to_a_65536th() -> None:
    drawn = torch.empty(2**14, dtype=torch.int64).random_(-(2**63), None).view(torch.int16)
    # The generator gives all 16-bit numbers alike, the lowest and the highest included.
    counts = torch.bincount(drawn.long() // 2**12 + 8, minlength=16)
    assert counts.numel() == 16
    expected = drawn.numel() / 16
    chi_square = ((counts - expected) ** 2 / expected).sum().item()
    assert chi_square < 37.7  # one in a thousand, 15 degrees of freedom


def test_neighbours_are_left_out_independently() -> None:
    gone = (dropout(torch.ones(100_000, 8), 0.3) == 0).double()
    covariance = torch.corrcoef(gone.T)
    others = covariance[~torch.eye(8, dtype=torch.bool)]
    assert others.abs().max() < 5 / math.sqrt(100_000)


def test_the_gradient_takes_the_same_way() -> None:
    x = torch.randn(50, 7, dtype=torch.float64, requires_grad=True)
    y = dropout(x, 0.25)
    y.sum().backward()
    assert x.grad is not None
    torch.testing.assert_close(y.detach(), x.detach() * x.grad)
    assert {round(value, 6) for value in x.grad.unique().tolist()} == {0.0, round(4 / 3, 6)}


@pytest.mark.parametrize("shape", [(0,), (1,), (3, 5), (2, 3, 4, 5)])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16, torch.float16])
def test_shape_and_dtype_stay(shape: tuple[int, ...], dtype: torch.dtype, device: str) -> None:
    y = dropout(torch.ones(shape, dtype=dtype, device=device), 0.5)
    assert (y.shape, y.dtype, y.device.type) == (shape, dtype, device)


def test_what_is_left_out_is_gone_even_where_it_is_large() -> None:
    y = dropout(torch.full((1000,), 1e30), 0.5)
    assert (y == 0).any()
    assert torch.isfinite(y).all()


def test_all_can_be_left_out() -> None:
    x = torch.randn(5, 3, requires_grad=True)
    y = dropout(x, 1.0)
    y.sum().backward()
    assert not y.any()
    assert x.grad is not None
    assert not x.grad.any()


def test_the_same_seed_leaves_out_the_same() -> None:
    x = torch.ones(1000)
    torch.manual_seed(3)
    first = dropout(x, 0.5)
    second = dropout(x, 0.5)
    torch.manual_seed(3)
    assert torch.equal(dropout(x, 0.5), first)
    assert not torch.equal(first, second)


def test_the_module_does_nothing_unless_it_is_trained() -> None:
    x = torch.randn(4, 5)
    assert Dropout(0.5).eval()(x) is x
    assert Dropout(0.0).train()(x) is x


def test_the_module_drops_in_training(device: str) -> None:
    y = Dropout(0.5).train()(torch.ones(10_000, device=device))
    assert abs((y == 0).double().mean().item() - 0.5) < 0.03
    assert set(y.unique().tolist()) == {0.0, 2.0}


@pytest.mark.parametrize("p", [-0.1, 1.5, math.nan])
def test_a_share_that_is_none_is_refused(p: float) -> None:
    with pytest.raises(ValueError, match=rf"p={p}: must be at least 0 and at most 1"):
        dropout(torch.ones(3), p)
