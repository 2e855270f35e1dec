"""The loss of a language model on a whole text, and nanoGPT's estimate of it."""

import math
from typing import NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor

from glassbox.checks import check_at_least, check_tensors, check_token_ids, check_type
from glassbox.evaluation.likelihood import Likelihood, token_losses
from glassbox.models.language_model import LanguageModel
from glassbox.modes import evaluating


class LossEstimate(NamedTuple):
    """A loss estimated from samples.

    Attributes
    ----------
    loss : float
        The mean over the batches, in nats per token.
    standard_error : float
        The standard error of that mean, estimated from the spread of the batches.
    """

    loss: float
    standard_error: float


def evaluate_language_model(
    model: LanguageModel,
    token_ids: Int[Tensor, " length"],
    n_bytes: int,
    *,
    stride: int | None = None,
    batch_size: int = 32,
) -> Likelihood:
    """Measure a language model on a whole text: every token but the first is predicted once.

    The text is cut into windows of as many tokens as the model reads at most, its ``max_len``; one
    begins every ``stride`` tokens. Where windows overlap, a token counts in the first one that
    predicts it. Without overlap, the first tokens of a window are predicted from little context;
    the smaller the stride, the more context each token has, and the longer the evaluation takes.

    Parameters
    ----------
    model : LanguageModel
        The model, in eval mode during the call.
    token_ids : Tensor
        Integers, ``(length,)``.
    n_bytes : int
        Number of bytes of text in all tokens but the first.
    stride : int, optional
        Tokens from the beginning of one window to the next; ``max_len`` if left out, so that
        windows do not overlap.
    batch_size : int, optional
        Number of windows computed at a time.

    Returns
    -------
    Likelihood
        Loss, perplexity and bits per byte.

    Raises
    ------
    ValueError
        If the text has less than two tokens, or a number is out of its range.
    TypeError
        If ``token_ids`` are not a tensor of integers, or ``model`` is not a language model.

    Notes
    -----
    Karpathy's nanoGPT reports the mean over random windows instead:
    :func:`~glassbox.evaluation.estimate_loss`. Chapter 9.
    """
    context = _check_text(model, token_ids)
    stride = context if stride is None else stride
    check_at_least("stride", stride, 1)
    if stride > context:
        raise ValueError(f"stride={stride}: above max_len={context}, tokens would be missed")
    check_at_least("batch_size", batch_size, 1)
    nats, n_predicted, overlap = 0.0, token_ids.numel() - 1, context - stride
    batches: list[Tensor] = []
    if n_predicted >= context:
        batches += token_ids.unfold(0, context + 1, stride).split(batch_size)
    rest = token_ids[stride * sum(map(len, batches)) :]
    if not batches or len(rest) - 1 > overlap:
        batches.append(rest[None])
    with torch.inference_mode(), evaluating(model):
        for number, windows in enumerate(batches):
            losses = _window_losses(model, windows)
            nats += losses[:, overlap:].sum().item()  # the others were in the previous window
            if number == 0:
                nats += losses[0, :overlap].sum().item()
    return Likelihood(nats, n_predicted, n_bytes)


def estimate_loss(
    model: LanguageModel,
    token_ids: Int[Tensor, " length"],
    *,
    batch_size: int = 12,
    n_batches: int = 20,
    generator: torch.Generator | None = None,
) -> LossEstimate:
    """Estimate a language model's loss from windows that begin anywhere, as nanoGPT does.

    Each draw yields a different figure, and the minimum of many is too optimistic: for the loss of
    the whole text, use :func:`~glassbox.evaluation.evaluate_language_model`.

    Parameters
    ----------
    model : LanguageModel
        The model, in eval mode during the call.
    token_ids : Tensor
        Integers, ``(length,)``.
    batch_size, n_batches : int, optional
        Windows in a batch, and batches. The defaults are those of nanoGPT's run on a CPU.
    generator : torch.Generator, optional
        The source of randomness; PyTorch's own if left out.

    Returns
    -------
    LossEstimate
        The mean, and its standard error.

    Raises
    ------
    ValueError
        If the text is shorter than a window and its last label, or a number is out of its range.
    TypeError
        If ``token_ids`` are not a tensor of integers, or ``model`` is not a language model.

    Notes
    -----
    Karpathy's nanoGPT, ``estimate_loss`` in ``train.py``. Chapter 9.
    """
    context = _check_text(model, token_ids)
    check_at_least("batch_size", batch_size, 1)
    check_at_least("n_batches", n_batches, 2, ", or the error is not known")
    if (starts := token_ids.numel() - context) < 1:
        raise ValueError(
            f"a text of {token_ids.numel()} tokens is too short for windows of max_len={context} "
            "and the label after it: take more text"
        )
    means = []
    with torch.inference_mode(), evaluating(model):
        for _ in range(n_batches):
            drawn = torch.randint(starts, (batch_size,), generator=generator).tolist()
            windows = torch.stack([token_ids[start : start + context + 1] for start in drawn])
            means.append(_window_losses(model, windows).mean())
    losses = torch.stack(means).double()
    return LossEstimate(losses.mean().item(), losses.std().item() / math.sqrt(n_batches))


def _window_losses(
    model: LanguageModel, windows: Int[Tensor, "batch longer"]
) -> Float[Tensor, "batch length"]:
    windows = windows.to(model.embedding.weight.device)
    return token_losses(model(windows[:, :-1]), windows[:, 1:])


def _check_text(model: LanguageModel, token_ids: Int[Tensor, " length"]) -> int:
    """Reject what is not a text; return how much of it the model reads at a time."""
    check_type("model", model, LanguageModel, "a LanguageModel")
    check_tensors(token_ids=token_ids)
    if token_ids.dim() != 1:
        raise ValueError(f"token_ids {tuple(token_ids.shape)}: expected one text, (length,)")
    if token_ids.numel() < 2:
        raise ValueError(f"a text of {token_ids.numel()} tokens: expected 2, or none is predicted")
    check_token_ids("token_ids", token_ids[None], model.config.vocab_size, token_ids.device)
    return model.config.max_len
