"""Keep the numbers in one range from layer to layer (chapter 7)."""

import torch
from jaxtyping import Float
from torch import Tensor, nn

from glassbox.checks import check_normalizable
from glassbox.kernels import formula


@formula
def layer_norm(
    x: Float[Tensor, "*batch d_model"],
    weight: Float[Tensor, " d_model"],
    bias: Float[Tensor, " d_model"],
    eps: float = 1e-5,
) -> Float[Tensor, "*batch d_model"]:
    r"""Give every position mean 0 and variance 1, then a learned scale and shift.

    .. math:: \frac{x - \mu}{\sqrt{\sigma^2 + \varepsilon}} \odot \gamma + \beta

    with mean :math:`\mu` and variance :math:`\sigma^2` over the last axis alone. The variance
    divides by ``d_model``, not by ``d_model - 1``, and :math:`\varepsilon` stands inside the root.
    Half precision is normalised in float32, where squares do not overflow, and rounded once.

    Parameters
    ----------
    x : Tensor
        ``(..., d_model)``.
    weight, bias : Tensor
        :math:`\gamma` and :math:`\beta`, ``(d_model,)``.
    eps : float, optional
        Keeps the root away from 0.

    Returns
    -------
    Tensor
        ``(..., d_model)``.

    Raises
    ------
    ValueError
        If ``x``, ``weight`` and ``bias`` are not equally wide, or not of one precision.

    Notes
    -----
    Ba, Kiros and Hinton (2016), equation 4. Chapter 7, equation ``eq-layer-norm``.
    """
    check_normalizable(x, weight, bias)
    wide = x.to(torch.promote_types(x.dtype, torch.float32))
    mean = wide.mean(dim=-1, keepdim=True)
    variance = wide.var(dim=-1, keepdim=True, correction=0)
    return ((wide - mean) / torch.sqrt(variance + eps) * weight + bias).to(x.dtype)


@formula
def rms_norm(
    x: Float[Tensor, "*batch d_model"], weight: Float[Tensor, " d_model"], eps: float = 1e-6
) -> Float[Tensor, "*batch d_model"]:
    r"""Divide every position by the root of its mean square, then apply a learned scale.

    .. math:: \frac{x}{\sqrt{\frac{1}{d}\sum_i x_i^2 + \varepsilon}} \odot \gamma

    No mean is taken away and nothing is added: what is left of :func:`layer_norm` when only the
    length of the vector is to stay in range. Half precision is normalised in float32, where
    squares do not overflow, and rounded once.

    Parameters
    ----------
    x : Tensor
        ``(..., d_model)``.
    weight : Tensor
        :math:`\gamma`, ``(d_model,)``.
    eps : float, optional
        Keeps the root away from 0.

    Returns
    -------
    Tensor
        ``(..., d_model)``.

    Raises
    ------
    ValueError
        If ``x`` and ``weight`` are not equally wide, or not of one precision.

    Notes
    -----
    Zhang and Sennrich (2019), equation 4. Chapters 7, equation ``eq-rms-norm``, and 11.
    """
    check_normalizable(x, weight)
    wide = x.to(torch.promote_types(x.dtype, torch.float32))
    mean_square = wide.square().mean(dim=-1, keepdim=True)
    return (wide / torch.sqrt(mean_square + eps) * weight).to(x.dtype)


class LayerNorm(nn.Module):
    """:func:`layer_norm` with its scale and shift as parameters.

    Parameters
    ----------
    d_model : int
        Width of the inputs.
    eps : float, optional
        Keeps the root away from 0.

    Notes
    -----
    Ba, Kiros and Hinton (2016). Chapter 7.
    """

    def __init__(self, d_model: int, eps: float = 1e-5) -> None:
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(d_model))
        self.bias = nn.Parameter(torch.zeros(d_model))

    def forward(self, x: Float[Tensor, "*batch d_model"]) -> Float[Tensor, "*batch d_model"]:
        """Normalise the last axis of ``x``, ``(..., d_model)``; the shape stays.

        Raises
        ------
        ValueError
            If ``x`` has another width or precision than the weights.
        """
        return layer_norm(x, self.weight, self.bias, self.eps)

    def extra_repr(self) -> str:
        """Return the width and epsilon, for printing the module."""
        return f"{self.weight.numel()}, eps={self.eps}"


class RMSNorm(nn.Module):
    """:func:`rms_norm` with its scale as parameter.

    Parameters
    ----------
    d_model : int
        Width of the inputs.
    eps : float, optional
        Keeps the root away from 0.

    Notes
    -----
    Zhang and Sennrich (2019). Chapter 7.
    """

    def __init__(self, d_model: int, eps: float = 1e-6) -> None:
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(d_model))

    def forward(self, x: Float[Tensor, "*batch d_model"]) -> Float[Tensor, "*batch d_model"]:
        """Normalise the last axis of ``x``, ``(..., d_model)``; the shape stays.

        Raises
        ------
        ValueError
            If ``x`` has another width or precision than the weights.
        """
        return rms_norm(x, self.weight, self.eps)

    def extra_repr(self) -> str:
        """Return the width and epsilon, for printing the module."""
        return f"{self.weight.numel()}, eps={self.eps}"


NORMS: dict[str, type[LayerNorm] | type[RMSNorm]] = {"layer": LayerNorm, "rms": RMSNorm}
