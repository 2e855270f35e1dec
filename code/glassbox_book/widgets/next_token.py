"""A sentence that the reader writes token by token, from stored logits of a real model."""

import json
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor

from glassbox_book.templates import fill, fixed
from glassbox_book.viz.tokens import visible
from glassbox_book.widgets.widget import Widget

#: Number of the largest logits stored one by one; the others form groups of neighbouring ranks.
FIRST = 30
#: Decimal places of a stored logit.
PLACES = 2
#: Maximum number of continuations offered at a step.
OFFERED = 7

Prefixes = Mapping[tuple[int, ...], Tensor]


def next_token(
    prefixes: Prefixes,
    eos_id: int,
    *,
    token: Callable[[int], str],
    decode: Callable[[Sequence[int]], str],
    source: str,
) -> Widget:
    r"""Let the reader choose or draw each token of a sentence, under rules of their choice.

    Sliders set the temperature, top-k, top-p and min-p, which are applied in this order, as in
    :func:`glassbox.generation.process`, and over the whole vocabulary. Each token that can be
    chosen has a bar, with a mark at the model's own probability. A token can be chosen if its
    continuation is among the prefixes; all others share one row, and a message appears if one of
    them is drawn.

    Parameters
    ----------
    prefixes : mapping of tuple of int to Tensor
        The logits of the next token, ``(vocab,)``, after each sequence of tokens that can be
        reached, including the empty one. They are rounded by :func:`stored_logits`.
    eos_id : int
        The token that ends a sentence.
    token : callable
        Returns the name of a token.
    decode : callable
        Returns the text of some tokens.
    source : str
        The text that the model read.

    Returns
    -------
    Widget
        A cell displays it.

    Raises
    ------
    ValueError
        If there are no logits for the empty prefix, a prefix cannot be reached or leads nowhere,
        or logits are not a row of finite numbers, as many for every prefix.

    Notes
    -----
    Chapter 10, equations ``eq-sampling-temperature``, ``eq-nucleus`` and ``eq-min-p``.
    """
    if () not in prefixes:
        raise ValueError("prefixes has no (): give the logits of the first token")
    order = sorted(prefixes, key=lambda ids: (len(ids), ids))
    places = {ids: place for place, ids in enumerate(order)}
    nodes: list[list[Any]] = []
    size = prefixes[()].numel()
    reached: set[tuple[int, ...]] = {()}
    for ids in order:
        logits = prefixes[ids]
        if logits.shape != (size,) or not logits.isfinite().all():
            raise ValueError(
                f"the logits after {ids} have shape {tuple(logits.shape)}; expected one row of "
                "finite numbers, as many for every prefix"
            )
        offers = _offers(logits, ids, places, eos_id)
        if not offers:
            raise ValueError(f"the prefix {ids} has no continuation: give one, or leave it out")
        reached |= {(*ids, i) for i in offers}
        stored = stored_logits(logits)
        rows = [[stored[i].item(), visible(token(i)), to] for i, to in offers.items()]
        nodes.append([decode(ids), rows, _others(stored, list(offers))])
    if lost := places.keys() - reached:
        raise ValueError(f"{len(lost)} prefixes cannot be reached, such as {min(lost)}")
    tree = {"vocabulary": size, "nodes": nodes}
    data = json.dumps(tree, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")
    shares, others = _shares(nodes[0], prefixes[()])
    body = fill(
        "widgets/page/next_token.html",
        source=source,
        rows=shares,
        others=others,
        offered=OFFERED,
        vocabulary=size,
        tree=data,
    )
    lines = [f"{name}: {fixed(share, 3)}" for name, share in shares]
    text = [f"After {source!r} the first token can be", *lines, f"another one: {fixed(others, 3)}"]
    return Widget("next_token", "A sentence written token by token", body, "\n".join(text))


def stored_logits(logits: Tensor) -> Tensor:
    """Return logits as the widget stores them, in double precision.

    The 30 largest are rounded to a hundredth. The others form groups of neighbouring ranks, each a
    tenth as large as the number of tokens above it, and every token of a group gets the group's
    mean, rounded to a hundredth. Ranks, not values, decide which tokens form a group, so a
    processor that rounds differently changes the stored numbers by at most their last place.

    Parameters
    ----------
    logits : Tensor
        ``(vocab,)``.

    Returns
    -------
    Tensor
        ``(vocab,)``.
    """
    values, order = logits.detach().double().cpu().sort(descending=True)
    sizes = [1] * min(FIRST, len(values)) + group_sizes(len(values))
    means = [group.mean() for group in values.split(sizes)]
    stored = torch.stack(means).repeat_interleave(torch.tensor(sizes)).round(decimals=PLACES)
    return torch.empty_like(stored).scatter(0, order, stored)


def group_sizes(vocabulary: int) -> list[int]:
    """Return the size of each group after the first 30 tokens, given the size of a vocabulary."""
    sizes, above = [], FIRST
    while above < vocabulary:
        sizes.append(min(above // 10, vocabulary - above))
        above += sizes[-1]
    return sizes


def _offers(
    logits: Tensor, ids: tuple[int, ...], places: Mapping[tuple[int, ...], int], eos_id: int
) -> dict[int, int]:
    """Return the tokens that can be chosen and their next nodes; the end leads to node -1."""
    found = {}
    for rank, i in enumerate(logits.topk(min(FIRST, len(logits))).indices.tolist()):
        to = -1 if i == eos_id else places.get((*ids, i))
        if to is not None and (to >= 0 or rank < OFFERED):
            found[i] = to
    return dict(list(found.items())[:OFFERED])


def _others(stored: Tensor, offers: list[int]) -> list[float]:
    """Return the stored logits of all tokens not offered, largest first, one per group."""
    rest = torch.ones(len(stored), dtype=torch.bool)
    rest[offers] = False
    values = stored[rest].sort(descending=True).values
    first = min(FIRST, len(stored)) - len(offers)
    starts = torch.tensor([first, *group_sizes(len(stored))]).cumsum(0)[:-1]
    return torch.cat([values[:first], values[starts]]).tolist()


def _shares(node: list[Any], logits: Tensor) -> tuple[list[tuple[str, float]], float]:
    """Return the names and probabilities of the tokens offered, and the others' probability."""
    total = stored_logits(logits).logsumexp(dim=0).item()
    rows = [(name, math.exp(logit - total)) for logit, name, _ in node[1]]
    return rows, 1 - math.fsum(share for _, share in rows)
