"""Stacks of layers (chapters 7 and 8)."""

from dataclasses import dataclass

from jaxtyping import Bool, Float
from torch import Tensor, nn

from glassbox.checks import check_heads
from glassbox.layers import ACTIVATIONS, EncoderLayer, LayerNorm


@dataclass(frozen=True)
class TransformerConfig:
    """The sizes of a model, checked when it is made. The defaults are the paper's base model.

    Parameters
    ----------
    d_model : int
        Width of every position's vector.
    n_heads : int
        Attention heads in a layer; must divide ``d_model``.
    n_layers : int
        Layers in a stack.
    d_ff : int
        Width inside the feed-forward networks.
    dropout : float
        Share of values dropped in training, at least 0 and less than 1.
    activation : {"relu", "gelu"}
        Of the feed-forward networks.
    norm_first : bool
        Pre-norm if true, post-norm (the paper's) if not.
    norm_eps : float
        Added to the variance in every norm.

    Raises
    ------
    ValueError
        If a size is not positive, the heads do not divide the width, the dropout is no share,
        ``norm_eps`` is not positive, or the activation is not known.

    Notes
    -----
    Vaswani et al. (2017), table 3, row "base".
    """

    d_model: int = 512
    n_heads: int = 8
    n_layers: int = 6
    d_ff: int = 2048
    dropout: float = 0.1
    activation: str = "relu"
    norm_first: bool = False
    norm_eps: float = 1e-5

    def __post_init__(self) -> None:
        check_heads(self.d_model, self.n_heads)
        for name in ("n_layers", "d_ff"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name}={getattr(self, name)}: must be at least 1")
        if not 0 <= self.dropout < 1:
            raise ValueError(f"dropout={self.dropout}: must be at least 0 and less than 1")
        if not self.norm_eps > 0:
            raise ValueError(f"norm_eps={self.norm_eps}: must be more than 0")
        if self.activation not in ACTIVATIONS:
            raise ValueError(
                f"activation={self.activation!r} is not known; expected one of "
                f"{sorted(ACTIVATIONS)}"
            )


class Encoder(nn.Module):
    """A stack of encoder layers: as many vectors out as in, each now aware of the others.

    Parameters
    ----------
    config : TransformerConfig
        The sizes. With ``norm_first`` the stack ends with a norm, without it does not.

    Notes
    -----
    Vaswani et al. (2017), section 3.1. Chapter 7.
    """

    def __init__(self, config: TransformerConfig) -> None:
        super().__init__()
        self.layers = nn.ModuleList(
            EncoderLayer(
                config.d_model,
                config.n_heads,
                config.d_ff,
                dropout=config.dropout,
                activation=config.activation,
                norm_first=config.norm_first,
                norm_eps=config.norm_eps,
            )
            for _ in range(config.n_layers)
        )
        self.norm = LayerNorm(config.d_model, config.norm_eps) if config.norm_first else None

    def forward(
        self, x: Float[Tensor, "batch length d_model"], mask: Bool[Tensor, "..."] | None = None
    ) -> Float[Tensor, "batch length d_model"]:
        """Pass ``x`` through all layers.

        Parameters
        ----------
        x : Tensor
            ``(batch, length, d_model)``: embeddings with positions added.
        mask : Tensor, optional
            Boolean, broadcastable to ``(batch, n_heads, length, length)``; ``True`` = may attend.

        Returns
        -------
        Tensor
            ``(batch, length, d_model)``.
        """
        for layer in self.layers:
            x = layer(x, mask)
        return x if self.norm is None else self.norm(x)
