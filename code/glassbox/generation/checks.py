"""Checks of the arguments of generation (chapter 10)."""

import math
from collections.abc import Collection, Sequence
from typing import Any

from torch import Tensor, nn

from glassbox.checks import check_model_mask, check_tensors, check_token_ids, wrong_shapes


def check_past(logits: Tensor, token_ids: Tensor, mask: Tensor | None = None) -> None:
    """Reject a past that does not fit these logits.

    Raises
    ------
    TypeError
        If logits or ids are not tensors.
    ValueError
        If the shapes of logits, tokens and mask do not fit, naming them.
    """
    check_tensors(logits=logits, token_ids=token_ids)
    if logits.dim() != 2 or token_ids.dim() != 2 or logits.size(0) != token_ids.size(0):
        expected = "(batch, vocab) and (batch, length): one row of logits for each text"
        raise wrong_shapes(expected, logits=logits, token_ids=token_ids)
    if mask is not None and mask.shape != token_ids.shape:
        expected = "equal shapes: the mask is True where a token counts"
        raise wrong_shapes(expected, mask=mask, token_ids=token_ids)


def check_model(model: nn.Module) -> Any:
    """Reject a model that cannot generate text; return its configuration.

    Raises
    ------
    TypeError
        If ``model`` is not a language model of this package.
    """
    if not hasattr(model, "new_cache") or not hasattr(model, "config"):
        raise TypeError(
            f"{type(model).__name__} is not a language model of this package, such as GPT2. To "
            "use a model of transformers, load it with from_pretrained"
        )
    return model.config


def vocabulary(config: Any) -> int:
    """Return how many tokens a model with this configuration chooses from."""
    return getattr(config, "written_vocab_size", config.vocab_size)


def check_source(model: nn.Module, prompt_ids: object, source_ids: object, mask: object) -> None:
    """Reject a source if the model has no encoder, and a missing source if it has one.

    Raises
    ------
    ValueError
        If a source is missing or superfluous, or there is no prompt.
    """
    name, reads = type(model).__name__, hasattr(model, "encode")
    if reads and source_ids is None:
        raise ValueError(f"source_ids is None, but {name} has an encoder: pass what it is to read")
    if not reads and (source_ids is not None or mask is not None):
        raise ValueError(
            f"{name} has no encoder to read source_ids or source_mask: expected None; make "
            "the source part of the prompt"
        )
    if not reads and prompt_ids is None:
        raise ValueError(f"prompt_ids is None: {name} needs at least one token to continue from")


def check_prompt(
    model: nn.Module,
    prompt_ids: Tensor,
    prompt_mask: Tensor | None,
    memory: Tensor | None,
    max_new_tokens: int,
) -> None:
    """Reject prompts that cannot be continued with so many tokens.

    Raises
    ------
    ValueError
        If a prompt is empty, too long, padded on the right or padded without a mask, an id is not
        in the vocabulary, or ids, mask and the ``memory`` of the sources do not fit.
    TypeError
        If the ids are not integers, or the mask is not boolean.
    """
    config, device = model.config, next(model.parameters()).device
    pad_id, ends = getattr(config, "pad_id", None), getattr(config, "eos_id", None)
    ends = ends if isinstance(ends, tuple) else (ends,)
    # An encoder–decoder's output may begin with padding, and a text may end with it.
    unmasked = prompt_mask is None and not hasattr(model, "encode") and pad_id not in ends
    size = vocabulary(config)
    check_token_ids("prompt_ids", prompt_ids, size, device, pad_id if unmasked else None)
    batch, length = prompt_ids.shape
    if memory is not None and memory.size(0) != batch:
        raise ValueError(
            f"there are {memory.size(0)} sources and {batch} prompts: each source needs the "
            "prompt that its output begins with"
        )
    check_model_mask("prompt_mask", prompt_mask, (batch, 1, 1, length), device)
    if prompt_mask is not None and not prompt_mask[..., -1].all():
        row = int((~prompt_mask[:, 0, 0, -1]).nonzero()[0])
        raise ValueError(
            f"prompt_mask is False at the last token of row {row}: prompts are padded on the left, "
            "because they are continued on the right; move the padding to the front"
        )
    check_room(model, length, max_new_tokens)


def check_stop_strings(stop_strings: Sequence[str], tokenizer: object, n_beams: int = 1) -> None:
    """Reject stop strings that cannot be searched for.

    Raises
    ------
    ValueError
        If one is empty, if there is no tokenizer to read the text, or if there are beams.
    TypeError
        If they are a single string, which would be read as its characters, can be read only once,
        or are not strings.
    """
    several = isinstance(stop_strings, Collection) and not isinstance(stop_strings, str)
    if not several or not all(isinstance(string, str) for string in stop_strings):
        raise TypeError(f"stop_strings={stop_strings!r}: expected several strings, as in ['end']")
    wrong = None
    if stop_strings and not hasattr(tokenizer, "decode"):
        cure = "to find them in the text, pass the tokenizer that reads it"
        wrong = f" with tokenizer={tokenizer!r}: {cure}"
    elif "" in stop_strings:
        wrong = ": an empty string is in every text, which would end at once"
    elif stop_strings and n_beams > 1:
        wrong = f" with n_beams={n_beams}: beams end at eos_id only"
    if wrong:
        raise ValueError(f"stop_strings={list(stop_strings)}{wrong}")


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


def check_choice(logits: Tensor, n: int | None) -> None:
    """Reject logits in which n-grams of length ``n`` that must not repeat rule out every token.

    Raises
    ------
    ValueError
        If there is one; the message names its row.
    """
    if n is not None and (stuck := logits.amax(dim=-1) == -math.inf).any():
        raise ValueError(
            f"no_repeat_ngram={n} rules out every token that could come next in row "
            f"{int(stuck.nonzero()[0])}: write fewer tokens, or rule out longer n-grams only"
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
            f"the next token's logits are NaN or infinite in {int((~good).sum())} of "
            f"{good.numel()} rows ({logits.dtype}): look for such numbers among the model's "
            "weights; where these are finite, compute in torch.float32"
        )
