"""Where each token stands, told to a model that would not know (chapter 6).

Five answers behind one interface, :class:`Positions`: add something to the embeddings
(sinusoidal, learned), turn queries and keys (rotary), or add something to the scores (T5's relative
bias, ALiBi).
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
