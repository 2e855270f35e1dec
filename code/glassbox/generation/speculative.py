"""Speculative decoding: a small model proposes, the large one decides (chapter 10)."""

import math
from typing import Any, NamedTuple

import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from glassbox.checks import check_at_least, wrong_shape
from glassbox.generation.checks import check_choice, check_model, vocabulary
from glassbox.generation.choice import greedy
from glassbox.generation.config import GenerationConfig, configure
from glassbox.generation.running import RunningBatch


class Speculation(NamedTuple):
    """What speculative decoding wrote, and how often the draft was right.

    Attributes
    ----------
    token_ids : Tensor
        Integers, ``(1, length)``: prompt and new tokens.
    proposed, accepted : int
        Number of tokens that the draft proposed, and how many of them the target accepted.
    passes : int
        Number of passes of the target, which alone would need one for every token.
    """

    token_ids: Int[Tensor, "1 length"]
    proposed: int
    accepted: int
    passes: int


def accept(
    target: Float[Tensor, "proposed_and_one vocab"],
    draft: Float[Tensor, "proposed vocab"],
    proposed: Int[Tensor, " proposed"],
    generator: torch.Generator | None = None,
) -> tuple[int, Int[Tensor, ""]]:
    r"""Accept as many of the proposed tokens as the target allows, and draw one more.

    A token drawn from the draft's :math:`q` is accepted with probability :math:`\min(1, p(x) /
    q(x))`. Instead of the first rejected token, one is drawn from what the draft underestimated,
    :math:`\max(0, p - q)` normalised, and the rest is dropped. If all are accepted, one more comes
    from the target. Every token is then distributed as if drawn from :math:`p`.

    Parameters
    ----------
    target : Tensor
        ``(proposed + 1, vocab)``: :math:`p`, probabilities at each proposed token and after them.
    draft : Tensor
        ``(proposed, vocab)``: :math:`q`, the probabilities that the tokens were drawn from.
    proposed : Tensor
        Integers, ``(proposed,)``.
    generator : torch.Generator, optional
        The source of randomness; PyTorch's own if left out.

    Returns
    -------
    accepted : int
        Number of proposed tokens that are accepted.
    token : Tensor
        An integer: the one that follows them.

    Notes
    -----
    Leviathan, Kalman and Matias (2023), section 2.3 and algorithm 1; Chen, Borgeaud et al. (2023),
    algorithm 2 and theorem 1. Chapter 10, equation ``eq-speculative``.
    """
    at = proposed[:, None]
    p, q = target[:-1].gather(1, at)[:, 0], draft.gather(1, at)[:, 0]
    chance = torch.rand(p.shape, dtype=p.dtype, device=p.device, generator=generator)
    accepted = int((chance * q < p).cumprod(dim=0).sum())
    # After the last proposal the draft gives nothing, so that all that is left is the target's.
    rest = (target[accepted] - F.pad(draft, (0, 0, 0, 1))[accepted]).clamp(min=0)
    if rest.sum() == 0:  # p and q differ by rounding alone
        rest = target[accepted]
    return accepted, rest.multinomial(1, generator=generator)[0]


def speculative(
    model: nn.Module,
    draft: nn.Module,
    prompt_ids: Int[Tensor, "1 length"] | None = None,
    config: GenerationConfig | None = None,
    *,
    n_draft: int = 4,
    source_ids: Int[Tensor, "1 source_length"] | None = None,
    source_mask: Bool[Tensor, "1 1 1 source_length"] | None = None,
    generator: torch.Generator | None = None,
    **options: Any,
) -> Speculation:
    """Continue one text as ``model`` would, in fewer passes, by verifying what ``draft`` proposes.

    Sampled texts have exactly the distribution of the target model's own; greedy ones are its own.
    The draft, which must have the same vocabulary, affects only the speed: one pass of the target
    yields from 1 to ``n_draft + 1`` tokens.

    Parameters
    ----------
    model, prompt_ids, config, source_ids, source_mask, generator, **options
        As for :func:`glassbox.generation.generate`, with a batch of one.
    draft : nn.Module
        A smaller model of the same kind.
    n_draft : int, optional
        Number of tokens it proposes at a time.

    Returns
    -------
    Speculation
        The text, and how many proposals were accepted.

    Raises
    ------
    ValueError, TypeError, FloatingPointError
        As :func:`glassbox.generation.generate`; also if there is more than one text, if the
        vocabularies differ, if ``n_draft`` is less than 1, or with beams.

    Notes
    -----
    Leviathan, Kalman and Matias (2023); Chen, Borgeaud et al. (2023). Chapter 10.
    """
    config = configure(config, options)
    check_at_least("n_draft", n_draft, 1)
    ours, theirs = vocabulary(check_model(model)), vocabulary(check_model(draft))
    if ours != theirs:
        raise ValueError(
            f"the draft has a vocabulary of {theirs}, the model of {ours}: its tokens would mean "
            "something else; use a draft with the same tokenizer"
        )
    if config.n_beams > 1:
        raise ValueError(f"n_beams={config.n_beams}: speculative decoding has no beams; expected 1")
    inputs = {"source_ids": source_ids, "source_mask": source_mask}
    with torch.inference_mode():
        target = RunningBatch(model, prompt_ids, config, **inputs)
        if len(target.token_ids) > 1:
            why = "the rows of a batch would accept different numbers of tokens"
            fits = f"(1, length): {why}. Pass them one by one"
            raise wrong_shape("prompt_ids", target.token_ids, fits)
        helper = RunningBatch(draft, target.token_ids, config, **inputs)
        counts = _speculate(target, helper, n_draft, generator)
    return Speculation(target.token_ids.clone(), *counts)


def _speculate(
    target: RunningBatch, draft: RunningBatch, n_draft: int, generator: torch.Generator | None
) -> tuple[int, int, int]:
    config = target.config
    n_proposed = n_accepted = n_passes = 0
    end = target.prompt_len + config.max_new_tokens
    while target.length < end:
        before = target.length
        guesses: list[Tensor] = []
        while len(guesses) < min(n_draft, end - before - 1):  # the target adds one of its own
            guess = draft.process(draft.read())
            if guess.amax() == -math.inf:
                break  # n-grams that must not repeat rule out every token
            guesses.append(_distribution(guess, config))
            draft.append(guesses[-1].multinomial(1, generator=generator))

        target.append(draft.token_ids[:, before:])
        logits = target.logits(target.read_hidden()[:, -len(guesses) - 1 :])[0]
        verdicts: list[Tensor] = []
        for i, row in enumerate(logits.split(1)):
            verdict = target.process(row, before + i)
            if i and verdict.amax() == -math.inf:
                break  # the text may not get here
            check_choice(verdict, config.no_repeat_ngram)
            verdicts.append(_distribution(verdict, config))
        n = len(verdicts) - 1
        n_taken, token = accept(
            torch.cat(verdicts),
            torch.cat([*guesses[:n], logits[:0]]),
            draft.token_ids[0, before : before + n],
            generator,
        )
        for batch in (target, draft):
            batch.crop(before + n_taken)
            batch.append(token.view(1, 1))
        n_proposed, n_accepted, n_passes = n_proposed + n, n_accepted + n_taken, n_passes + 1

        ended = target.ends(target.token_ids[0, before:]).nonzero()
        if len(ended):
            target.crop(before + int(ended[0]) + 1)
            break
    return n_proposed, n_accepted, n_passes


def _distribution(logits: Tensor, config: GenerationConfig) -> Tensor:
    """Return the next token's distribution, ``(1, vocab)``; if greedy, one token has all of it."""
    if config.sample:
        return logits.softmax(dim=-1)
    return F.one_hot(greedy(logits), logits.size(-1)).to(logits.dtype)
