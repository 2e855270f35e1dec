"""Beam search: follow several continuations at a time and return the best (chapter 10)."""

import math
from typing import Any, NamedTuple

import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from glassbox.generation.choice import widen
from glassbox.generation.config import GenerationConfig, configure
from glassbox.generation.running import RunningBatch


class Beams(NamedTuple):
    """Texts that have ended, the best of each row first.

    Attributes
    ----------
    token_ids : Tensor
        Integers, ``(batch, beams, length)``, prompts included; meaningless where the score is
        minus infinity.
    scores : Tensor
        ``(batch, beams)``: log-probability of the new tokens, divided by their number to the
        power of ``length_penalty``; minus infinity where there is no text.
    lengths : Tensor
        Integers, ``(batch, beams)``: number of new tokens, including the one that ends the text.
    """

    token_ids: Int[Tensor, "batch beams length"]
    scores: Float[Tensor, "batch beams"]
    lengths: Int[Tensor, "batch beams"]


class Candidates(NamedTuple):
    """Possible continuations of the beams by one token, the best of each row first.

    Attributes
    ----------
    scores : Tensor
        ``(batch, candidates)``: log-probability of all new tokens.
    beams : Tensor
        Integers, ``(batch, candidates)``: which beam is continued.
    tokens : Tensor
        Integers, ``(batch, candidates)``: with which token.
    """

    scores: Float[Tensor, "batch candidates"]
    beams: Int[Tensor, "batch candidates"]
    tokens: Int[Tensor, "batch candidates"]


def best_candidates(
    scores: Float[Tensor, "batch beams"], log_probs: Float[Tensor, "batch beams vocab"], n: int
) -> Candidates:
    """Find the ``n`` best ways to continue any of a row's beams by one token.

    Parameters
    ----------
    scores : Tensor
        ``(batch, beams)``: the beams' log-probabilities; minus infinity for unused ones.
    log_probs : Tensor
        ``(batch, beams, vocab)``: the next token's log-probabilities.
    n : int
        Number of candidates to return; fewer if there are fewer in all.

    Returns
    -------
    Candidates
        ``(batch, n)``, the best first.

    Notes
    -----
    Chapter 10.
    """
    totals = (scores[..., None] + log_probs).flatten(1)
    best, index = totals.topk(min(n, totals.size(1)))
    vocab = log_probs.size(-1)
    return Candidates(best, index // vocab, index % vocab)


def keep_running(
    candidates: Candidates, ends: Bool[Tensor, "batch candidates"], n: int
) -> Candidates:
    """Keep the ``n`` best candidates that do not end.

    Parameters
    ----------
    candidates : Candidates
        At least ``n`` for each row.
    ends : Tensor
        Boolean, ``(batch, candidates)``: where the token ends the text.
    n : int
        The number of beams.

    Returns
    -------
    Candidates
        ``(batch, n)``.

    Notes
    -----
    Chapter 10.
    """
    scores, keep = candidates.scores.masked_fill(ends, -math.inf).topk(n)
    return Candidates(scores, candidates.beams.gather(1, keep), candidates.tokens.gather(1, keep))


def keep_ended(ended: Beams, new: Beams, fill_id: int = 0) -> Beams:
    """Merge texts that ended before with those that end now, and keep the best, as many as before.

    Parameters
    ----------
    ended, new : Beams
        ``(batch, beams)`` and ``(batch, any)``; the new ones are at least as long.
    fill_id : int, optional
        The token that pads shorter texts.

    Returns
    -------
    Beams
        ``(batch, beams)``, the best first.

    Notes
    -----
    Chapter 10.
    """
    longer = new.token_ids.size(-1) - ended.token_ids.size(-1)
    ended = ended._replace(token_ids=F.pad(ended.token_ids, (0, longer), value=fill_id))
    both = Beams(*(torch.cat(pair, dim=1) for pair in zip(ended, new, strict=True)))
    scores, keep = both.scores.topk(ended.scores.size(1))
    rows = keep[..., None].expand(-1, -1, both.token_ids.size(-1))
    return Beams(both.token_ids.gather(1, rows), scores, both.lengths.gather(1, keep))


def beam_search(
    model: nn.Module,
    prompt_ids: Int[Tensor, "batch length"] | None = None,
    config: GenerationConfig | None = None,
    *,
    prompt_mask: Bool[Tensor, "batch 1 1 length"] | None = None,
    source_ids: Int[Tensor, "batch source_length"] | None = None,
    source_mask: Bool[Tensor, "batch 1 1 source_length"] | None = None,
    **options: Any,
) -> Beams:
    r"""Follow the ``n_beams`` most probable continuations, and return the ``n_best`` that ended.

    A text :math:`y` of :math:`|y|` new tokens is ranked by :math:`\log P(y \mid x) / |y|^\alpha`,
    with :math:`\alpha` the ``length_penalty``. Each step extends every beam by every token. Of the
    best candidates, those that end are set aside, and the best ``n_beams`` that do not are
    continued.

    Parameters
    ----------
    model, prompt_ids, config, prompt_mask, source_ids, source_mask, **options
        As for :func:`glassbox.generation.generate`.

    Returns
    -------
    Beams
        ``(batch, n_best)`` texts with their scores, the best first.

    Raises
    ------
    ValueError, TypeError, FloatingPointError
        As :func:`glassbox.generation.generate`, except that a text which ``no_repeat_ngram`` leaves
        no token has a score of minus infinity and meaningless tokens; also with sampling.

    Notes
    -----
    Freitag and Al-Onaizan (2017); the penalty in the spirit of Wu et al. (2016),
    section 7, whose formula is :math:`(5 + |y|)^\alpha / (5 + 1)^\alpha`. Chapter 10,
    equation ``eq-length-penalty``.
    """
    config = configure(config, options)
    if config.sample:
        raise ValueError("sample=True: beam search draws nothing; use generate, or sample=False")
    with torch.inference_mode():
        batch = RunningBatch(model, prompt_ids, config, prompt_mask, source_ids, source_mask)
        beams = _search(batch)
    return Beams(*(tensor.clone() for tensor in beams))


def _search(batch: RunningBatch) -> Beams:
    config, n = batch.config, batch.config.n_beams
    n_texts, device = batch.token_ids.size(0), batch.token_ids.device
    # Enough to leave n to continue, even if every beam can end in every way.
    n_candidates = n * (1 + max(1, len(config.eos_ids)))

    # A prompt is read once; then its row is copied for each beam.
    copies = torch.arange(n_texts, device=device).repeat_interleave(n)
    first = torch.arange(n_texts, device=device)[:, None] * n  # the row of a text's first beam
    logits = widen(batch.read()[copies])
    batch.reorder(copies)
    scores = logits.new_full((n_texts, n), -math.inf)
    scores[:, 0] = 0.0  # a text's beams are still identical: continue only one
    ended = Beams(
        batch.token_ids.new_empty(n_texts, n, 0),
        torch.full_like(scores, -math.inf),
        torch.zeros_like(scores, dtype=torch.int64),
    )
    done = torch.zeros(n_texts, dtype=torch.bool, device=device)

    for length in range(1, config.max_new_tokens + 1):
        last = length == config.max_new_tokens
        log_probs = batch.process(logits.log_softmax(dim=-1))
        # The published models that rule out tokens renormalise the others.
        if getattr(batch.model.config, "never_written", ()):
            total = log_probs.logsumexp(dim=-1, keepdim=True)
            log_probs = log_probs - total.masked_fill(total == -math.inf, 0.0)
        candidates = best_candidates(scores, log_probs.unflatten(0, (n_texts, n)), n_candidates)
        ends = batch.ends(candidates.tokens) | last

        # Only the best n may end; the others are there to be continued instead.
        end_now = ends[:, :n] & ~done[:, None]
        if last or (config.eos_ids and end_now.any()):
            texts = batch.token_ids[first + candidates.beams[:, :n]]
            texts = torch.cat([texts, candidates.tokens[:, :n, None]], dim=-1)
            penalised = candidates.scores[:, :n] / length**config.length_penalty
            penalised = penalised.masked_fill(~end_now, -math.inf)
            new = Beams(texts, penalised, torch.full_like(ended.lengths, length))
            ended = keep_ended(ended, new, config.fill_id)

        scores, beams, tokens = keep_running(candidates, ends, n)
        done |= _is_done(scores, ended.scores, length, config)
        if last or (config.eos_ids and done.all()):
            break
        batch.reorder((first + beams).flatten(), same_text=True)
        batch.append(tokens.view(-1, 1))
        logits = widen(batch.read())

    best = Beams(*(tensor[:, : config.n_best] for tensor in ended))
    longest = batch.prompt_len + int(best.lengths.max())
    return best._replace(token_ids=best.token_ids[..., :longest])


def _is_done(running: Tensor, ended: Tensor, length: int, config: GenerationConfig) -> Tensor:
    """Return which texts have ended beams that no running one will beat: ``(batch,)``."""
    worst = ended.amin(dim=-1)  # minus infinity until n have ended
    if config.early_stopping is True:
        return worst > -math.inf
    # A beam's log-probability only falls, but divided by its length it may still rise.
    to_the_end = config.early_stopping == "never" and config.length_penalty > 0
    longest = config.max_new_tokens if to_the_end else length
    return running[:, 0] / longest**config.length_penalty <= worst
