"""The sizes of a stack of layers, checked when they are set."""

from dataclasses import dataclass, fields
from numbers import Integral, Real
from typing import Any, Literal, get_args, get_origin

from glassbox.checks import check_heads, check_kind, check_scale

Activation = Literal["relu", "gelu", "gelu_tanh", "silu"]
Norm = Literal["layer", "rms"]
PositionKind = Literal["none", "sinusoidal", "learned", "relative", "rotary", "alibi"]


@dataclass(frozen=True)
class StackConfig:
    """The sizes and kinds of a stack of layers. The defaults are the paper's base model.

    Parameters
    ----------
    d_model : int
        Width of every position's vector.
    n_heads : int or tuple of int
        Number of attention heads in a layer, or one number for each layer.
    n_layers : int
        Number of layers in a stack.
    d_ff : int
        Width inside the feed-forward networks.
    dropout : float
        Share of values dropped in training, at least 0 and less than 1.
    activation : {"relu", "gelu", "gelu_tanh", "silu"}
        Activation of the feed-forward networks.
    norm_first : bool
        Pre-norm if true, post-norm (the paper's) if false.
    norm_eps : float
        Added to the variance in every norm.
    norm : {"layer", "rms"}
        Layer normalisation (the paper's), or the root mean square alone.
    gated : bool
        Whether the feed-forward networks have a gate; SwiGLU is this with ``"silu"``.
    bias : bool
        Whether attentions and feed-forward networks add a bias.
    n_kv_heads : int, optional
        Number of key-value heads, shared by groups of query heads. Defaults to ``n_heads``.
    d_k : int, optional
        Width of a head. Defaults to ``d_model // n_heads``.
    scale : float, optional
        Factor that multiplies the scores. Defaults to one over the root of the head's width.

    Raises
    ------
    ValueError
        If a size is not positive, the heads do not divide the width, ``n_heads`` has a number for
        too many or too few layers, key-value heads do not divide the heads, ``dropout`` is not in
        [0, 1), ``norm_eps`` is not positive, or a kind is unknown.
    TypeError
        If a size is not an integer, or if ``dropout``, ``norm_eps`` or ``scale`` is not a number.

    Notes
    -----
    Vaswani et al. (2017), table 3, row "base". Chapters 7 and 8.
    """

    d_model: int = 512
    n_heads: int | tuple[int, ...] = 8
    n_layers: int = 6
    d_ff: int = 2048
    dropout: float = 0.1
    activation: Activation = "relu"
    norm_first: bool = False
    norm_eps: float = 1e-5
    norm: Norm = "layer"
    gated: bool = False
    bias: bool = True
    n_kv_heads: int | None = None
    d_k: int | None = None
    scale: float | None = None

    def __post_init__(self) -> None:
        self._check_kinds()
        for name in ("n_layers", "d_ff"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name}={getattr(self, name)}: must be at least 1")
        if isinstance(self.n_heads, tuple) and len(self.n_heads) != self.n_layers:
            raise ValueError(
                f"n_heads={self.n_heads} has a number for {len(self.n_heads)} layers, but "
                f"n_layers={self.n_layers}: give one for each layer, or one for all"
            )
        for n_heads in self.n_heads if isinstance(self.n_heads, tuple) else (self.n_heads,):
            check_heads(self.d_model, n_heads, self.n_kv_heads, self.d_k)
        if not 0 <= self.dropout < 1:
            raise ValueError(f"dropout={self.dropout}: must be at least 0 and less than 1")
        if not self.norm_eps > 0:
            raise ValueError(f"norm_eps={self.norm_eps}: must be more than 0")
        check_scale(self.scale)

    def heads(self, layer: int) -> int:
        """Return the number of attention heads of one layer, counted from 0."""
        return self.n_heads[layer] if isinstance(self.n_heads, tuple) else self.n_heads

    def _check_kinds(self) -> None:
        """Reject numbers and words that do not fit the declared types of the fields."""
        for field in fields(self):
            given, declared = getattr(self, field.name), get_args(field.type) or (field.type,)
            if all(isinstance(kind, str) for kind in declared):
                check_kind(field.name, given, declared)
            elif int in declared or float in declared:
                _check_number(field.name, given, declared)


def _check_number(name: str, given: Any, declared: tuple[Any, ...]) -> None:
    """Reject a value of none of the ``declared`` types, at least one of which is numeric."""
    kinds = {int: Integral, float: Real}
    if not isinstance(given, tuple(kinds.get(kind, get_origin(kind) or kind) for kind in declared)):
        expected = "a whole number" if int in declared else "a number"
        if any(get_origin(kind) is tuple for kind in declared):
            expected += f", or a tuple of them: tuple({name})"
        raise TypeError(f"{name}={given!r} is of type {type(given).__name__}; expected {expected}")
