"""Rotary positions: rotate queries and keys by their positions (chapter 6)."""

import math
from dataclasses import dataclass
from numbers import Real

import torch
from jaxtyping import Float, Int
from torch import Tensor

from glassbox.around import Around, Rotation
from glassbox.checks import (
    broadcasts,
    check_at_least,
    check_base,
    check_even,
    check_positions,
    check_tensors,
)
from glassbox.positional.absolute import Positions

WHY_EVEN = "its components are turned in pairs"


@dataclass(frozen=True)
class RotaryScaling:
    """Slower rotations, for texts longer than those a model was first trained on.

    Frequencies that turn fewer than ``low`` times within ``original_len`` positions are divided
    by ``factor``, those that turn more than ``high`` times are kept, and those in between are
    interpolated (LLaMA 3.1). Without ``original_len`` all are divided (linear interpolation).

    Parameters
    ----------
    factor : float
        How many times longer the texts become.
    original_len : int, optional
        Their original length.
    low, high : float, optional
        Numbers of turns.

    Raises
    ------
    ValueError
        Unless ``factor >= 1``, ``original_len`` is an integer from 1 on, and ``0 < low < high``.
    TypeError
        If ``factor``, ``low`` or ``high`` is not a number.

    Notes
    -----
    Chen, Wong et al. (2023), section 2.3, for linear interpolation; Peng et al. (2024), section
    3.2, for the blend, with the numbers of turns in the code published with LLaMA 3.1. Chapter 6.
    """

    factor: float
    original_len: int | None = None
    low: float = 1.0
    high: float = 4.0

    def __post_init__(self) -> None:
        for name in ("factor", "low", "high"):
            given: object = getattr(self, name)
            if isinstance(given, bool) or not isinstance(given, Real):
                raise TypeError(f"{name}={given!r}: expected a number")
            object.__setattr__(self, name, float(given))  # JSON has no NumPy numbers
        if not 1 <= self.factor < math.inf:
            raise ValueError(f"factor={self.factor}: must be at least 1 and finite")
        if self.original_len is not None:
            check_at_least("original_len", self.original_len, 1)
        if not 0 < self.low < self.high:
            raise ValueError(f"low={self.low} and high={self.high}: must be 0 < low < high")

    def __call__(self, frequencies: Float[Tensor, " pairs"]) -> Float[Tensor, " pairs"]:
        """Return the scaled frequencies, ``(d_k / 2,)``."""
        if self.original_len is None:
            return frequencies / self.factor
        turns = self.original_len / (2 * math.pi / frequencies)
        keep = ((turns - self.low) / (self.high - self.low)).clamp(0, 1)
        return (1 - keep) * frequencies / self.factor + keep * frequencies


def rotary_frequencies(
    d_k: int,
    *,
    base: float = 10_000.0,
    scaling: RotaryScaling | None = None,
    device: torch.device | str | None = None,
) -> Float[Tensor, " pairs"]:
    r"""Return the angle each pair turns by from position to position: :math:`\theta_i = b^{-2i/d}`.

    Parameters
    ----------
    d_k : int
        Width :math:`d` of a head, even.
    base : float, optional
        :math:`b`.
    scaling : RotaryScaling, optional
        Slower rotations for longer texts.
    device : torch.device or str, optional
        Device of the frequencies.

    Returns
    -------
    Tensor
        ``(d_k / 2,)``, float32, decreasing; from 1, unless ``scaling`` slows them all.

    Raises
    ------
    TypeError
        If ``d_k`` is not an integer.
    ValueError
        If ``d_k`` is odd or less than 2, or ``base`` is not a finite number greater than 1.

    Notes
    -----
    Su et al. (2024), section 3.2.2. Chapter 6.
    """
    check_even("d_k", d_k, WHY_EVEN)
    check_base(base)
    exponents = torch.arange(0, d_k, 2, dtype=torch.float32, device=device) / d_k
    frequencies = 1 / base**exponents
    return frequencies if scaling is None else scaling(frequencies)


def rotary_rotation(
    positions: Int[Tensor, "..."],
    frequencies: Float[Tensor, " pairs"],
    *,
    interleaved: bool = False,
) -> Rotation:
    r"""Compute the cosine and sine of the angles :math:`p \theta_i`.

    Parameters
    ----------
    positions : Tensor
        Integers, ``(..., length)``, negative ones included. Beyond :math:`2^{24}` float32 does not
        hold every integer, so neighbours may get the same angles.
    frequencies : Tensor
        :math:`\theta`, ``(d_k / 2,)``; see :func:`rotary_frequencies`.
    interleaved : bool, optional
        Whether the two components of a pair are adjacent (the paper, GPT-J) or half a width apart
        (Hugging Face's LLaMA).

    Returns
    -------
    Rotation
        ``(..., length, d_k)`` each.

    Raises
    ------
    TypeError
        If positions or frequencies are not tensors.

    Notes
    -----
    Su et al. (2024), section 3.2.2. Computed in float32, as in the models trained with it: at
    position 100,000 an angle is off by some thousandths. Chapter 6, equation ``eq-rotary``.
    """
    check_tensors(positions=positions, frequencies=frequencies)
    angles = positions[..., None].float() * frequencies
    cos, sin = angles.cos(), angles.sin()
    if interleaved:
        return Rotation(
            cos.repeat_interleave(2, dim=-1), torch.stack((-sin, sin), dim=-1).flatten(-2), True
        )
    return Rotation(torch.cat((cos, cos), dim=-1), torch.cat((-sin, sin), dim=-1), False)


def rotate(
    x: Float[Tensor, "*batch length d_k"], rotation: Rotation
) -> Float[Tensor, "*batch length d_k"]:
    r"""Rotate each pair of components by its angle.

    .. math:: \begin{pmatrix} x_1 \\ x_2 \end{pmatrix} \mapsto
              \begin{pmatrix} x_1 \cos \alpha - x_2 \sin \alpha \\
                              x_2 \cos \alpha + x_1 \sin \alpha \end{pmatrix}

    Lengths are preserved, and the dot product of a rotated query and a rotated key depends only on
    the distance between their positions.

    Parameters
    ----------
    x : Tensor
        Queries or keys, ``(..., length, d_k)``.
    rotation : Rotation
        The rotation for their positions; it broadcasts to ``x``.

    Returns
    -------
    Tensor
        ``(..., length, d_k)``, in the dtype of ``x``; half precision is rotated in float32.

    Raises
    ------
    ValueError
        If the length, width or batch of ``x`` does not fit the rotation.

    Notes
    -----
    Su et al. (2024), equation 34. Chapter 6, equation ``eq-rotary``.
    """
    cos, sin, interleaved = rotation
    if x.shape[-2:] != cos.shape[-2:] or not broadcasts(cos.shape, x.shape):
        raise ValueError(
            f"x has shape {tuple(x.shape)}, the rotation {tuple(cos.shape)}; expected "
            "(..., length, d_k) twice: a turn for each position and component, and one for each "
            "text or one for all"
        )
    if interleaved:
        other = x.unflatten(-1, (-1, 2)).flip(-1).flatten(-2)
    else:
        other = x.roll(x.size(-1) // 2, dims=-1)
    # x * cos + other * sin in one pass; the sign is in the sine.
    return torch.addcmul(x * cos, other, sin).to(x.dtype)


class RotaryPositions(Positions):
    """Rotations of queries and keys; values are left unchanged.

    Parameters
    ----------
    d_k : int
        Width of a head, even.
    base : float, optional
        A larger base slows the slow pairs further: 10,000 in the paper, 500,000 in LLaMA 3.
    interleaved : bool, optional
        Whether the two components of a pair are adjacent (the paper, GPT-J) or half a width apart
        (Hugging Face's LLaMA). Weights trained with one order need :func:`interleaved_to_half` or
        its inverse for the other.
    scaling : RotaryScaling, optional
        Slower rotations for longer texts.

    Raises
    ------
    TypeError
        If ``d_k`` is not an integer.
    ValueError
        If ``d_k`` is odd or less than 2, or ``base`` is not greater than 1.

    Notes
    -----
    Su et al. (2024), section 3. Chapter 6.
    """

    def __init__(
        self,
        d_k: int,
        *,
        base: float = 10_000.0,
        interleaved: bool = False,
        scaling: RotaryScaling | None = None,
    ) -> None:
        super().__init__()
        rotary_frequencies(d_k, base=base)  # refuses what no model could compute
        self.d_k = d_k
        self.base = base
        self.interleaved = interleaved
        self.scaling = scaling

    def around(self, positions: Int[Tensor, "*rows length"], seen: Int[Tensor, " k_len"]) -> Around:
        """Return the :meth:`rotation` of the new tokens."""
        return Around(rotation=self.rotation(positions))

    def rotation(self, positions: Int[Tensor, "*rows length"]) -> Rotation:
        """Return the rotation for these positions, shared by all layers and heads.

        Parameters
        ----------
        positions : Tensor
            Integers, ``(length,)`` or ``(batch, length)``.

        Returns
        -------
        Rotation
            ``(length, d_k)`` or ``(batch, 1, length, d_k)``, which broadcast to
            ``(batch, heads, length, d_k)``.

        Raises
        ------
        TypeError
            If the positions are not integers.
        ValueError
            If their shape is neither of the two.
        """
        check_positions(positions)
        # Not a buffer: casting the model to half precision would cast its frequencies too.
        frequencies = rotary_frequencies(
            self.d_k, base=self.base, scaling=self.scaling, device=positions.device
        )
        positions = positions if positions.dim() == 1 else positions[:, None]  # all heads alike
        return rotary_rotation(positions, frequencies, interleaved=self.interleaved)

    def extra_repr(self) -> str:
        scaling = f", {self.scaling}" if self.scaling else ""
        return f"{self.d_k}, base={self.base:g}, interleaved={self.interleaved}{scaling}"
