"""The sizes of a stack of layers, checked when they are set."""

import re
from dataclasses import dataclass, fields
from numbers import Integral, Real
from typing import Any, Literal, get_args, get_origin, get_type_hints

from glassbox.checks import RANGES, check_heads, check_kind, check_type, wrong_type

Activation = Literal["relu", "gelu", "gelu_tanh", "silu"]
Norm = Literal["layer", "rms"]
PositionKind = Literal["none", "sinusoidal", "learned", "relative", "rotary", "alibi"]

#: The names of fields, and the range of their numbers; see :data:`glassbox.checks.RANGES`.
FIELDS = (
    (r"[dn]_\w+|\w*vocab_size|max_len", "at least 1"),
    (r"\w*dropout", "at least 0 and less than 1"),
    (r"norm_eps|scale", "more than 0 and finite"),
    (r"\w+_base", "more than 1 and finite"),
)


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
        [0, 1), ``norm_eps`` or ``scale`` is not positive and finite, a kind is unknown, or one
        of a model's special ids is not in its vocabulary.
    TypeError
        If a size is not an integer, if ``dropout``, ``norm_eps`` or ``scale`` is not a number, or
        if a text is given where True or False is expected.

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
        for field in fields(self):
            kind = field.type
            if isinstance(kind, str):  # a subclass may write its annotations as text
                kind = get_type_hints(type(self))[field.name]
            declared = get_args(kind) or (kind,)
            checked = _checked(field.name, getattr(self, field.name), declared)
            object.__setattr__(self, field.name, checked)
        d_ff: object = self.d_ff
        if d_ff is None:  # the default of some subclasses
            object.__setattr__(self, "d_ff", 4 * self.d_model)
        of_layers = self.n_heads if isinstance(self.n_heads, tuple) else (self.n_heads,)
        if isinstance(self.n_heads, tuple) and len(of_layers) != self.n_layers:
            raise ValueError(
                f"n_heads={self.n_heads} has a number for {len(of_layers)} layers, but "
                f"n_layers={self.n_layers}: give one for each layer, or one for all"
            )
        for n_heads in of_layers:
            check_heads(self.d_model, n_heads, self.n_kv_heads, self.d_k)
        _check_special_ids(self)

    def heads(self, layer: int) -> int:
        """Return the number of attention heads of one layer, counted from 0."""
        return self.n_heads[layer] if isinstance(self.n_heads, tuple) else self.n_heads


def _checked(name: str, given: Any, declared: tuple[Any, ...]) -> Any:
    """Return what is ``given``, with NumPy's numbers as Python's, which can be written to files.

    Words and numbers of none of the ``declared`` types are rejected, and numbers out of range.
    """
    if all(isinstance(kind, str) for kind in declared):
        check_kind(name, given, declared)
    if bool in declared:
        check_type(name, given, bool, "True or False")  # "false" would count as true
    if not {int, float} & {*declared}:
        return given
    several = any(get_origin(kind) is tuple for kind in declared)
    if several and isinstance(given, tuple):
        return tuple(_checked(name, one, declared) for one in given)
    kinds = {int: Integral, float: Real}
    fit = tuple(kinds.get(kind, get_origin(kind) or kind) for kind in declared)
    if isinstance(given, bool) or not isinstance(given, fit):
        expected = "a whole number" if int in declared else "a number"
        expected += f", or a tuple of them: tuple({name})" if several else ""
        raise wrong_type(name, given, expected)
    for pattern, expected in FIELDS:
        if given is not None and re.fullmatch(pattern, name) and not RANGES[expected](given):
            raise ValueError(f"{name}={given}: must be {expected}")
    if isinstance(given, Integral):
        return int(given)
    return float(given) if isinstance(given, Real) else given


def _check_special_ids(config: Any) -> None:
    """Reject ids that are not in the vocabulary; a stack alone has neither."""
    for name in (field.name for field in fields(config) if field.name.endswith("_id")):
        vocab_size = getattr(config, "written_vocab_size", config.vocab_size)
        if not in_vocabulary(given := getattr(config, name), vocab_size):
            raise ValueError(
                f"{name}={given} is not in a vocabulary of {vocab_size}: "
                f"choose one of 0 to {vocab_size - 1}"
            )


def in_vocabulary(ids: int | tuple[int, ...] | None, vocab_size: int) -> bool:
    """Return whether all ``ids``, one, several or None, are less than ``vocab_size``.

    What is no number is left to the checks of a configuration's fields.
    """
    ids = ids if isinstance(ids, tuple) else () if ids is None else (ids,)
    return all(not isinstance(given, int) or 0 <= given < vocab_size for given in ids)
