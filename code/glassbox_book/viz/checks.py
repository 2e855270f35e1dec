"""Checks that the given tokens, layers and heads fit the attention."""

from collections.abc import Sequence
from dataclasses import replace
from numbers import Integral

from glassbox_book.viz.maps import AttentionMaps
from glassbox_book.viz.tokens import visible_all


def with_tokens(
    maps: AttentionMaps, tokens: Sequence[str], key_tokens: Sequence[str] | None
) -> AttentionMaps:
    """Check the number of query and key tokens, and return the maps with these as they are shown.

    Raises
    ------
    ValueError
        If tokens and weights differ in number.
    """
    rows = visible_all(tokens)
    columns = rows if key_tokens is None else visible_all(key_tokens)
    q_len, k_len = maps.weights.shape[2:]
    for name, found, needed in (("tokens", rows, q_len), ("key_tokens", columns, k_len)):
        if len(found) != needed:
            kind = "queries" if name == "tokens" else "keys"
            given = "tokens" if key_tokens is None else name
            raise ValueError(
                f"{len(found)} {given} for weights of {needed} {kind}: {given}={found[:8]}"
                f"{' ...' if len(found) > 8 else ''}; pass one token per position, with the "
                "special tokens the tokenizer added"
                + (", and key_tokens for cross-attention" if q_len != k_len else "")
            )
    return replace(maps, rows=rows, columns=columns)


def check_chosen(name: str, given: Sequence[int] | None, count: int) -> list[int]:
    """Check that the given layers or heads exist, and return them; by default, all.

    Raises
    ------
    ValueError
        If there are none, or one is repeated or does not exist.
    """
    if given is None:
        return list(range(count))
    if isinstance(given, Integral):
        raise ValueError(f"{name}s={given} is one number; pass a list: {name}s=[{given}]")
    numbers_given = [check_one(name, number, range(count)) for number in given]
    if not numbers_given or len(set(numbers_given)) < len(numbers_given):
        raise ValueError(f"{name}s={list(given)}: pass at least one {name}, and none twice")
    return numbers_given


def check_one(name: str, given: int, known: Sequence[int]) -> int:
    """Check that a layer or head number is among those known, and return it.

    Raises
    ------
    ValueError
        If it is not.
    """
    if given not in known:
        raise ValueError(
            f"there is no {name} {given}; the {name}s, counted from zero, are "
            f"{known[0]} to {known[-1]}"
            if list(known) == list(range(known[0], known[-1] + 1))
            else f"{name} {given} is not among the {name}s to choose from, {list(known)}"
        )
    return int(given)
