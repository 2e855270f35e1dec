"""Logits in, a token out: the options of one step, in their order (chapter 10)."""

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from glassbox.generation.config import GenerationConfig
from glassbox.generation.penalties import (
    frequency_penalty,
    no_repeat_ngram,
    presence_penalty,
    repetition_penalty,
    suppress,
)
from glassbox.generation.processors import min_p, temperature, top_k, top_p, typical


def widen(logits: Float[Tensor, "*shape"]) -> Float[Tensor, "*shape"]:
    """Return half-precision logits in float32; wider ones stay as they are."""
    return logits.to(torch.promote_types(logits.dtype, torch.float32))


def process(
    logits: Float[Tensor, "batch vocab"],
    config: GenerationConfig,
    token_ids: Int[Tensor, "batch length"],
    prompt_len: int,
    mask: Bool[Tensor, "batch length"] | None = None,
) -> Float[Tensor, "batch vocab"]:
    """Apply the penalties and filters of ``config`` to the next token's logits.

    The order is that of ``transformers``, with the two penalties that it lacks after the first:
    repetition, frequency and presence penalty, n-grams, minimum length; then temperature, top-k,
    top-p, min-p, typical. It matters: a high temperature
    enlarges the nucleus if applied before top-p, but not after it.

    Parameters
    ----------
    logits : Tensor
        ``(batch, vocab)``. Half precision is widened to float32.
    config : GenerationConfig
        The options.
    token_ids : Tensor
        Integers, ``(batch, length)``: the text so far, the prompt included.
    prompt_len : int
        Number of prompt tokens among them.
    mask : Tensor, optional
        Boolean, ``(batch, length)``: ``False`` where there is padding.

    Returns
    -------
    Tensor
        ``(batch, vocab)``, in float32 at least.

    Notes
    -----
    Chapter 10.
    """
    logits = widen(logits)
    if config.repetition_penalty != 1:
        logits = repetition_penalty(logits, token_ids, config.repetition_penalty, mask)
    if config.frequency_penalty:
        logits = frequency_penalty(logits, token_ids[:, prompt_len:], config.frequency_penalty)
    if config.presence_penalty:
        logits = presence_penalty(logits, token_ids[:, prompt_len:], config.presence_penalty)
    if config.no_repeat_ngram is not None:
        logits = no_repeat_ngram(logits, token_ids, config.no_repeat_ngram, mask)
    if token_ids.size(1) - prompt_len < config.min_new_tokens:
        logits = suppress(logits, config.eos_ids)
    if config.temperature != 1:
        logits = temperature(logits, config.temperature)
    if config.top_k is not None:
        logits = top_k(logits, config.top_k)
    if config.top_p is not None:
        logits = top_p(logits, config.top_p)
    if config.min_p is not None:
        logits = min_p(logits, config.min_p)
    if config.typical_p is not None:
        logits = typical(logits, config.typical_p)
    return logits


def greedy(logits: Float[Tensor, "batch vocab"]) -> Int[Tensor, " batch"]:
    """Return the most probable token; among equals, the first.

    Parameters
    ----------
    logits : Tensor
        ``(batch, vocab)``.

    Returns
    -------
    Tensor
        Integers, ``(batch,)``.

    Notes
    -----
    The most probable token at every step need not yield the most probable text. Chapter 10.
    """
    return logits.argmax(dim=-1)


def sample(
    logits: Float[Tensor, "batch vocab"], generator: torch.Generator | None = None
) -> Int[Tensor, " batch"]:
    r"""Draw a token from the distribution: :math:`P(i) = e^{l_i} / \sum_j e^{l_j}`.

    Parameters
    ----------
    logits : Tensor
        ``(batch, vocab)``; a token at minus infinity is never drawn.
    generator : torch.Generator, optional
        The source of randomness, on the device of the logits; PyTorch's own if left out.

    Returns
    -------
    Tensor
        Integers, ``(batch,)``.

    Notes
    -----
    Chapter 10.
    """
    return logits.softmax(dim=-1).multinomial(1, generator=generator).squeeze(-1)
