"""Which tokens may be drawn: flatten or truncate the next token's distribution (chapter 10).

Each function takes logits, ``(batch, vocab)``, and returns logits, with minus infinity for excluded
tokens. The functions are pure and can be chained in any order; :func:`glassbox.generation.process`
applies them in the customary order.
"""

import math

from jaxtyping import Float
from torch import Tensor

from glassbox.checks import check_at_least, check_number

#: The end of a message about a limit out of range.
HINT = ". To keep every token, leave it out"


def temperature(logits: Float[Tensor, "batch vocab"], value: float) -> Float[Tensor, "batch vocab"]:
    r"""Divide the logits by a temperature: :math:`p_i \propto e^{l_i / T}`.

    Below 1, likely tokens become even more likely; above 1, all become more alike.

    Parameters
    ----------
    logits : Tensor
        ``(batch, vocab)``.
    value : float
        :math:`T`, more than 0.

    Returns
    -------
    Tensor
        ``(batch, vocab)``.

    Raises
    ------
    ValueError
        If the temperature is not positive.

    Notes
    -----
    Ackley, Hinton and Sejnowski (1985); in this form Hinton, Vinyals and Dean (2015), equation 1.
    Chapter 10, equation ``eq-sampling-temperature``.
    """
    hint = ". The limit of 0 is greedy decoding: sample=False"
    check_number("temperature", value, "more than 0 and finite", hint)
    return logits / value


def top_k(logits: Float[Tensor, "batch vocab"], k: int) -> Float[Tensor, "batch vocab"]:
    """Keep the ``k`` most probable tokens, and any that are tied with the last of them.

    Parameters
    ----------
    logits : Tensor
        ``(batch, vocab)``.
    k : int
        At least 1; more than the vocabulary size keeps all tokens.

    Returns
    -------
    Tensor
        ``(batch, vocab)``.

    Raises
    ------
    ValueError
        If ``k`` is not an int of at least 1.

    Notes
    -----
    Fan, Lewis and Dauphin (2018), section 5.4. Chapter 10.
    """
    check_at_least("top_k", k, 1, HINT)
    least = logits.topk(min(k, logits.size(-1))).values[..., -1:]
    return logits.masked_fill(logits < least, -math.inf)


def top_p(logits: Float[Tensor, "batch vocab"], p: float) -> Float[Tensor, "batch vocab"]:
    """Keep the fewest tokens whose probabilities sum to ``p``: the nucleus.

    The token with which the sum reaches ``p`` is kept, so at least one always is.

    Parameters
    ----------
    logits : Tensor
        ``(batch, vocab)``.
    p : float
        More than 0, at most 1.

    Returns
    -------
    Tensor
        ``(batch, vocab)``.

    Raises
    ------
    ValueError
        If ``p`` is out of this range.

    Notes
    -----
    Holtzman et al. (2020), section 3.1, equation 2. Chapter 10, equation
    ``eq-nucleus``.
    """
    check_number("top_p", p, "more than 0 and at most 1", HINT)
    # Starting with the least probable, drop tokens while at most 1 - p is lost.
    ascending, order = logits.sort()
    out = ascending.softmax(dim=-1).cumsum(dim=-1) <= 1 - p
    out[..., -1] = False
    return logits.masked_fill(out.scatter(-1, order, out), -math.inf)


def min_p(logits: Float[Tensor, "batch vocab"], ratio: float) -> Float[Tensor, "batch vocab"]:
    """Keep the tokens at least ``ratio`` times as probable as the most probable one.

    Parameters
    ----------
    logits : Tensor
        ``(batch, vocab)``.
    ratio : float
        More than 0, at most 1.

    Returns
    -------
    Tensor
        ``(batch, vocab)``.

    Raises
    ------
    ValueError
        If ``ratio`` is out of this range.

    Notes
    -----
    Nguyen et al. (2024). Chapter 10, equation ``eq-min-p``.
    """
    check_number("min_p", ratio, "more than 0 and at most 1", HINT)
    probabilities = logits.softmax(dim=-1)
    least = ratio * probabilities.amax(dim=-1, keepdim=True)
    return logits.masked_fill(probabilities < least, -math.inf)


def typical(logits: Float[Tensor, "batch vocab"], mass: float) -> Float[Tensor, "batch vocab"]:
    r"""Keep the tokens whose surprise is closest to its expected value.

    Tokens are ranked by how far their surprise is from its mean, the entropy: :math:`\left|-\log
    p_i - H(p)\right|`. The first whose probabilities sum to ``mass`` are kept, and any that are
    tied with the last of them. The most probable token may be excluded.

    Parameters
    ----------
    logits : Tensor
        ``(batch, vocab)``.
    mass : float
        More than 0, at most 1.

    Returns
    -------
    Tensor
        ``(batch, vocab)``.

    Raises
    ------
    ValueError
        If ``mass`` is out of this range.

    Notes
    -----
    Meister et al. (2023). Chapter 10, equation ``eq-typical``.
    """
    check_number("typical_p", mass, "more than 0 and at most 1", HINT)
    log_p = logits.log_softmax(dim=-1)
    entropy = -(log_p.exp() * log_p).nansum(dim=-1, keepdim=True)  # 0 · -inf counts as 0
    oddness = (-log_p - entropy).abs()
    ascending, order = oddness.sort()
    reached = logits.gather(-1, order).softmax(dim=-1).cumsum(dim=-1)
    last = (reached < mass).sum(dim=-1, keepdim=True).clamp(max=logits.size(-1) - 1)
    return logits.masked_fill(oddness > ascending.gather(-1, last), -math.inf)
