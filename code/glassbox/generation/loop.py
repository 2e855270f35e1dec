"""The loop of generation: read, choose, append (chapter 10)."""

from collections.abc import Iterator, Sequence
from typing import Any

import torch
from jaxtyping import Bool, Int
from torch import Tensor, nn

from glassbox.generation.beam_search import beam_search
from glassbox.generation.checks import check_choice, check_stop_strings
from glassbox.generation.choice import greedy, sample
from glassbox.generation.config import GenerationConfig, configure
from glassbox.generation.running import RunningBatch
from glassbox.generation.text import Tokenizer, has_stop_string


def generate(
    model: nn.Module,
    prompt_ids: Int[Tensor, "batch length"] | None = None,
    config: GenerationConfig | None = None,
    *,
    prompt_mask: Bool[Tensor, "batch 1 1 length"] | None = None,
    source_ids: Int[Tensor, "batch source_length"] | None = None,
    source_mask: Bool[Tensor, "batch 1 1 source_length"] | None = None,
    generator: torch.Generator | None = None,
    tokenizer: Tokenizer | None = None,
    stop_strings: Sequence[str] = (),
    **options: Any,
) -> Int[Tensor, "rows longer"]:
    """Continue texts: greedily, by sampling, or with beams.

    The model's mode is not changed: in training mode, its dropout is on.

    Parameters
    ----------
    model : nn.Module
        A language model of this package, decoder-only or encoder–decoder.
    prompt_ids : Tensor, optional
        Integers, ``(batch, length)``: the beginnings of the texts, padded on the *left*. For an
        encoder–decoder model, the beginning of its output; the start token if left out.
    config : GenerationConfig, optional
        The options; greedy decoding if left out.
    prompt_mask : Tensor, optional
        Boolean, ``(batch, 1, 1, length)``: ``False`` where a prompt is padded, as
        :func:`glassbox.padding_mask` returns it. Required if the prompts of a decoder contain the
        model's ``pad_id``, unless that is also the model's ``eos_id``.
    source_ids, source_mask : Tensor, optional
        The encoder's input in an encoder–decoder model, and where it is not padding. The mask is
        required if the sources contain the model's ``pad_id``.
    generator : torch.Generator, optional
        The source of randomness, on the model's device; PyTorch's own if left out.
    tokenizer : Tokenizer, optional
        Decodes the text to search it for ``stop_strings``.
    stop_strings : sequence of str, optional
        Strings that end a text; the tokens that complete one are still returned. They are sought
        in the new tokens, without the prompt.
    **options
        Fields of :class:`GenerationConfig`: instead of ``config``, or to change it.

    Returns
    -------
    Tensor
        Integers, ``(batch, longer)``: prompts and new tokens, until every row has ended. With
        beams ``(batch * n_best, longer)``, the best of each text first.

    Raises
    ------
    ValueError
        If an option is out of its range or contradicts another, if a prompt is empty, too long or
        padded on the right, if an id is not in the vocabulary, if a source is missing or
        superfluous, if the mask of padding or the tokenizer for stop strings is missing, or
        if ``no_repeat_ngram`` leaves a text no token to continue with.
    TypeError
        If ``model`` or ``config`` is something else, ids are not integers, masks not boolean,
        ``stop_strings`` not several strings, or there is no such option.
    FloatingPointError
        If the model's logits are NaN or infinite.

    Examples
    --------
    >>> generate(model, prompt_ids, max_new_tokens=50, sample=True, top_p=0.9)

    Notes
    -----
    Greedily and with beams, the tokens are those of ``transformers``' method of this name.
    Chapter 10.
    """
    config = configure(config, options)
    check_stop_strings(stop_strings, tokenizer, config.n_beams)
    inputs = {"prompt_mask": prompt_mask, "source_ids": source_ids, "source_mask": source_mask}
    if config.n_beams > 1:
        beams = beam_search(model, prompt_ids, config, **inputs)
        check_choice(beams.scores.flatten()[:, None], config.no_repeat_ngram)
        return beams.token_ids.flatten(0, 1)
    with torch.inference_mode():
        batch = RunningBatch(model, prompt_ids, config, **inputs)
        for _ in _write(batch, generator, stop_strings, tokenizer):
            pass
    return batch.token_ids.clone()  # out of inference mode, so that it can be trained on


def stream(
    model: nn.Module,
    prompt_ids: Int[Tensor, "batch length"] | None = None,
    config: GenerationConfig | None = None,
    *,
    prompt_mask: Bool[Tensor, "batch 1 1 length"] | None = None,
    source_ids: Int[Tensor, "batch source_length"] | None = None,
    source_mask: Bool[Tensor, "batch 1 1 source_length"] | None = None,
    generator: torch.Generator | None = None,
    tokenizer: Tokenizer | None = None,
    stop_strings: Sequence[str] = (),
    **options: Any,
) -> Iterator[Int[Tensor, " batch"]]:
    """Continue texts as :func:`generate` does, and yield each token as it is chosen.

    Tokens are computed on demand. For text, see :func:`glassbox.generation.text_pieces`.

    Parameters
    ----------
    model, prompt_ids, config, prompt_mask, source_ids, source_mask, generator, tokenizer, \
stop_strings, **options
        As for :func:`generate`, without beams, whose tokens may still change.

    Returns
    -------
    iterator of Tensor
        Integers, ``(batch,)``: the next token of each row.

    Raises
    ------
    ValueError, TypeError
        As :func:`generate`, at once where they concern the arguments, otherwise with the token; and
        if there are beams.
    FloatingPointError
        As :func:`generate`, with the token.

    Notes
    -----
    Chapter 10.
    """
    config = configure(config, options)
    if config.n_beams > 1:
        raise ValueError(
            f"n_beams={config.n_beams}: the best beam is known only at the end, so nothing "
            "can be streamed: use generate"
        )
    check_stop_strings(stop_strings, tokenizer)
    with torch.inference_mode():
        batch = RunningBatch(model, prompt_ids, config, prompt_mask, source_ids, source_mask)
    # Copies made out of inference mode, so that they can be trained on.
    return (tokens.clone() for tokens in _write(batch, generator, stop_strings, tokenizer))


def _write(
    batch: RunningBatch,
    generator: torch.Generator | None,
    stop_strings: Sequence[str],
    tokenizer: Tokenizer | None,
) -> Iterator[Tensor]:
    config, ended = batch.config, torch.zeros_like(batch.token_ids[:, 0], dtype=torch.bool)
    for _ in range(config.max_new_tokens):
        with torch.inference_mode():  # per step: the caller's code runs in between
            logits = batch.process(batch.read())
            logits = logits.masked_fill(ended[:, None], 0.0)  # they may have no token left
            check_choice(logits, config.no_repeat_ngram)
            tokens = sample(logits, generator) if config.sample else greedy(logits)
            tokens = tokens.masked_fill(ended, config.fill_id)
            batch.append(tokens[:, None])
            ended |= batch.ends(tokens)
            if tokenizer is not None and stop_strings:
                ended |= has_stop_string(batch.token_ids, tokenizer, stop_strings, batch.prompt_len)
        yield tokens
        if (config.eos_ids or stop_strings) and ended.all():
            return
