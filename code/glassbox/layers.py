"""The layers of encoder and decoder: exchange, then think (chapters 7 and 8)."""

from collections.abc import Callable

from jaxtyping import Bool, Float
from torch import Tensor, nn

from glassbox.around import NOTHING, Around
from glassbox.config import StackConfig
from glassbox.dropout import Dropout
from glassbox.feed_forward import FeedForward, GatedFeedForward
from glassbox.multi_head_attention import MultiHeadAttention
from glassbox.normalization import NORMS


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

    def add(
        self,
        x: Float[Tensor, "batch length d_model"],
        norm: nn.Module,
        sublayer: Callable[[Tensor], Tensor],
    ) -> Float[Tensor, "batch length d_model"]:
        """Add to ``x`` what a sublayer makes of it, with a norm before the sublayer or at the end.

        Parameters
        ----------
        x : Tensor
            ``(batch, length, d_model)``.
        norm : nn.Module
            What to normalise with.
        sublayer : callable
            :math:`f`, from vectors to as many of the same width.

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
    Vaswani et al. (2017), section 3.1 and figure 1, left. Chapter 7.
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
        x : Tensor
            ``(batch, length, d_model)``.
        mask : Tensor, optional
            Boolean, broadcastable to ``(batch, n_heads, length, length)``; ``True`` = may attend.
        around : Around, optional
            What else counts in the self-attention.

        Returns
        -------
        Tensor
            ``(batch, length, d_model)``.

        Raises
        ------
        ValueError, TypeError
            As :class:`~glassbox.multi_head_attention.MultiHeadAttention`.
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
        self.cross_attention_norm = _norm(config) if cross_attention else None
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
        x : Tensor
            ``(batch, length, d_model)``.
        memory : Tensor, optional
            ``(batch, memory_len, d_model)``: the encoder's output; needed by, and only by, a layer
            with cross-attention.
        mask : Tensor, optional
            Boolean, broadcastable to ``(batch, n_heads, length, k_len)``; ``True`` = may attend.
            That nobody attends to the future holds in any case.
        memory_mask : Tensor, optional
            Boolean, broadcastable to ``(batch, n_heads, length, memory_len)``: the *source's*
            padding mask.
        around : Around, optional
            What else counts in the self-attention, and what both attentions keep from step to
            step.

        Returns
        -------
        Tensor
            ``(batch, length, d_model)``.

        Raises
        ------
        ValueError
            If there is a memory but no cross-attention, or the other way round, or as in
            :class:`~glassbox.multi_head_attention.MultiHeadAttention`.
        TypeError
            If a mask is not boolean or the bias not floating-point.
        """
        self._check_memory(memory)
        look_back, look_up = self.self_attention, self.cross_attention
        x = self.add(
            x,
            self.attention_norm,
            lambda x: look_back(x, mask=mask, causal=True, around=around),
        )
        if look_up is not None and self.cross_attention_norm is not None:
            kept = Around(cache=around.memory_cache)
            x = self.add(
                x,
                self.cross_attention_norm,
                lambda x: look_up(x, memory, mask=memory_mask, around=kept),
            )
        return self.add(x, self.feed_forward_norm, self.feed_forward)

    def _check_memory(self, memory: Tensor | None) -> None:
        if memory is None and self.cross_attention is not None:
            raise ValueError(
                "this layer has cross-attention: it needs a memory, the encoder's output"
            )
        if memory is not None and self.cross_attention is None:
            raise ValueError(
                f"memory has shape {tuple(memory.shape)}, but this layer has no cross-attention: "
                "make it with cross_attention=True, or leave the memory out"
            )


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
