"""Positions: tell a model the order of its tokens, which attention does not see (chapter 6).

Five schemes share one interface, :class:`Positions`. They add a vector to the embeddings
(sinusoidal, learned), rotate queries and keys (rotary), or add a bias to the scores (T5's
relative bias, ALiBi).
"""

from glassbox.around import Rotation as Rotation
from glassbox.positional.absolute import LearnedPositions as LearnedPositions
from glassbox.positional.absolute import Positions as Positions
from glassbox.positional.absolute import SinusoidalPositions as SinusoidalPositions
from glassbox.positional.absolute import sinusoidal_encoding as sinusoidal_encoding
from glassbox.positional.alibi import AlibiPositions as AlibiPositions
from glassbox.positional.alibi import alibi_bias as alibi_bias
from glassbox.positional.alibi import alibi_slopes as alibi_slopes
from glassbox.positional.pairs import half_to_interleaved as half_to_interleaved
from glassbox.positional.pairs import interleaved_to_half as interleaved_to_half
from glassbox.positional.relative import RelativePositionBias as RelativePositionBias
from glassbox.positional.relative import relative_buckets as relative_buckets
from glassbox.positional.rotary import RotaryPositions as RotaryPositions
from glassbox.positional.rotary import RotaryScaling as RotaryScaling
from glassbox.positional.rotary import rotary_frequencies as rotary_frequencies
from glassbox.positional.rotary import rotary_rotation as rotary_rotation
from glassbox.positional.rotary import rotate as rotate
