"""What surrounds a layer: all inputs of its attentions apart from vectors and masks."""

from typing import NamedTuple

from jaxtyping import Float
from torch import Tensor

from glassbox.cache import KeyValueCache


class Rotation(NamedTuple):
    """The angles, as cosine and sine, by which queries and keys are rotated at each position.

    Parameters
    ----------
    cos : Tensor
        ``(..., length, d_k)``, float32: the cosine of the pair's angle, for both components.
    sin : Tensor
        ``(..., length, d_k)``: minus the sine for the first component, the sine for the second.
    interleaved : bool
        Whether the components of a pair are adjacent (the paper) or half a width apart (Hugging
        Face's LLaMA).
    """

    cos: Tensor
    sin: Tensor
    interleaved: bool


class Around(NamedTuple):
    """Everything around a layer, passed as one value from the stack down to every attention.

    Parameters
    ----------
    bias : Tensor, optional
        Added to the scores, broadcastable to ``(batch, n_heads, q_len, k_len)``. Hiding keys is
        the mask's job: with minus infinity in a whole row the kernel gives zeros, the formula NaN.
    rotation : Rotation, optional
        The rotation of queries and keys (rotary positions).
    cache : KeyValueCache, optional
        Keys and values of earlier steps. Self-attention appends those of the current step, and
        ``k_len`` counts them all. In cross-attention the first step fills the cache, and later
        steps take keys and values from it.
    memory_cache : KeyValueCache, optional
        The cache of a decoder layer's cross-attention; ``cache`` then belongs to its
        self-attention.

    Notes
    -----
    Chapters 6 and 10.
    """

    bias: Float[Tensor, "..."] | None = None
    rotation: Rotation | None = None
    cache: KeyValueCache | None = None
    memory_cache: KeyValueCache | None = None


#: For a layer called on its own.
NOTHING = Around()
