"""The learning rate at each step: up during a warm-up, then down (chapter 9).

Steps of the optimiser are counted from 1, however many batches go into one. With a warm-up, the
first has a rate above zero; a cosine or a line ends at the floor.
"""

import math
from dataclasses import dataclass
from numbers import Real
from typing import Any, Literal, get_args

from glassbox.checks import check_at_least, check_kind, check_number

Kind = Literal["inverse_sqrt", "cosine", "linear", "constant"]


@dataclass(frozen=True)
class Schedule:
    r"""A learning rate for every step; by default, the schedule of the paper's base model.

    After the warm-up it stays at the peak ("constant"), or falls with the inverse square root of
    the step, on half a cosine wave, or on a straight line:

    .. math::
        \text{peak} \sqrt{\text{warmup} / \text{step}}, \quad
        \text{floor} + (\text{peak} - \text{floor}) \frac{1 + \cos \pi s}{2}, \quad
        \text{peak} - (\text{peak} - \text{floor}) s,
        \quad s = \frac{\text{step} - \text{warmup}}{\text{total} - \text{warmup}}

    The paper's base model has the peak :math:`(d_{\text{model}} \cdot \text{warmup})^{-1/2}`.

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
        For "cosine" and "linear": the first step at ``floor``, where all later steps stay.
    floor : float
        For "cosine" and "linear": the rate at the end.

    Raises
    ------
    ValueError
        If the kind is unknown, a number is out of its range, or a number is given that the kind
        does not use, or missing that it needs.

    Notes
    -----
    Vaswani et al. (2017), section 5.3; Loshchilov and Hutter (2017) on "cosine"; Devlin et al.
    (2019), section A.2, on "linear". Chapter 9, equations ``eq-warmup-inverse-sqrt`` and
    ``eq-warmup-cosine``.
    """

    kind: Kind = "inverse_sqrt"
    peak: float = 7e-4
    warmup: int = 4000
    total: int | None = None
    floor: float = 0.0

    def __post_init__(self) -> None:
        check_kind("kind", self.kind, get_args(Kind))
        least = 1 if self.kind == "inverse_sqrt" else 0
        check_at_least("warmup", self.warmup, least, f" for {self.kind!r}")
        check_number("peak", self.peak, "more than 0 and finite")
        floor: Any = self.floor
        if not isinstance(floor, Real) or not 0 <= float(floor) <= self.peak:
            raise ValueError(f"floor={self.floor}: expected 0 to peak={self.peak}")
        if self.kind in ("cosine", "linear"):
            if self.total is not None:
                check_at_least("total", self.total, 1)
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
        if not step >= 1:  # nor NaN
            raise ValueError(f"step={step}: must be at least 1")
        peak, warmup, floor = self.peak, self.warmup, self.floor
        if self.kind == "inverse_sqrt":
            return peak * min(step / warmup, math.sqrt(warmup / step))
        if step < warmup:
            return peak * step / warmup
        if self.total is None:
            return peak
        s = min(1.0, (step - warmup) / (self.total - warmup))
        if self.kind == "linear":
            return peak - (peak - floor) * s
        return floor + (peak - floor) * (1 + math.cos(math.pi * s)) / 2
