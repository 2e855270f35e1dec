"""Cross-entropy from scratch: how little probability a model gave the labels (chapter 9)."""

from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor
from torch._C._functorch import is_functorch_wrapped_tensor as is_wrapped

from glassbox.checks import FLOATS, INTEGERS, check_device, check_dtype, check_number, wrong_shapes
from glassbox.kernels import formula


@dataclass(frozen=True)
class Loss:
    r"""The loss of a batch, summed over positions, and the number of positions.

    Sums of batches, accumulated gradients and several processes add up exactly. For a mean, divide
    once, after the last addition.

    Parameters
    ----------
    total : Tensor
        The number to minimise, in float32 at least.
    nll : Tensor
        The negative log-likelihood of the labels themselves, without smoothing and without a
        gradient. Perplexity is :math:`e^{\text{nll} / \text{count}}`; a smoothed loss has none.
    count : Tensor
        Positions that are not ignored: one integer.
    """

    total: Float[Tensor, ""]
    nll: Float[Tensor, ""]
    count: Int[Tensor, ""]


def cross_entropy(
    logits: Float[Tensor, "*positions vocab"],
    labels: Int[Tensor, "*positions"],
    *,
    ignore_id: int | None = None,
    smoothing: float = 0.0,
) -> Loss:
    r"""Return the cross-entropy between labels and logits, summed over positions.

    .. math::
        -\sum_{v \in \mathcal{V}} q_v \log \operatorname{softmax}(\ell)_v
        = \log \sum_{v \in \mathcal{V}} e^{\ell_v} - \sum_{v \in \mathcal{V}} q_v \ell_v

    The target :math:`q` has :math:`1 - \varepsilon` at the label :math:`y`; the remaining
    :math:`\varepsilon` is spread evenly over the vocabulary, the label included. The gradient is
    :math:`\operatorname{softmax}(\ell) - q`.

    Parameters
    ----------
    logits : Tensor
        ``(..., vocab)``, of any precision.
    labels : Tensor
        Integers, ``(...)``.
    ignore_id : int, optional
        The label of positions that do not count, such as padding; it may be outside of the
        vocabulary.
    smoothing : float, optional
        :math:`\varepsilon`, at least 0 and less than 1.

    Returns
    -------
    Loss
        The sum, the same without smoothing, and the number of positions. Without positions that
        count, all are zero.

    Raises
    ------
    ValueError
        If shapes or devices do not fit, a label is not in the vocabulary, or ``smoothing`` is out
        of range.
    TypeError
        If ``logits`` are not floating-point numbers or ``labels`` not integers.

    Notes
    -----
    Szegedy et al. (2016), section 7, as in PyTorch; Vaswani et al. (2017), section 5.4. Chapter 9,
    equations ``eq-cross-entropy``, ``eq-cross-entropy-gradient`` and ``eq-label-smoothing``.

    The kernel has first derivatives only. For second ones, compute the loss within
    :func:`glassbox.formulas`.
    """
    _check(logits, labels, smoothing)
    counted = torch.ones_like(labels, dtype=torch.bool)
    if ignore_id is not None:
        counted = labels != ignore_id
    labels = labels.long().masked_fill(~counted, 0)
    _check_range(labels, logits.size(-1))
    share = smoothing / logits.size(-1)
    total, nll = smoothed_sums(logits, labels, counted, 1 - smoothing, share)
    return Loss(total, nll, counted.sum())


@formula
def smoothed_sums(
    logits: Float[Tensor, "*positions vocab"],
    labels: Int[Tensor, "*positions"],
    counted: Bool[Tensor, "*positions"],
    peak: float,
    share: float,
) -> tuple[Float[Tensor, ""], Float[Tensor, ""]]:
    r"""Sum the cross-entropies with targets of ``share`` everywhere plus ``peak`` at the labels.

    .. math:: \sum_t H(q_t, p_t) = -\sum_t \sum_k q_{tk} \log p_{tk}

    Parameters
    ----------
    logits : Tensor
        ``(..., vocab)``.
    labels : Tensor
        Integers, ``(...)``.
    counted : Tensor
        Boolean, ``(...)``: which positions count.
    peak, share : float
        The target :math:`q`, which must sum to 1: ``peak + share * vocab == 1``.

    Returns
    -------
    total, nll : Tensor
        The sum, and, without a gradient, the sum for a target that is all at the labels.

    Notes
    -----
    Chapter 9, equations ``eq-cross-entropy`` and ``eq-label-smoothing``.
    """
    log_weights = logits.log_softmax(-1, dtype=torch.promote_types(logits.dtype, torch.float32))
    at_label = log_weights.gather(-1, labels[..., None])[..., 0]
    total = -peak * at_label
    if share:
        total = total - share * log_weights.sum(dim=-1)
    nll = -at_label.detach()
    return total.masked_fill(~counted, 0).sum(), nll.masked_fill(~counted, 0).sum()


def _check(logits: Tensor, labels: Tensor, smoothing: float) -> None:
    """Reject inputs that do not fit together."""
    check_dtype("logits", logits, FLOATS, "floating-point numbers, torch.float32")
    check_dtype("labels", labels, INTEGERS, "a tensor of integers, torch.int64")
    if logits.dim() == 0 or logits.shape[:-1] != labels.shape or not logits.size(-1):
        expected = "(..., vocab) and (...): one label for each row of logits"
        raise wrong_shapes(expected, logits=logits, labels=labels)
    check_device("labels", labels, logits.device, "the logits")
    check_number("smoothing", smoothing, "at least 0 and less than 1", ", such as 0.1")


def _check_range(labels: Tensor, vocab_size: int) -> None:
    """Reject labels outside the vocabulary; ignored ones are 0 here."""
    hidden = torch.compiler.is_compiling() or labels.is_meta or is_wrapped(labels)
    if hidden or not labels.numel():
        return  # there are no values to check, only shapes
    low, high = (int(end) for end in labels.aminmax())
    if low < 0 or high >= vocab_size:
        raise ValueError(
            f"labels run from {low} to {high}; the logits are of 0 to {vocab_size - 1}. If one of "
            "them marks positions to skip, pass it as ignore_id"
        )
