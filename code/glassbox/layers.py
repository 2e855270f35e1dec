"""The layers of encoder and decoder, and what they are made of (chapters 7 and 8)."""

import math
from collections.abc import Callable

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from glassbox.around import NOTHING, Around
from glassbox.attention.multi_head import MultiHeadAttention
from glassbox.cache import Cache
from glassbox.checks import check_kind, check_memory, check_normalizable
from glassbox.config import StackConfig
from glassbox.kernels import formula
from glassbox.linear import Linear


@formula
def dropout(x: Float[Tensor, "*shape"], p: float) -> Float[Tensor, "*shape"]:
    r"""Set a share of ``x`` to 0, each value for itself, and enlarge the rest to make up for it.

    .. math:: y_i = \frac{m_i}{1 - p}\, x_i, \qquad m_i \sim \operatorname{Bernoulli}(1 - p)

    so that the expectation of :math:`y_i` is :math:`x_i`.

    Parameters
    ----------
    x : Tensor
        Any shape, on a CPU or elsewhere.
    p : float
        The share that is set to 0, at least 0 and at most 1.

    Returns
    -------
    Tensor
        As ``x``, drawn with PyTorch's own generator of that device.

    Raises
    ------
    ValueError
        If ``p`` is no share.

    Notes
    -----
    Srivastava et al. (2014); Vaswani et al. (2017), section 5.4. Chapter 7.
    """
    if not 0 <= p <= 1:
        raise ValueError(f"p={p}: must be at least 0 and at most 1")
    kept = torch.rand_like(x, dtype=torch.float32) >= p
    return x * kept / (1 - p if p < 1 else 1)


class Dropout(nn.Dropout):
    """:func:`dropout` as a module: ``x`` itself while the model is not trained.

    Parameters
    ----------
    p : float, optional
        The share that is set to 0.

    Notes
    -----
    Srivastava et al. (2014). Chapter 7.
    """

    def __init__(self, p: float = 0.5) -> None:
        super().__init__(p)

    def forward(self, input: Float[Tensor, "*shape"]) -> Float[Tensor, "*shape"]:
        """Drop values of ``input`` in training, any shape."""
        return dropout(input, self.p) if self.training and self.p else input


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
        self.expand = Linear(d_model, d_ff, bias=bias)
        self.contract = Linear(d_ff, d_model, bias=bias)

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
        self.gate = Linear(d_model, d_ff, bias=bias)
        self.expand = Linear(d_model, d_ff, bias=bias)
        self.contract = Linear(d_ff, d_model, bias=bias)

    def forward(self, x: Float[Tensor, "*batch d_model"]) -> Float[Tensor, "*batch d_model"]:
        """Transform each position of ``x``, ``(..., d_model)``, by itself; the shape stays."""
        return self.contract(self.activation(self.gate(x)) * self.expand(x))


class Layer(nn.Module):
    r"""What the layers of encoder and decoder share: sublayers with residual connections.

    Post-norm, as in the paper and in BERT: :math:`\operatorname{LN}(x + f(x))`.
    Pre-norm: :math:`x + f(\operatorname{LN}(x))`, with one more norm after the last layer, which
    the stack adds. Dropout applies to the output of :math:`f`, before the sum.

    Parameters
    ----------
    config : StackConfig
        The sizes.
    index : int, optional
        Which layer of the stack this is, from 0; matters where layers differ in their heads.

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
        """Add to ``x`` what ``sublayer`` makes of it; ``norm`` comes before it, or at the end.

        Parameters
        ----------
        x, norm, sublayer
            The vectors, the norm, and :math:`f`, from vectors to as many of the same width.

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
        """Let the positions exchange, then transform each by itself.

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
    """Causal self-attention, cross-attention on the encoder's output, a feed-forward network.

    Parameters
    ----------
    config : StackConfig
        The sizes.
    index : int, optional
        Which layer of the stack this is, from 0.
    cross_attention : bool, optional
        Whether there is an encoder to attend to. GPT-2 and LLaMA have none.

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
        """Look back, look at the source, then transform each position by itself.

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
            check_memory(memory)
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
    """A stack of encoder layers: as many vectors out as in, each now aware of the others.

    Parameters
    ----------
    config : StackConfig
        The sizes. With ``norm_first`` the stack ends with a norm, without it does not.

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
            What positions add to the scores, or turn queries and keys by; in every layer.

        Returns
        -------
        Tensor
            ``(batch, length, d_model)``.
        """
        for layer in self.layers:
            x = layer(x, mask, around)
        return x if self.norm is None else self.norm(x)


class Decoder(nn.Module):
    """A stack of decoder layers: what stands at a position depends on it and on those before.

    Parameters
    ----------
    config : StackConfig
        The sizes. With ``norm_first`` the stack ends with a norm, without it does not.
    cross_attention : bool, optional
        Whether there is an encoder to attend to. GPT-2 and LLaMA have none.

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
        """Pass ``x`` through all layers, each of which sees the same memory.

        Parameters
        ----------
        x, memory : Tensor
            ``(batch, length, d_model)`` and ``(batch, memory_len, d_model)``: embeddings with
            positions added, and the encoder's output where there is cross-attention.
        mask, memory_mask : Tensor, optional
            Boolean, ``True`` = may attend, broadcastable to ``(batch, n_heads, length, k_len)``
            and ``(batch, n_heads, length, memory_len)``: the target's, besides that nobody attends
            to the future, and the *source's* padding mask.
        around, cache : optional
            As for :class:`Encoder`; and what earlier steps have read, which ``k_len`` counts.

        Returns
        -------
        Tensor
            ``(batch, length, d_model)``.

        Raises
        ------
        ValueError, TypeError
            If inputs do not fit together or the cache is another model's. It stays as it was.
        """
        kept = [(None, None)] * len(self.layers) if cache is None else cache.pairs(len(self.layers))
        start = 0 if cache is None else cache.length
        try:
            for layer, caches in zip(self.layers, kept, strict=True):
                here = Around(around.bias, around.rotation, *caches)
                x = layer(x, memory, mask, memory_mask, here)
        except Exception:
            if cache is not None:
                cache.crop(start)  # no layer remembers a step that another refused
            raise
        return x if self.norm is None else self.norm(x)


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
    # Pre-norm adds up what no norm has seen yet. Post-norm has just normalised it.
    return _norm(config) if config.norm_first else None
