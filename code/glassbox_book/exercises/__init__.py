"""Exercises that check themselves by running the reader's function on hidden cases.

One package per chapter declares its exercises; importing it here registers them.
"""

from glassbox_book.exercises import architecture as architecture
from glassbox_book.exercises import decoder as decoder
from glassbox_book.exercises import efficiency_and_scale as efficiency_and_scale
from glassbox_book.exercises import encoder as encoder
from glassbox_book.exercises import generation as generation
from glassbox_book.exercises import multi_head_attention as multi_head_attention
from glassbox_book.exercises import positional_encoding as positional_encoding
from glassbox_book.exercises import scaled_dot_product as scaled_dot_product
from glassbox_book.exercises import self_attention as self_attention
from glassbox_book.exercises import tokens_and_embeddings as tokens_and_embeddings
from glassbox_book.exercises import training as training
from glassbox_book.exercises import variants as variants
from glassbox_book.exercises.exercise import EXERCISES, Case, Exercise
from glassbox_book.exercises.judge import Verdict, check

__all__ = ["EXERCISES", "Case", "Exercise", "Verdict", "check"]
