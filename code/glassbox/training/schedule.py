"""The learning rate at each step: up during a warm-up, then down (chapter 9).

Steps of the optimiser are counted from 1, however many batches go into one. The
first has a rate above zero, and the last, where there is one, the lowest.
"""

import math
from dataclasses import dataclass
from typing import Literal, get_args

from glassbox.checks import check_kind

Kind = Literal["inverse_sqrt", "cosine", "linear", "constant"]


def warmup_inverse_sqrt(step: int, d_model: int, warmup: int) -> float:
    r"""Return the paper's learning rate.

    .. math::
        d_{\text{model}}^{-1/2}
        \min\left(\text{step}^{-1/2}, \text{step} \cdot \text{warmup}^{-3/2}\right)

    Parameters
    ----------
    step : int
        The optimiser's step, from 1.
    d_model : int
        The model's width.
    warmup : int
        The step with the highest rate,
        :math:`(d_{\text{model}} \cdot \text{warmup})^{-1/2}`.

    Returns
    -------
    float
        The learning rate.

    Raises
    ------
    ValueError
        If a number is less than 1.

    Notes
    -----
    Vaswani et al. (2017), equation 3. Chapter 9, equation ``eq-warmup-inverse-sqrt``.
    """
    _check(step=step, d_model=d_model, warmup=warmup)
    return d_model**-0.5 * min(step**-0.5, step * warmup**-1.5)


def warmup_inverse_sqrt_to(step: int, peak: float, warmup: int) -> float:
    r"""Return a learning rate of the paper's shape, with any peak.

    .. math::
        \text{peak} \cdot \min\left(\frac{\text{step}}{\text{warmup}},
        \sqrt{\frac{\text{warmup}}{\text{step}}}\right)

    Parameters
    ----------
    step : int
        The optimiser's step, from 1.
    peak : float
        The highest rate.
    warmup : int
        The step that has it.

    Returns
    -------
    float
        The learning rate.

    Raises
    ------
    ValueError
        If ``step`` or ``warmup`` is less than 1.

    Notes
    -----
    Vaswani et al. (2017), section 5.3. Chapter 9.
    """
    _check(step=step, warmup=warmup)
    return peak * min(step / warmup, math.sqrt(warmup / step))


def warmup_cosine(step: int, peak: float, warmup: int, total: int, floor: float = 0.0) -> float:
    r"""Return a learning rate that falls along half a cosine wave after the warm-up.

    .. math::
        \text{floor} + (\text{peak} - \text{floor}) \frac{1 + \cos \pi t}{2},
        \quad t = \frac{\text{step} - \text{warmup}}{\text{total} - \text{warmup}}

    Parameters
    ----------
    step : int
        The optimiser's step, from 1.
    peak : float
        The highest rate.
    warmup : int
        The step that reaches it, on a straight line from zero; 0 for no warm-up.
    total : int
        The first step with the lowest rate, which all later steps have, too.
    floor : float, optional
        The lowest rate.

    Returns
    -------
    float
        The learning rate.

    Raises
    ------
    ValueError
        If ``step`` is less than 1, ``warmup`` less than 0, or ``total`` not more than ``warmup``.

    Notes
    -----
    Loshchilov and Hutter (2017), equation 5, without restarts. Chapter 9, equation
    ``eq-warmup-cosine``.
    """
    t = _fallen(step, warmup, total)
    if t < 0:
        return _warm(step, peak, warmup)
    return floor + (peak - floor) * (1 + math.cos(math.pi * t)) / 2


def warmup_linear(step: int, peak: float, warmup: int, total: int, floor: float = 0.0) -> float:
    r"""Return a learning rate that falls on a straight line after the warm-up.

    .. math::
        \text{peak} - (\text{peak} - \text{floor}) t,
        \quad t = \frac{\text{step} - \text{warmup}}{\text{total} - \text{warmup}}

    Parameters
    ----------
    step : int
        The optimiser's step, from 1.
    peak : float
        The highest rate.
    warmup : int
        The step that reaches it, on a straight line from zero; 0 for no warm-up.
    total : int
        The first step with the lowest rate, which all later steps have, too.
    floor : float, optional
        The lowest rate.

    Returns
    -------
    float
        The learning rate.

    Raises
    ------
    ValueError
        If ``step`` is less than 1, ``warmup`` less than 0, or ``total`` not more than ``warmup``.

    Notes
    -----
    Devlin et al. (2019), section A.2. Chapter 9.
    """
    t = _fallen(step, warmup, total)
    if t < 0:
        return _warm(step, peak, warmup)
    return peak - (peak - floor) * t


@dataclass(frozen=True)
class Schedule:
    """A learning rate for every step; by default, the schedule of the paper's base model.

    Parameters
    ----------
    kind : {"inverse_sqrt", "cosine", "linear", "constant"}
        How it falls after the warm-up, if at all.
    peak : float
        The highest rate.
    warmup : int
        The step that reaches it, on a straight line from zero; 0 for no warm-up, which all kinds
        but "inverse_sqrt" allow.
    total : int, optional
        For "cosine" and "linear": the first step with the lowest rate.
    floor : float
        For "cosine" and "linear": the lowest rate.

    Raises
    ------
    ValueError
        If the kind is unknown, a number is out of its range, or a number is given that the kind
        does not use, or missing that it needs.

    Notes
    -----
    Vaswani et al. (2017), section 5.3. Chapter 9.
    """

    kind: Kind = "inverse_sqrt"
    peak: float = 7e-4
    warmup: int = 4000
    total: int | None = None
    floor: float = 0.0

    def __post_init__(self) -> None:
        check_kind("kind", self.kind, get_args(Kind))
        least = 1 if self.kind == "inverse_sqrt" else 0
        if self.warmup < least:
            raise ValueError(
                f"warmup={self.warmup}: must be at least {least} steps for kind={self.kind!r}"
            )
        if not 0 < self.peak < math.inf:
            raise ValueError(f"peak={self.peak}: must be more than 0 and finite")
        if not 0 <= self.floor <= self.peak:
            raise ValueError(f"floor={self.floor}: expected 0 to peak={self.peak}")
        if self.kind in ("cosine", "linear"):
            if self.total is None or self.total <= self.warmup:
                raise ValueError(
                    f"kind={self.kind!r} falls from step warmup={self.warmup} to step total, "
                    f"which is {self.total}: give a later one, such as the number of steps"
                )
        elif self.total is not None or self.floor:
            raise ValueError(
                f"kind={self.kind!r} has no end and no floor, but total={self.total} and "
                f"floor={self.floor}: leave them out, or take 'cosine' or 'linear'"
            )

    def __call__(self, step: int) -> float:
        """Return the learning rate of the optimiser's ``step``, counted from 1.

        Raises
        ------
        ValueError
            If ``step`` is less than 1.
        """
        if self.kind == "inverse_sqrt":
            return warmup_inverse_sqrt_to(step, self.peak, self.warmup)
        if self.total is None:
            return _warm(step, self.peak, self.warmup)
        fall = warmup_cosine if self.kind == "cosine" else warmup_linear
        return fall(step, self.peak, self.warmup, self.total, self.floor)


def _warm(step: int, peak: float, warmup: int) -> float:
    """Return the rate during the warm-up, and the peak after it."""
    _check(step=step)
    return peak if step >= warmup else peak * step / warmup


def _fallen(step: int, warmup: int, total: int) -> float:
    """Return the progress of the decay: 0 at ``warmup``, 1 from ``total`` on, negative before."""
    _check(step=step)
    if not 0 <= warmup < total:
        raise ValueError(
            f"warmup={warmup} and total={total}: the rate falls between the two, so the second "
            "must be more than the first, which is at least 0"
        )
    return min(1.0, (step - warmup) / (total - warmup))


def _check(**numbers: int) -> None:
    for name, number in numbers.items():
        if number < 1:
            raise ValueError(f"{name}={number}: must be at least 1")
