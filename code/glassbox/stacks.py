"""Encoder and decoder: layers upon layers (chapters 7 and 8)."""

from jaxtyping import Bool, Float
from torch import Tensor, nn

from glassbox.around import Around
from glassbox.cache import Cache
from glassbox.config import StackConfig
from glassbox.kernels import formula
from glassbox.layers import DecoderLayer, EncoderLayer
from glassbox.normalization import NORMS
from glassbox.positional import Rotation


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
        *,
        bias: Float[Tensor, "..."] | None = None,
        rotation: Rotation | None = None,
    ) -> Float[Tensor, "batch length d_model"]:
        """Pass ``x`` through all layers.

        Parameters
        ----------
        x : Tensor
            ``(batch, length, d_model)``: embeddings with positions added.
        mask : Tensor, optional
            Boolean, broadcastable to ``(batch, n_heads, length, length)``; ``True`` = may attend.
        bias, rotation : optional
            What the positions add to the scores, or turn queries and keys by; in every layer.

        Returns
        -------
        Tensor
            ``(batch, length, d_model)``.

        Raises
        ------
        ValueError, TypeError
            As :class:`~glassbox.layers.EncoderLayer`.
        """
        around = Around(bias=bias, rotation=rotation)
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

    @formula
    def forward(
        self,
        x: Float[Tensor, "batch length d_model"],
        memory: Float[Tensor, "batch memory_len d_model"] | None = None,
        mask: Bool[Tensor, "..."] | None = None,
        memory_mask: Bool[Tensor, "..."] | None = None,
        *,
        bias: Float[Tensor, "..."] | None = None,
        rotation: Rotation | None = None,
        cache: Cache | None = None,
    ) -> Float[Tensor, "batch length d_model"]:
        """Pass ``x`` through all layers, each of which sees the same memory.

        Parameters
        ----------
        x : Tensor
            ``(batch, length, d_model)``: embeddings with positions added.
        memory : Tensor, optional
            ``(batch, memory_len, d_model)``: the encoder's output, if there is an encoder.
        mask : Tensor, optional
            Boolean, broadcastable to ``(batch, n_heads, length, k_len)``; ``True`` = may attend.
            That nobody attends to the future holds in any case.
        memory_mask : Tensor, optional
            Boolean, broadcastable to ``(batch, n_heads, length, memory_len)``: the *source's*
            padding mask.
        bias, rotation : optional
            What the positions add to the scores, or turn queries and keys by; in every layer.
        cache : Cache, optional
            What earlier steps have read. ``k_len`` counts it.

        Returns
        -------
        Tensor
            ``(batch, length, d_model)``.

        Raises
        ------
        ValueError
            If the cache was made for another number of layers, or as in
            :class:`~glassbox.layers.DecoderLayer`. The cache stays as it was.
        TypeError
            As in :class:`~glassbox.layers.DecoderLayer`.
        """
        n_layers = len(self.layers)
        caches = [()] * n_layers if cache is None else cache.pairs(n_layers)
        start = 0 if cache is None else cache.length
        try:
            for layer, kept in zip(self.layers, caches, strict=True):
                x = layer(x, memory, mask, memory_mask, Around(bias, rotation, *kept))
        except Exception:
            if cache is not None:
                cache.crop(start)  # no layer remembers a step that another refused
            raise
        return x if self.norm is None else self.norm(x)


def _last_norm(config: StackConfig) -> nn.Module | None:
    # Pre-norm adds up what no norm has seen yet. Post-norm has just normalised it.
    return NORMS[config.norm](config.d_model, config.norm_eps) if config.norm_first else None
