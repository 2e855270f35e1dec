"""Checks of the arguments of generation (chapter 10)."""

import math
from collections.abc import Sequence
from numbers import Real
from typing import Any

import torch
from torch import Tensor, nn

from glassbox.checks import check_token_ids


def is_number(value: object) -> bool:
    """Return whether ``value`` is a real number, and not a string that looks like one."""
    return isinstance(value, Real)


def check_number(name: str, value: float, above: float, hint: str = "") -> None:
    """Reject a value that is not a finite number greater than ``above``.

    Raises
    ------
    ValueError
        If it is not, naming both.
    """
    if not is_number(value) or not above < value < math.inf:
        raise ValueError(f"{name}={value!r}: expected a finite number, more than {above:g}{hint}")


def check_share(name: str, value: float, hint: str = "") -> None:
    """Reject a share that is not a number greater than 0 and at most 1.

    Raises
    ------
    ValueError
        If it is not, naming it.
    """
    if not is_number(value) or not 0 < value <= 1:
        raise ValueError(f"{name}={value!r}: expected a number, more than 0 and at most 1{hint}")


def check_not_negative(name: str, value: float) -> None:
    """Reject a penalty that would be a reward.

    Raises
    ------
    ValueError
        If it is not a number, negative or not finite.
    """
    if not is_number(value) or not 0 <= value < math.inf:
        raise ValueError(f"{name}={value!r}: expected a finite number, at least 0")


def check_past(logits: Tensor, token_ids: Tensor, mask: Tensor | None = None) -> None:
    """Reject a past that does not fit these logits.

    Raises
    ------
    ValueError
        If the shapes of logits, tokens and mask do not fit, naming them.
    """
    if logits.dim() != 2 or token_ids.dim() != 2 or logits.size(0) != token_ids.size(0):
        raise ValueError(
            f"logits have shape {tuple(logits.shape)}, token_ids {tuple(token_ids.shape)}; "
            "expected (batch, vocab) and (batch, length): one row of logits for each text"
        )
    if mask is not None and mask.shape != token_ids.shape:
        raise ValueError(
            f"mask has shape {tuple(mask.shape)}, token_ids {tuple(token_ids.shape)}; expected "
            "the same: True where a token counts"
        )


def check_model(model: nn.Module) -> Any:
    """Reject a model that cannot generate text; return its configuration.

    Raises
    ------
    TypeError
        If ``model`` is not a language model of this package.
    """
    if not hasattr(model, "new_cache") or not hasattr(model, "config"):
        raise TypeError(
            f"{type(model).__name__} is no language model of this package: expected one that has "
            "new_cache, such as GPT2. One of the reference library's is read by from_pretrained"
        )
    return model.config


def vocabulary(config: Any) -> int:
    """Return how many tokens a model with this configuration chooses from."""
    return getattr(config, "written_vocab_size", config.vocab_size)


def check_source(
    model: nn.Module,
    prompt_ids: Tensor | None,
    source_ids: Tensor | None,
    source_mask: Tensor | None,
) -> None:
    """Reject a source if the model has no encoder, and a missing source if it has one.

    Raises
    ------
    ValueError
        If a source is missing or superfluous, there is no prompt, they do not fit, or a source is
        padded but has no mask.
    TypeError
        If the source's ids are not integers, or its mask is not boolean.
    """
    name = type(model).__name__
    if not hasattr(model, "encode"):
        if source_ids is not None or source_mask is not None:
            raise ValueError(
                f"{name} has no encoder to read source_ids or source_mask: expected None; make "
                "the source part of the prompt"
            )
        if prompt_ids is None:
            raise ValueError(f"prompt_ids is None: {name} needs at least one token to go on from")
        return
    if source_ids is None:
        raise ValueError(f"source_ids is None, but {name} has an encoder: pass what it is to read")
    config: Any = model.config
    unmasked = getattr(config, "pad_id", None) if source_mask is None else None
    check_token_ids("source_ids", source_ids, config.vocab_size, _device(model), unmasked)
    if prompt_ids is not None and source_ids.size(0) != prompt_ids.size(0):
        raise ValueError(
            f"there are {source_ids.size(0)} sources and {prompt_ids.size(0)} prompts: "
            "each source needs the prompt that its output begins with"
        )
    if source_mask is not None:
        _check_padding("source_mask", source_mask, source_ids)


def check_prompt(model: nn.Module, prompt_ids: Tensor, prompt_mask: Tensor | None) -> None:
    """Reject prompts that cannot be continued.

    Raises
    ------
    ValueError
        If a prompt is empty or padded on the right, an id is not in the vocabulary, or ids and
        mask do not fit.
    TypeError
        If the ids are not integers, or the mask is not boolean.
    """
    check_token_ids("prompt_ids", prompt_ids, vocabulary(model.config), _device(model))
    if prompt_mask is None:
        return
    _check_padding("prompt_mask", prompt_mask, prompt_ids)
    if not prompt_mask[..., -1].all():
        row = int((~prompt_mask[:, 0, 0, -1]).nonzero()[0])
        raise ValueError(
            f"prompt_mask is False at the last token of row {row}: prompts are padded on the left, "
            "because they are continued on the right; move the padding to the front"
        )


def check_stop_strings(stop_strings: Sequence[str], tokenizer: object, n_beams: int = 1) -> None:
    """Reject stop strings that cannot be searched for.

    Raises
    ------
    ValueError
        If one is empty, if there is no tokenizer to read the text, or if there are beams.
    TypeError
        If they are a single string, which would be read as its characters.
    """
    if isinstance(stop_strings, str):
        raise TypeError(
            f"stop_strings={stop_strings!r} is one string; expected several: [{stop_strings!r}]"
        )
    if stop_strings and tokenizer is None:
        raise ValueError(
            f"stop_strings={list(stop_strings)} with tokenizer=None: to find them in the text, "
            "pass the tokenizer that reads it"
        )
    if "" in stop_strings:
        raise ValueError(
            f"stop_strings={list(stop_strings)}: an empty string is in every text, which would "
            "end at once"
        )
    if stop_strings and n_beams > 1:
        raise ValueError(
            f"stop_strings={list(stop_strings)} with n_beams={n_beams}: beams end at eos_id only"
        )


def check_draft(model: nn.Module, draft: nn.Module, n_beams: int) -> None:
    """Reject what speculative decoding does not support.

    Raises
    ------
    TypeError
        If one of them is not a language model.
    ValueError
        If the vocabularies differ, or if there are beams.
    """
    ours, theirs = vocabulary(check_model(model)), vocabulary(check_model(draft))
    if ours != theirs:
        raise ValueError(
            f"the draft has a vocabulary of {theirs}, the model of {ours}: its tokens would mean "
            "something else; use a draft with the same tokenizer"
        )
    if n_beams > 1:
        raise ValueError(f"n_beams={n_beams}: speculative decoding has no beams; expected 1")


def check_single(prompt_ids: Tensor) -> None:
    """Reject more than one text.

    Raises
    ------
    ValueError
        If there are several rows, naming the shape.
    """
    if prompt_ids.size(0) > 1:
        raise ValueError(
            f"prompt_ids has shape {tuple(prompt_ids.shape)}; expected (1, length): the rows of a "
            "batch would accept different numbers of tokens. Pass them one by one"
        )


def check_room(
    model: nn.Module, prompt_len: int, max_new_tokens: int, *, reads_last: bool = False
) -> None:
    """Reject more tokens than the model has positions for.

    Together, prompt and new tokens may exceed the model's ``max_len`` by one: the last token is
    written but never read, unless ``reads_last``.

    Raises
    ------
    ValueError
        If they are longer.
    """
    # Most kinds of positions have no limit; a model with only one kind states it as max_len.
    endless = getattr(model.config, "positions", "learned") != "learned"
    max_len = getattr(model.config, "max_len", None)
    if max_len is None or endless:
        return
    most = max_len - prompt_len + (not reads_last)
    if max_new_tokens > most:
        cure = f"at most max_new_tokens={most}" if most > 0 else "shorten the prompt"
        raise ValueError(
            f"a prompt of {prompt_len} tokens and max_new_tokens={max_new_tokens} are too long for "
            f"this model, which has positions for {max_len}: {cure}"
        )


def check_logits(logits: Tensor) -> None:
    """Reject logits that contain NaN or plus infinity.

    Raises
    ------
    FloatingPointError
        If there is a NaN, or plus infinity.
    """
    good = logits.amax(dim=-1) < math.inf  # amax returns NaN if there is one; it is not less
    if not good.all():
        raise FloatingPointError(
            f"the next token's logits are NaN or infinite in {int((~good).sum())} of {len(good)} "
            f"rows ({logits.dtype}): look for such numbers among the model's weights; where these "
            "are finite, compute in torch.float32"
        )


def _device(model: nn.Module) -> torch.device:
    return next(model.parameters()).device


def _check_padding(name: str, mask: Tensor, ids: Tensor) -> None:
    if not isinstance(mask, Tensor) or mask.dtype != torch.bool:
        given = mask.dtype if isinstance(mask, Tensor) else type(mask).__name__
        raise TypeError(f"{name} is {given}; expected torch.bool, True at real tokens")
    if mask.shape != (expected := (ids.size(0), 1, 1, ids.size(1))):
        raise ValueError(
            f"{name} has shape {tuple(mask.shape)}; expected {expected}, as padding_mask gives it"
        )
