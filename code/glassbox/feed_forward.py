"""What happens at each position by itself (chapter 7)."""

import math
from collections.abc import Callable

import torch
from jaxtyping import Float
from torch import Tensor, nn

from glassbox.checks import check_kind
from glassbox.kernels import formula


@formula
def gelu(x: Float[Tensor, "*shape"]) -> Float[Tensor, "*shape"]:
    r"""Let a number through by its rank among normal ones: :math:`x \, \Phi(x)`.

    Parameters
    ----------
    x : Tensor
        Any shape.

    Returns
    -------
    Tensor
        The same shape. :math:`\Phi` is the distribution function of the standard normal.

    Notes
    -----
    Hendrycks and Gimpel (2016), section 2. BERT's activation. Chapter 7, equation ``eq-gelu``.
    """
    return x * 0.5 * (1 + torch.erf(x / math.sqrt(2)))


@formula
def gelu_tanh(x: Float[Tensor, "*shape"]) -> Float[Tensor, "*shape"]:
    r"""Approximate :func:`gelu`: :math:`\frac{x}{2}(1 + \tanh(\sqrt{2/\pi}(x + 0.044715x^3)))`.

    Parameters
    ----------
    x : Tensor
        Any shape.

    Returns
    -------
    Tensor
        The same shape.

    Notes
    -----
    Hendrycks and Gimpel (2016), section 2. GPT-2's activation. Chapter 7, equation
    ``eq-gelu``.
    """
    return 0.5 * x * (1 + torch.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))


@formula
def silu(x: Float[Tensor, "*shape"]) -> Float[Tensor, "*shape"]:
    r"""Let a number through by its logistic: :math:`x \, \sigma(x)`, also called swish.

    Parameters
    ----------
    x : Tensor
        Any shape.

    Returns
    -------
    Tensor
        The same shape.

    Notes
    -----
    Ramachandran, Zoph and Le (2017). LLaMA's activation.
    """
    return x * torch.sigmoid(x)


#: The activations by the names that configurations give them.
ACTIVATIONS: dict[str, Callable[[Tensor], Tensor]] = {
    "relu": torch.relu,
    "gelu": gelu,
    "gelu_tanh": gelu_tanh,
    "silu": silu,
}


class FeedForward(nn.Module):
    r"""Two linear maps with a bend between them, the same at every position.

    .. math:: \operatorname{FFN}(x) = f(x W_1 + b_1) W_2 + b_2

    Parameters
    ----------
    d_model : int
        Width of inputs and outputs.
    d_ff : int
        Width in between; four times ``d_model`` in the paper.
    activation : {"relu", "gelu", "gelu_tanh", "silu"}, optional
        :math:`f`. The paper uses ReLU; BERT the exact GELU, GPT-2 its approximation.
    bias : bool, optional
        Whether the two maps add a bias.

    Raises
    ------
    ValueError
        If ``activation`` is not known.

    Notes
    -----
    Vaswani et al. (2017), section 3.3, equation 2. Chapter 7, equation ``eq-feed-forward``.
    """

    def __init__(
        self, d_model: int, d_ff: int, activation: str = "relu", *, bias: bool = True
    ) -> None:
        super().__init__()
        check_kind("activation", activation, tuple(ACTIVATIONS))
        self.activation = ACTIVATIONS[activation]
        self.expand = nn.Linear(d_model, d_ff, bias=bias)
        self.contract = nn.Linear(d_ff, d_model, bias=bias)

    def forward(self, x: Float[Tensor, "*batch d_model"]) -> Float[Tensor, "*batch d_model"]:
        """Transform each position of ``x``, ``(..., d_model)``, by itself; the shape stays."""
        return self.contract(self.activation(self.expand(x)))


class GatedFeedForward(nn.Module):
    r"""A feed-forward network in which a second map decides how much of the first goes through.

    .. math:: \operatorname{FFN}(x) = \left(f(x W_g) \odot x W_1\right) W_2

    With :func:`silu` as :math:`f` this is SwiGLU, LLaMA's; with :func:`gelu_tanh` GEGLU, that of
    later T5s.

    Parameters
    ----------
    d_model : int
        Width of inputs and outputs.
    d_ff : int
        Width in between. Three matrices instead of two: at two thirds of the width there are as
        many parameters.
    activation : {"relu", "gelu", "gelu_tanh", "silu"}, optional
        :math:`f`.
    bias : bool, optional
        Whether the three maps add a bias.

    Raises
    ------
    ValueError
        If ``activation`` is not known.

    Notes
    -----
    Shazeer (2020), equations 5 and 6. Chapter 7, equation ``eq-swiglu``.
    """

    def __init__(
        self, d_model: int, d_ff: int, activation: str = "silu", *, bias: bool = False
    ) -> None:
        super().__init__()
        check_kind("activation", activation, tuple(ACTIVATIONS))
        self.activation = ACTIVATIONS[activation]
        self.gate = nn.Linear(d_model, d_ff, bias=bias)
        self.expand = nn.Linear(d_model, d_ff, bias=bias)
        self.contract = nn.Linear(d_ff, d_model, bias=bias)

    def forward(self, x: Float[Tensor, "*batch d_model"]) -> Float[Tensor, "*batch d_model"]:
        """Transform each position of ``x``, ``(..., d_model)``, by itself; the shape stays."""
        return self.contract(self.activation(self.gate(x)) * self.expand(x))
