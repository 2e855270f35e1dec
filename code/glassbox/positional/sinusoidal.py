"""Positions as waves of many lengths, added to the embeddings (chapter 6)."""

import torch
from jaxtyping import Float, Int
from torch import Tensor

from glassbox.positional.interface import Positions, check_base, check_embeddings, check_even


def sinusoidal_encoding(
    positions: Int[Tensor, "..."],
    d_model: int,
    *,
    base: float = 10_000.0,
    concatenated: bool = False,
) -> Float[Tensor, "... d_model"]:
    r"""Describe each position by the sine and cosine of waves from short to long.

    .. math:: PE_{(p, 2i)} = \sin\left(p / b^{2i/d}\right), \quad
              PE_{(p, 2i+1)} = \cos\left(p / b^{2i/d}\right)

    Moving on by :math:`k` positions turns pair :math:`i` by the angle :math:`k / b^{2i/d}`,
    wherever one stands: a linear map that does not depend on :math:`p`.

    Parameters
    ----------
    positions : Tensor
        Integers of any shape; any numbers, negative ones too.
    d_model : int
        Width :math:`d` of the encoding, even.
    base : float, optional
        :math:`b`; the longest wave repeats after almost :math:`2 \pi b` positions.
    concatenated : bool, optional
        All sines first, then all cosines, as in Marian; the paper's order is sine and cosine of
        each pair side by side. See :func:`interleaved_to_half`.

    Returns
    -------
    Tensor
        ``(..., d_model)``, float32 and right to its last place at far positions too.

    Raises
    ------
    ValueError
        If ``d_model`` is odd or less than 2, or ``base`` is not more than 1.

    Notes
    -----
    Vaswani et al. (2017), section 3.5. The exponent counts pairs, and both of a pair have the same
    one. The paper's own code, tensor2tensor, concatenates, and besides spaces the waves over
    :math:`d/2 - 1` steps in place of :math:`d/2`: no permutation brings these back, but a base of
    :math:`b^{(d/2) / (d/2 - 1)}` does, which is what ``endpoint`` of :class:`SinusoidalPositions`
    means. Chapter 6, equation ``eq-sinusoidal``.
    """
    check_even("d_model", d_model, "each wave gives a sine and a cosine")
    check_base(base)
    # Angles of thousands of radians leave float32 too few places after the point.
    exact = torch.float32 if positions.device.type == "mps" else torch.float64
    exponents = torch.arange(0, d_model, 2, dtype=exact, device=positions.device) / d_model
    angles = positions[..., None] / base**exponents
    waves = angles.sin(), angles.cos()
    joined = torch.cat(waves, dim=-1) if concatenated else torch.stack(waves, dim=-1).flatten(-2)
    return joined.float()


class SinusoidalPositions(Positions):
    """:func:`sinusoidal_encoding` added to the embeddings.

    The encoding is computed anew for the positions asked for: there is no table, hence no longest
    text, nothing in the ``state_dict``, nothing to move or cast with the model, and nothing that
    changes while a compiled model runs. A step of decoding spends some 20 microseconds on it.

    Parameters
    ----------
    d_model : int
        Width of the embeddings, even.
    base : float, optional
        See :func:`sinusoidal_encoding`.
    concatenated : bool, optional
        All sines first, then all cosines.
    endpoint : bool, optional
        Whether the exponents of ``base`` run from 0 to 1, both included. In the paper's formula
        the last one is :math:`1 - 2/d`.
    first_position : int, optional
        The number of a text's first position, added to all.

    Raises
    ------
    ValueError
        If ``d_model`` is odd or less than 2, or ``base`` is not more than 1.

    Notes
    -----
    Vaswani et al. (2017), section 3.5. The paper's own code, tensor2tensor, has
    ``concatenated=True, endpoint=True``, and OpenNMT-tf ``first_position=1`` as well. Chapter 6.
    """

    def __init__(
        self,
        d_model: int,
        *,
        base: float = 10_000.0,
        concatenated: bool = False,
        endpoint: bool = False,
        first_position: int = 0,
    ) -> None:
        super().__init__()
        check_even("d_model", d_model, "each wave gives a sine and a cosine")
        check_base(base)
        self.d_model = d_model
        self.base = base
        self.concatenated = concatenated
        self.endpoint = endpoint
        self.first_position = first_position

    def embed(
        self, x: Float[Tensor, "batch length d_model"], positions: Int[Tensor, "*rows length"]
    ) -> Float[Tensor, "batch length d_model"]:
        """Add the encoding of ``positions`` to ``x``; see :meth:`Positions.embed`."""
        check_embeddings(x, positions, self.d_model)
        base, pairs = self.base, self.d_model // 2
        if self.endpoint:  # the exponents i / (pairs - 1), in terms of the formula's i / pairs
            base **= pairs / max(pairs - 1, 1)
        encoding = sinusoidal_encoding(
            positions + self.first_position,
            self.d_model,
            base=base,
            concatenated=self.concatenated,
        )
        return x + encoding.to(x.dtype)

    def extra_repr(self) -> str:
        options = [f"{self.d_model}", f"base={self.base:g}"]
        for name in ("concatenated", "endpoint", "first_position"):
            if value := getattr(self, name):
                options.append(f"{name}={value}")
        return ", ".join(options)
