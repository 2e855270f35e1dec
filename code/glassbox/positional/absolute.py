"""Positions added to the embeddings: sinusoids, or the rows of a learned table (chapter 6)."""

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from glassbox.around import NOTHING, Around
from glassbox.checks import (
    check_base,
    check_embeddings,
    check_even,
    check_range,
    check_tensors,
)


class Positions(nn.Module):
    """The interface through which a model learns its tokens' positions; the base adds nothing.

    A model calls :meth:`embed` for its embeddings and :meth:`around` for its layers; each scheme
    overrides one of the two. Positions are integer tensors, ``(length,)`` if all texts of a batch
    share them, otherwise ``(batch, length)``, as with padding on the left. They need not start
    at 0: decoding with a cache passes only the newest position.

    Notes
    -----
    Vaswani et al. (2017), section 3.5. Chapter 6.
    """

    def embed(
        self, x: Float[Tensor, "batch length d_model"], positions: Int[Tensor, "*rows length"]
    ) -> Float[Tensor, "batch length d_model"]:
        """Add positions to embeddings.

        Parameters
        ----------
        x : Tensor
            ``(batch, length, d_model)``.
        positions : Tensor
            Integers, ``(length,)`` or ``(batch, length)``.

        Returns
        -------
        Tensor
            ``(batch, length, d_model)``, in the dtype of ``x``; that of a learned table if wider.

        Raises
        ------
        TypeError
            If the positions are not integers.
        ValueError
            If shapes or devices do not fit.
        """
        check_embeddings(x, positions)
        return x

    def around(self, positions: Int[Tensor, "*rows length"], seen: Int[Tensor, " k_len"]) -> Around:
        """Return what every layer needs: a rotation of queries and keys, or a bias of the scores.

        Parameters
        ----------
        positions, seen : Tensor
            The new tokens' positions, and the indices of all tokens so far, the new ones last.
        """
        return NOTHING


def check_waves(d_model: int, base: float, **positions: Tensor) -> None:
    """Reject a width that does not divide into pairs, and a base that does not lengthen the waves.

    Raises
    ------
    TypeError
        If ``d_model`` is not an integer, or the positions are not a tensor.
    ValueError
        If ``d_model`` is odd or less than 2, or ``base`` is not a finite number greater than 1.
    """
    check_tensors(**positions)
    check_even("d_model", d_model, "each wave gives a sine and a cosine")
    check_base(base)


def sinusoidal_encoding(
    positions: Int[Tensor, "..."],
    d_model: int,
    *,
    base: float = 10_000.0,
    concatenated: bool = False,
) -> Float[Tensor, "... d_model"]:
    r"""Encode each position as sines and cosines of waves from short to long.

    .. math:: PE_{(p, 2i)} = \sin\left(p / b^{2i/d}\right), \quad
              PE_{(p, 2i+1)} = \cos\left(p / b^{2i/d}\right)

    A step of :math:`k` positions turns pair :math:`i` by :math:`k / b^{2i/d}`, at every :math:`p`.

    Parameters
    ----------
    positions : Tensor
        Integers of any shape, negative ones included.
    d_model : int
        Width :math:`d` of the encoding, even.
    base : float, optional
        :math:`b`; the longest wave repeats after :math:`2 \pi b^{1 - 2/d}` positions.
    concatenated : bool, optional
        Whether all sines precede all cosines, as in Marian; see :func:`interleaved_to_half`.

    Returns
    -------
    Tensor
        ``(..., d_model)``, float32, accurate to the last digit up to position :math:`10^8` or so,
        except on MPS, which has no float64.

    Raises
    ------
    TypeError
        If ``d_model`` is not an integer, or ``positions`` is not a tensor.
    ValueError
        If ``d_model`` is odd or less than 2, or ``base`` is not greater than 1.

    Notes
    -----
    Vaswani et al. (2017), section 3.5. Chapter 6, equation ``eq-sinusoidal``.
    """
    fits = isinstance(positions, Tensor) and isinstance(d_model, int)
    if not (fits and d_model > 0 and d_model % 2 == 0 and base > 1):
        check_waves(d_model, base, positions=positions)
    # Angles of thousands of radians leave float32 too few places after the point.
    exact = torch.float32 if positions.device.type == "mps" else torch.float64
    exponents = torch.arange(0, d_model, 2, dtype=exact, device=positions.device) / d_model
    angles = positions[..., None] / base**exponents
    waves = angles.sin(), angles.cos()
    joined = torch.cat(waves, dim=-1) if concatenated else torch.stack(waves, dim=-1).flatten(-2)
    return joined.float()


class SinusoidalPositions(Positions):
    """:func:`sinusoidal_encoding` added to the embeddings.

    Each call computes the encoding afresh. Without a table there is no maximum length, nothing in
    the ``state_dict``, nothing to move or cast with the model, and nothing that changes while a
    compiled model runs.

    Parameters
    ----------
    d_model : int
        Width of the embeddings, even.
    base : float, optional
        See :func:`sinusoidal_encoding`.
    concatenated : bool, optional
        Whether all sines precede all cosines.
    endpoint : bool, optional
        Whether the exponents of ``base`` run from 0 to 1 inclusive. In the paper's formula the
        last exponent is :math:`1 - 2/d`.
    first_position : int, optional
        Number of a text's first position, added to every position.

    Raises
    ------
    TypeError
        If ``d_model`` is not an integer.
    ValueError
        If ``d_model`` is odd or less than 2, or ``base`` is not a finite number greater than 1.

    Notes
    -----
    Vaswani et al. (2017), section 3.5. The paper's own code, tensor2tensor, uses
    ``concatenated=True, endpoint=True``: it spaces the waves over :math:`d/2 - 1` steps instead
    of :math:`d/2`, as a base of :math:`b^{(d/2) / (d/2 - 1)}` would. OpenNMT-tf also uses
    ``first_position=1``. Chapter 6.
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
        check_waves(d_model, base)
        self.d_model = d_model
        self.base = base
        self.concatenated = concatenated
        self.endpoint = endpoint
        self.first_position = first_position

    def embed(
        self, x: Float[Tensor, "batch length d_model"], positions: Int[Tensor, "*rows length"]
    ) -> Float[Tensor, "batch length d_model"]:
        """Add the encoding of ``positions`` to ``x``; see :meth:`Positions.embed`."""
        fit = isinstance(positions, Tensor) and positions.device == x.device
        like = (torch.int64, x.size(1), self.d_model) if x.dim() == 3 else None
        if not fit or (positions.dtype, *positions.shape, x.size(-1)) != like:
            check_embeddings(x, positions, self.d_model)
        base, pairs = self.base, self.d_model // 2
        if self.endpoint:  # exponents i / (pairs - 1), expressed by the formula's i / pairs
            base **= pairs / max(pairs - 1, 1)
        encoding = sinusoidal_encoding(
            positions + self.first_position, self.d_model, base=base, concatenated=self.concatenated
        )
        return x + encoding.to(x.dtype)

    def extra_repr(self) -> str:
        names = ("concatenated", "endpoint", "first_position")
        options = [f"{name}={value}" for name in names if (value := getattr(self, name))]
        return ", ".join([f"{self.d_model}, base={self.base:g}", *options])


class LearnedPositions(Positions):
    """A learned vector for each position, added to the embeddings.

    Positions from ``max_len`` on, which no training text reached, have no vector and are refused.

    Parameters
    ----------
    max_len : int
        Number of positions that have a vector.
    d_model : int
        Width of the embeddings.

    Attributes
    ----------
    table : nn.Embedding
        ``(max_len, d_model)``.

    Raises
    ------
    ValueError
        If ``max_len`` or ``d_model`` is less than 1.

    Notes
    -----
    Gehring et al. (2017), section 3.1; in BERT and GPT-2. Vaswani et al. (2017), table 3, row E,
    found them as good as sinusoids. Chapter 6.
    """

    def __init__(self, max_len: int, d_model: int) -> None:
        super().__init__()
        if max_len < 1 or d_model < 1:
            raise ValueError(f"max_len={max_len} and d_model={d_model}: both must be at least 1")
        self.table = nn.Embedding(max_len, d_model)

    def embed(
        self, x: Float[Tensor, "batch length d_model"], positions: Int[Tensor, "*rows length"]
    ) -> Float[Tensor, "batch length d_model"]:
        """Add the vectors of ``positions`` to ``x``; see :meth:`Positions.embed`.

        Raises
        ------
        ValueError
            Also if a position is negative or at least ``max_len``. Compiled code sees only shapes,
            not values, and leaves this check to the table.
        """
        check_embeddings(x, positions, self.table.embedding_dim)
        check_range(positions, self.table.num_embeddings)
        return x + self.table(positions)
