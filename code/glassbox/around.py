"""What surrounds a layer: all that its attentions take besides vectors and masks."""

from typing import NamedTuple

from jaxtyping import Float
from torch import Tensor

from glassbox.cache import KeyValueCache


class Rotation(NamedTuple):
    """By how much each component of a query or key is turned, at each position.

    Parameters
    ----------
    cos : Tensor
        ``(..., length, d_k)``, float32: the cosine of the pair's angle, for both of the pair.
    sin : Tensor
        ``(..., length, d_k)``: minus the sine for the first of the pair, the sine for the second.
    interleaved : bool
        Whether the two of a pair stand side by side (the paper) or half a width apart (LLaMA).
    """

    cos: Tensor
    sin: Tensor
    interleaved: bool


class Around(NamedTuple):
    """What surrounds a layer, passed down as one value from the stack to every attention.

    Parameters
    ----------
    bias : Tensor, optional
        Added to the scores, broadcastable to ``(batch, n_heads, q_len, k_len)``.
    rotation : Rotation, optional
        By what angles to turn queries and keys (rotary positions).
    cache : KeyValueCache, optional
        Keys and values of earlier steps. In self-attention this step's are added to them, and
        ``k_len`` counts them all. In cross-attention the first step fills the cache, and later
        steps take keys and values from there.
    memory_cache : KeyValueCache, optional
        The cache of a decoder layer's cross-attention; ``cache`` is then that of its
        self-attention.

    Notes
    -----
    Chapters 6 and 10.
    """

    bias: Float[Tensor, "..."] | None = None
    rotation: Rotation | None = None
    cache: KeyValueCache | None = None
    memory_cache: KeyValueCache | None = None


#: What surrounds a layer that is called alone.
NOTHING = Around()
