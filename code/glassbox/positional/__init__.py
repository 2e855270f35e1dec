"""Positions: tell a model the order of its tokens, which attention does not see (chapter 6).

Five schemes share one interface, :class:`Positions`. They add a vector to the embeddings
(sinusoidal, learned), rotate queries and keys (rotary), or add a bias to the scores (T5's
relative bias, ALiBi).
"""

from glassbox.around import Rotation
from glassbox.positional.absolute import (
    LearnedPositions,
    Positions,
    SinusoidalPositions,
    sinusoidal_encoding,
)
from glassbox.positional.alibi import AlibiPositions, alibi_bias, alibi_slopes
from glassbox.positional.pairs import half_to_interleaved, interleaved_to_half
from glassbox.positional.relative import RelativePositionBias, relative_buckets
from glassbox.positional.rotary import (
    RotaryPositions,
    RotaryScaling,
    rotary_frequencies,
    rotary_rotation,
    rotate,
)

__all__ = [
    "AlibiPositions",
    "LearnedPositions",
    "Positions",
    "RelativePositionBias",
    "RotaryPositions",
    "RotaryScaling",
    "Rotation",
    "SinusoidalPositions",
    "alibi_bias",
    "alibi_slopes",
    "half_to_interleaved",
    "interleaved_to_half",
    "relative_buckets",
    "rotary_frequencies",
    "rotary_rotation",
    "rotate",
    "sinusoidal_encoding",
]
