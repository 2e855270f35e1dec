"""What every way of telling positions has in common, and which are refused (chapter 6)."""

from typing import NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from glassbox.checks import check_whole


class Rotation(NamedTuple):
    """By how much each component of a query or key is turned, at each position.

    Parameters
    ----------
    cos : Tensor
        ``(..., length, d_k)``, float32: the cosine of the pair's angle, for both of the pair.
    sin : Tensor
        ``(..., length, d_k)``: minus the sine for the first of the pair, the sine for the second.
    interleaved : bool
        Whether the two of a pair stand side by side (the paper) or half a width apart (LLaMA).
    """

    cos: Tensor
    sin: Tensor
    interleaved: bool


class Positions(nn.Module):
    """A way to tell a model where its tokens stand; this one tells it nothing.

    A model asks at three places, and each scheme answers at one of them. Positions are integer
    tensors, ``(length,)`` if all texts of the batch stand at the same ones, otherwise
    ``(batch, length)``, as with padding on the left. They need not start at 0: decoding with a
    cache asks for the newest position alone.

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
            ``(batch, length, d_model)``, in the dtype of ``x``.

        Raises
        ------
        TypeError
            If the positions are not integers.
        ValueError
            If shapes or devices do not fit.
        """
        check_embeddings(x, positions)
        return x

    def rotation(self, positions: Int[Tensor, "*rows length"]) -> Rotation | None:
        """Return by how much queries and keys at these positions are turned, or ``None``."""
        check_positions(positions)
        return None

    def bias(
        self, q_positions: Int[Tensor, "*#rows q_len"], k_positions: Int[Tensor, "*#rows k_len"]
    ) -> Float[Tensor, "*batch heads q_len k_len"] | None:
        """Return what is added to the scores of these queries and keys, or ``None``.

        Parameters
        ----------
        q_positions, k_positions : Tensor
            Integers, ``(q_len,)`` and ``(k_len,)``, or with the batch in front.

        Returns
        -------
        Tensor or None
            ``(n_heads, q_len, k_len)``, or with the batch in front.

        Raises
        ------
        TypeError
            If the positions are not integers.
        ValueError
            If their shapes or devices do not fit together.
        """
        check_pair_of_positions(q_positions, k_positions)
        return None


def check_positions(positions: Tensor, name: str = "positions") -> None:
    """Refuse positions that are not integers of shape ``(length,)`` or ``(batch, length)``.

    Raises
    ------
    TypeError
        If ``positions`` is not a tensor of integers.
    ValueError
        If it has another number of axes.
    """
    if not isinstance(positions, Tensor) or positions.dtype not in (torch.int64, torch.int32):
        given = positions.dtype if isinstance(positions, Tensor) else type(positions).__name__
        raise TypeError(
            f"{name} is {given}; expected a tensor of integers, such as torch.arange(length)"
        )
    if positions.dim() not in (1, 2):
        raise ValueError(
            f"{name} has shape {tuple(positions.shape)}; expected (length,) or (batch, length)"
        )


def check_embeddings(x: Tensor, positions: Tensor, d_model: int | None = None) -> None:
    """Refuse positions that are not those of the embeddings ``x``, and another width than ours.

    Raises
    ------
    TypeError
        If ``positions`` is not a tensor of integers.
    ValueError
        If shapes or devices do not fit together.
    """
    check_positions(positions)
    if x.dim() != 3 or positions.shape not in (x.shape[1:2], x.shape[:2], (1, x.size(1))):
        raise ValueError(
            f"x has shape {tuple(x.shape)}, positions {tuple(positions.shape)}; expected "
            "(batch, length, d_model), and (length,) or (batch, length)"
        )
    if d_model not in (None, x.size(-1)):
        raise ValueError(
            f"x has shape {tuple(x.shape)}; expected (batch, length, {d_model}): {d_model} is the "
            "d_model of these positions"
        )
    if positions.device != x.device:
        raise ValueError(
            f"positions are on {positions.device}, x is on {x.device}: "
            f"move them there with .to('{x.device}')"
        )


def check_pair_of_positions(q_positions: Tensor, k_positions: Tensor) -> None:
    """Refuse positions of queries and keys that do not belong together.

    Raises
    ------
    TypeError
        If one is not a tensor of integers.
    ValueError
        If they are those of different batches, or on different devices.
    """
    check_positions(q_positions, "q_positions")
    check_positions(k_positions, "k_positions")
    batches = {positions.shape[:-1] for positions in (q_positions, k_positions)} - {()}
    if len(batches) > 1:
        raise ValueError(
            f"q_positions has shape {tuple(q_positions.shape)}, k_positions "
            f"{tuple(k_positions.shape)}; expected (q_len,) and (k_len,), with the same batch "
            "in front if there is one"
        )
    if q_positions.device != k_positions.device:
        raise ValueError(
            f"q_positions is on {q_positions.device}, k_positions on {k_positions.device}: "
            f"move them together with k_positions.to('{q_positions.device}')"
        )


def check_even(name: str, size: int, why: str) -> None:
    """Refuse a width that does not divide into pairs.

    Raises
    ------
    TypeError
        If ``size`` is not a whole number.
    ValueError
        If ``size`` is odd or less than 2.
    """
    check_whole(name, size)
    if size < 2 or size % 2:
        raise ValueError(f"{name}={size}: must be even and at least 2, because {why}")


def check_base(base: float) -> None:
    """Refuse a base whose powers do not make frequencies fall.

    Raises
    ------
    ValueError
        If ``base`` is not more than 1.
    """
    if not base > 1:
        raise ValueError(f"base={base}: must be more than 1, so that later pairs turn more slowly")
