"""Exercises that check themselves: the reader's function is tried on hidden cases.

One module per chapter declares its exercises; importing it here is all that registers them.
"""

from glassbox.exercises import architecture as architecture
from glassbox.exercises import decoder as decoder
from glassbox.exercises import encoder as encoder
from glassbox.exercises import generation as generation
from glassbox.exercises import multi_head_attention as multi_head_attention
from glassbox.exercises import positional_encoding as positional_encoding
from glassbox.exercises import scaled_dot_product as scaled_dot_product
from glassbox.exercises import self_attention as self_attention
from glassbox.exercises import tokens_and_embeddings as tokens_and_embeddings
from glassbox.exercises import training as training
from glassbox.exercises.exercise import EXERCISES, Case, Exercise, slips
from glassbox.exercises.judge import Verdict, check

__all__ = ["EXERCISES", "Case", "Exercise", "Verdict", "check", "slips"]
