"""ALiBi: scores fall with distance, at a different rate in each head (chapter 6)."""

import torch
from jaxtyping import Float, Int
from torch import Tensor

from glassbox.around import Around
from glassbox.checks import check_at_least, check_pair_of_positions
from glassbox.positional.absolute import Positions


def alibi_slopes(
    n_heads: int, *, device: torch.device | str | None = None
) -> Float[Tensor, " n_heads"]:
    r"""Return how much each head lowers a score per position of distance.

    .. math:: m_g = 2^{-8g/h}, \quad g = 1, \ldots, h

    if :math:`h` is a power of two. Otherwise the first heads take the slopes of the next lower
    power of two, and the remaining heads take every second slope of twice that power.

    Parameters
    ----------
    n_heads : int
        Number :math:`h` of heads.
    device : torch.device or str, optional
        Device of the slopes.

    Returns
    -------
    Tensor
        ``(n_heads,)``, float32, positive.

    Raises
    ------
    ValueError
        If ``n_heads`` is not an int of at least 1.

    Notes
    -----
    Press, Smith and Lewis (2022), section 3; their code for other numbers of heads. Chapter 6.
    """
    check_at_least("n_heads", n_heads, 1)
    power = 2 ** (n_heads.bit_length() - 1)  # the next lower, or n_heads itself
    exponents = [8 * h / power for h in range(1, power + 1)]
    exponents += [4 * h / power for h in range(1, 2 * (n_heads - power), 2)]
    slopes = [2.0**-exponent for exponent in exponents]
    return torch.tensor(slopes, dtype=torch.float32, device=device)


def alibi_bias(
    q_positions: Int[Tensor, "*#rows q_len"],
    k_positions: Int[Tensor, "*#rows k_len"],
    slopes: Float[Tensor, " n_heads"],
) -> Float[Tensor, "*batch n_heads q_len k_len"]:
    r"""Lower each score in proportion to the distance: :math:`-m_g |i - j|`.

    In the paper's causal models all keys are to the left. Here the distance to keys on the right
    counts as well, so an encoder treats both sides alike.

    Parameters
    ----------
    q_positions, k_positions : Tensor
        Integers, ``(q_len,)`` and ``(k_len,)``, or with a leading batch axis.
    slopes : Tensor
        :math:`m`, ``(n_heads,)``.

    Returns
    -------
    Tensor
        ``(n_heads, q_len, k_len)``, or with a leading batch axis; 0 where query and key have the
        same position.

    Raises
    ------
    TypeError
        If the positions are not integers.
    ValueError
        If their shapes or devices do not fit together.

    Notes
    -----
    Press, Smith and Lewis (2022), section 3. Chapter 6, equation ``eq-alibi``.
    """
    check_pair_of_positions(q_positions, k_positions)
    distance = (q_positions[..., :, None] - k_positions[..., None, :]).abs()
    return -slopes[:, None, None] * distance[..., None, :, :]


class AlibiPositions(Positions):
    """:func:`alibi_bias` added to the scores: nothing is learned, and no text is too long.

    Parameters
    ----------
    n_heads : int
        Number of attention heads.

    Raises
    ------
    ValueError
        If ``n_heads`` is not an int of at least 1.

    Notes
    -----
    Press, Smith and Lewis (2022). Chapter 6.
    """

    def __init__(self, n_heads: int) -> None:
        super().__init__()
        check_at_least("n_heads", n_heads, 1)
        self.n_heads = n_heads

    def around(self, positions: Int[Tensor, "*rows length"], seen: Int[Tensor, " k_len"]) -> Around:
        """Return the :meth:`bias`; distances count tokens, whatever ``positions`` says."""
        return Around(bias=self.bias(seen[-positions.size(-1) :], seen))

    def bias(
        self, q_positions: Int[Tensor, "*#rows q_len"], k_positions: Int[Tensor, "*#rows k_len"]
    ) -> Float[Tensor, "*batch heads q_len k_len"]:
        """Return the bias in float32: ``(n_heads, q_len, k_len)``, or with a leading batch axis.

        Parameters
        ----------
        q_positions, k_positions : Tensor
            Integers, ``(q_len,)`` and ``(k_len,)``, or with a leading batch axis.

        Raises
        ------
        TypeError, ValueError
            As for :func:`alibi_bias`.
        """
        slopes = alibi_slopes(self.n_heads, device=q_positions.device)
        return alibi_bias(q_positions, k_positions, slopes)

    def extra_repr(self) -> str:
        return f"{self.n_heads}"
