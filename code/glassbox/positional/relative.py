"""T5's relative positions: a learned number for each distance, added to scores (chapter 6)."""

import math

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from glassbox.around import Around
from glassbox.checks import INTEGERS, check_at_least, check_dtype, check_pair_of_positions
from glassbox.positional.absolute import Positions


def relative_buckets(
    relative: Int[Tensor, "..."],
    n_buckets: int = 32,
    max_distance: int = 128,
    bidirectional: bool = True,
) -> Int[Tensor, "..."]:
    r"""Sort distances into buckets: exact for near keys, ever wider for far ones.

    Of the :math:`n` buckets of one direction, half hold one distance each. From
    :math:`m = n/2` on, distance :math:`r` falls into

    .. math:: m + \left\lfloor \frac{\ln (r / m)}{\ln (r_{\max} / m)} (n - m) \right\rfloor

    and all distances from :math:`r_{\max}` on share the last bucket.

    Parameters
    ----------
    relative : Tensor
        Integers of any shape: the key's position minus the query's, negative to the left.
    n_buckets : int, optional
        Number of buckets.
    max_distance : int, optional
        :math:`r_{\max}`.
    bidirectional : bool, optional
        Whether keys to the right have their own buckets, the second half. Otherwise they count as
        distance 0, because a causal mask hides them.

    Returns
    -------
    Tensor
        Integers from 0 to ``n_buckets - 1``, of the same shape.

    Raises
    ------
    TypeError
        If ``relative`` is not a tensor of integers.
    ValueError
        If there are too few buckets, an odd number of them for two directions, or
        ``max_distance`` is not more than the number of distances that have their own bucket.

    Notes
    -----
    Raffel et al. (2020), section 2.1, and their code. A distance at which the scaled quotient is a
    whole number begins a bucket on every processor: the tiny added constant keeps a logarithm that
    was rounded down from moving it into the bucket before. Chapter 6.
    """
    check_dtype("relative", relative, INTEGERS, "a tensor of integers: distances")
    check_buckets(n_buckets, max_distance, bidirectional)
    if bidirectional:
        n_buckets //= 2
        first = (relative > 0) * n_buckets
        distance = relative.abs()
    else:
        first = torch.zeros_like(relative)
        distance = (-relative).clamp(min=0)
    n_exact = n_buckets // 2
    ratio = distance.clamp(min=n_exact).double() / n_exact
    share = ratio.log() / math.log(max_distance / n_exact)
    far = n_exact + (share * (n_buckets - n_exact) + 1e-9).long()
    return first + torch.where(distance < n_exact, distance, far.clamp(max=n_buckets - 1))


def check_buckets(n_buckets: int, max_distance: int, bidirectional: bool) -> None:
    """Reject buckets that do not cover every distance.

    Raises
    ------
    ValueError
        See :func:`relative_buckets`.
    """
    directions = 2 if bidirectional else 1
    if n_buckets < 2 * directions or n_buckets % directions:
        raise ValueError(
            f"n_buckets={n_buckets}: must be at least {2 * directions} and a multiple of "
            f"{directions}, because each of {directions} directions has near and far buckets"
        )
    n_exact = n_buckets // directions // 2
    if max_distance <= n_exact:
        raise ValueError(
            f"max_distance={max_distance}: must be more than {n_exact}, because with "
            f"n_buckets={n_buckets} the distances below {n_exact} have a bucket each"
        )


class RelativePositionBias(Positions):
    """A learned number for each head and bucket of distances, added to the scores.

    One table serves all layers of a stack: the model computes the bias once and passes it down.

    Parameters
    ----------
    n_heads : int
        Number of attention heads.
    n_buckets, max_distance, bidirectional : optional
        See :func:`relative_buckets`. A decoder's self-attention is not bidirectional.

    Attributes
    ----------
    table : nn.Embedding
        ``(n_buckets, n_heads)``.

    Raises
    ------
    ValueError
        If ``n_heads`` is not an int of at least 1, or as in :func:`relative_buckets`.

    Notes
    -----
    Raffel et al. (2020), section 2.1. Chapter 6.
    """

    def __init__(
        self, n_heads: int, n_buckets: int = 32, max_distance: int = 128, bidirectional: bool = True
    ) -> None:
        super().__init__()
        check_at_least("n_heads", n_heads, 1)
        check_buckets(n_buckets, max_distance, bidirectional)
        self.max_distance = max_distance
        self.bidirectional = bidirectional
        self.table = nn.Embedding(n_buckets, n_heads)

    def around(self, positions: Int[Tensor, "*rows length"], seen: Int[Tensor, " k_len"]) -> Around:
        """Return the :meth:`bias`; distances count tokens, whatever ``positions`` says."""
        return Around(bias=self.bias(seen[-positions.size(-1) :], seen))

    def bias(
        self, q_positions: Int[Tensor, "*#rows q_len"], k_positions: Int[Tensor, "*#rows k_len"]
    ) -> Float[Tensor, "*batch heads q_len k_len"]:
        """Look up the bias for the distance from every query to every key.

        Parameters
        ----------
        q_positions, k_positions : Tensor
            Integers, ``(q_len,)`` and ``(k_len,)``, or with a leading batch axis.

        Raises
        ------
        TypeError
            If the positions are not integers.
        ValueError
            If their shapes or devices do not fit together.

        Returns
        -------
        Tensor
            ``(n_heads, q_len, k_len)``, or with a leading batch axis.
        """
        check_pair_of_positions(q_positions, k_positions)
        relative = k_positions[..., None, :] - q_positions[..., :, None]
        buckets = relative_buckets(
            relative, self.table.num_embeddings, self.max_distance, self.bidirectional
        )
        # Heads first: each head's map is contiguous, and the derivative of selecting columns is a
        # sum along rows, several times faster than the derivative of one look-up per entry.
        of_heads = self.table.weight.T.index_select(1, buckets.flatten())
        return of_heads.unflatten(1, buckets.shape).movedim(0, -3)

    def extra_repr(self) -> str:
        return f"max_distance={self.max_distance}, bidirectional={self.bidirectional}"
