"""Contrastive search: probable tokens that are unlike the text so far (chapter 10)."""

import math
from typing import Any

import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from glassbox.checks import check_at_least, check_number
from glassbox.generation.checks import check_choice, check_room, vocabulary
from glassbox.generation.config import GenerationConfig, configure
from glassbox.generation.running import RunningBatch


def contrastive_scores(
    probabilities: Float[Tensor, "batch k"],
    candidates: Float[Tensor, "batch k d_model"],
    past: Float[Tensor, "batch length d_model"],
    alpha: float,
    mask: Bool[Tensor, "batch length"] | None = None,
) -> Float[Tensor, "batch k"]:
    r"""Weigh how probable a token is against how much it would repeat the text so far.

    .. math:: (1 - \alpha)\, p(v \mid x_{<t})
              - \alpha \max_{1 \le j \le t - 1} \cos(h_v, h_{x_j})

    Parameters
    ----------
    probabilities : Tensor
        ``(batch, k)``: :math:`p`, of ``k`` candidates for the next token.
    candidates : Tensor
        ``(batch, k, d_model)``: :math:`h_v`, the hidden state that each would have.
    past : Tensor
        ``(batch, length, d_model)``: :math:`h_{x_j}`, the hidden states of the tokens so far.
    alpha : float
        :math:`\alpha`: 0 is greedy decoding, 1 considers only repetition.
    mask : Tensor, optional
        Boolean, ``(batch, length)``: ``False`` where the past is padding.

    Returns
    -------
    Tensor
        ``(batch, k)``.

    Notes
    -----
    Su et al. (2022), equation 5. Chapter 10, equation ``eq-contrastive``.
    """
    similarity = F.normalize(candidates, dim=-1) @ F.normalize(past, dim=-1).mT
    if mask is not None:
        similarity = similarity.masked_fill(~mask[:, None], -math.inf)
    return (1 - alpha) * probabilities - alpha * similarity.amax(dim=-1)


def contrastive_search(
    model: nn.Module,
    prompt_ids: Int[Tensor, "batch length"] | None = None,
    config: GenerationConfig | None = None,
    *,
    k: int = 4,
    alpha: float = 0.6,
    prompt_mask: Bool[Tensor, "batch 1 1 length"] | None = None,
    source_ids: Int[Tensor, "batch source_length"] | None = None,
    source_mask: Bool[Tensor, "batch 1 1 source_length"] | None = None,
    **options: Any,
) -> Int[Tensor, "batch longer"]:
    """Continue texts with the best of the ``k`` most probable tokens, weighed against repetition.

    :func:`contrastive_scores` ranks the candidates. All are read in one pass; the cache then keeps
    the row of the chosen one.

    Parameters
    ----------
    model, prompt_ids, config, prompt_mask, source_ids, source_mask, **options
        As for :func:`glassbox.generation.generate`.
    k : int, optional
        Number of candidates.
    alpha : float, optional
        The weight of repetition, from 0 to 1.

    Returns
    -------
    Tensor
        Integers, ``(batch, longer)``: prompts and new tokens.

    Raises
    ------
    ValueError, TypeError, FloatingPointError
        As :func:`glassbox.generation.generate`; also if ``k`` is less than 1 or more than the
        vocabulary, if ``alpha`` is not from 0 to 1, or with sampling or beams.

    Notes
    -----
    Su et al. (2022). Chapter 10.
    """
    config = configure(config, options)
    check_at_least("k", k, 1)
    check_number("alpha", alpha, "from 0 to 1", "; 0 is greedy, and at 1 only repetition counts")
    if config.sample or config.n_beams > 1:
        raise ValueError(
            f"sample={config.sample} and n_beams={config.n_beams}: contrastive search neither "
            "draws nor has beams; expected False and 1"
        )
    with torch.inference_mode():
        batch = RunningBatch(model, prompt_ids, config, prompt_mask, source_ids, source_mask)
        if k > (vocab_size := vocabulary(batch.model.config)):
            raise ValueError(f"k={k} is more than the vocabulary of {vocab_size}")
        check_room(model, batch.prompt_len, config.max_new_tokens, reads_last=True)
        _search(batch, k, alpha)
    return batch.token_ids.clone()


def _search(batch: RunningBatch, k: int, alpha: float) -> None:
    config, ids = batch.config, batch.token_ids
    ended = torch.zeros(ids.size(0), dtype=torch.bool, device=ids.device)
    rows = torch.arange(ids.size(0), device=ids.device)

    past = F.pad(batch.read_hidden(), (0, 0, 0, config.max_new_tokens))  # room for the new tokens
    for length in range(batch.prompt_len, batch.prompt_len + config.max_new_tokens):
        mask = batch.mask
        logits = batch.process(batch.logits(past[:, length - 1 : length])[:, 0])
        logits = logits.masked_fill(ended[:, None], 0.0)  # they may have no token left
        check_choice(logits, config.no_repeat_ngram)
        probabilities, tokens = logits.softmax(dim=-1).topk(k)
        tokens = tokens.masked_fill(ended[:, None], config.fill_id)

        batch.reorder(rows.repeat_interleave(k))
        batch.append(tokens.view(-1, 1))
        hidden = batch.read_hidden()[:, -1].unflatten(0, (-1, k))  # (batch, k, d_model)
        scores = contrastive_scores(probabilities, hidden, past[:, :length], alpha, mask)
        best = scores.masked_fill(probabilities == 0, -math.inf).argmax(dim=-1)

        batch.reorder(rows * k + best)
        past[:, length] = hidden[rows, best]
        ended |= batch.ends(tokens[rows, best])
        if config.eos_ids and ended.all():
            return
