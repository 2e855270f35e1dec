"""The likelihood that a translator assigns to reference translations."""

from collections.abc import Iterable

import torch

from glassbox.checks import check_at_least
from glassbox.data.padding import pad
from glassbox.evaluation.likelihood import Likelihood, token_losses
from glassbox.modes import evaluating
from glassbox.tokenization.checks import check_texts
from glassbox.translation import Translator


def evaluate_translator(
    translator: Translator,
    sources: Iterable[str],
    targets: Iterable[str],
    to: str,
    *,
    batch_size: int = 64,
) -> Likelihood:
    """Measure the likelihood of reference translations, given their sources.

    Each token of a target is predicted from the true tokens before it, not from those that the
    model would have written (teacher forcing). The end token is one of them, because the model must
    also predict where a translation ends. It counts in the loss and among the tokens but has no
    bytes; neither does the start token, which is not predicted.

    Parameters
    ----------
    translator : Translator
        The translator, whose model is in eval mode during the call.
    sources, targets : iterable of str
        Equally many of both.
    to : str
        The language of the targets.
    batch_size : int, optional
        Number of pairs computed at a time.

    Returns
    -------
    Likelihood
        Loss, perplexity and bits per byte. The bytes are those of the targets as the tokenizer
        decodes them: lower-cased if the translator does so.

    Raises
    ------
    ValueError
        If there is no pair, every target is blank, sources and targets differ in number, or the
        translator does not write this language.
    TypeError
        If anything but strings is given, or a single one instead of several.

    Notes
    -----
    Chapter 9.
    """
    sources, targets = list(check_texts(sources)), list(check_texts(targets))
    if len(sources) != len(targets):
        raise ValueError(f"{len(sources)} sources and {len(targets)} targets: expected pairs")
    if not sources:
        raise ValueError("no sentence pair: expected one at least")
    check_at_least("batch_size", batch_size, 1)
    model, tokenizer = translator.model, translator.tokenizer
    pairs = [
        (tokenizer.encode_source(source, to), tokenizer.encode_target(target))
        for source, target in zip(sources, targets, strict=True)
    ]
    n_bytes = sum(len(tokenizer.decode(target).encode()) for _, target in pairs)
    if not n_bytes:
        raise ValueError("every target is blank: expected text to predict")
    pairs.sort(key=lambda pair: (len(pair[1]), len(pair[0])))
    nats, n_tokens = 0.0, 0
    with torch.inference_mode(), evaluating(model):
        for i in range(0, len(pairs), batch_size):
            (source_ids, source_mask), (target_ids, target_mask) = (
                pad(rows, tokenizer.pad_id, device=translator.device)
                for rows in zip(*pairs[i : i + batch_size], strict=True)
            )
            # The decoder's input is padded at the end, where causality hides the padding.
            logits = model(source_ids, target_ids[:, :-1], source_mask)
            losses = token_losses(logits, target_ids[:, 1:])[target_mask[:, 0, 0, 1:]]
            nats += losses.sum().item()
            n_tokens += losses.numel()
    return Likelihood(nats, n_tokens, n_bytes)
