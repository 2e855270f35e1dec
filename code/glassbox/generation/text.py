"""Text during generation: whole characters only, and strings that end it (chapter 10)."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Protocol, runtime_checkable

import torch
from jaxtyping import Bool, Int
from torch import Tensor

#: What decoders substitute for bytes that are not, or not yet, a character.
REPLACEMENT = "\N{REPLACEMENT CHARACTER}"


@runtime_checkable
class Tokenizer(Protocol):
    """Anything that turns ids into text: a tokenizer of this package, or of ``tokenizers``.

    Notes
    -----
    Chapter 10.
    """

    def decode(self, ids: list[int], /) -> str:
        """Return the text of the tokens with these ``ids``."""


def text_pieces(
    token_ids: Iterable[Tensor | int], tokenizer: Tokenizer, skip: Collection[int] = ()
) -> Iterator[str]:
    """Turn tokens into text as they arrive, never splitting a character.

    A token that stands for bytes may end in the middle of a character. An incomplete character
    waits for the next token; joined, the pieces are the text of all tokens, unless it ends inside a
    character or has bytes that are no characters, which the encoding of a text never has.

    Parameters
    ----------
    token_ids : iterable of Tensor or int
        The tokens of one text, for example from :func:`glassbox.generation.stream`.
    tokenizer : Tokenizer
        Anything with ``decode(list of ids) -> str``.
    skip : collection of int, optional
        Tokens without text, such as the one that ends it.

    Yields
    ------
    str
        The next piece; never empty.

    Raises
    ------
    ValueError
        If the tokens are of more than one text.

    Examples
    --------
    >>> for piece in text_pieces(stream(model, prompt_ids), tokenizer):
    ...     print(piece, end="", flush=True)

    Notes
    -----
    Chapter 10.
    """
    ids: list[int] = []
    text, shown = "", 0
    for token in token_ids:
        if isinstance(token, Tensor) and token.numel() != 1:
            raise ValueError(
                f"a step has {token.numel()} tokens; expected 1, of one text: stream a batch row "
                "by row, as (tokens[row] for tokens in stream(...))"
            )
        if int(token) in skip:
            continue
        ids.append(int(token))
        text = tokenizer.decode(ids)
        whole = len(text.rstrip(REPLACEMENT))  # one for each byte of what may become a character
        if whole > shown:
            yield text[shown:whole]
            shown = whole
    if len(text) > shown:
        yield text[shown:]


def has_stop_string(
    token_ids: Int[Tensor, "batch length"],
    tokenizer: Tokenizer,
    stop_strings: Sequence[str],
    prompt_len: int = 0,
) -> Bool[Tensor, " batch"]:
    """Return which texts contain one of these strings, wherever its token boundaries are.

    The prompt is decoded, but not searched: without it, decoders drop the space before a word.
    ``decode`` must not strip white space from the ends of a text.

    Parameters
    ----------
    token_ids : Tensor
        Integers, ``(batch, length)``.
    tokenizer : Tokenizer
        Anything with ``decode(list of ids) -> str``.
    stop_strings : sequence of str
        The strings that end a text.
    prompt_len : int, optional
        Number of prompt tokens at the beginning.

    Returns
    -------
    Tensor
        Boolean, ``(batch,)``.

    Notes
    -----
    Chapter 10.
    """
    found = []
    for row in token_ids.tolist():
        prompt = tokenizer.decode(row[:prompt_len]).rstrip(REPLACEMENT)  # half a character is new
        new = tokenizer.decode(row)[len(prompt) :]
        found.append(any(string in new for string in stop_strings))
    return torch.tensor(found, device=token_ids.device)
