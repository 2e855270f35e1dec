"""The loss is PyTorch's to the last digits, adds up exactly, and says what it cannot do."""

import math
from fractions import Fraction

import pytest
import torch
from torch.nn import functional as F
from torch.utils._python_dispatch import TorchDispatchMode

from glassbox.kernels import formulas
from glassbox.training.loss import cross_entropy

PAD = 0
BOUNDS = {torch.float32: 1e-6, torch.float64: 1e-12}


def example(device, dtype=torch.float64, shape=(4, 7), vocab=11, scale=3.0):
    """Logits that ask for their gradient, and labels, some of them padding."""
    logits = (scale * torch.randn(*shape, vocab, device=device, dtype=dtype)).requires_grad_()
    labels = torch.randint(vocab, shape, device=device)
    return logits, labels.masked_fill(torch.rand(shape, device=device) < 0.3, PAD)


def smoothed(logits, labels, ignore_id, smoothing):
    """The definition: a target for each position, and the sum of its products with logarithms."""
    logs = logits.log_softmax(-1)
    vocab = logits.size(-1)
    total = logits.new_zeros(())
    for log, label in zip(logs.flatten(0, -2), labels.flatten().tolist(), strict=True):
        if label == ignore_id:
            continue
        target = [smoothing / vocab] * vocab
        target[label] += 1 - smoothing
        assert sum(target) == pytest.approx(1, abs=1e-12)
        total = total - (log.new_tensor(target) * log).sum()
    return total


@pytest.mark.parametrize("dtype", BOUNDS, ids=str)
@pytest.mark.parametrize("smoothing", [0.0, 0.1, 0.9])
@pytest.mark.parametrize("ignore_id", [PAD, None, -100, 999])
def test_values_and_gradients_are_those_of_pytorch(device, dtype, smoothing, ignore_id):
    logits, labels = example(device, dtype)
    if ignore_id not in (None, PAD):
        labels = labels.masked_fill(labels == PAD, ignore_id)
    expected = F.cross_entropy(
        logits.flatten(0, -2),
        labels.flatten(),
        ignore_index=-1 if ignore_id is None else ignore_id,
        label_smoothing=smoothing,
        reduction="sum",
    )
    loss = cross_entropy(logits, labels, ignore_id=ignore_id, smoothing=smoothing)
    bound = BOUNDS[dtype]
    torch.testing.assert_close(loss.total, expected, rtol=bound, atol=bound)
    ours, theirs = (torch.autograd.grad(7 * x, logits)[0] / 7 for x in (loss.total, expected))
    torch.testing.assert_close(ours, theirs, rtol=0, atol=bound)


@pytest.mark.parametrize("dtype", BOUNDS, ids=str)
def test_smoothing_is_the_one_defined(device, dtype):
    logits, labels = example(device, dtype)
    loss = cross_entropy(logits, labels, ignore_id=PAD, smoothing=0.2)
    expected = smoothed(logits, labels, PAD, 0.2)
    bound = BOUNDS[dtype]
    torch.testing.assert_close(loss.total, expected, rtol=bound, atol=bound)
    ours, theirs = (torch.autograd.grad(x, logits)[0] for x in (loss.total, expected))
    torch.testing.assert_close(ours, theirs, rtol=0, atol=bound)


def test_the_gradient_is_the_softmax_less_the_target(device):
    logits, _ = example(device, shape=(1,), vocab=4)
    label = torch.tensor([2], device=device)
    (gradient,) = torch.autograd.grad(cross_entropy(logits, label).total, logits)
    target = torch.tensor([[0.0, 0.0, 1.0, 0.0]], device=device, dtype=torch.float64)
    torch.testing.assert_close(gradient, logits.softmax(-1) - target, rtol=0, atol=1e-15)


def test_the_likelihood_beside_a_smoothed_loss_is_the_unsmoothed_loss(device):
    logits, labels = example(device)
    plain = cross_entropy(logits, labels, ignore_id=PAD)
    loss = cross_entropy(logits, labels, ignore_id=PAD, smoothing=0.3)
    assert loss.nll == plain.nll == plain.total
    assert loss.total != loss.nll
    assert not loss.nll.requires_grad


def test_uniform_logits_have_the_perplexity_of_the_vocabulary(device):
    loss = cross_entropy(
        torch.zeros(3, 5, 50, device=device), torch.ones(3, 5, dtype=torch.long, device=device)
    )
    assert math.exp(loss.nll.item() / loss.count.item()) == pytest.approx(50, rel=1e-6)


def test_parts_of_a_batch_add_up_to_the_whole(device):
    """What accumulation and several processes rely on: a mean of means would be another number."""
    logits, labels = example(device, shape=(6, 5))
    labels[0, 1:] = PAD  # parts with very different numbers of words
    whole = cross_entropy(logits, labels, ignore_id=PAD, smoothing=0.1)
    parts = [
        cross_entropy(logits[rows], labels[rows], ignore_id=PAD, smoothing=0.1)
        for rows in ([0], [1, 2, 3, 4], [5])
    ]
    total, nll, count = (
        torch.stack([getattr(part, name) for part in parts]).sum()
        for name in ("total", "nll", "count")
    )
    assert count == whole.count == (labels != PAD).sum()
    torch.testing.assert_close(total, whole.total, rtol=1e-14, atol=0)
    torch.testing.assert_close(nll, whole.nll, rtol=1e-14, atol=0)
    ours, expected = (torch.autograd.grad(x, logits)[0] for x in (total, whole.total))
    assert torch.equal(ours, expected)


def test_padding_neither_counts_nor_learns_and_what_stands_there_does_not_matter(device):
    logits, labels = example(device)
    loss = cross_entropy(logits, labels, ignore_id=PAD, smoothing=0.1)
    other = logits.detach().clone()
    other[labels == PAD] = 5.0 * torch.randn_like(other[labels == PAD])
    again = cross_entropy(other, labels, ignore_id=PAD, smoothing=0.1)
    assert (loss.total, loss.nll, loss.count) == (again.total, again.nll, again.count)
    (gradient,) = torch.autograd.grad(loss.total, logits)
    assert (gradient[labels == PAD] == 0).all()
    assert (gradient[labels != PAD] != 0).any(-1).all()


@pytest.mark.parametrize("shape", [(2, 3), (0, 3), (0,)])
def test_without_a_word_that_counts_everything_is_zero(device, shape):
    logits = torch.randn(*shape, 5, device=device, requires_grad=True)
    labels = torch.full(shape, PAD, device=device)
    loss = cross_entropy(logits, labels, ignore_id=PAD, smoothing=0.1)
    (gradient,) = torch.autograd.grad(loss.total, logits)
    assert (loss.total, loss.nll, loss.count) == (0, 0, 0)
    assert torch.equal(gradient, torch.zeros_like(logits))


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16], ids=str)
def test_logits_of_half_precision_are_summed_in_float32(device, dtype):
    logits, labels = example(device, torch.float32, vocab=500)
    half = logits.detach().to(dtype).requires_grad_()
    full = half.detach().float().requires_grad_()
    losses = [cross_entropy(x, labels, ignore_id=PAD, smoothing=0.1) for x in (half, full)]
    assert losses[0].total.dtype == losses[0].nll.dtype == torch.float32
    torch.testing.assert_close(losses[0].total, losses[1].total, rtol=1e-6, atol=0)
    torch.testing.assert_close(losses[0].nll, losses[1].nll, rtol=1e-6, atol=0)
    for loss in losses:
        loss.total.backward()
    assert half.grad.dtype == dtype
    torch.testing.assert_close(half.grad, full.grad.to(dtype), rtol=1e-2, atol=1e-6)


def test_under_autocast_it_is_the_same(device):
    logits, labels = example(device, torch.float32)
    expected = cross_entropy(logits, labels, smoothing=0.1).total
    with torch.autocast(torch.device(device).type, torch.bfloat16):
        assert cross_entropy(logits, labels, smoothing=0.1).total == expected


@pytest.mark.parametrize("offset", [1e4, -1e4])
@pytest.mark.parametrize("smoothing", [0.0, 0.1])
def test_only_differences_of_logits_matter_however_large_they_are(device, offset, smoothing):
    logits = torch.randint(-8, 8, (3, 6), device=device).float()
    labels = torch.tensor([1, 5, 2], device=device)
    near, far = (cross_entropy(x, labels, smoothing=smoothing) for x in (logits, logits + offset))
    assert near.total == far.total
    assert near.nll == far.nll


def test_a_word_ruled_out_costs_nothing_until_it_is_the_label(device):
    logits = torch.tensor([[1.0, -math.inf, 2.0]], device=device, requires_grad=True)
    loss = cross_entropy(logits, torch.tensor([2], device=device))
    (gradient,) = torch.autograd.grad(loss.total, logits)
    assert loss.total.item() == pytest.approx(math.log(1 + math.exp(-1)), rel=1e-6)
    assert torch.isfinite(gradient).all()
    assert cross_entropy(logits, torch.tensor([1], device=device)).nll == math.inf
    assert cross_entropy(logits, torch.tensor([2], device=device), smoothing=0.1).total == math.inf


def test_one_position_without_any_axis_will_do(device):
    logits, label = torch.randn(5, device=device), torch.tensor(3, device=device)
    torch.testing.assert_close(cross_entropy(logits, label).total, F.cross_entropy(logits, label))


def test_labels_may_be_int32_and_logits_a_view(device):
    logits, labels = example(device)
    loss = cross_entropy(logits[:, :-1], labels.int()[:, 1:], ignore_id=PAD)
    copies = cross_entropy(logits[:, :-1].contiguous(), labels[:, 1:].contiguous(), ignore_id=PAD)
    assert loss.total == copies.total


def test_inputs_stay_as_they_are(device):
    logits, labels = example(device)
    before = logits.detach().clone(), labels.clone()
    cross_entropy(logits, labels, ignore_id=PAD, smoothing=0.1).total.backward()
    assert torch.equal(logits, before[0])
    assert torch.equal(labels, before[1])


def test_a_second_backward_pass_is_refused_rather_than_wrong(device):
    logits, labels = example(device)
    loss = cross_entropy(logits, labels).total
    loss.backward(retain_graph=True)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        loss.backward()


def test_second_derivatives_are_refused_and_the_formula_has_them(device):
    logits, labels = example(device, shape=(1, 1), vocab=3)

    def loss(x):
        return cross_entropy(x, labels, ignore_id=None).total

    with pytest.raises(RuntimeError, match=r"first derivatives only.* glassbox.formulas\(\)"):
        torch.autograd.functional.hessian(loss, logits)
    with formulas():
        found = torch.autograd.functional.hessian(loss, logits).view(3, 3)
    p = logits.detach().softmax(-1).flatten()
    torch.testing.assert_close(found, p.diag() - p.outer(p))


@pytest.mark.usefixtures("as_a_reader")
@pytest.mark.parametrize("in_dims", [(0, None), (None, 0), (0, 0)])
def test_many_losses_are_computed_at_once(in_dims):
    logits, labels = torch.randn(4, 6, 7), torch.randint(7, (4, 6))
    given = [x if axis == 0 else x[0] for x, axis in zip((logits, labels), in_dims, strict=True)]
    found = torch.func.vmap(lambda *inputs: cross_entropy(*inputs).total, in_dims)(*given)
    rows = zip(given[0].expand(4, 6, 7), given[1].expand(4, 6), strict=True)
    torch.testing.assert_close(found, torch.stack([cross_entropy(*row).total for row in rows]))


def test_it_makes_one_matrix_of_the_logits_size(device):
    """The time goes into fetching memory, of which the formula, differentiated, takes more."""

    made: list[torch.Tensor] = []  # kept, so that no address is used twice

    class Watch(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            result = func(*args, **(kwargs or {}))
            several = result if isinstance(result, tuple | list) else [result]
            made.extend(x for x in several if isinstance(x, torch.Tensor))
            return result

    def matrices(loss):
        made.clear()
        logits, labels = example(device)
        with Watch():
            torch.autograd.grad(loss(logits, labels), logits)
        addresses = {x.data_ptr() for x in made if x.numel() == logits.numel()}
        return len(addresses - {logits.data_ptr()})

    def ours(logits, labels):
        return cross_entropy(logits, labels, ignore_id=PAD, smoothing=0.1).total

    assert matrices(ours) == 1
    assert matrices(lambda x, y: smoothed(x, y, PAD, 0.1)) > 2


def test_a_few_numbers_by_hand(device):
    """Logits that are logarithms of 1, 2 and 5: the probabilities are eighths."""
    logits = torch.tensor([[1.0, 2.0, 5.0]], device=device, dtype=torch.float64).log()
    label = torch.tensor([2], device=device)
    eighths = [Fraction(n, 8) for n in (1, 2, 5)]
    loss = cross_entropy(logits, label, ignore_id=PAD, smoothing=0.3)
    expected = -sum(q * math.log(p) for q, p in zip((0.1, 0.1, 0.8), eighths, strict=True))
    assert loss.total.item() == pytest.approx(expected, rel=1e-14)
    assert loss.nll.item() == pytest.approx(-math.log(5 / 8), rel=1e-14)


Z, Y = torch.zeros(2, 3, 5), torch.zeros(2, 3, dtype=torch.long)
BAD = {
    "another shape": ((Z, Y[:1]), {}, ValueError, "(2, 3, 5), labels (1, 3)"),
    "labels with an axis too many": ((Z, Z.long()), {}, ValueError, "(2, 3, 5), labels (2, 3, 5)"),
    "no vocabulary": ((Z[..., :0], Y), {}, ValueError, "(2, 3, 0), labels (2, 3)"),
    "one number": ((Z.sum(), Y), {}, ValueError, "logits (), labels (2, 3)"),
    "whole logits": ((Z.long(), Y), {}, TypeError, "logits is torch.int64; expected floating"),
    "listed logits": ((Z.tolist(), Y), {}, TypeError, "logits is of type list"),
    "fractional labels": ((Z, Y.float()), {}, TypeError, "labels is torch.float32; expected"),
    "boolean labels": ((Z, Y.bool()), {}, TypeError, "labels is torch.bool"),
    "listed labels": ((Z, Y.tolist()), {}, TypeError, "labels is of type list"),
    "elsewhere": ((Z, Y.to("meta")), {}, ValueError, "on meta, the logits on cpu"),
    "above": ((Z, Y + 5), {}, ValueError, "labels run from 5 to 5; the logits are of 0 to 4"),
    "below": (
        (Z, Y - 100),
        {},
        ValueError,
        "labels run from -100 to -100; the logits are of 0 to 4",
    ),
    "one above": ((Z, Y + 5), {"ignore_id": 6}, ValueError, "from 5 to 5"),
    "negative smoothing": ((Z, Y), {"smoothing": -0.1}, ValueError, "smoothing=-0.1: expected"),
    "nothing else": ((Z, Y), {"smoothing": 1.0}, ValueError, "smoothing=1.0: expected"),
    "no number": ((Z, Y), {"smoothing": math.nan}, ValueError, "smoothing=nan: expected"),
}


@pytest.mark.usefixtures("as_a_reader")
@pytest.mark.parametrize(("inputs", "options", "error", "says"), BAD.values(), ids=BAD)
def test_what_it_refuses_it_names(inputs, options, error, says):
    with pytest.raises(error) as caught:
        cross_entropy(*inputs, **options)
    assert says in str(caught.value)
