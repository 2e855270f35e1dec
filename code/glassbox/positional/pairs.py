"""Two orders for paired components: adjacent, or half a width apart.

The paper puts the sine and cosine of a pair next to each other; Marian puts all sines first.
Implementations of rotary positions differ in the same way. One permutation separates the two
orders, and weights trained in one must be permuted before they are used in the other.
"""

from jaxtyping import Shaped
from torch import Tensor

from glassbox.checks import check_at_least


def interleaved_to_half(
    x: Shaped[Tensor, "..."], *, dim: int, n_heads: int
) -> Shaped[Tensor, "..."]:
    """Reorder the pairs along an axis from adjacent to half a width apart.

    Components 0, 1, 2, 3, … of each head become 0, 2, 4, …, 1, 3, 5, …

    Parameters
    ----------
    x : Tensor
        The weight ``(n_heads * d_k, d_model)`` or bias ``(n_heads * d_k,)`` of a projection to
        queries or keys, or vectors ``(..., d_k)``.
    dim : int
        The axis that holds the pairs: 0 for weights and biases, -1 for vectors.
    n_heads : int
        Number of heads that share the axis: all of them in a weight or bias (the key-value heads
        for the keys of grouped-query attention), 1 in one head's vectors or in encodings.

    Returns
    -------
    Tensor
        The same shape and entries.

    Raises
    ------
    ValueError
        If the axis does not divide into heads of whole pairs.
    IndexError
        If there is no such axis.

    Notes
    -----
    :func:`half_to_interleaved` is the inverse. Chapter 6.
    """
    return _swap(x, dim, n_heads, (-1, 2))  # pairs, the two of a pair


def half_to_interleaved(
    x: Shaped[Tensor, "..."], *, dim: int, n_heads: int
) -> Shaped[Tensor, "..."]:
    """Reorder the pairs along an axis from half a width apart to adjacent.

    The inverse of :func:`interleaved_to_half`.

    Parameters
    ----------
    x, dim, n_heads
        As for :func:`interleaved_to_half`.

    Returns
    -------
    Tensor
        The entries of ``x``, reordered along ``dim``.

    Raises
    ------
    ValueError
        If the axis does not divide into heads of whole pairs.
    IndexError
        If there is no such axis.

    Notes
    -----
    Chapter 6.
    """
    return _swap(x, dim, n_heads, (2, -1))  # the two of a pair, pairs


def _swap(x: Tensor, dim: int, n_heads: int, axes: tuple[int, int]) -> Tensor:
    """Divide an axis into heads of these two ``axes``, and exchange the two."""
    check_at_least("n_heads", n_heads, 1)
    dim = range(x.dim())[dim]
    if x.size(dim) % (2 * n_heads):
        raise ValueError(
            f"axis {dim} of shape {tuple(x.shape)} does not divide into n_heads={n_heads} heads "
            f"of whole pairs: {x.size(dim)} must be a multiple of {2 * n_heads}"
        )
    return x.unflatten(dim, (n_heads, *axes)).transpose(dim + 1, dim + 2).flatten(dim, dim + 2)
