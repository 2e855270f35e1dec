"""The layers of encoder and decoder, and their parts (chapters 7 and 8)."""

import math
from collections.abc import Callable

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from glassbox.around import NOTHING, Around
from glassbox.attention.multi_head import MultiHeadAttention
from glassbox.cache import Cache
from glassbox.checks import check_kind, check_normalizable, wrong_memory
from glassbox.config import StackConfig
from glassbox.kernels import formula
from glassbox.linear import Linear

#: Standard deviation of the initial weights of published models.
INITIAL_STD = 0.02


@formula
def dropout(x: Float[Tensor, "*shape"], p: float) -> Float[Tensor, "*shape"]:
    r"""Set each value of ``x`` to 0 with probability ``p``, and scale up the rest to compensate.

    .. math:: y_i = \frac{m_i}{1 - p}\, x_i, \qquad m_i \sim \operatorname{Bernoulli}(1 - p)

    The expectation of :math:`y_i` is therefore :math:`x_i`.

    Parameters
    ----------
    x : Tensor
        Any shape, on any device.
    p : float
        Probability of 0 for each value, from 0 to 1.

    Returns
    -------
    Tensor
        Like ``x``, drawn with PyTorch's default generator for its device.

    Raises
    ------
    ValueError
        If ``p`` is not between 0 and 1.

    Notes
    -----
    Srivastava et al. (2014); Vaswani et al. (2017), section 5.4. Chapter 7.
    """
    if not 0 <= p <= 1:
        raise ValueError(f"p={p}: must be at least 0 and at most 1")
    kept = torch.rand_like(x, dtype=torch.float32) >= p
    return x * kept / (1 - p if p < 1 else 1)


class Dropout(nn.Dropout):
    """:func:`dropout` as a module, which returns its input unchanged outside training.

    Parameters
    ----------
    p : float, optional
        Probability of 0 for each value.

    Notes
    -----
    Srivastava et al. (2014). Chapter 7.
    """

    def __init__(self, p: float = 0.5) -> None:
        super().__init__(p)

    def forward(self, input: Float[Tensor, "*shape"]) -> Float[Tensor, "*shape"]:
        """Drop values of ``input``, of any shape, in training mode."""
        return dropout(input, self.p) if self.training and self.p else input


def layer_norm(
    x: Float[Tensor, "*batch d_model"],
    weight: Float[Tensor, " d_model"],
    bias: Float[Tensor, " d_model"],
    eps: float = 1e-5,
) -> Float[Tensor, "*batch d_model"]:
    r"""Normalise every position to mean 0 and variance 1, then apply a learned scale and shift.

    .. math:: \frac{x - \mu}{\sqrt{\sigma^2 + \varepsilon}} \odot \gamma + \beta

    The mean :math:`\mu` and variance :math:`\sigma^2` are over the last axis alone. The variance
    divides by ``d_model``, not by ``d_model - 1``, and :math:`\varepsilon` is inside the root.
    Half precision is normalised in float32, where squares do not overflow, and rounded once.

    Parameters
    ----------
    x : Tensor
        ``(..., d_model)``.
    weight, bias : Tensor
        :math:`\gamma` and :math:`\beta`, ``(d_model,)``.
    eps : float, optional
        :math:`\varepsilon`, which keeps the root from being 0.

    Returns
    -------
    Tensor
        ``(..., d_model)``.

    Raises
    ------
    TypeError
        If one is not a tensor.
    ValueError
        If ``x``, ``weight`` and ``bias`` differ in width or precision.

    Notes
    -----
    Ba, Kiros and Hinton (2016), equation 4. Chapter 7, equation ``eq-layer-norm``.
    """
    check_normalizable(x, weight, bias)
    wide = x.to(torch.promote_types(x.dtype, torch.float32))
    mean = wide.mean(dim=-1, keepdim=True)
    variance = wide.var(dim=-1, keepdim=True, correction=0)
    return ((wide - mean) / torch.sqrt(variance + eps) * weight + bias).to(x.dtype)


def rms_norm(
    x: Float[Tensor, "*batch d_model"], weight: Float[Tensor, " d_model"], eps: float = 1e-6
) -> Float[Tensor, "*batch d_model"]:
    r"""Divide every position by its root mean square, then apply a learned scale.

    .. math:: \frac{x}{\sqrt{\frac{1}{d}\sum_i x_i^2 + \varepsilon}} \odot \gamma

    This is :func:`layer_norm` without the mean and the shift: it only keeps the length of the
    vector in range. Half precision is normalised in float32, where squares do not overflow, and
    rounded once.

    Parameters
    ----------
    x : Tensor
        ``(..., d_model)``.
    weight : Tensor
        :math:`\gamma`, ``(d_model,)``.
    eps : float, optional
        :math:`\varepsilon`, which keeps the root from being 0.

    Returns
    -------
    Tensor
        ``(..., d_model)``.

    Raises
    ------
    TypeError
        If one is not a tensor.
    ValueError
        If ``x`` and ``weight`` differ in width or precision.

    Notes
    -----
    Zhang and Sennrich (2019), equation 4. Chapter 7, equation ``eq-rms-norm``; chapter 11.
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
        Added to the variance.

    Notes
    -----
    Ba, Kiros and Hinton (2016). Chapter 7.
    """

    def __init__(self, d_model: int, eps: float = 1e-5) -> None:
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(d_model))
        self.bias = nn.Parameter(torch.zeros(d_model))

    @formula
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
    """:func:`rms_norm` with its scale as a parameter.

    Parameters
    ----------
    d_model : int
        Width of the inputs.
    eps : float, optional
        Added to the mean square.

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


@formula
def gelu(x: Float[Tensor, "*shape"]) -> Float[Tensor, "*shape"]:
    r"""Scale a number by its standard normal cumulative probability: :math:`x \, \Phi(x)`.

    Parameters
    ----------
    x : Tensor
        Any shape.

    Returns
    -------
    Tensor
        The same shape. :math:`\Phi` is the cumulative distribution function.

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


def silu(x: Float[Tensor, "*shape"]) -> Float[Tensor, "*shape"]:
    r"""Scale a number by its logistic function: :math:`x \, \sigma(x)`, also called swish.

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
    Ramachandran, Zoph and Le (2017). LLaMA's activation. Chapter 7, equation ``eq-swiglu``.
    """
    return x * torch.sigmoid(x)


#: The activations, by their names in configurations.
ACTIVATIONS: dict[str, Callable[[Tensor], Tensor]] = {
    "relu": torch.relu,
    "gelu": gelu,
    "gelu_tanh": gelu_tanh,
    "silu": silu,
}


class FeedForward(nn.Module):
    r"""Two linear maps with a nonlinearity between them, the same at every position.

    .. math:: \operatorname{FFN}(x) = f(x W_1 + b_1) W_2 + b_2

    Parameters
    ----------
    d_model : int
        Width of inputs and outputs.
    d_ff : int
        Width of the hidden layer; four times ``d_model`` in the paper.
    activation : {"relu", "gelu", "gelu_tanh", "silu"}, optional
        :math:`f`. The paper uses ReLU, BERT the exact GELU, GPT-2 its approximation.
    bias : bool, optional
        Whether the two maps add a bias.

    Raises
    ------
    ValueError
        If ``activation`` is unknown.

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
        self.expand = Linear(d_model, d_ff, bias=bias)
        self.contract = Linear(d_ff, d_model, bias=bias)

    def forward(self, x: Float[Tensor, "*batch d_model"]) -> Float[Tensor, "*batch d_model"]:
        """Transform each position of ``x``, ``(..., d_model)``, by itself; the shape stays."""
        return self.contract(self.activation(self.expand(x)))


class GatedFeedForward(nn.Module):
    r"""A feed-forward network in which a second map, the gate, scales the output of the first.

    .. math:: \operatorname{FFN}(x) = \left(f(x W_g) \odot x W_1\right) W_2

    With :func:`silu` as :math:`f` this is SwiGLU, which LLaMA uses; with :func:`gelu_tanh` it is
    GEGLU, which later T5 models use.

    Parameters
    ----------
    d_model : int
        Width of inputs and outputs.
    d_ff : int
        Width of the hidden layer. With three matrices instead of two, two thirds of the width
        take as many parameters.
    activation : {"relu", "gelu", "gelu_tanh", "silu"}, optional
        :math:`f`.
    bias : bool, optional
        Whether the three maps add a bias.

    Raises
    ------
    ValueError
        If ``activation`` is unknown.

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
        self.gate = Linear(d_model, d_ff, bias=bias)
        self.expand = Linear(d_model, d_ff, bias=bias)
        self.contract = Linear(d_ff, d_model, bias=bias)

    def forward(self, x: Float[Tensor, "*batch d_model"]) -> Float[Tensor, "*batch d_model"]:
        """Transform each position of ``x``, ``(..., d_model)``, by itself; the shape stays."""
        return self.contract(self.activation(self.gate(x)) * self.expand(x))


class Layer(nn.Module):
    r"""The base class of encoder and decoder layers: sublayers with residual connections.

    Post-norm, as in the paper and in BERT: :math:`\operatorname{LN}(x + f(x))`.
    Pre-norm: :math:`x + f(\operatorname{LN}(x))`; the stack adds one more norm after its last
    layer. Dropout applies to the output of :math:`f`, before the sum.

    Parameters
    ----------
    config : StackConfig
        The sizes.
    index : int, optional
        Which layer of the stack this is, from 0; needed if layers differ in their number of heads.

    Notes
    -----
    Vaswani et al. (2017), sections 3.1 and 5.4; Xiong et al. (2020) on where the norm goes.
    Chapter 7, equations ``eq-post-norm`` and ``eq-pre-norm``.
    """

    def __init__(self, config: StackConfig, index: int = 0) -> None:
        super().__init__()
        self.norm_first = config.norm_first
        self.dropout = Dropout(config.dropout)
        self.self_attention = _attention(config, index)
        self.attention_norm = _norm(config)

    def add(self, x: Tensor, norm: nn.Module, sublayer: Callable[[Tensor], Tensor]) -> Tensor:
        """Add the output of ``sublayer`` to ``x``, and normalise its input or the sum.

        Parameters
        ----------
        x, norm, sublayer
            The vectors, the norm, and :math:`f`, which preserves the vectors' number and width.

        Returns
        -------
        Tensor
            ``(batch, length, d_model)``.
        """
        if self.norm_first:
            return x + self.dropout(sublayer(norm(x)))
        return norm(x + self.dropout(sublayer(x)))


class EncoderLayer(Layer):
    r"""Self-attention, then a feed-forward network, each with a residual connection and a norm.

    Parameters
    ----------
    config : StackConfig
        The sizes.
    index : int, optional
        Which layer of the stack this is, from 0.

    Notes
    -----
    Vaswani et al. (2017), section 3.1 and figure 1, left. Chapter 7, equation
    ``eq-bert-layer``.
    """

    def __init__(self, config: StackConfig, index: int = 0) -> None:
        super().__init__(config, index)
        self.feed_forward = _feed_forward(config)
        self.feed_forward_norm = _norm(config)

    def forward(
        self,
        x: Float[Tensor, "batch length d_model"],
        mask: Bool[Tensor, "..."] | None = None,
        around: Around = NOTHING,
    ) -> Float[Tensor, "batch length d_model"]:
        """Let the positions attend to each other, then transform each separately.

        Parameters
        ----------
        x, mask, around
            As for :class:`Encoder`.

        Returns
        -------
        Tensor
            ``(batch, length, d_model)``.
        """
        attend = self.self_attention
        x = self.add(x, self.attention_norm, lambda x: attend(x, mask=mask, around=around))
        return self.add(x, self.feed_forward_norm, self.feed_forward)


class DecoderLayer(Layer):
    """Causal self-attention, cross-attention to the encoder's output, a feed-forward network.

    Parameters
    ----------
    config : StackConfig
        The sizes.
    index : int, optional
        Which layer of the stack this is, from 0.
    cross_attention : bool, optional
        Whether to attend to an encoder. GPT-2 and LLaMA have none.

    Notes
    -----
    Vaswani et al. (2017), section 3.1 and figure 1, right. Chapter 8, equation
    ``eq-decoder-layer``.
    """

    def __init__(
        self, config: StackConfig, index: int = 0, *, cross_attention: bool = True
    ) -> None:
        super().__init__(config, index)
        self.cross_attention = _attention(config, index) if cross_attention else None
        self.cross_attention_norm = _norm(config) if cross_attention else nn.Identity()
        self.feed_forward = _feed_forward(config)
        self.feed_forward_norm = _norm(config)

    def forward(
        self,
        x: Float[Tensor, "batch length d_model"],
        memory: Float[Tensor, "batch memory_len d_model"] | None = None,
        mask: Bool[Tensor, "..."] | None = None,
        memory_mask: Bool[Tensor, "..."] | None = None,
        around: Around = NOTHING,
    ) -> Float[Tensor, "batch length d_model"]:
        """Attend to the past, then to the source, and transform each position separately.

        Parameters
        ----------
        x, memory, mask, memory_mask, around
            As for :class:`Decoder`.

        Returns
        -------
        Tensor
            ``(batch, length, d_model)``.
        """
        look_back, look_up = self.self_attention, self.cross_attention
        if (memory is None) != (look_up is None):
            raise wrong_memory(memory)
        x = self.add(
            x, self.attention_norm, lambda x: look_back(x, mask=mask, causal=True, around=around)
        )
        if look_up is not None:
            kept = Around(cache=around.memory_cache)
            x = self.add(
                x,
                self.cross_attention_norm,
                lambda x: look_up(x, memory, mask=memory_mask, around=kept),
            )
        return self.add(x, self.feed_forward_norm, self.feed_forward)


class Encoder(nn.Module):
    """A stack of encoder layers, which returns one vector per input, each aware of the others.

    Parameters
    ----------
    config : StackConfig
        The sizes. The stack ends with a norm only if ``norm_first`` is set.

    Notes
    -----
    Vaswani et al. (2017), section 3.1. Chapter 7.
    """

    def __init__(self, config: StackConfig) -> None:
        super().__init__()
        self.layers = nn.ModuleList(EncoderLayer(config, i) for i in range(config.n_layers))
        self.norm = _last_norm(config)

    def forward(
        self,
        x: Float[Tensor, "batch length d_model"],
        mask: Bool[Tensor, "..."] | None = None,
        around: Around = NOTHING,
    ) -> Float[Tensor, "batch length d_model"]:
        """Pass ``x`` through all layers.

        Parameters
        ----------
        x : Tensor
            ``(batch, length, d_model)``: embeddings with positions added.
        mask : Tensor, optional
            Boolean, broadcastable to ``(batch, n_heads, length, length)``; ``True`` = may attend.
        around : Around, optional
            The positional bias of the scores, or the rotation of queries and keys, for every layer.

        Returns
        -------
        Tensor
            ``(batch, length, d_model)``.
        """
        for layer in self.layers:
            x = layer(x, mask, around)
        return x if self.norm is None else self.norm(x)


class Decoder(nn.Module):
    """A stack of decoder layers: each output depends only on its own and earlier positions.

    Parameters
    ----------
    config : StackConfig
        The sizes. The stack ends with a norm only if ``norm_first`` is set.
    cross_attention : bool, optional
        Whether to attend to an encoder. GPT-2 and LLaMA have none.

    Notes
    -----
    Vaswani et al. (2017), section 3.1. Chapter 8.
    """

    def __init__(self, config: StackConfig, *, cross_attention: bool = True) -> None:
        super().__init__()
        self.layers = nn.ModuleList(
            DecoderLayer(config, i, cross_attention=cross_attention) for i in range(config.n_layers)
        )
        self.norm = _last_norm(config)

    def forward(
        self,
        x: Float[Tensor, "batch length d_model"],
        memory: Float[Tensor, "batch memory_len d_model"] | None = None,
        mask: Bool[Tensor, "..."] | None = None,
        memory_mask: Bool[Tensor, "..."] | None = None,
        around: Around = NOTHING,
        cache: Cache | None = None,
    ) -> Float[Tensor, "batch length d_model"]:
        """Pass ``x`` through all layers, which share one memory.

        Parameters
        ----------
        x, memory : Tensor
            ``(batch, length, d_model)`` and ``(batch, memory_len, d_model)``: embeddings with
            positions added, and the encoder's output if there is cross-attention.
        mask, memory_mask : Tensor, optional
            Boolean, ``True`` = may attend, broadcastable to ``(batch, n_heads, length, k_len)``
            and ``(batch, n_heads, length, memory_len)``: the target's mask, in addition to the
            causal one, and the *source's* padding mask.
        around, cache : optional
            As for :class:`Encoder`; and the cache of earlier steps, whose tokens ``k_len`` counts.

        Returns
        -------
        Tensor
            ``(batch, length, d_model)``.

        Raises
        ------
        ValueError, TypeError
            If inputs do not fit together, or the cache belongs to another model and is left as is.
        """
        kept = [(None, None)] * len(self.layers) if cache is None else cache.pairs(len(self.layers))
        before = [(each, each.length) for pair in kept for each in pair if each is not None]
        try:
            for layer, caches in zip(self.layers, kept, strict=True):
                here = Around(around.bias, around.rotation, *caches)
                x = layer(x, memory, mask, memory_mask, here)
        except BaseException:  # an interrupt, too
            for each, length in before:  # no layer keeps a step that another layer refused
                each.crop(length)
            raise
        return x if self.norm is None else self.norm(x)


def init_weights(module: nn.Module) -> None:
    """Initialise the parameters of linear maps and embeddings in a ``module``.

    Notes
    -----
    Radford et al. (2018), section 4.1. Weights are normally distributed with a standard deviation
    of 0.02 and biases are 0, as in BERT, GPT-2 and LLaMA. The padding's vector is 0.
    """
    for part in module.modules():
        if isinstance(part, nn.Linear | nn.Embedding):
            nn.init.normal_(part.weight, std=INITIAL_STD)
        if isinstance(part, nn.Linear) and part.bias is not None:
            nn.init.zeros_(part.bias)
        if isinstance(part, nn.Embedding) and part.padding_idx is not None:
            nn.init.zeros_(part.weight[part.padding_idx])


def _attention(config: StackConfig, index: int) -> MultiHeadAttention:
    return MultiHeadAttention(
        config.d_model,
        config.heads(index),
        n_kv_heads=config.n_kv_heads,
        d_k=config.d_k,
        bias=config.bias,
        scale=config.scale,
    )


def _feed_forward(config: StackConfig) -> FeedForward | GatedFeedForward:
    kind = GatedFeedForward if config.gated else FeedForward
    return kind(config.d_model, config.d_ff, config.activation, bias=config.bias)


def _norm(config: StackConfig) -> nn.Module:
    return NORMS[config.norm](config.d_model, config.norm_eps)


def _last_norm(config: StackConfig) -> nn.Module | None:
    # The sum of a pre-norm stack has not been normalised; that of a post-norm stack has.
    return _norm(config) if config.norm_first else None
