"""What a layer is made of besides attention (chapters 7 and 8)."""

from collections.abc import Callable

import torch
import torch.nn.functional as F
from jaxtyping import Bool, Float
from torch import Tensor, nn

from glassbox.attention import MultiHeadAttention

ACTIVATIONS: dict[str, Callable[[Tensor], Tensor]] = {"relu": F.relu, "gelu": F.gelu}


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
        If ``x``, ``weight`` and ``bias`` are not equally wide.

    Notes
    -----
    Ba, Kiros and Hinton (2016), equation 4. Chapter 7.
    """
    if not x.shape[-1:] == weight.shape == bias.shape:
        raise ValueError(
            f"x has shape {tuple(x.shape)}, weight {tuple(weight.shape)}, bias "
            f"{tuple(bias.shape)}; expected (..., d_model), (d_model,), (d_model,)"
        )
    mean = x.mean(dim=-1, keepdim=True)
    variance = x.var(dim=-1, keepdim=True, correction=0)
    return (x - mean) / torch.sqrt(variance + eps) * weight + bias


class LayerNorm(nn.Module):
    """:func:`layer_norm` with its scale and shift as parameters.

    The forward pass is PyTorch's fused kernel of the same formula.

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
        """Normalise the last axis of ``x``, ``(..., d_model)``; the shape stays."""
        return F.layer_norm(x, self.weight.shape, self.weight, self.bias, self.eps)

    def extra_repr(self) -> str:
        return f"{self.weight.numel()}, eps={self.eps}"


class FeedForward(nn.Module):
    r"""Two linear maps with a bend between them, the same at every position.

    .. math:: \operatorname{FFN}(x) = f(x W_1 + b_1) W_2 + b_2

    Parameters
    ----------
    d_model : int
        Width of inputs and outputs.
    d_ff : int
        Width in between; four times ``d_model`` in the paper.
    activation : {"relu", "gelu"}, optional
        :math:`f`. The paper uses ReLU; BERT uses the exact GELU, :math:`x \Phi(x)`.

    Raises
    ------
    ValueError
        If ``activation`` is not known.

    Notes
    -----
    Vaswani et al. (2017), section 3.3, equation 2; Hendrycks and Gimpel (2016). Chapter 7.
    """

    def __init__(self, d_model: int, d_ff: int, activation: str = "relu") -> None:
        super().__init__()
        if activation not in ACTIVATIONS:
            raise ValueError(
                f"activation={activation!r} is not known; expected one of {sorted(ACTIVATIONS)}"
            )
        self.activation = ACTIVATIONS[activation]
        self.expand = nn.Linear(d_model, d_ff)
        self.contract = nn.Linear(d_ff, d_model)

    def forward(self, x: Float[Tensor, "*batch d_model"]) -> Float[Tensor, "*batch d_model"]:
        """Transform each position of ``x``, ``(..., d_model)``, by itself; the shape stays."""
        return self.contract(self.activation(self.expand(x)))


class EncoderLayer(nn.Module):
    r"""Self-attention, then a feed-forward network, each with a residual connection and a norm.

    Post-norm, as in the paper and in BERT: :math:`\operatorname{LN}(x + f(x))`.
    Pre-norm: :math:`x + f(\operatorname{LN}(x))`, with one more norm after the last layer, which
    :class:`glassbox.transformer.Encoder` adds.

    Parameters
    ----------
    d_model, n_heads, d_ff : int
        Width, number of heads, width inside the feed-forward network.
    dropout : float, optional
        Share of each sublayer's output that is dropped in training, before the residual sum.
    activation : {"relu", "gelu"}, optional
        Of the feed-forward network.
    norm_first : bool, optional
        Pre-norm if true, post-norm if not.
    norm_eps : float, optional
        :math:`\varepsilon` of both norms.

    Raises
    ------
    ValueError
        If ``n_heads`` does not divide ``d_model``, or the activation is not known.

    Notes
    -----
    Vaswani et al. (2017), sections 3.1 and 5.4; Xiong et al. (2020) on where the norm goes.
    Chapter 7.
    """

    def __init__(
        self,
        d_model: int,
        n_heads: int,
        d_ff: int,
        *,
        dropout: float = 0.1,
        activation: str = "relu",
        norm_first: bool = False,
        norm_eps: float = 1e-5,
    ) -> None:
        super().__init__()
        self.norm_first = norm_first
        self.self_attention = MultiHeadAttention(d_model, n_heads)
        self.attention_norm = LayerNorm(d_model, norm_eps)
        self.feed_forward = FeedForward(d_model, d_ff, activation)
        self.feed_forward_norm = LayerNorm(d_model, norm_eps)
        self.dropout = nn.Dropout(dropout)

    def forward(
        self, x: Float[Tensor, "batch length d_model"], mask: Bool[Tensor, "..."] | None = None
    ) -> Float[Tensor, "batch length d_model"]:
        """Let the positions exchange, then transform each by itself.

        Parameters
        ----------
        x : Tensor
            ``(batch, length, d_model)``.
        mask : Tensor, optional
            Boolean, broadcastable to ``(batch, n_heads, length, length)``; ``True`` = may attend.

        Returns
        -------
        Tensor
            ``(batch, length, d_model)``.
        """
        if self.norm_first:
            x = x + self.dropout(self.self_attention(self.attention_norm(x), mask=mask))
            return x + self.dropout(self.feed_forward(self.feed_forward_norm(x)))
        x = self.attention_norm(x + self.dropout(self.self_attention(x, mask=mask)))
        return self.feed_forward_norm(x + self.dropout(self.feed_forward(x)))
